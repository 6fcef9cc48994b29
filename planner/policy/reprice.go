package policy

import "github.com/goodfleet/goodfleet/planner"

// supplyTries is how often a plan is made anew because its own purchases leave a
// job without its cheapest way.
const supplyTries = 4

// reprice finds the jobs whose cheapest way, or what the plan gives them, is used up
// by the plan itself, supply or quota, and values their work by the cheapest that is
// left: it is what they would get if they came a round later, and what replacing what
// they get would cost then. It reports whether any value changed.
func reprice(p *planner.Problem, sol planner.Solution, full []planner.Demand, know []worth) bool {
	changed := false
	for i := range full {
		d, w := &full[i], &know[i]
		if w.best < 0 || len(d.Columns) == 0 || w.pledge != nil && w.pledge.must || w.head > 0 {
			continue
		}
		at := &d.Columns[w.best]
		if c := sol.Column(i); c != nil {
			if d.Current >= 0 {
				continue // hard saw to it
			}
			at = c
		}
		if !sol.UsedUp(i, at) {
			continue
		}
		gone := func(c *planner.Column) bool { return sol.UsedUp(i, c) }
		next := appraise(p, d, gone)
		if next.best < 0 {
			continue
		}
		if next.v < w.floor {
			next.v = w.floor
			cheapestWay(p, d, &next, gone)
		}
		if next.best == w.best && next.kappa == w.kappa {
			continue
		}
		next.pledge, next.floor, next.aside, next.keep = w.pledge, w.floor, w.aside, w.keep
		*w = next
		setWorth(p, d, w)
		changed = true
	}
	return changed
}

// hard values the work of a job that holds what could not be had again, by the
// cheapest way that could: it is worth what replacing it would cost, as it was when
// the plan that gave it used up the rest.
func hard(pr *planner.Program, d *planner.Demand, w *worth) {
	if d.Current < 0 || pr.Spare(&d.Columns[d.Current]) {
		return
	}
	next := appraise(pr.Problem, d, func(c *planner.Column) bool { return !pr.Spare(c) })
	if next.best >= 0 && d.Columns[next.best].Offer != d.Columns[d.Current].Offer { // else only its own size is in question
		*w = next
	}
}
