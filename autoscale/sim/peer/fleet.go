package peer

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/provider"
)

// Fleet is machines with accelerators of one kind, bought in one market, for jobs that
// come first and are served first. Each job lies on one machine; those who run stay where
// they are, and one that finds no room is passed over by those behind it that do.
type Fleet struct {
	Accelerator string
	Market      provider.Market
}

// Fixed is the rule of those who rent a cluster: so many accelerators from the first job
// to the last, on which jobs share machines. A machine that stands idle is given back for
// others where a job fits on none that is there.
type Fixed struct {
	Fleet
	Accelerators int
}

// Plan makes the plan of a round.
func (r Fixed) Plan(p planner.Problem) (planner.Plan, error) {
	f := newFloor(&p)
	offers := r.offers(&p)
	for _, j := range f.stay() {
		if !f.seatOnOne(j, sizeOf(j), func(m int) bool { return true }) {
			r.rent(f, j, offers, r.Accelerators)
		}
	}
	for _, o := range offers {
		for f.workers()+o.Type.Count <= r.Accelerators && sells(o, 1) {
			f.buy(o, 1)
		}
	}
	plan := r.trim(f, r.Accelerators)
	if f.idle() > 0 { // whoever gives the cluster up does it then
		plan.NextDecision = p.Now.Add(minute)
	}
	return plan, nil
}

// Backlog is throughput-driven autoscaling: as many accelerators as do the work that is
// there within Hours at their throughput; at least those of the largest gang, and no more
// than all jobs have use for. Each job has a machine of its own, since one that is shared
// ends with the last job on it.
type Backlog struct {
	Fleet
	Hours float64
}

// Plan makes the plan of a round.
func (r Backlog) Plan(p planner.Problem) (planner.Plan, error) {
	f := newFloor(&p)
	work, gang, all := 0.0, 0, 0
	for i := range p.Jobs {
		j := &p.Jobs[i]
		n := sizeOf(j)
		if s, ok := j.Job.Curve.Speed(r.Accelerator, 1, n); ok && s.Goodput > 0 {
			work += float64(n) * (j.Job.Work.Samples - j.Done) / s.Goodput
			gang, all = max(gang, n), all+n
		}
	}
	want := all
	if hours := work / r.Hours; hours < float64(all) {
		want = max(int(math.Ceil(hours)), gang)
	}
	offers := r.offers(&p)
	for _, j := range f.stay() {
		n := sizeOf(j)
		if !f.seatOnOne(j, n, func(m int) bool { return len(f.plan.Machines[m].Jobs) == 0 && f.free[m] < 2*n }) {
			r.rent(f, j, offers, want)
		}
	}
	return r.trim(f, want), nil
}

// rent buys a machine for a job if no more than want accelerators are then held beside
// those that stand idle.
func (r *Fleet) rent(f *floor, j *planner.JobState, offers []*planner.Offer, want int) {
	n := sizeOf(j)
	for _, o := range offers {
		if _, lacks := planner.Lacks(j.Job, []planner.Offer{*o}); lacks || o.Type.Count < n || !sells(o, 1) {
			continue
		}
		if f.workers()-f.idle()+n > max(want, n) {
			return
		}
		k, at := f.buy(o, 1)
		f.seat(j, k, at, n)
		return
	}
}

// trim gives back what stands idle beyond so many accelerators.
func (r *Fleet) trim(f *floor, want int) planner.Plan {
	have := f.workers()
	f.end("more than are wanted", func(m int) bool {
		if have <= want {
			return false
		}
		have -= f.free[m]
		return true
	})
	plan := f.finish("others came before")
	plan.NextDecision = f.again()
	return plan
}

// seatOnOne places a job on the machine that has the least room for all of it, of those
// that may picks.
func (f *floor) seatOnOne(j *planner.JobState, n int, may func(machine int) bool) bool {
	best := -1
	var on *kind
	for i := range f.kinds {
		k := &f.kinds[i]
		if s, ok := j.Job.Curve.Speed(k.typ.Accelerator, 1, n); !ok || !(s.Goodput > 0) {
			continue
		}
		for _, m := range k.machines {
			if f.free[m] >= n && may(m) && (best < 0 || f.free[m] < f.free[best]) {
				best, on = m, k
			}
		}
	}
	if best >= 0 {
		f.seat(j, on, []int{best}, n)
	}
	return best >= 0
}

// offers are those of the fleet, the cheapest machines first.
func (r *Fleet) offers(p *planner.Problem) []*planner.Offer {
	var list []*planner.Offer
	for i := range p.Offers {
		if o := &p.Offers[i]; o.Type.Accelerator == r.Accelerator && o.Offering.Market == r.Market {
			list = append(list, o)
		}
	}
	slices.SortStableFunc(list, func(a, b *planner.Offer) int {
		return cmp.Or(cmp.Compare(a.Rate, b.Rate), a.Offering.Compare(b.Offering))
	})
	return list
}

// workers counts the accelerators of all machines.
func (f *floor) workers() (n int) {
	for i := range f.kinds {
		n += f.kinds[i].workers
	}
	return n
}

// idle counts the accelerators of machines that carry nobody.
func (f *floor) idle() (n int) {
	for i := range f.plan.Machines {
		if len(f.plan.Machines[i].Jobs) == 0 {
			n += f.free[i]
		}
	}
	return n
}

// again is when a plan is to be made anew if nothing happens: soon while jobs wait, and
// when a machine that nobody is on may be ended.
func (f *floor) again() (next time.Time) {
	if len(f.plan.Waits) > 0 {
		next = f.p.Now.Add(minute)
	}
	for i := range f.p.Machines {
		if m := &f.p.Machines[i]; m.HoldTo.After(f.p.Now) && (next.IsZero() || m.HoldTo.Before(next)) {
			next = m.HoldTo
		}
	}
	return next
}
