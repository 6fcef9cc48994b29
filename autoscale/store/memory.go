package store

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/goodfleet/goodfleet/autoscale"
	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/pricing/budget"
	"github.com/goodfleet/goodfleet/pricing/ledger"
	"github.com/goodfleet/goodfleet/provider"
)

// Memory is a store that lives as long as the process. It is safe for concurrent
// use. The records that it returns share what they point to with those that were
// stored.
type Memory struct {
	mu        sync.Mutex // guards all below
	fleet     string
	round     int64
	version   int64
	jobs      map[planner.JobID]autoscale.JobRecord
	intents   map[string]autoscale.Intent
	machines  map[provider.InstanceID]autoscale.InstanceRecord
	shortages map[autoscale.Scope]autoscale.Shortage
	overrides map[autoscale.OverrideKey]autoscale.Override
	budgets   map[string]autoscale.BudgetRecord
	questions map[string]budget.Question
	epoch     int64
	charges   []ledger.Charge
	charged   map[string]bool // ids in charges
	events    []autoscale.Event
	silent    bool // events are not kept
}

// NewMemory makes an empty store. fleet is its id, as in a simulation that must
// come out the same again; "" draws one.
func NewMemory(fleet string) *Memory {
	if fleet == "" {
		fleet = newFleet()
	}
	return &Memory{
		fleet:     fleet,
		jobs:      map[planner.JobID]autoscale.JobRecord{},
		intents:   map[string]autoscale.Intent{},
		machines:  map[provider.InstanceID]autoscale.InstanceRecord{},
		shortages: map[autoscale.Scope]autoscale.Shortage{},
		overrides: map[autoscale.OverrideKey]autoscale.Override{},
		budgets:   map[string]autoscale.BudgetRecord{},
		questions: map[string]budget.Question{},
		epoch:     1,
		charged:   map[string]bool{},
	}
}

// KeepNoEvents lets go of events as they come: a simulation of years asks for none.
func (m *Memory) KeepNoEvents() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.silent, m.events = true, nil
}

// Load returns the running fleet.
func (m *Memory) Load(ctx context.Context) (autoscale.Snapshot, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := autoscale.Snapshot{Fleet: m.fleet, Epoch: m.epoch, Round: m.round, Version: m.version}
	for _, r := range m.sortedJobs() {
		if r.Ended.IsZero() || r.Gang != nil {
			s.Jobs = append(s.Jobs, r)
		}
	}
	for _, token := range slices.Sorted(maps.Keys(m.intents)) {
		if x := m.intents[token]; x.State == autoscale.IntentOpen {
			s.Intents = append(s.Intents, clone(x))
		}
	}
	for _, r := range m.sortedMachines() {
		if !r.Settled {
			s.Instances = append(s.Instances, r)
		}
	}
	for _, scope := range slices.SortedFunc(maps.Keys(m.shortages), autoscale.Scope.Compare) {
		s.Shortages = append(s.Shortages, m.shortages[scope])
	}
	for _, key := range slices.SortedFunc(maps.Keys(m.overrides), autoscale.OverrideKey.Compare) {
		s.Overrides = append(s.Overrides, m.overrides[key])
	}
	for _, name := range slices.Sorted(maps.Keys(m.budgets)) {
		s.Budgets = append(s.Budgets, m.budgets[name])
	}
	for _, id := range slices.Sorted(maps.Keys(m.questions)) {
		s.Questions = append(s.Questions, m.questions[id])
	}
	return s, ctx.Err()
}

// Copy is a store that holds what m holds now: a backup.
func (m *Memory) Copy() *Memory {
	m.mu.Lock()
	defer m.mu.Unlock()
	return &Memory{
		fleet: m.fleet, epoch: m.epoch, round: m.round, version: m.version,
		jobs: maps.Clone(m.jobs), intents: maps.Clone(m.intents), machines: maps.Clone(m.machines),
		shortages: maps.Clone(m.shortages), overrides: maps.Clone(m.overrides), budgets: maps.Clone(m.budgets), questions: maps.Clone(m.questions),
		charges: slices.Clone(m.charges), charged: maps.Clone(m.charged), events: slices.Clone(m.events), silent: m.silent,
	}
}

// clone is an intent that shares nothing with x.
func clone(x autoscale.Intent) autoscale.Intent {
	x.Instances = slices.Clone(x.Instances)
	return x
}

// Commit stores one change.
func (m *Memory) Commit(ctx context.Context, c autoscale.Change) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if c.Version != m.version {
		return fmt.Errorf("%w: from version %d to %d", autoscale.ErrStale, c.Version, m.version)
	}
	m.version++
	m.round, m.epoch = max(m.round, c.Round), max(m.epoch, c.Epoch)
	for _, key := range c.Lifted {
		delete(m.overrides, key)
	}
	for _, o := range c.Overrides {
		m.overrides[o.OverrideKey] = o
	}
	for _, r := range c.Jobs {
		m.jobs[r.Job.ID] = r
	}
	for _, x := range c.Intents {
		m.intents[x.Token] = clone(x)
	}
	for _, r := range c.Instances {
		m.machines[r.Instance.ID] = r
	}
	for _, s := range c.Shortages {
		if s.Streak == 0 {
			delete(m.shortages, s.Scope)
			continue
		}
		m.shortages[s.Scope] = s
	}
	for _, b := range c.Budgets {
		m.budgets[b.Name] = b
	}
	for _, q := range c.Questions {
		m.questions[q.ID] = q
	}
	for _, charge := range c.Charges {
		if !m.charged[charge.ID] {
			m.charged[charge.ID] = true
			m.charges = append(m.charges, charge)
		}
	}
	if !m.silent {
		m.events = append(m.events, c.Events...)
	}
	return nil
}

// Jobs returns every job there ever was, by time of submission and id.
func (m *Memory) Jobs(ctx context.Context) ([]autoscale.JobRecord, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.sortedJobs(), ctx.Err()
}

func (m *Memory) sortedJobs() []autoscale.JobRecord {
	return slices.SortedFunc(maps.Values(m.jobs), func(a, b autoscale.JobRecord) int {
		return cmp.Or(a.Job.Submitted.Compare(b.Job.Submitted), cmp.Compare(a.Job.ID, b.Job.ID))
	})
}

// Instances returns every machine there ever was, by id.
func (m *Memory) Instances(ctx context.Context) ([]autoscale.InstanceRecord, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.sortedMachines(), ctx.Err()
}

func (m *Memory) sortedMachines() []autoscale.InstanceRecord {
	return slices.SortedFunc(maps.Values(m.machines), func(a, b autoscale.InstanceRecord) int {
		return cmp.Compare(a.Instance.ID, b.Instance.ID)
	})
}

// Charges returns the charges of which some time lies in [from, to), as they were appended.
func (m *Memory) Charges(ctx context.Context, from, to time.Time) ([]ledger.Charge, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var list []ledger.Charge
	for i := range m.charges {
		if c := &m.charges[i]; (from.IsZero() || c.To.After(from)) && (to.IsZero() || c.From.Before(to)) {
			list = append(list, *c)
		}
	}
	return list, ctx.Err()
}

// Events returns the events in [from, to), as they were appended.
func (m *Memory) Events(ctx context.Context, from, to time.Time) ([]autoscale.Event, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var list []autoscale.Event
	for _, e := range m.events {
		if within(e.At, from, to) {
			list = append(list, e)
		}
	}
	return list, ctx.Err()
}

// within reports whether an instant lies in [from, to); a zero bound is open.
func within(at, from, to time.Time) bool {
	return (from.IsZero() || !at.Before(from)) && (to.IsZero() || at.Before(to))
}
