package policy

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/provider"
)

// FrontPoint is one way to spend: what it costs to the end and how long it takes.
// Of the points of a front none is both cheaper and faster than another.
type FrontPoint struct {
	Cost  float64 // USD to the end, with moving data
	Hours float64 // to the end, with losses, waits, boot and transfer; of a queue: the mean over its jobs
	Last  float64 // h to the end of the last job; of a job: Hours

	Config   planner.Config    // of a job; zero for a queue
	Offering provider.Offering // of a job
	Rate     float64           // USD/h at the start
	Times    float64           // of a queue: the factor on every job's value of time; 0 for a job

	PerHour float64 // what an hour less costs more than on the point before, USD/h; 0 for the first
	Knee    bool    // the least cost × time
}

// JobFront is the cost-time front of one job if it were alone: all its configs of
// which none other is both cheaper and faster, the cheapest first. It is an error
// when the job's work is not known, or nothing carries it.
func (r *Reasons) JobFront(id planner.JobID) ([]FrontPoint, error) {
	i, err := r.job(id)
	if err != nil {
		return nil, err
	}
	s, w := &r.problem.Jobs[i], &r.know[i]
	if s.Job.Work.Kind == planner.WorkUnknown {
		return nil, fmt.Errorf("job %s: its work is not known: there is no cost and no time to the end", id)
	}
	var points []FrontPoint
	for o := range r.problem.Offers {
		offer := &r.problem.Offers[o]
		if offer.Blocked != "" || offer.Cap == 0 {
			continue
		}
		cols, err := r.on(s, offer)
		if err != nil {
			return nil, err
		}
		for c := range cols {
			if offer.Cap >= 0 && cols[c].Nodes > offer.Cap {
				continue
			}
			e := r.elsewhere(s, &cols[c], offer, w)
			points = append(points, FrontPoint{
				Cost: e.ToEnd + e.Egress, Hours: e.Hours, Last: e.Hours, Config: e.Config, Offering: e.Offering, Rate: e.Rate,
			})
		}
	}
	if len(points) == 0 {
		return nil, fmt.Errorf("job %s: nothing that fits can be had now", id)
	}
	return efficient(points), nil
}

// The front of a queue is found with every job's value of time times 2^k, k from
// −frontSteps to frontSteps in halves.
const frontSteps = 6

// QueueFront is the cost-time front of all jobs together: plans with every value of
// time scaled up and down, of which none other is both cheaper and faster in the
// mean. left counts the jobs that are left out of all of them, so that the points can
// be compared: those whose work is not known, and have no finish, and those that wait
// in some plan because of a cap, a quota or a shortage.
func (r *Reasons) QueueFront() (points []FrontPoint, left int, err error) {
	type sample struct {
		plan  planner.Plan
		times float64
	}
	var samples []sample
	waits := map[planner.JobID]bool{}
	for k := -2 * frontSteps; k <= 2*frontSteps; k++ {
		times := math.Exp2(float64(k) / 2)
		p := r.given
		p.Jobs = slices.Clone(p.Jobs)
		for i := range p.Jobs {
			if r.know[i].v <= 0 {
				continue
			}
			j := *p.Jobs[i].Job
			j.ValueOfTime = max(1, pricing.RateOf(r.know[i].v*times))
			p.Jobs[i].Job = &j
		}
		plan, err := r.again(p)
		if err != nil {
			return nil, 0, err
		}
		for _, w := range plan.Waits {
			waits[w.Job] = true
		}
		samples = append(samples, sample{plan, times})
	}
	for _, s := range samples {
		point, jobs := FrontPoint{Times: s.times, Rate: s.plan.Burn.Dollars()}, 0
		for i := range s.plan.Allocations {
			a := &s.plan.Allocations[i]
			if waits[a.Job] || a.Finish.IsZero() {
				continue
			}
			h := a.Finish.Sub(r.problem.Now).Hours()
			point.Cost += a.Cost.Dollars()
			point.Hours += h
			point.Last = max(point.Last, h)
			jobs++
		}
		left = len(r.problem.Jobs) - jobs
		if jobs == 0 {
			continue
		}
		point.Hours /= float64(jobs)
		points = append(points, point)
	}
	if len(points) == 0 {
		return nil, left, errors.New("no job with known work runs in every plan: there is nothing to compare")
	}
	return efficient(points), left, nil
}

// efficient keeps the points of which none other is as cheap and as fast, cheapest
// first, and marks the knee.
func efficient(points []FrontPoint) []FrontPoint {
	slices.SortStableFunc(points, func(a, b FrontPoint) int {
		return cmp.Or(cmp.Compare(a.Cost, b.Cost), cmp.Compare(a.Hours, b.Hours))
	})
	var front []FrontPoint
	for _, p := range points {
		if n := len(front); n > 0 {
			last := &front[n-1]
			if p.Hours >= last.Hours*(1-frontSlack) {
				continue
			}
			if p.Cost <= last.Cost*(1+frontSlack) { // as cheap, and faster
				front = front[:n-1]
			}
		}
		front = append(front, p)
	}
	knee := 0
	for i := range front {
		if i > 0 {
			front[i].PerHour = (front[i].Cost - front[i-1].Cost) / (front[i-1].Hours - front[i].Hours)
		}
		if front[i].Cost*front[i].Hours < front[knee].Cost*front[knee].Hours*(1-frontSlack) {
			knee = i
		}
	}
	front[knee].Knee = true
	return front
}

// frontSlack is the share by which two costs, or two times, are one: nobody could
// tell them apart on a screen.
const frontSlack = 1e-4
