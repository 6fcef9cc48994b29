package policy

import (
	"fmt"
	"slices"
	"time"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/planner/share"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/provider"
)

// plan gives the machines away by the shares of an answer.
func (f *floor) plan(rule share.Policy, answer share.Answer, turns Turns) planner.Plan {
	list := f.contenders(answer)
	plan := planner.Plan{Unit: answer.Unit, Value: answer.Objective, Gap: answer.Gap, Bound: planner.Bound{Value: answer.Bound, Kind: "lp"}}
	if plan.Unit == "" {
		plan.Unit = "(" + rule.Line + ")"
	}
	won := make([]*planner.Turn, len(list))
	given := turns(f.rooms, list, leastLease/2)
	for n := range given {
		won[given[n].Contender] = &given[n]
	}
	refs := f.machines(&plan, list, given)
	wake := func(at time.Time) {
		if at.After(f.p.Now) && (plan.NextDecision.IsZero() || at.Before(plan.NextDecision)) {
			plan.NextDecision, plan.NextClock = at, planner.LeaseClock
		}
	}
	for i := range list {
		d := &f.pr.Jobs[i]
		shares := planner.JobShares{Job: d.State.Job.ID, Claims: list[i].Claims}
		switch x := won[i]; {
		case x != nil:
			a, restart := f.allocation(i, x, refs)
			a.Reason = fmt.Sprintf("%s: %s", rule.Name, said(list[i].Claims, x.Way.Kind))
			plan.Allocations = append(plan.Allocations, a)
			if shares.Lease = d.State.Lease; !list[i].Leased || !x.Keeps {
				shares.Lease = leaseEnd(f.p.Now, restart)
			}
			wake(shares.Lease)
		case len(d.Columns) == 0:
			w := planner.Wait{Job: d.State.Job.ID, Reason: "nothing that is owned carries it"}
			if d.Lacks != "" {
				w.Reason += ": " + d.Lacks
			}
			plan.Waits = append(plan.Waits, w)
		default:
			plan.Waits = append(plan.Waits, planner.Wait{Job: d.State.Job.ID, Reason: fmt.Sprintf("%s: it is others' turn; %s", rule.Name, said(list[i].Claims, ""))})
		}
		plan.Shares = append(plan.Shares, shares)
	}
	return plan
}

// contenders are the jobs with what they have a right to, and hold.
func (f *floor) contenders(answer share.Answer) []planner.Contender {
	at := make(map[provider.InstanceID]int, len(f.rooms))
	for n := range f.rooms {
		if id := f.rooms[n].Instance; id != "" {
			at[id] = n
		}
	}
	list := make([]planner.Contender, len(f.pr.Jobs))
	for i := range f.pr.Jobs {
		d := &f.pr.Jobs[i]
		c := planner.Contender{Job: d.State.Job.ID, Ways: f.jobs[i].ways, Shares: d.State.Job.Resources.ShareNodes}
		for w, kind := range f.kinds {
			if f.time.Jobs[i].Throughput[w] <= 0 {
				continue
			}
			claim := planner.Claim{Kind: kind}
			if answer.Share != nil {
				claim.Share = min(max(answer.Share[i][w], 0), 1)
			}
			for _, had := range d.State.Claims {
				if had.Kind == kind {
					claim.Due, claim.Had = had.Due, had.Had
				}
			}
			c.Claims = append(c.Claims, claim)
		}
		if r := d.State.Running; r != nil && d.Current >= 0 {
			col := &d.Columns[d.Current]
			c.Now = &planner.Way{Kind: kindOf(f.p, col.Offer), Offering: r.Offering, Nodes: col.Nodes, PerNode: col.PerNode}
			for _, id := range r.Machines {
				c.Rooms = append(c.Rooms, at[id])
			}
			c.Leased = d.State.Lease.After(f.p.Now)
			// A job whose best size has changed takes part at the size it has until its lease ends.
			if !c.Leased && col.Replicas() != f.jobs[i].size {
				c.Now, c.Rooms = nil, nil
			}
		}
		list[i] = c
	}
	return list
}

// machines puts what is there, and what of the rest is used, into the plan.
func (f *floor) machines(plan *planner.Plan, list []planner.Contender, given []planner.Turn) []planner.MachineRef {
	on := make([][]planner.Share, len(f.rooms))
	for _, x := range given {
		for _, n := range x.Rooms {
			on[n] = append(on[n], planner.Share{Job: list[x.Contender].Job, Accelerators: x.Way.PerNode})
		}
	}
	refs := make([]planner.MachineRef, len(f.rooms))
	for n := range f.rooms {
		r := &f.rooms[n]
		m := planner.PlannedMachine{Instance: r.Instance, Offering: r.Offering, Jobs: on[n]}
		switch {
		case r.Instance == "" && len(m.Jobs) == 0:
			continue
		case r.Instance == "":
			m.Reason = "carries " + shares(m.Jobs)
		case len(m.Jobs) == 0:
			m.Reason = "owned: kept, though no job runs on it"
		}
		refs[n] = planner.MachineRef(len(plan.Machines))
		plan.Machines = append(plan.Machines, m)
	}
	return refs
}

// allocation is what job i gets by a turn, and how long its start takes.
func (f *floor) allocation(i int, x *planner.Turn, refs []planner.MachineRef) (planner.Allocation, time.Duration) {
	d := &f.pr.Jobs[i]
	var col *planner.Column
	for c := range d.Columns {
		k := &d.Columns[c]
		if k.Nodes == x.Way.Nodes && k.PerNode == x.Way.PerNode && f.p.Offers[k.Offer].Offering == x.Way.Offering {
			col = k
		}
	}
	o := &f.p.Offers[col.Offer]
	a := planner.Allocation{Job: d.State.Job.ID, Config: configOf(f.p, col), Offering: o.Offering, Speed: col.Speed, Keeps: x.Keeps}
	a.Alone = pricing.Rate(0)
	for _, n := range x.Rooms {
		a.Machines = append(a.Machines, refs[n])
	}
	return a, hours(col.Resume)
}

// leaseEnd is when a lease that begins now ends, of a job whose restart takes so long:
// on the grid of the least lease times the smallest power of two that is no shorter
// than the job's own.
func leaseEnd(now time.Time, restart time.Duration) time.Time {
	least := max(leastLease, leasePerLoss*restart)
	grid := leastLease
	for grid < least {
		grid *= 2
	}
	end := now.Truncate(grid)
	for end.Before(now.Add(least)) {
		end = end.Add(grid)
	}
	return end
}

// said is what a job has a right to, for a sentence.
func said(claims []planner.Claim, kind string) string {
	var words []string
	for _, c := range claims {
		if c.Share > 0.0005 && (kind == "" || c.Kind == kind) {
			words = append(words, fmt.Sprintf("share %.3f of %s, %s h due and %s h had", c.Share, c.Kind, number(c.Due.Hours()), number(c.Had.Hours())))
		}
	}
	if len(words) == 0 {
		return "nobody has a right to it"
	}
	slices.Sort(words)
	return words[0] + more(len(words)-1)
}

func more(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" and %d more", n)
}
