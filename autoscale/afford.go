package autoscale

import (
	"fmt"
	"slices"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/pricing/budget"
	"github.com/goodfleet/goodfleet/pricing/ledger"
	"github.com/goodfleet/goodfleet/provider"
)

// begin takes up the budgets as they stand, and puts off jobs that would begin on
// machines that are here and for whom there is no money.
func (a *admission) begin() {
	if a.s.Position == nil {
		return
	}
	a.position = a.s.Position.Clone()
	for _, x := range a.plan.Allocations {
		r := a.job[x.Job]
		if _, put := a.deferred[x.Job]; put || samePlace(a.want[x.Job], r.Target) {
			continue
		}
		t, _ := a.s.Catalogue.Lookup(x.Offering.Cloud, x.Offering.Type)
		idle := budget.FactsOf(x.Offering, t)
		var here []planner.MachineRef
		for _, ref := range x.Machines {
			if id := a.plan.Machines[ref].Instance; id != "" && !has(r, id) {
				here = append(here, ref)
			}
		}
		trial := a.position.Clone()
		why := ""
		for _, ref := range here {
			m := &a.plan.Machines[ref]
			rate, part := m.Rate, a.partOf(*m, r)
			if err := trial.JudgeStart(part, idle, rate, max(t.Count, 1)); err != nil {
				why = err.Error()
				break
			}
			trial.TakeStart(part, idle, rate, max(t.Count, 1))
		}
		if why != "" {
			a.deferred[x.Job] = why
			continue
		}
		a.position = trial
	}
}

// has reports whether a job is, or is to be, on a machine: it counts for it already.
func has(r *JobRecord, id provider.InstanceID) bool {
	return r.Gang != nil && r.Gang.holds(id) || r.Target != nil && slices.Contains(r.Target.Machines, id)
}

// partOf is what a job will bear of a machine of the plan.
func (a *admission) partOf(m planner.PlannedMachine, r *JobRecord) budget.Part {
	parts := a.partsOf(m)
	return parts[slices.IndexFunc(parts, func(p budget.Part) bool { return p.Facts.Job == string(r.Job.ID) })]
}

// partsOf are who will bear which part of a machine of the plan.
func (a *admission) partsOf(m planner.PlannedMachine) []budget.Part {
	t, _ := a.s.Catalogue.Lookup(m.Offering.Cloud, m.Offering.Type)
	var shares []ledger.Share
	var lumps [][]budget.Lump
	for _, s := range m.Jobs {
		if r, ok := a.job[s.Job]; ok {
			shares = append(shares, ledger.Share{Job: string(r.Job.ID), Team: r.Job.Team, Project: r.Job.Project, Accelerators: s.Accelerators})
			var once []budget.Lump
			if m.Instance == "" || !has(r, m.Instance) {
				nodes := 1
				if want := a.want[r.Job.ID]; want != nil {
					nodes = want.Config.Nodes
				}
				once = r.lumps(m.Offering, nodes)
			}
			lumps = append(lumps, once)
		}
	}
	return withLumps(borne(budget.FactsOf(m.Offering, t), shares), lumps)
}

// affords says which budget has no room for a group, and counts it where all have; ""
// when they do.
func (a *admission) affords(g *group) string {
	if a.position == nil {
		return ""
	}
	trial := a.position.Clone()
	for i, ask := range a.asks(g) {
		if err := trial.Judge("", ask); err != nil {
			return err.Error()
		}
		trial.Take(fmt.Sprintf("%s/%d", toBuy(g.refs[0]), i), ask)
	}
	if why := a.approves(g); why != "" {
		return why
	}
	a.position = trial
	return ""
}

// asks is what each machine of a group would take from a budget.
func (a *admission) asks(g *group) []budget.Ask {
	var list []budget.Ask
	for _, ref := range g.refs {
		m := a.plan.Machines[ref]
		if a.s.reservation(m.Offering) == nil {
			list = append(list, budget.Ask{Offering: m.Offering, Count: 1, Rate: a.s.rate(m.Offering, m.Rate), List: a.s.listRate(m.Offering), For: a.partsOf(m)})
		}
	}
	return list
}
