package peer

import (
	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/planner/share"
)

// Numbers of Sia's program.
const (
	siaPower  = -0.5
	siaLambda = 1.1
)

// Sia is Sia's policy (SOSP 2023) as its simulator has it: the sum of goodputs over the
// least of each job, to the power −0.5, and 1.1 for each job without machines, is
// minimised over whole configs of one type each. A job that has not run counts 1 on one
// accelerator of any type. One that restores keeps what it has. The authors round each
// term to two decimals and place anew in each round, at no cost where the shape is the
// same; here what runs stays where it can.
type Sia struct {
	Of func(j *planner.JobState) Known
}

// Plan makes the plan of a round.
func (x Sia) Plan(p planner.Problem) (planner.Plan, error) {
	f := newFloor(&p)
	a := share.Assignment{Rule: share.Sia, Power: siaPower, Lambda: siaLambda}
	for _, k := range f.kinds {
		a.Types = append(a.Types, share.Type{Name: k.name, Workers: k.workers, Price: -1})
	}
	for i := range p.Jobs {
		a.Requests = append(a.Requests, x.request(f, &p.Jobs[i]))
	}
	var chosen []seat
	for i, c := range a.Solve(search).Choice {
		if c >= 0 {
			o := a.Requests[i].Options[c]
			chosen = append(chosen, seat{&p.Jobs[i], o.GPUs, o.Type, false})
		}
	}
	f.seatAll(chosen)
	plan := f.finish("others gain more")
	plan.NextDecision = p.Now.Add(minute)
	return plan, nil
}

// request is a job with its configs.
func (x Sia) request(f *floor, j *planner.JobState) share.Request {
	known := x.Of(j)
	q := share.Request{ID: string(j.Job.ID), MinGPUs: 1, Current: -1, Restart: share.Restart{
		AgeSec: f.p.Now.Sub(j.Job.Submitted).Seconds(), CostSec: known.Restart.Seconds(), Count: float64(j.Restarts),
	}}
	for w := range f.kinds {
		k := &f.kinds[w]
		for _, n := range k.sizes(known.Most) {
			g, ok := known.Goodput(k.typ.Accelerator, (n+k.typ.Count-1)/k.typ.Count, n)
			if !ok {
				continue
			}
			if !known.Ran {
				if g = 1; n > 1 {
					break
				}
			}
			if r := j.Running; r != nil && r.Offering == k.offering && r.Config.Replicas == n {
				q.Current = len(q.Options)
				q.Pinned = f.p.Now.Sub(r.Since) < j.Job.Checkpoint.Restore
			}
			q.Options = append(q.Options, share.Config{Type: w, GPUs: n, Goodput: g})
		}
	}
	return q
}
