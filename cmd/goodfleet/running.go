package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/goodfleet/goodfleet/autoscale"
	"github.com/goodfleet/goodfleet/autoscale/document"
	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/provider"
)

// running is what runs, as a file of kind Fleet or a store says it. The zero value:
// nothing does.
type running struct {
	name  string
	doc   *document.Document  // one of the two may be there
	store *autoscale.Snapshot //
}

// sqliteMagic is how every SQLite file begins.
const sqliteMagic = "SQLite format 3\x00"

// readRunning reads --state.
func (world world) readRunning(ctx context.Context, cfg askConfig, in io.Reader) (*running, error) {
	if cfg.state == "" {
		return &running{}, nil
	}
	name := cfg.state
	var text []byte
	var err error
	if name == "-" {
		name = "stdin"
		text, err = readAll(in, name, mostDocument)
	} else {
		text, err = readFile(name)
	}
	if err != nil {
		return nil, fmt.Errorf("--state: %w", err)
	}
	if bytes.HasPrefix(text, []byte(sqliteMagic)) {
		snapshot, err := readStore(ctx, cfg.state)
		return &running{name: name, store: snapshot}, err
	}
	docs, err := document.Decode(name, text)
	if err != nil {
		return nil, err
	}
	if len(docs) != 1 || docs[0].Fleet == nil {
		return nil, docs[len(docs)-1].Fail("kind", "want one document of kind Fleet, or a store")
	}
	return &running{name: name, doc: &docs[0]}, nil
}

// readStore loads the running fleet of a store.
func readStore(ctx context.Context, path string) (snap *autoscale.Snapshot, err error) {
	s, err := openStore(ctx, path, true)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	loaded, err := s.Load(ctx)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &loaded, nil
}

// into adds what runs, and the jobs of a file, to a state.
func (r *running) into(s *autoscale.State, a *asked, jobs []*planner.Job) error {
	switch {
	case r.doc != nil:
		return r.fromDocument(s, a, jobs)
	case r.store != nil:
		r.fromStore(s)
	}
	known := map[planner.JobID]bool{}
	for i := range s.Jobs {
		known[s.Jobs[i].Job.ID] = true
	}
	for _, j := range jobs {
		if known[j.ID] {
			continue // the store knows more of it than the file
		}
		if w, comes := a.waiting(j); comes {
			s.Jobs = append(s.Jobs, w)
		}
	}
	return nil
}

// fromStore takes over a snapshot, as the loop would on its next round.
func (r *running) fromStore(s *autoscale.State) {
	snap := r.store
	for _, j := range snap.Jobs {
		if j.Ended.IsZero() || j.Gang != nil {
			s.Jobs = append(s.Jobs, j)
		}
	}
	for _, m := range snap.Instances {
		if m.Instance.State != provider.Ended {
			s.Machines = append(s.Machines, m)
		}
	}
	s.Intents, s.Questions = snap.Intents, snap.Questions
	for _, b := range snap.Budgets {
		if mu := b.Price.Mu(); mu > 0 { // as of the last round
			s.Budgets = append(s.Budgets, planner.BudgetPrice{Name: b.Name, Team: b.Team, Mu: mu})
		}
	}
	r.limitsOfStore(s)
}

func (r *running) limitsOfStore(s *autoscale.State) {
	snap := r.store
	for _, x := range snap.Shortages {
		if x.Until.After(s.Now) {
			s.Shortages = append(s.Shortages, x)
		}
	}
	for _, o := range snap.Overrides {
		if o.Until.IsZero() || o.Until.After(s.Now) {
			s.Overrides = append(s.Overrides, o)
		}
	}
}

// fromDocument puts the machines and jobs of a document into a state.
func (r *running) fromDocument(s *autoscale.State, a *asked, jobs []*planner.Job) error {
	spec := r.doc.Fleet.Spec
	byID := map[string]int{}
	for i, m := range spec.Machines {
		record, err := r.machine(i, m, a)
		if err != nil {
			return err
		}
		byID[m.ID] = len(s.Machines)
		s.Machines = append(s.Machines, record)
	}
	told := map[string]int{}
	for i, j := range spec.Jobs {
		if !slices.ContainsFunc(jobs, func(x *planner.Job) bool { return string(x.ID) == j.Name }) {
			return r.doc.Fail(fmt.Sprintf("spec.jobs[%d].name", i), "%s holds no job %q%s", a.cfg.file, j.Name, suggestion(j.Name, jobNames(jobs)))
		}
		told[j.Name] = i
	}
	used := map[string]int{} // accelerators taken on each machine
	for _, j := range jobs {
		i, listed := told[string(j.ID)]
		if listed && len(spec.Jobs[i].Machines) > 0 {
			j = submittedBy(j, a.cfg.now)
		}
		record, comes := a.waiting(j)
		if !comes {
			continue
		}
		if listed {
			if err := r.job(i, &record, s, byID, used); err != nil {
				return err
			}
		}
		s.Jobs = append(s.Jobs, record)
	}
	for i, x := range spec.Overrides {
		if x.Kind == string(autoscale.Pin) && !slices.Contains(jobNames(jobs), x.Subject) {
			return r.doc.Fail(fmt.Sprintf("spec.overrides[%d].subject", i), "there is no job %q%s", x.Subject, suggestion(x.Subject, jobNames(jobs)))
		}
	}
	for _, b := range spec.Budgets {
		s.Budgets = append(s.Budgets, planner.BudgetPrice{Name: b.Name, Team: b.Team, Mu: b.DollarCounts - 1})
	}
	return r.limits(s)
}

// limits puts overrides and shortages into a state: what stands above any plan.
func (r *running) limits(s *autoscale.State) error {
	switch {
	case r.store != nil:
		r.limitsOfStore(s)
		return nil
	case r.doc == nil:
		return nil
	}
	if err := r.overrides(s); err != nil {
		return err
	}
	for _, x := range r.doc.Fleet.Spec.Shortages {
		if x.Until.After(s.Now) {
			s.Shortages = append(s.Shortages, autoscale.Shortage{
				Scope: autoscale.Scope{Cloud: x.Cloud, Region: x.Region, Zone: x.Zone, Family: x.Family, Type: x.Type, Market: x.Market},
				Kind:  x.Reason, Since: s.Now, Until: x.Until.UTC(), Streak: 1,
			})
		}
	}
	return nil
}

// submittedBy is a job that is there already, whatever its file says of when it comes.
func submittedBy(j *planner.Job, now time.Time) *planner.Job {
	if !j.Submitted.After(now) {
		return j
	}
	there := *j
	there.Submitted = now
	return &there
}

func jobNames(jobs []*planner.Job) []string {
	names := make([]string, len(jobs))
	for i, j := range jobs {
		names[i] = string(j.ID)
	}
	return names
}

// machine is machine i of the document.
func (r *running) machine(i int, m document.FleetMachine, a *asked) (autoscale.InstanceRecord, error) {
	at := fmt.Sprintf("spec.machines[%d]", i)
	o := m.Offering()
	if err := a.world.exists(o); err != nil {
		return autoscale.InstanceRecord{}, r.doc.Fail(at+"."+err.field, "%s", err.reason)
	}
	launched := m.Launched.UTC()
	if launched.After(a.cfg.now) {
		return autoscale.InstanceRecord{}, r.doc.Fail(at+".launched", "%s lies after %s, which is planned for", launched.Format(time.RFC3339), a.cfg.now.Format(time.RFC3339))
	}
	if m.Hinted.After(a.cfg.now) {
		return autoscale.InstanceRecord{}, r.doc.Fail(at+".hinted", "%s lies after %s, which is planned for", m.Hinted.UTC().Format(time.RFC3339), a.cfg.now.Format(time.RFC3339))
	}
	if m.Launched.IsZero() {
		launched = a.cfg.now.Add(-longAgo)
	}
	var rate pricing.Rate
	if o.Market != provider.Reserved {
		rate, _ = a.world.history.RateAt(o, a.cfg.now)
	}
	return autoscale.InstanceRecord{
		Instance: provider.Instance{ID: provider.InstanceID(m.ID), Offering: o, State: provider.Running, Launched: launched, Started: launched},
		Hinted:   m.Hinted.UTC(),
		ReadyAt:  launched, Ready: true, Seen: a.cfg.now, Rate: rate,
	}, nil
}

// longAgo is past every minimum run time.
const longAgo = 30 * 24 * time.Hour

// job puts what entry i of the document says of a job into its record.
func (r *running) job(i int, record *autoscale.JobRecord, s *autoscale.State, byID map[string]int, used map[string]int) error {
	x := r.doc.Fleet.Spec.Jobs[i]
	at := fmt.Sprintf("spec.jobs[%d]", i)
	since := s.Now
	if !x.Since.IsZero() {
		since = x.Since.UTC()
	}
	if since.After(s.Now) {
		return r.doc.Fail(at+".since", "%s lies after %s, which is planned for", since.Format(time.RFC3339), s.Now.Format(time.RFC3339))
	}
	record.Safe, record.Seen, record.SeenAt, record.Spent = x.Done, x.Done, s.Now, pricing.Money(x.Spent)
	job := *record.Job
	job.Submitted = since
	record.Job, record.Waiting = &job, since
	if len(x.Machines) == 0 {
		return nil
	}
	offering := s.Machines[byID[x.Machines[0]]].Instance.Offering
	t, _ := s.Catalogue.Lookup(offering.Cloud, offering.Type)
	replicas := x.Replicas
	if replicas == 0 {
		replicas = t.Count * len(x.Machines)
	}
	each := replicas / len(x.Machines)
	gang := &autoscale.Gang{
		Job: job.ID, Generation: 1, Offering: offering,
		Config: planner.Config{Cloud: offering.Cloud, Type: offering.Type, Nodes: len(x.Machines), Replicas: replicas},
	}
	target := &planner.Running{Config: gang.Config, Offering: offering, Since: since}
	for k, id := range x.Machines {
		m := s.Machines[byID[id]].Instance
		if m.Offering != offering {
			return r.doc.Fail(fmt.Sprintf("%s.machines[%d]", at, k), "%s is %s, the first is %s: a gang runs on machines of one offering", id, m.Offering, offering)
		}
		if used[id]+each > t.Count {
			return r.doc.Fail(at+".replicas", "%d more accelerators are not free on %s, which has %d", each, id, t.Count)
		}
		node := autoscale.GangNode{Instance: m.ID}
		for n := range each {
			node.Accelerators = append(node.Accelerators, used[id]+n)
		}
		used[id] += each
		gang.Nodes = append(gang.Nodes, node)
		target.Machines = append(target.Machines, m.ID)
	}
	slices.SortFunc(gang.Nodes, func(p, q autoscale.GangNode) int {
		return bytes.Compare([]byte(p.Instance), []byte(q.Instance))
	})
	record.Phase, record.Generation, record.Gang, record.Target = autoscale.JobStarted, 1, gang, target
	record.Times = autoscale.GangTimes{Started: since, Running: since}
	record.Started, record.Waiting = since, time.Time{}
	return nil
}

// overrides puts the words of people into a state.
func (r *running) overrides(s *autoscale.State) error {
	for i, x := range r.doc.Fleet.Spec.Overrides {
		o := autoscale.Override{
			OverrideKey: autoscale.OverrideKey{Kind: autoscale.OverrideKind(x.Kind), Subject: x.Subject},
			Config:      x.Config, Who: x.Who, Why: x.Why, Since: s.Now, Until: x.Until.UTC(),
		}
		if !x.Until.IsZero() && !o.Until.After(s.Now) {
			continue // over
		}
		if x.Until.IsZero() {
			o.Until = time.Time{}
		}
		at := fmt.Sprintf("spec.overrides[%d]", i)
		if err := o.Validate(); err != nil {
			return r.doc.Fail(at, "%v", err)
		}
		s.Overrides = append(s.Overrides, o)
	}
	slices.SortFunc(s.Overrides, func(a, b autoscale.Override) int { return a.OverrideKey.Compare(b.OverrideKey) })
	return nil
}
