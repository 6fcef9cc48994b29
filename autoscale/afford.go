package autoscale

import (
	"fmt"
	"maps"
	"slices"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/pricing/budget"
	"github.com/goodfleet/goodfleet/pricing/ledger"
	"github.com/goodfleet/goodfleet/provider"
)

// begin takes up the budgets as they stand, and puts off jobs that would begin on
// machines that are here and for whom there is no money. Those who begin on one machine
// share it: where one of them is put off the others are looked at again.
func (a *admission) begin() {
	if a.s.Position == nil {
		return
	}
	for again := true; again; {
		again = false
		a.position = a.s.Position.Clone()
		taken := map[provider.InstanceID]budget.Start{}
		joining := a.joining()
		for _, x := range a.plan.Allocations {
			r := a.job[x.Job]
			if !a.begins(x) {
				continue
			}
			trial := a.position.Clone()
			starts := map[provider.InstanceID]budget.Start{}
			for _, ref := range x.Machines {
				m := &a.plan.Machines[ref]
				if m.Instance == "" || has(r, m.Instance) {
					continue
				}
				if before, ok := taken[m.Instance]; ok {
					trial.DropStart(before)
				}
				start := a.startOn(m, r, joining[m.Instance])
				if err := trial.JudgeStart(start); err != nil {
					a.deferred[x.Job], a.short[x.Job], a.over[x.Job] = err.Error(), true, true
					again = true
					break
				}
				trial.TakeStart(start)
				starts[m.Instance] = start
			}
			if _, put := a.deferred[x.Job]; put {
				continue
			}
			a.position = trial
			maps.Copy(taken, starts)
		}
	}
}

// begins reports whether a job of the plan is given another place, now.
func (a *admission) begins(x planner.Allocation) bool {
	_, put := a.deferred[x.Job]
	return !put && !samePlace(a.want[x.Job], a.job[x.Job].Target)
}

// joining are the shares of those who begin on each machine that is here.
func (a *admission) joining() map[provider.InstanceID][]ledger.Share {
	list := map[provider.InstanceID][]ledger.Share{}
	for _, x := range a.plan.Allocations {
		r := a.job[x.Job]
		if !a.begins(x) {
			continue
		}
		for _, ref := range x.Machines {
			if id := a.plan.Machines[ref].Instance; id != "" && !has(r, id) {
				list[id] = append(list[id], shareOf(r, x.Config.Replicas/x.Config.Nodes))
			}
		}
	}
	return list
}

// has reports whether a job is, or is to be, on a machine: it counts for it already.
func has(r *JobRecord, id provider.InstanceID) bool {
	return r.Gang != nil && r.Gang.holds(id) || r.Target != nil && slices.Contains(r.Target.Machines, id)
}

// startOn is a job that begins on a machine that is here, with those who begin there too,
// beside those who are on it or are to be. Who leaves makes room for them.
func (a *admission) startOn(m *planner.PlannedMachine, r *JobRecord, joining []ledger.Share) budget.Start {
	t, _ := a.s.Catalogue.Lookup(m.Offering.Cloud, m.Offering.Type)
	idle := budget.FactsOf(m.Offering, t)
	var before, after []ledger.Share
	for i := range a.s.Jobs {
		x := &a.s.Jobs[i]
		before = x.sharesOn(before, m.Instance, true)
		if want := a.want[x.Job.ID]; want != nil && slices.Contains(want.Machines, m.Instance) {
			after = x.sharesOn(after, m.Instance, true)
		}
	}
	return budget.Start{
		Job: idle.For(string(r.Job.ID), r.Job.Team, r.Job.Project), Idle: idle, Rate: m.Rate,
		Before: borne(idle, before), After: borne(idle, append(after, joining...)),
		Once: r.Lumps(m.Offering, a.want[r.Job.ID].Config.Nodes),
	}
}

// partsOf are who will bear which part of a machine of the plan.
func (a *admission) partsOf(m planner.PlannedMachine) []budget.Part {
	t, _ := a.s.Catalogue.Lookup(m.Offering.Cloud, m.Offering.Type)
	var shares []ledger.Share
	var lumps [][]budget.Lump
	for _, s := range m.Jobs {
		if r, ok := a.job[s.Job]; ok {
			shares = append(shares, shareOf(r, s.Accelerators))
			var once []budget.Lump
			if m.Instance == "" || !has(r, m.Instance) {
				nodes := 1
				if want := a.want[r.Job.ID]; want != nil {
					nodes = want.Config.Nodes
				}
				once = r.Lumps(m.Offering, nodes)
			}
			lumps = append(lumps, once)
		}
	}
	return withLumps(borne(budget.FactsOf(m.Offering, t), shares), lumps)
}

// affords says which budget has no room for a group, or who has to approve of it, and
// counts it where all have; "" when they do. short: a budget has no room.
func (a *admission) affords(g *group) (why string, short bool) {
	if a.position == nil {
		return "", false
	}
	trial := a.position.Clone()
	for i, ask := range a.asks(g) {
		if err := trial.Judge("", ask); err != nil {
			return err.Error(), true
		}
		trial.Take(fmt.Sprintf("%s/%d", toBuy(g.refs[0]), i), ask)
	}
	if why := a.approves(g); why != "" {
		return why, false
	}
	a.position = trial
	return "", false
}

// asks is what each machine of a group would take from a budget.
func (a *admission) asks(g *group) []budget.Ask {
	var list []budget.Ask
	for _, ref := range g.refs {
		m := a.plan.Machines[ref]
		if !m.Offering.PaidAhead() {
			list = append(list, budget.Ask{Offering: m.Offering, Count: 1, Rate: a.s.rate(m.Offering, m.Rate), List: a.s.listRate(m.Offering), For: a.partsOf(m)})
		}
	}
	return list
}
