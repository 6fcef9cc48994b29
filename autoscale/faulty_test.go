package autoscale_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/goodfleet/goodfleet/autoscale"
	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/provider"
	"github.com/goodfleet/goodfleet/provider/fake"
)

// faulty is a cloud in memory that fails as it is told, and watches that it is
// asked as it should be.
type faulty struct {
	*fake.Cloud
	w *world

	launch   func(req provider.LaunchRequest) fault // nil: none
	list     error                                  // of the next listings
	tell     func(list []provider.Instance)         // changes what a listing says; nil: nothing
	hidden   provider.InstanceID                    // that listings leave out
	deny     bool                                   // refuse to end machines
	unlisted bool                                   // the listing of this round failed
	calls    []provider.LaunchRequest               // of this round
	bought   map[string]int                         // machines by token
}

// fault is how a launch goes wrong. The zero value is not at all.
type fault struct {
	err    error  // answered instead
	before bool   // the call does not reach the cloud
	only   int    // so many machines at most are had, without an error
	empty  bool   // success, with nothing in it
	hangs  bool   // until the context ends
	then   func() // called when it is done
}

func (f *faulty) Instances(ctx context.Context) ([]provider.Instance, error) {
	if f.list != nil {
		f.unlisted = true
		return nil, f.list
	}
	list, err := f.Cloud.Instances(ctx)
	if f.tell != nil {
		f.tell(list)
	}
	return slices.DeleteFunc(list, func(i provider.Instance) bool { return i.ID == f.hidden }), err
}

// Launch fails the test if no open intent is stored for the request, or if the
// cloud is frozen.
func (f *faulty) Launch(ctx context.Context, req provider.LaunchRequest) ([]provider.Instance, error) {
	f.calls = append(f.calls, req)
	f.touched("launch")
	snap, err := f.w.store.Load(context.Background())
	if err != nil {
		return nil, err
	}
	stored := slices.ContainsFunc(snap.Intents, func(x autoscale.Intent) bool {
		return x.Token == req.Token && x.Offering == req.Offering && x.Count == req.Count && x.Min == req.Min && slices.Equal(x.Alternates, req.Alternates) && x.State == autoscale.IntentOpen
	})
	if !stored {
		f.w.t.Errorf("launch %s: no intent is stored", req.Token)
	}
	var how fault
	if f.launch != nil {
		how = f.launch(req)
	}
	switch {
	case how.hangs:
		<-ctx.Done()
		return nil, fmt.Errorf("launch: %w", ctx.Err())
	case how.before:
		return nil, how.err
	case how.empty:
		return nil, nil
	case how.only > 0 && how.only < req.Count:
		part := req
		part.Count, part.Min = how.only, min(req.Min, how.only)
		list, err := f.Cloud.Launch(ctx, part)
		return list, err
	}
	list, err := f.Cloud.Launch(ctx, req)
	f.count(req.Token, list)
	if how.then != nil {
		how.then()
	}
	if how.err != nil {
		return nil, how.err
	}
	return list, err
}

func (f *faulty) count(token string, list []provider.Instance) {
	if f.bought == nil {
		f.bought = map[string]int{}
	}
	f.bought[token] = max(f.bought[token], len(list))
}

// Terminate fails the test if a gang is on the machine, or the end is not stored.
func (f *faulty) Terminate(ctx context.Context, ids ...provider.InstanceID) error {
	f.touched("terminate")
	records, err := f.w.store.Instances(context.Background())
	if err != nil {
		return err
	}
	for _, id := range ids {
		for _, g := range f.w.runner.gangs {
			if g.live() && slices.ContainsFunc(g.gang.Nodes, func(n autoscale.GangNode) bool { return n.Instance == id }) {
				f.w.t.Errorf("terminate %s: %s runs there", id, g.gang.Job)
			}
		}
		i := slices.IndexFunc(records, func(r autoscale.InstanceRecord) bool { return r.Instance.ID == id })
		if i < 0 || records[i].EndAsked.IsZero() {
			f.w.t.Errorf("terminate %s: that it is to end is not stored", id)
		}
	}
	if f.deny {
		return fmt.Errorf("terminate: %w", provider.ErrDenied)
	}
	return f.Cloud.Terminate(ctx, ids...)
}

func (f *faulty) touched(call string) {
	if f.unlisted {
		f.w.t.Errorf("%s: %s is frozen", call, f.Name())
	}
}

// testGang is one gang of a testRunner.
type testGang struct {
	gang  autoscale.Gang
	state autoscale.GangState
	since time.Time
	base  float64 // samples done at since
	safe  float64 // samples in the checkpoint
}

func (g *testGang) live() bool {
	return g.state == autoscale.GangStarting || g.state == autoscale.GangRunning || g.state == autoscale.GangStopping
}

// testRunner is the simplest runner that keeps its promises. It watches that no
// accelerator carries two gangs and that gangs start on machines that run.
type testRunner struct {
	w     *world
	now   time.Time
	jobs  map[planner.JobID]*planner.Job
	gangs map[planner.JobID]*testGang // the last of each job
	fail  func(call string) error     // nil: never
}

func (r *testRunner) perHour(g *testGang) float64 {
	t, _ := r.w.catalogue.Lookup(g.gang.Config.Cloud, g.gang.Config.Type)
	speed, _ := r.jobs[g.gang.Job].Curve.Speed(t.Accelerator, g.gang.Config.Nodes, g.gang.Config.Replicas)
	return speed.Goodput
}

func (r *testRunner) seen(g *testGang, at time.Time) float64 {
	if g.state != autoscale.GangRunning {
		return g.base
	}
	return min(r.jobs[g.gang.Job].Work.Samples, g.base+r.perHour(g)*at.Sub(g.since).Hours())
}

// advance moves every gang to an instant; one whose machine is gone is lost.
func (r *testRunner) advance(to time.Time) {
	here := map[provider.InstanceID]bool{}
	for _, inst := range r.w.live() {
		here[inst.ID] = true
	}
	for id, g := range r.gangs {
		r.step(r.jobs[id], g, to)
		if g.live() && slices.ContainsFunc(g.gang.Nodes, func(n autoscale.GangNode) bool { return !here[n.Instance] }) {
			g.state, g.since, g.base = autoscale.GangLost, to, g.safe
		}
	}
	r.now = to
}

// step runs one gang to an instant.
func (r *testRunner) step(job *planner.Job, g *testGang, to time.Time) {
	if ready := g.since.Add(job.Checkpoint.Restore); g.state == autoscale.GangStarting && !ready.After(to) {
		g.state, g.since = autoscale.GangRunning, ready
	}
	if g.state == autoscale.GangRunning {
		left := (job.Work.Samples - g.base) / r.perHour(g)
		done := g.since.Add(time.Duration(math.Ceil(left * float64(time.Hour))))
		if !done.After(to) {
			g.base, g.safe, g.state, g.since = job.Work.Samples, job.Work.Samples, autoscale.GangDone, done
			return
		}
		// The checkpoint of each interval costs nothing here.
		n := to.Sub(g.since) / job.Checkpoint.Every
		g.safe = max(g.safe, r.seen(g, g.since.Add(n*job.Checkpoint.Every)))
	}
	if saved := g.since.Add(job.Checkpoint.Save); g.state == autoscale.GangStopping && !saved.After(to) {
		g.state, g.since, g.safe = autoscale.GangStopped, saved, g.base
	}
}

func (r *testRunner) Start(_ context.Context, g autoscale.Gang) error {
	if r.fail != nil {
		if err := r.fail("start"); err != nil {
			return err
		}
	}
	last, ok := r.gangs[g.Job]
	switch {
	case ok && last.gang.Generation >= g.Generation:
		return nil
	case ok && last.live():
		r.w.t.Errorf("start %s: generation %d still runs", g.Job, last.gang.Generation)
	}
	up := map[provider.InstanceID]bool{}
	for _, inst := range r.w.live() {
		up[inst.ID] = inst.State == provider.Running
	}
	if len(g.Nodes) != g.Config.Nodes {
		r.w.t.Errorf("start %s: %d nodes of %d", g.Job, len(g.Nodes), g.Config.Nodes)
	}
	for _, n := range g.Nodes {
		if !up[n.Instance] {
			r.w.t.Errorf("start %s: machine %s does not run", g.Job, n.Instance)
		}
		if len(n.Accelerators)*g.Config.Nodes != g.Config.Replicas {
			r.w.t.Errorf("start %s: %d accelerators on %s, %d replicas on %d nodes", g.Job, len(n.Accelerators), n.Instance, g.Config.Replicas, g.Config.Nodes)
		}
		for _, other := range r.gangs {
			if !other.live() || other.gang.Job == g.Job {
				continue
			}
			for _, m := range other.gang.Nodes {
				if m.Instance == n.Instance && slices.ContainsFunc(m.Accelerators, func(i int) bool { return slices.Contains(n.Accelerators, i) }) {
					r.w.t.Errorf("start %s: %s holds an accelerator of %s", g.Job, other.gang.Job, n.Instance)
				}
			}
		}
	}
	base := 0.0
	if ok {
		base = last.safe
	}
	r.gangs[g.Job] = &testGang{gang: g, state: autoscale.GangStarting, since: r.now, base: base, safe: base}
	return nil
}

func (r *testRunner) Stop(_ context.Context, job planner.JobID, generation int64, mode autoscale.StopMode) error {
	if r.fail != nil {
		if err := r.fail("stop"); err != nil {
			return err
		}
	}
	g, ok := r.gangs[job]
	if !ok || g.gang.Generation != generation || !g.live() || g.state == autoscale.GangStopping && mode == autoscale.StopSave {
		return nil
	}
	if mode == autoscale.StopKill {
		g.state, g.since, g.base = autoscale.GangStopped, r.now, g.safe
		return nil
	}
	g.base = r.seen(g, r.now)
	g.state, g.since = autoscale.GangStopping, r.now
	return nil
}

func (r *testRunner) Progress(context.Context) ([]autoscale.Progress, error) {
	if r.fail != nil {
		if err := r.fail("progress"); err != nil {
			return nil, err
		}
	}
	var list []autoscale.Progress
	for id, g := range r.gangs {
		list = append(list, autoscale.Progress{Job: id, Generation: g.gang.Generation, State: g.state, Safe: g.safe, Seen: r.seen(g, r.now), Since: g.since, Gang: &g.gang})
	}
	return list, nil
}

// storeFault is how a commit goes wrong.
type storeFault int

const (
	noFault       storeFault = iota
	nothingStored            // an error, and nothing is stored
	allStored                // an error, but all is stored
)

// faultyStore is a store whose commits fail as they are told.
type faultyStore struct {
	autoscale.Store
	fail func() storeFault // nil: never
}

var errDisk = errors.New("disk full")

func (s *faultyStore) Commit(ctx context.Context, c autoscale.Change) error {
	how := noFault
	if s.fail != nil {
		how = s.fail()
	}
	if how == nothingStored {
		return errDisk
	}
	if err := s.Store.Commit(ctx, c); err != nil {
		return err
	}
	if how == allStored {
		return errDisk
	}
	return nil
}
