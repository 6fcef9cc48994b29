package autoscale

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/pricing/budget"
	"github.com/goodfleet/goodfleet/pricing/ledger"
	"github.com/goodfleet/goodfleet/provider"
)

// cache is what the loop remembers of its store, and what it has changed since
// the last commit. Records are changed in place; the gangs and targets that they
// point to never are, they are replaced.
type cache struct {
	loaded bool // false: nothing here may be trusted, load again

	fleet                 string
	epoch, round, version int64
	bornRound             int64 // the last round in the store when it was loaded
	newEpoch              int64 // to be stored; 0: none

	jobs      []*JobRecord      // not ended when loaded, by submission and id
	machines  []*InstanceRecord // not settled when loaded, by launch and id
	intents   []*Intent         // open when loaded, by creation
	shortages []*Shortage       // by scope
	overrides overrides         // in force, by key
	budgets   []BudgetRecord    // by name
	questions []budget.Question // by id
	broken    []string          // rows of the store that were left out

	past  []*planner.Job   // ended, of those that came within planner.ArrivalSpan; by submission and id
	works map[string]works // of jobs that were done, by family

	job     map[planner.JobID]*JobRecord
	machine map[provider.InstanceID]*InstanceRecord

	holders map[provider.InstanceID][]*JobRecord // jobs whose gang has a node there, in order

	everJob     map[planner.JobID]bool       // every job there ever was
	everMachine map[provider.InstanceID]past // every machine there ever was

	dirtyJobs      map[planner.JobID]bool
	dirtyMachines  map[provider.InstanceID]bool
	dirtyIntents   map[string]bool
	dirtyShortages map[Scope]bool
	dirtyOverrides map[OverrideKey]bool
	dirtyBudgets   map[string]bool
	asked          []budget.Question // or changed, since the last commit
	lifted         []OverrideKey
	charges        []ledger.Charge
	events         []Event
}

// past is what is remembered of a machine whose record is closed.
type past struct {
	ended time.Time
	gone  bool // no cloud has said that it ended
}

// load reads the store anew and forgets what was not committed.
func (c *cache) load(ctx context.Context, store Store) error {
	snap, err := store.Load(ctx)
	if err != nil {
		return fmt.Errorf("load: %w", err)
	}
	jobs, err := store.Jobs(ctx)
	if err != nil {
		return fmt.Errorf("load jobs: %w", err)
	}
	machines, err := store.Instances(ctx)
	if err != nil {
		return fmt.Errorf("load instances: %w", err)
	}
	*c = cache{
		loaded: true, fleet: snap.Fleet, epoch: snap.Epoch, round: snap.Round, version: snap.Version,
		job:         make(map[planner.JobID]*JobRecord, len(snap.Jobs)),
		machine:     make(map[provider.InstanceID]*InstanceRecord, len(snap.Instances)),
		holders:     map[provider.InstanceID][]*JobRecord{},
		works:       map[string]works{},
		everJob:     make(map[planner.JobID]bool, len(jobs)),
		everMachine: make(map[provider.InstanceID]past, len(machines)),
		bornRound:   snap.Round, overrides: snap.Overrides, budgets: snap.Budgets, questions: snap.Questions, broken: snap.Broken,
	}
	slices.SortFunc(c.overrides, func(a, b Override) int { return a.OverrideKey.Compare(b.OverrideKey) })
	c.clean()
	slices.SortStableFunc(jobs, func(a, b JobRecord) int { return a.Ended.Compare(b.Ended) })
	for i := range jobs {
		r := &jobs[i]
		c.everJob[r.Job.ID] = true
		if !r.Ended.IsZero() && r.Gang == nil {
			c.past = append(c.past, r.Job)
			c.learnWork(r)
		}
	}
	for _, r := range machines {
		c.everMachine[r.Instance.ID] = past{r.Instance.Ended, r.Gone}
	}
	for i := range snap.Jobs {
		c.addJob(&snap.Jobs[i])
	}
	for i := range snap.Instances {
		c.addMachine(&snap.Instances[i])
	}
	for i := range snap.Intents {
		c.intents = append(c.intents, &snap.Intents[i])
	}
	for i := range snap.Shortages {
		c.shortages = append(c.shortages, &snap.Shortages[i])
	}
	c.clean() // what was loaded is stored
	slices.SortFunc(c.intents, compareIntents)
	slices.SortFunc(c.shortages, func(a, b *Shortage) int { return a.Scope.Compare(b.Scope) })
	return nil
}

// clean forgets which records were changed.
func (c *cache) clean() {
	c.dirtyJobs, c.dirtyMachines = map[planner.JobID]bool{}, map[provider.InstanceID]bool{}
	c.dirtyIntents, c.dirtyShortages = map[string]bool{}, map[Scope]bool{}
	c.dirtyBudgets, c.asked = map[string]bool{}, nil
	c.dirtyOverrides, c.lifted, c.newEpoch = map[OverrideKey]bool{}, nil, 0
	c.charges, c.events = nil, nil
}

func compareJobs(a, b *JobRecord) int {
	return cmp.Or(a.Job.Submitted.Compare(b.Job.Submitted), cmp.Compare(a.Job.ID, b.Job.ID))
}

func compareMachines(a, b *InstanceRecord) int {
	return cmp.Or(a.Instance.Launched.Compare(b.Instance.Launched), cmp.Compare(a.Instance.ID, b.Instance.ID))
}

func compareIntents(a, b *Intent) int {
	return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.Round, b.Round), cmp.Compare(a.Token, b.Token))
}

// insert puts x into a sorted list.
func insert[T any](list []T, x T, compare func(a, b T) int) []T {
	at, _ := slices.BinarySearchFunc(list, x, compare)
	return slices.Insert(list, at, x)
}

func (c *cache) addJob(r *JobRecord) {
	c.jobs = insert(c.jobs, r, compareJobs)
	if r.Gang != nil {
		c.seat(r, r.Gang)
	}
	c.job[r.Job.ID], c.everJob[r.Job.ID] = r, true
}

func (c *cache) addMachine(r *InstanceRecord) {
	c.machines = insert(c.machines, r, compareMachines)
	c.machine[r.Instance.ID], c.everMachine[r.Instance.ID] = r, past{r.Instance.Ended, r.Gone}
}

func (c *cache) addIntent(x *Intent) {
	c.intents = insert(c.intents, x, compareIntents)
	c.dirtyIntents[x.Token] = true
}

func (c *cache) touchJob(r *JobRecord)          { c.dirtyJobs[r.Job.ID] = true }
func (c *cache) touchMachine(r *InstanceRecord) { c.dirtyMachines[r.Instance.ID] = true }
func (c *cache) touchIntent(x *Intent)          { c.dirtyIntents[x.Token] = true }

// change gathers what was changed since the last commit. ok is false when nothing was.
func (c *cache) change() (change Change, ok bool) {
	change = Change{Version: c.version, Round: c.round, Epoch: c.newEpoch, Lifted: c.lifted, Charges: c.charges, Events: c.events, Questions: c.asked}
	if len(c.dirtyJobs) > 0 {
		for _, r := range c.jobs {
			if c.dirtyJobs[r.Job.ID] {
				change.Jobs = append(change.Jobs, *r)
			}
		}
	}
	if len(c.dirtyMachines) > 0 {
		for _, r := range c.machines {
			if c.dirtyMachines[r.Instance.ID] {
				change.Instances = append(change.Instances, *r)
			}
		}
	}
	for _, x := range c.intents {
		if c.dirtyIntents[x.Token] {
			stored := *x
			stored.Instances = slices.Clone(x.Instances)
			change.Intents = append(change.Intents, stored)
		}
	}
	for _, s := range c.shortages {
		if c.dirtyShortages[s.Scope] {
			change.Shortages = append(change.Shortages, *s)
		}
	}
	for _, o := range c.overrides {
		if c.dirtyOverrides[o.OverrideKey] {
			change.Overrides = append(change.Overrides, o)
		}
	}
	for _, b := range c.budgets {
		if c.dirtyBudgets[b.Name] {
			change.Budgets = append(change.Budgets, b)
		}
	}
	ok = change.Epoch != 0 || len(change.Budgets)+len(change.Questions)+len(change.Overrides)+len(change.Lifted)+len(change.Jobs)+len(change.Instances)+len(change.Intents)+len(change.Shortages)+len(change.Charges)+len(change.Events) > 0
	return change, ok
}

// commit makes durable what was changed since the last commit. When it fails
// nothing is known of the store any more: the cache is to be loaded again.
func (c *cache) commit(ctx context.Context, store Store) error {
	change, ok := c.change()
	if !ok {
		return nil
	}
	if err := store.Commit(ctx, change); err != nil {
		c.loaded = false
		return fmt.Errorf("commit: %w", err)
	}
	c.version++
	c.clean()
	return nil
}

// prune drops what is over and stored, at now.
func (c *cache) prune(now time.Time) (over []planner.JobID) {
	c.jobs = slices.DeleteFunc(c.jobs, func(r *JobRecord) bool {
		gone := !r.Ended.IsZero() && r.Gang == nil && !c.dirtyJobs[r.Job.ID]
		if gone {
			delete(c.job, r.Job.ID)
			over = append(over, r.Job.ID)
			c.past = append(c.past, r.Job)
			c.learnWork(r)
		}
		return gone
	})
	c.past = slices.DeleteFunc(c.past, func(j *planner.Job) bool { return !came(j, now) })
	slices.SortFunc(c.past, func(a, b *planner.Job) int { return cmp.Or(a.Submitted.Compare(b.Submitted), cmp.Compare(a.ID, b.ID)) })
	c.machines = slices.DeleteFunc(c.machines, func(r *InstanceRecord) bool {
		over := r.Settled && !c.dirtyMachines[r.Instance.ID]
		if over {
			delete(c.machine, r.Instance.ID)
			c.everMachine[r.Instance.ID] = past{r.Instance.Ended, r.Gone}
		}
		return over
	})
	c.intents = slices.DeleteFunc(c.intents, func(x *Intent) bool {
		return x.State != IntentOpen && !c.dirtyIntents[x.Token]
	})
	c.shortages = slices.DeleteFunc(c.shortages, func(s *Shortage) bool {
		return s.Streak == 0 && !c.dirtyShortages[s.Scope]
	})
	return over
}

// came reports whether a job came lately enough to be counted.
func came(j *planner.Job, now time.Time) bool {
	return j.Submitted.After(now.Add(-planner.ArrivalSpan))
}

// setOverride puts an override in force, in place of one of the same key.
func (c *cache) setOverride(o Override) {
	c.liftOverride(o.OverrideKey)
	c.overrides = insert(slices.Clone(c.overrides), o, func(a, b Override) int { return a.OverrideKey.Compare(b.OverrideKey) })
	c.dirtyOverrides[o.OverrideKey] = true
	c.lifted = slices.DeleteFunc(c.lifted, func(k OverrideKey) bool { return k == o.OverrideKey })
}

// liftOverride forgets an override. It reports whether it was in force.
func (c *cache) liftOverride(key OverrideKey) bool {
	at, found := slices.BinarySearchFunc(c.overrides, key, func(o Override, key OverrideKey) int { return o.OverrideKey.Compare(key) })
	if !found {
		return false
	}
	c.overrides = slices.Delete(slices.Clone(c.overrides), at, at+1)
	delete(c.dirtyOverrides, key)
	c.lifted = append(c.lifted, key)
	return true
}

// budget is what is known of a total.
func (c *cache) budget(name string) BudgetRecord {
	at, found := slices.BinarySearchFunc(c.budgets, name, compareBudget)
	if !found {
		return BudgetRecord{Name: name}
	}
	return c.budgets[at]
}

// setBudget keeps what is known of a total.
func (c *cache) setBudget(b BudgetRecord) {
	at, found := slices.BinarySearchFunc(c.budgets, b.Name, compareBudget)
	if !found {
		c.budgets = slices.Insert(c.budgets, at, b)
	}
	c.budgets[at] = b
	c.dirtyBudgets[b.Name] = true
}

func compareBudget(b BudgetRecord, name string) int { return cmp.Compare(b.Name, name) }

// setEpoch gives the store another epoch: what is launched from now on carries it.
func (c *cache) setEpoch(epoch int64) { c.epoch, c.newEpoch = epoch, epoch }

// shortage returns the shortage of a scope, a new one if there is none.
func (c *cache) shortage(scope Scope) *Shortage {
	at, found := slices.BinarySearchFunc(c.shortages, scope, func(s *Shortage, scope Scope) int { return s.Scope.Compare(scope) })
	if !found {
		c.shortages = slices.Insert(c.shortages, at, &Shortage{Scope: scope})
	}
	return c.shortages[at]
}

// intent returns the open intent of a token, nil if there is none.
func (c *cache) intent(token string) *Intent {
	for _, x := range c.intents {
		if x.Token == token && x.State == IntentOpen {
			return x
		}
	}
	return nil
}

// phase is where the job of r stands by what it holds.
func (r *JobRecord) phase() JobPhase {
	switch {
	case r.Phase == JobDone || r.Phase == JobFailed || r.Phase == JobCancelled:
		return r.Phase
	case r.Gang != nil:
		return JobStarted
	case r.Target != nil:
		return JobPlaced
	}
	return JobWaiting
}

// aim gives the job of r another target. One that lost all it had waits from now.
func (c *cache) aim(r *JobRecord, target *planner.Running, now time.Time) {
	r.Target = target
	switch {
	case target != nil:
		r.Waiting = time.Time{}
	case r.Waiting.IsZero():
		r.Waiting = now
	}
	r.Phase = r.phase()
	c.touchJob(r)
}

// seat puts a gang onto its machines.
func (c *cache) seat(r *JobRecord, g *Gang) {
	r.Gang, r.Place = g, g.Offering
	for _, n := range g.Nodes {
		c.holders[n.Instance] = insert(slices.Clone(c.holders[n.Instance]), r, compareJobs)
	}
	c.touchJob(r)
}

// unseat takes the gang of a job off its machines.
func (c *cache) unseat(r *JobRecord) {
	for _, n := range r.Gang.Nodes {
		left := slices.DeleteFunc(slices.Clone(c.holders[n.Instance]), func(x *JobRecord) bool { return x == r })
		if c.holders[n.Instance] = left; len(left) == 0 {
			delete(c.holders, n.Instance)
		}
	}
	r.Gang, r.Times, r.Stopping = nil, GangTimes{}, 0
	c.touchJob(r)
}

// on lists the jobs whose gang has a node on a machine, in order.
func (c *cache) on(id provider.InstanceID) []*JobRecord { return c.holders[id] }

// holds reports whether a gang has a node on a machine.
func (g *Gang) holds(id provider.InstanceID) bool {
	return slices.ContainsFunc(g.Nodes, func(n GangNode) bool { return n.Instance == id })
}
