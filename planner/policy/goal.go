package policy

import (
	"fmt"

	"github.com/goodfleet/goodfleet/planner"
)

// goal is what a policy maximises that does not count in dollars.
type goal struct {
	unit    string  // of the sum
	unitUSD float64 // USD per hour that stand for a unit of it in the program
	jobs    []stake
	lost    string // why a job waits that could run on what others have
}

// stake is what one job adds to the sum of a goal.
type stake struct {
	on     func(c *planner.Column) float64 // on a column, before the restart that it takes
	most   float64                         // that the job can add, about
	reason string                          // what it counts by
}

// pursue makes the plan that maximises Σ on(c)·phi over the jobs, under the rows of the
// joint program. phi is 1 where a job stays and else 1 − S/life, with S the time that
// the start takes and life that of value: a restart is charged to the time over which
// it can earn itself back.
//
// The program subtracts the rates of machines, in dollars: unitUSD weighs them against
// the sum. Deadlines are looked after as in Value, before all that a goal counts.
func pursue(p *planner.Problem, pr *planner.Program, know []worth, s Settings, g goal) planner.Plan {
	full := make([]planner.Demand, len(pr.Jobs))
	scale := 0.0
	for i := range pr.Jobs {
		d, w := &pr.Jobs[i], &know[i]
		w.best, w.bonus = -1, 0
		w.lasts = 0 // where no money is saved, jobs are to grow and shrink with the queue: bound, they take 1 to 7 % longer
		if len(d.Columns) > 0 {
			setStake(p, d, w, &g.jobs[i], g.unitUSD)
			scale += g.unitUSD * g.jobs[i].most
		}
	}
	reward(pr, know)
	copy(full, pr.Jobs)
	pr.Prune()
	sol := solveDue(pr, scale, s.Limits, know)
	plan := report(p, pr, sol, know, full, scale)
	g.tell(p, pr, &plan, know, sol)
	return plan
}

// setStake sets the worth of every column of a job.
func setStake(p *planner.Problem, d *planner.Demand, w *worth, s *stake, unitUSD float64) {
	for c := range d.Columns {
		col := &d.Columns[c]
		base := unitUSD * s.on(col)
		col.Stay = base
		col.Here = switched(p, col, w, base, col.Resume, 0)
		col.Bought = switched(p, col, w, base, col.Resume+col.Boot, 0)
	}
}

// tell puts the value of a plan into the goal's own unit, and says why in its words.
func (g *goal) tell(p *planner.Problem, pr *planner.Program, plan *planner.Plan, know []worth, sol planner.Solution) {
	index := make(map[planner.JobID]int, len(pr.Jobs))
	for i := range pr.Jobs {
		index[pr.Jobs[i].State.Job.ID] = i
	}
	plan.Unit, plan.Value = g.unit, 0
	for i, seat := range sol.Layout().Seats {
		c := seat.Column
		switch {
		case c == nil:
			continue
		case seat.Stays:
			plan.Value += c.Stay
		case seat.Bought:
			plan.Value += c.Bought
		default:
			plan.Value += c.Here
		}
		if x := know[i].pledge; x != nil {
			plan.Value -= x.prize
		}
		plan.Value -= know[i].head
	}
	plan.Value /= g.unitUSD
	plan.Bound.Value = max(plan.Value, (sol.Bound.Value+spendable(p, pr))/g.unitUSD)
	for n := range plan.Allocations {
		a := &plan.Allocations[n]
		a.Reason, a.RunnerUp = g.jobs[index[a.Job]].reason, nil
	}
	for n := range plan.Waits {
		w := &plan.Waits[n]
		i := index[w.Job]
		if x := know[i].pledge; w.Never || know[i].short != "" || len(pr.Jobs[i].Columns) == 0 || x != nil && (x.hold != "" || x.short != "") {
			continue
		}
		w.Reason = fmt.Sprintf("%s; it counts by %s", g.lost, g.jobs[i].reason)
	}
}

// spendable is at least the rates, USD/h, of the machines that any plan can use.
func spendable(p *planner.Problem, pr *planner.Program) float64 {
	most := 0.0
	for i := range pr.Jobs {
		dearest := 0.0
		for c := range pr.Jobs[i].Columns {
			dearest = max(dearest, pr.Jobs[i].Columns[c].Alone)
		}
		most += dearest
	}
	if p.BurnCap > 0 {
		most = min(most, p.BurnCap.Dollars())
	}
	return most
}
