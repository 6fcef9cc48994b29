package policy

import (
	"fmt"
	"slices"

	"github.com/goodfleet/goodfleet/planner"
)

// Reasons is a plan of Value with what it was made from, so that it can be asked
// how it would change. Two kinds of question are told apart. With the worth of
// work as the plan took it, the value of a changed problem is compared with the
// plan's: that is what a machine or a unit of quota more or less is worth. Or the
// changed problem is planned anew, worth of work included: that tells at which
// price something would be chosen.
//
// It is not changed by asking, and answers depend on nothing but the problem.
type Reasons struct {
	Plan planner.Plan

	given    planner.Problem // as it was asked; plans are made anew from it
	problem  planner.Problem // with the types hidden that nobody is to try
	settings Settings
	know     []worth
	full     []planner.Demand
}

// Problem is the problem that was planned. It must not be changed.
func (r *Reasons) Problem() *planner.Problem { return &r.problem }

// job finds a job of the problem.
func (r *Reasons) job(id planner.JobID) (int, error) {
	for i := range r.problem.Jobs {
		if r.problem.Jobs[i].Job.ID == id {
			return i, nil
		}
	}
	return 0, fmt.Errorf("the plan has no job %s", id)
}

// allocation finds what the plan gives a job; nil when it waits.
func allocation(plan *planner.Plan, id planner.JobID) *planner.Allocation {
	for i := range plan.Allocations {
		if plan.Allocations[i].Job == id {
			return &plan.Allocations[i]
		}
	}
	return nil
}

// program is the joint program of a changed problem with the same jobs, in which an
// hour of each config is worth what the plan's worth of work makes it. Jobs of
// which the plan knew no way to run are appraised by the changed problem.
func (r *Reasons) program(p *planner.Problem) (*planner.Program, error) {
	pr, err := planner.NewProgram(p, r.settings.transfer())
	if err != nil {
		return nil, err
	}
	for i := range pr.Jobs {
		d := &pr.Jobs[i]
		if len(d.Columns) == 0 {
			continue
		}
		w := r.know[i]
		if w.kappa == 0 {
			w = appraise(p, d, nil)
		}
		d.Columns = r.fallingBack(i, d.Columns)
		if now := r.full[i].Current; now >= 0 && d.Current < 0 {
			// It would lose what it holds: what it is worth elsewhere is still told
			// from there, else a restart that is forced would cost nothing.
			d.Columns, d.Current = append(d.Columns, r.full[i].Columns[now]), len(d.Columns)
			setWorth(p, d, &w)
			d.Columns, d.Current = d.Columns[:d.Current], -1
		} else {
			setWorth(p, d, &w)
		}
		if w.pledge != nil && w.pledge.due {
			r.hasten(d, i)
		} else {
			within(p, d, &w)
		}
		raise(d, w.head)
	}
	return pr, nil
}

// hasten leaves a due job the ways that the plan leaves it, with their prize.
func (r *Reasons) hasten(d *planner.Demand, i int) {
	var kept []planner.Column
	current := -1
	for c := range d.Columns {
		col := d.Columns[c]
		if !slices.ContainsFunc(r.full[i].Columns, func(x planner.Column) bool {
			return x.Offer == col.Offer && x.Nodes == col.Nodes && x.PerNode == col.PerNode
		}) {
			continue
		}
		if c == d.Current {
			current = len(kept)
		}
		prize := r.know[i].pledge.prize
		col.Stay, col.Here, col.Bought = col.Stay+prize, col.Here+prize, col.Bought+prize
		kept = append(kept, col)
	}
	d.Columns, d.Current = kept, current
}

// solve searches a changed problem for its best value, with the worth of work as
// the plan took it. There is no hysteresis: a difference of values has none.
func (r *Reasons) solve(p *planner.Problem) (planner.Solution, error) {
	pr, err := r.program(p)
	if err != nil {
		return planner.Solution{}, err
	}
	pr.Prune()
	limits := r.settings.Limits
	limits.NoBound = true
	know := slices.Clone(r.know)
	for i := range know {
		if know[i].pledge != nil {
			own := *know[i].pledge
			know[i].pledge = &own
		}
	}
	return solveDue(pr, 0, limits, know), nil
}

// again plans a changed problem anew.
func (r *Reasons) again(p planner.Problem) (planner.Plan, error) {
	s := r.settings
	s.Limits.NoBound = true
	return Value(p, s)
}
