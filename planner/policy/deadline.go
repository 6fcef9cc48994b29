package policy

import (
	"math"
	"slices"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/planner/deadline"
	"github.com/goodfleet/goodfleet/pricing"
)

// pledge is what a policy knows of a job's deadline before the plan is made.
type pledge struct {
	safety planner.Safety
	all    []planner.Column // of the job, before it was confined
	due    bool             // its slack is used up: it gets what surely runs
	must   bool             // it runs before all jobs that need not, whatever it is worth
	hold   string           // why it is to wait; "": it may run
	prize  float64          // that makes it so, USD/h; not part of any plan's worth
	short  string           // must run, and is left without machines: the row that it lacks
}

// A deadline that cannot be met any more still binds while it is missed by little:
// by an hour, or by a tenth of what is left to do. A job that misses it by more is
// planned as if it had none: the dearest machines would not save it.
const (
	littleLate  = 1.0 // h
	littleShare = 0.1
)

// secure looks after the deadlines of all jobs: it reserves their nets, raises the
// value of time of those whose best way is too slow, and leaves those whose slack is
// used up nothing but what surely runs and meets the deadline.
func secure(p *planner.Problem, pr *planner.Program, know []worth) {
	left := make([]float64, len(pr.Jobs))
	none := true
	for i := range pr.Jobs {
		left[i] = know[i].p80
		none = none && pr.Jobs[i].State.Job.Deadline.IsZero()
	}
	if none {
		return
	}
	for i, safety := range pr.Secure(left) {
		d, w := &pr.Jobs[i], &know[i]
		if d.State.Job.Deadline.IsZero() || len(d.Columns) == 0 {
			continue
		}
		w.pledge = &pledge{safety: safety, all: d.Columns}
		left := d.State.Job.Deadline.Sub(p.Now).Hours()
		switch late := safety.Soonest - left; {
		case len(safety.Ways) == 0 && (safety.Soonest == 0 || late > max(littleLate, littleShare*safety.Soonest)):
		case len(safety.Ways) == 0:
			w.pledge.due, w.pledge.must = true, true
			confine(p, d, w, func(c int) bool {
				col := &d.Columns[c]
				start := col.Resume + col.Boot
				if c == d.Current {
					start = 0
				}
				return p.Offers[col.Offer].Sure() && start+col.WallHours(w.p80) <= safety.Soonest+p.Tick().Hours()
			})
		case safety.Net == nil: // it takes what the others leave
		case !safety.From.After(p.Now):
			w.pledge.due, w.pledge.must = true, true
			net := safety.Net.Column // the others' nets do not stand in the way of this one
			confine(p, d, w, func(c int) bool {
				return c == net || c == d.Current && slices.ContainsFunc(safety.Ways, func(f planner.Fallback) bool { return f.Column == c })
			})
		default:
			hasten(p, d, w, left)
		}
	}
}

// confine leaves a job the columns that keep accepts, and values its work by the
// cheapest of them.
func confine(p *planner.Problem, d *planner.Demand, w *worth, keep func(c int) bool) {
	var kept []planner.Column
	current := -1
	for c := range d.Columns {
		if !keep(c) {
			continue
		}
		if c == d.Current {
			current = len(kept)
		}
		kept = append(kept, d.Columns[c])
	}
	d.Columns, d.Current = kept, current
	if len(kept) > 0 {
		cheapestWay(p, d, w, nil)
		setWorth(p, d, w)
	}
}

// hasten raises the value of time of a job until the way that is then its cheapest is
// fast enough for the deadline in left hours, by the least raise that does. The waits
// of spot do not count: the net ends them.
func hasten(p *planner.Problem, d *planner.Demand, w *worth, left float64) {
	enough := func(v float64) bool {
		w.v = v
		cheapestWay(p, d, w, nil)
		c := &d.Columns[w.best]
		start := c.Resume + c.Boot
		if w.best == d.Current {
			start = 0
		}
		return deadline.Net(c.PaidHours(w.p80), start, p.Tick().Hours(), 0) <= left
	}
	own := w.v
	if w.best >= 0 && enough(own) {
		return
	}
	low, high := own, max(own, 1)
	for range hastenDoublings {
		if enough(high) {
			break
		}
		low, high = high, 2*high
	}
	for range hastenHalvings {
		if mid := (low + high) / 2; enough(mid) {
			high = mid
		} else {
			low = mid
		}
	}
	if !enough(high) { // no value does
		enough(own)
	}
	w.floor = w.v
	setWorth(p, d, w)
}

// Raises are sought up to 2^20 USD/h, and to a thousandth of that found.
const (
	hastenDoublings = 20
	hastenHalvings  = 10
)

// reward puts jobs that must run before all others: each of them is worth more than all that
// could be had in its place. Those whose net is reserved come before those that are
// late by little, and the sooner a net had to start the more.
func reward(pr *planner.Program, know []worth) {
	var due []int
	all := 1.0
	for i := range pr.Jobs {
		if w := &know[i]; w.pledge != nil && w.pledge.must {
			due = append(due, i)
		}
		most := 0.0
		for c := range pr.Jobs[i].Columns {
			col := &pr.Jobs[i].Columns[c]
			most = max(most, math.Abs(col.Stay)+math.Abs(col.Here)+math.Abs(col.Bought)+col.Alone)
		}
		all += most
	}
	slices.SortStableFunc(due, func(a, b int) int {
		return know[a].pledge.safety.From.Compare(know[b].pledge.safety.From)
	})
	head := headOf(pr, know)
	if head >= 0 {
		know[head].head = all
		raise(&pr.Jobs[head], all)
	}
	n := float64(len(due))
	for rank, i := range due {
		times := 2 - float64(rank)/n
		if head >= 0 {
			times++ // it comes after every deadline
		}
		if know[i].pledge.safety.Net != nil {
			times += 2 * n
		}
		know[i].pledge.prize = all * times
		raise(&pr.Jobs[i], all*times)
	}
}

// raise adds a prize to every way of a job.
func raise(d *planner.Demand, prize float64) {
	for c := range d.Columns {
		col := &d.Columns[c]
		col.Stay, col.Here, col.Bought = col.Stay+prize, col.Here+prize, col.Bought+prize
	}
}

// solveDue is planner.Solve with the prizes of jobs that must run taken out of the worth of the
// plan. Those that it leaves waiting are named by the row that they lack, and the
// plan is made without them, so that its bound is one of what can be had.
func solveDue(pr *planner.Program, scale float64, lim planner.Limits, know []worth) planner.Solution {
	pr.FreeRoom()
	sol := planner.Solve(pr, scale, lim)
	left := makeWay(pr, know, sol)
	for i := range pr.Jobs {
		if w := &know[i]; w.pledge != nil {
			w.pledge.short = ""
		}
		if w := &know[i]; w.pledge != nil && w.pledge.must && len(pr.Jobs[i].Columns) > 0 && sol.Waits(i) {
			w.pledge.short = sol.CouldStart(i)
			if w.pledge.short == "" {
				w.pledge.short = "room"
			}
			pr.Jobs[i].Columns, pr.Jobs[i].Current = nil, -1
			left = true
		}
	}
	if left {
		sol = planner.Solve(pr, scale, lim)
	}
	for i := range pr.Jobs {
		if w := &know[i]; w.pledge != nil && w.pledge.must && !sol.Waits(i) {
			sol.Value -= w.pledge.prize
			sol.Bound.Value -= w.pledge.prize
		}
		if w := &know[i]; w.head > 0 && !sol.Waits(i) {
			sol.Value -= w.head
			sol.Bound.Value -= w.head
		}
	}
	return sol
}

// promise says how the plan stands to the deadline of a job.
func promise(p *planner.Problem, d *planner.Demand, seat *planner.Seat, w *worth) planner.Promise {
	job := d.State.Job
	x := planner.Promise{Job: job.ID, Deadline: job.Deadline}
	if c := seat.Column; c != nil && job.Work.Kind != planner.WorkUnknown {
		x.Finish = p.Now.Add(hours(startOf(seat) + c.WallHours(w.p80)))
	}
	if w.pledge == nil {
		x.State, x.Reason = planner.PromiseOpen, "nothing that it fits can be had now"
		return x
	}
	s := &w.pledge.safety
	x.From = s.From
	if s.Net != nil {
		x.Net = course(p, &w.pledge.all[s.Net.Column], w, s.Net.Start)
	}
	switch {
	case s.Soonest == 0 && job.Deadline.After(p.Now) && !x.Finish.After(job.Deadline):
		x.State, x.Reason = planner.PromiseOpen, "nothing that it takes and that surely runs can be had now"
	case len(s.Ways) == 0:
		x.State = planner.PromiseLate
		if s.Soonest > 0 {
			x.Soonest = p.Now.Add(hours(s.Soonest))
		}
		x.Later = cheapestEnd(p, w)
	case w.pledge.short != "":
		x.State, x.Reason = planner.PromiseOpen, s.Why
		if x.Reason == "" {
			x.Reason = w.pledge.short + " is taken"
		}
	case w.pledge.due:
		x.State = planner.PromiseNet
	case s.Net == nil:
		x.State, x.Reason = planner.PromiseOpen, s.Why
	default:
		x.State, x.Slack = planner.PromiseKept, s.From.Sub(p.Now)
	}
	return x
}

// startOf is how long a job takes to its first step in a seat, h.
func startOf(seat *planner.Seat) float64 {
	switch {
	case seat.Stays:
		return 0
	case seat.Bought:
		return seat.Column.Resume + seat.Column.Boot
	}
	return seat.Column.Resume
}

func course(p *planner.Problem, c *planner.Column, w *worth, start float64) *planner.Course {
	o := &p.Offers[c.Offer]
	return &planner.Course{
		Config: configOf(p, c), Offering: o.Offering, Rate: o.Rate.Times(c.Nodes),
		Finish: p.Now.Add(hours(start + c.WallHours(w.p80))),
		Cost:   pricing.Money((c.Alone*start + c.Spend(w.p80) + c.OneOff) * float64(pricing.Dollar)),
	}
}

// cheapestEnd is the way to the end that costs least, whenever it ends.
func cheapestEnd(p *planner.Problem, w *worth) *planner.Course {
	var best *planner.Course
	for c := range w.pledge.all {
		col := &w.pledge.all[c]
		if x := course(p, col, w, col.Resume+col.Boot); best == nil || x.Cost < best.Cost {
			best = x
		}
	}
	return best
}
