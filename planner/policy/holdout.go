package policy

import (
	"fmt"
	"slices"
	"time"

	"github.com/goodfleet/goodfleet/planner"
)

// holdOut takes out of a plan the machines that would be bought for one job that does not
// run yet, where it had better wait for an offer that opens to it later: where
//
//	v·w + [cost of the rest of its work there] < [cost of it in the plan],
//
// with w the hours until then and v its value of time, by the ways that it has with what
// opens. So a job that may buy on demand only after it has waited for spot does not take
// any spot meanwhile, however dear: a machine of four for a job of one. Jobs that share
// what would be bought, and those whose deadline presses, are left as they are. As for
// delay, the value and the bound of the plan stay those of the program.
//
// It returns when the offers open.
func holdOut(p *planner.Problem, pr *planner.Program, know []worth, plan *planner.Plan) []time.Time {
	index := make(map[planner.JobID]int, len(pr.Jobs))
	for i := range pr.Jobs {
		index[pr.Jobs[i].State.Job.ID] = i
	}
	var opens []time.Time
	gone := make([]bool, len(plan.Machines))
	kept := plan.Allocations[:0:0]
	for _, a := range plan.Allocations {
		i := index[a.Job]
		wait, better := opening(p, pr, i, &know[i], &a, plan)
		if !better {
			kept = append(kept, a)
			continue
		}
		for _, m := range a.Machines {
			gone[m] = true
			plan.Burn -= plan.Machines[m].Rate
		}
		plan.Waits = append(plan.Waits, wait)
		opens = append(opens, wait.Retries)
	}
	if len(opens) > 0 {
		plan.Allocations = kept
		without(plan, gone)
	}
	return opens
}

// opening is for what job i had better wait; better is false where it had not.
func opening(p *planner.Problem, pr *planner.Program, i int, w *worth, a *planner.Allocation, plan *planner.Plan) (wait planner.Wait, better bool) {
	state := *pr.Jobs[i].State
	own := state.Job
	job := *own
	if job.Opens == nil || job.Refuses == nil || pr.Jobs[i].Current >= 0 || w.pledge != nil && (w.pledge.must || w.floor > 0) {
		return wait, false
	}
	for _, m := range a.Machines {
		if x := &plan.Machines[m]; x.Instance != "" || len(x.Jobs) != 1 {
			return wait, false
		}
	}
	later := func(o *planner.Offer) (at time.Time) {
		if len(own.Refuses(o)) > 0 {
			at = own.Opens(o)
		}
		return at
	}
	if !slices.ContainsFunc(p.Offers, func(o planner.Offer) bool { return later(&o).After(p.Now) }) {
		return wait, false
	}
	job.Refuses = func(o *planner.Offer) []planner.Refusal {
		if later(o).After(p.Now) {
			return nil
		}
		return own.Refuses(o)
	}
	state.Job = &job
	alone := planner.Problem{Now: p.Now, Jobs: []planner.JobState{state}, Offers: p.Offers}
	ways, err := planner.NewProgram(&alone, pr.Transfer)
	if err != nil || len(ways.Jobs[0].Columns) == 0 {
		return wait, false
	}
	d := &ways.Jobs[0]
	know := appraise(&alone, d, nil)
	planned, least := -1.0, -1.0
	var there *planner.Column
	var at time.Time
	for c := range d.Columns {
		col := &d.Columns[c]
		o := &p.Offers[col.Offer]
		if o.Offering == a.Offering && col.Nodes == a.Config.Nodes && col.Replicas() == a.Config.Replicas {
			planned = cost(col, &know)
		}
		if opens := later(o); opens.After(p.Now) {
			if all := cost(col, &know) + know.v*opens.Sub(p.Now).Hours(); least < 0 || all < least {
				least, there, at = all, col, opens
			}
		}
	}
	if there == nil || planned < 0 || least >= planned*(1-leastSaving) {
		return wait, false
	}
	return planner.Wait{Job: a.Job, Retries: at, Reason: fmt.Sprintf("it waits for %s, which it may use in %s: %s would cost it %s USD more to the end",
		p.Offers[there.Offer].Offering, span(at.Sub(p.Now).Hours()), a.Offering, money(planned-least))}, true
}
