package peer

import (
	"math"
	"time"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/planner/share"
	"github.com/goodfleet/goodfleet/planner/whole"
)

// Known is what a scheduler is told of a job that adapts.
type Known struct {
	Ran     bool          // else nothing is known of its speed
	Most    int           // replicas that it may be given
	Restart time.Duration // what one costs, as the scheduler takes it

	// Goodput of a gang of any size, in any unit of its own. ok is false where it cannot
	// run.
	Goodput func(accelerator string, nodes, replicas int) (goodput float64, ok bool)
}

// Numbers of Pollux's simulator.
const (
	polluxPower = -1
	polluxShare = 0.25 // what one accelerator is of 64, times 16 machines
)

// gap and effort of the searches of whole configs.
var search = whole.Limits{Gap: 1e-3, Nodes: 30}

// Pollux is Pollux's policy (OSDI 2021) as its simulator has it: it maximises the power mean, p = −1, of the speedups of jobs over their fair
// share of accelerators, those of a changed allocation less by what restarts took of the
// job's age. Where the authors search whole placements by a genetic algorithm, sizes are
// searched here with a bound, among 1, 2 and 4 of a machine and whole machines, for which
// there is always a placement.
//
// It knows no types. Where there are several, as Sia's authors had it run, they are one to
// it, in machines of the smallest, and a job has no more accelerators than there are of
// each type. On which a changed job lands is drawn, each accelerator as likely; where no
// type has room for all of it, it gets what one has.
type Pollux struct {
	Of func(j *planner.JobState) Known

	// Mixed goes further with what knows no types, as Sia's artifact (siasosp23/artifacts at
	// aaf7a0d) repairs what its genetic algorithm finds: a gang of several machines lies on
	// any, and keeps those of the type of which it has most; of jobs whose size changes, the
	// one that held machines for the shortest time is seated first.
	Mixed bool
}

// Plan makes the plan of a round.
func (x Pollux) Plan(p planner.Problem) (planner.Plan, error) {
	f := newFloor(&p)
	k := f.one()
	a := share.Assignment{Rule: share.Pollux, Power: polluxPower, Types: []share.Type{{Name: k.name, Workers: k.workers, Price: -1}}}
	sizes := make([][]int, len(p.Jobs))
	for i := range p.Jobs {
		var q share.Request
		q, sizes[i] = x.request(f, k, &p.Jobs[i], len(p.Jobs))
		a.Requests = append(a.Requests, q)
	}
	var chosen []seat
	for i, c := range a.Solve(search).Choice {
		if c >= 0 {
			chosen = append(chosen, seat{&p.Jobs[i], sizes[i][c], 0, false})
		}
	}
	if len(f.kinds) > 1 {
		f.seatBlind(chosen, x.Mixed)
	} else {
		f.seatAll(chosen)
	}
	plan := f.finish("others gain more")
	plan.NextDecision = p.Now.Add(minute)
	return plan, nil
}

// request is a job of so many, with its configs and their sizes.
func (x Pollux) request(f *floor, k *kind, j *planner.JobState, jobs int) (q share.Request, sizes []int) {
	known := x.Of(j)
	goodput := func(n int) (float64, bool) {
		nodes := (n + k.typ.Count - 1) / k.typ.Count
		if !known.Ran {
			return float64(n), true
		}
		return known.Goodput(k.typ.Accelerator, nodes, n)
	}
	fair := (k.workers + jobs - 1) / jobs // priced as if on one machine
	base := float64(fair)
	if known.Ran {
		base, _ = known.Goodput(k.typ.Accelerator, 1, min(fair, k.typ.Count))
	}
	q = share.Request{ID: string(j.Job.ID), Current: -1, Restart: share.Restart{
		AgeSec: max(1, f.p.Now.Sub(j.Job.Submitted).Seconds()), CostSec: known.Restart.Seconds(), Count: float64(j.Restarts),
	}}
	least := math.Inf(1)
	for _, n := range k.sizes(min(known.Most, f.least())) {
		g, ok := goodput(n)
		if !ok {
			continue
		}
		least = min(least, g)
		if r := j.Running; r != nil && (len(f.kinds) > 1 || r.Offering == k.offering) && r.Config.Replicas == n {
			q.Current = len(sizes)
		}
		q.Options = append(q.Options, share.Config{Type: 0, GPUs: n, Goodput: g})
		sizes = append(sizes, n)
	}
	q.MinGPUs = polluxShare * least / base
	if q.Current < 0 { // a start is a change too
		r := q.Restart
		q.MinGPUs *= max(r.AgeSec-r.Count*r.CostSec, 0.01) / (r.AgeSec + r.CostSec)
	}
	return q, sizes
}

// sizes are powers of two of a machine, and whole machines, up to most accelerators.
func (k *kind) sizes(most int) []int {
	var list []int
	for n := 1; n < k.typ.Count && n <= most; n *= 2 {
		list = append(list, n)
	}
	for n := k.typ.Count; n <= min(most, k.workers); n += k.typ.Count {
		list = append(list, n)
	}
	return list
}
