package policy

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/provider"
)

// coming is a machine that becomes free when the one job on it ends.
type coming struct {
	id       provider.InstanceID
	offering provider.Offering
	after    planner.JobID
	in       float64 // h
	taken    bool
}

// delay takes out of a plan the machines that would be bought for one job that does
// not run yet, where one as good is about to be free: where
//
//	(waited + w)·v < b·(R + v),
//
// with w hours until the job on that machine ends, b the boot of what would be bought,
// R its rate and v the job's value of time. Buying pays R for the boot and waits b;
// waiting costs v alone. What the job has waited already counts, so that work which
// takes longer than it said keeps nobody waiting for more than b·(1 + R/v). Jobs of
// several machines, of unknown work to wait for, and those whose deadline presses are
// left as they are. The value and the bound of the plan stay those of the program, in
// which the job has its machine at once.
//
// It returns when those machines become free.
func delay(p *planner.Problem, know []worth, full []planner.Demand, plan *planner.Plan) []time.Time {
	free := endings(p, know, full, plan)
	if len(free) == 0 {
		return nil
	}
	var ends []time.Time
	gone := make([]bool, len(plan.Machines))
	index := make(map[planner.JobID]int, len(full))
	for i := range full {
		index[full[i].State.Job.ID] = i
	}
	kept := plan.Allocations[:0:0]
	for _, a := range plan.Allocations {
		i := index[a.Job]
		x, boot := awaited(p, &full[i], &know[i], &a, plan, free)
		if x == nil {
			kept = append(kept, a)
			continue
		}
		x.taken = true
		m := a.Machines[0]
		gone[m] = true
		plan.Burn -= plan.Machines[m].Rate
		plan.Waits = append(plan.Waits, planner.Wait{Job: a.Job, Reason: fmt.Sprintf(
			"%s is free in %s, when %s ends: one to be bought would boot for %s and be paid for it", x.id, span(x.in), x.after, span(boot))})
		ends = append(ends, p.Now.Add(hours(x.in)))
	}
	if len(ends) > 0 {
		plan.Allocations = kept
		without(plan, gone)
	}
	return ends
}

// endings lists the machines of a plan whose only job ends where it is, the soonest
// first.
func endings(p *planner.Problem, know []worth, full []planner.Demand, plan *planner.Plan) []coming {
	var list []coming
	for i := range full {
		d := &full[i]
		if d.Current < 0 || d.State.Job.Work.Kind != planner.WorkExact || know[i].left <= 0 {
			continue
		}
		a := allocation(plan, d.State.Job.ID)
		if a == nil || !a.Keeps || len(a.Machines) != 1 || len(plan.Machines[a.Machines[0]].Jobs) != 1 {
			continue
		}
		m := &plan.Machines[a.Machines[0]]
		list = append(list, coming{
			id: m.Instance, offering: m.Offering, after: d.State.Job.ID, in: d.Columns[d.Current].PaidHours(know[i].left),
		})
	}
	slices.SortStableFunc(list, func(a, b coming) int { return cmp.Compare(a.in, b.in) })
	return list
}

// awaited is the machine that the job of an allocation had better wait for, nil if
// there is none, and the boot that it saves, h.
func awaited(p *planner.Problem, d *planner.Demand, w *worth, a *planner.Allocation, plan *planner.Plan, free []coming) (*coming, float64) {
	if d.Current >= 0 || w.head > 0 || w.pledge != nil && (w.pledge.must || w.floor > 0) || len(a.Machines) != 1 {
		return nil, 0
	}
	m := &plan.Machines[a.Machines[0]]
	if m.Instance != "" || len(m.Jobs) != 1 {
		return nil, 0
	}
	column := func(o provider.Offering) *planner.Column {
		at := slices.IndexFunc(d.Columns, func(c planner.Column) bool {
			return p.Offers[c.Offer].Offering == o && c.Nodes == 1 && c.PerNode == a.Config.Replicas
		})
		if at < 0 {
			return nil
		}
		return &d.Columns[at]
	}
	bought := column(a.Offering)
	if bought == nil {
		return nil, 0
	}
	waited := 0.0
	if !d.State.Waiting.IsZero() {
		waited = max(0, p.Now.Sub(d.State.Waiting).Hours())
	}
	for n := range free {
		x := &free[n]
		there := column(x.offering)
		if x.taken || there == nil || there.CostOfWork(w.v)+once(there, w.left) > bought.CostOfWork(w.v)+once(bought, w.left) {
			continue
		}
		if (waited+x.in)*w.v < bought.Boot*(bought.Alone+w.v) {
			return x, bought.Boot
		}
	}
	return nil, 0
}

// without drops machines from a plan that no allocation names.
func without(plan *planner.Plan, gone []bool) {
	at := make([]planner.MachineRef, len(plan.Machines))
	kept := plan.Machines[:0:0]
	for m := range plan.Machines {
		at[m] = planner.MachineRef(len(kept))
		if !gone[m] {
			kept = append(kept, plan.Machines[m])
		}
	}
	plan.Machines = kept
	for i := range plan.Allocations {
		a := &plan.Allocations[i]
		refs := make([]planner.MachineRef, len(a.Machines))
		for n, ref := range a.Machines {
			refs[n] = at[ref]
		}
		a.Machines = refs
	}
}

// span is a time for a sentence, to the second.
func span(h float64) string { return hours(h).Round(time.Second).String() }
