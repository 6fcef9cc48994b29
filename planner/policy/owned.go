package policy

import (
	"slices"
	"time"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/provider"
)

// kept is how far away the end of a machine is put that is owned: it costs nothing to
// keep, and something to get back.
const kept = 365 * 24 * time.Hour

// owned is the part of p that costs nothing: machines and offers of decision rate 0.
// None of its machines is ended.
func owned(p planner.Problem) planner.Problem {
	p.Offers = slices.DeleteFunc(slices.Clone(p.Offers), func(o planner.Offer) bool { return o.Rate > 0 })
	p.Machines = slices.DeleteFunc(slices.Clone(p.Machines), func(m planner.Machine) bool { return m.Rate > 0 })
	for i := range p.Machines {
		p.Machines[i].HoldTo = p.Now.Add(kept)
	}
	p.BurnCap, p.Rows, p.Unpriced = 0, nil, nil // they bound, or name, what is bought
	return p
}

// paid is the part of p that costs something, for the jobs that wait reports.
func paid(p planner.Problem, waits func(job planner.JobID) bool) planner.Problem {
	p.Offers = slices.DeleteFunc(slices.Clone(p.Offers), func(o planner.Offer) bool { return o.Rate <= 0 })
	p.Machines = slices.DeleteFunc(slices.Clone(p.Machines), func(m planner.Machine) bool { return m.Rate <= 0 })
	p.Jobs = slices.DeleteFunc(slices.Clone(p.Jobs), func(s planner.JobState) bool { return !waits(s.Job.ID) })
	return p
}

// besideOwned completes a plan of what is owned by one of next, for the jobs that wait
// in it, on what is bought. Where something is sold, or held, worth and bound are those
// of next, in its unit, and the gap is the larger of the two.
func besideOwned(p planner.Problem, mine planner.Plan, s Settings, next Policy) (planner.Plan, error) {
	waiting := make(map[planner.JobID]bool, len(mine.Waits))
	for _, w := range mine.Waits {
		waiting[w.Job] = true
	}
	rest := paid(p, func(job planner.JobID) bool { return waiting[job] })
	if len(rest.Offers) == 0 && len(rest.Machines) == 0 {
		return mine, nil
	}
	other, err := next(rest, s)
	if err != nil {
		return planner.Plan{}, err
	}
	return joined(p, mine, other), nil
}

// joined is two plans for parts of one problem, in the order of the problem. Of a job
// that waits in both the second says why.
func joined(p planner.Problem, a, b planner.Plan) planner.Plan {
	plan := b
	plan.Gap = max(a.Gap, b.Gap)
	plan.Burn = a.Burn + b.Burn
	if !a.NextDecision.IsZero() && (b.NextDecision.IsZero() || a.NextDecision.Before(b.NextDecision)) {
		plan.NextDecision, plan.NextClock = a.NextDecision, a.NextClock
	}
	// Machines that are held come first, in the order of the problem.
	place := make(map[provider.InstanceID]int, len(p.Machines))
	for i := range p.Machines {
		place[p.Machines[i].ID] = i
	}
	all := slices.Concat(a.Machines, b.Machines)
	order := make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	rank := func(i int) int {
		if n, ok := place[all[i].Instance]; ok && all[i].Instance != "" {
			return n
		}
		return len(p.Machines)
	}
	slices.SortStableFunc(order, func(x, y int) int { return rank(x) - rank(y) })
	at := make([]planner.MachineRef, len(all))
	plan.Machines = make([]planner.PlannedMachine, len(all))
	for n, i := range order {
		plan.Machines[n], at[i] = all[i], planner.MachineRef(n)
	}
	allocations := map[planner.JobID]planner.Allocation{}
	waits := map[planner.JobID]planner.Wait{}
	promises := map[planner.JobID]planner.Promise{}
	add := func(from planner.Plan, offset int) {
		for _, x := range from.Allocations {
			x.Machines = slices.Clone(x.Machines)
			for n, ref := range x.Machines {
				x.Machines[n] = at[int(ref)+offset]
			}
			allocations[x.Job] = x
		}
		for _, w := range from.Waits {
			waits[w.Job] = w
		}
		for _, x := range from.Promises {
			promises[x.Job] = x
		}
	}
	add(a, 0)
	add(b, len(a.Machines))
	plan.Allocations, plan.Waits, plan.Promises = nil, nil, nil
	for i := range p.Jobs {
		id := p.Jobs[i].Job.ID
		if x, runs := allocations[id]; runs {
			plan.Allocations = append(plan.Allocations, x)
		} else if w, ok := waits[id]; ok {
			plan.Waits = append(plan.Waits, w)
		}
		if x, ok := promises[id]; ok {
			plan.Promises = append(plan.Promises, x)
		}
	}
	plan.Releases = slices.Concat(a.Releases, b.Releases)
	return plan
}
