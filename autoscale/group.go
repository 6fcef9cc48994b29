package autoscale

import (
	"slices"
	"strings"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/provider"
)

// group is machines that are bought together or not at all, since the same jobs
// need them.
type group struct {
	refs    []planner.MachineRef
	jobs    []planner.JobID
	dropped bool
	why     string
}

// group puts together the machines to be bought that share jobs.
func (a *admission) group() {
	of := make([]int, len(a.plan.Machines)) // group of each machine, from 1; 0: none
	var groups []group
	join := func(to, from int) {
		if to == from {
			return
		}
		for _, ref := range groups[from-1].refs {
			of[ref] = to
		}
		groups[to-1].refs = append(groups[to-1].refs, groups[from-1].refs...)
		groups[from-1].refs = nil
	}
	for i, m := range a.plan.Machines {
		if m.Instance == "" {
			groups = append(groups, group{refs: []planner.MachineRef{planner.MachineRef(i)}})
			of[i] = len(groups)
		}
	}
	for _, x := range a.plan.Allocations {
		first := 0
		for _, ref := range x.Machines {
			g := of[ref]
			switch {
			case g == 0:
			case first == 0:
				first = g
			default:
				join(first, g)
			}
		}
	}
	index := make([]int, len(groups)+1)
	for i := range groups {
		if groups[i].refs != nil {
			slices.Sort(groups[i].refs)
			a.groups = append(a.groups, groups[i])
			index[i+1] = len(a.groups)
		}
	}
	for _, x := range a.plan.Allocations {
		for _, ref := range x.Machines {
			if g := of[ref]; g != 0 {
				a.groups[index[g]-1].jobs = append(a.groups[index[g]-1].jobs, x.Job)
				break
			}
		}
	}
}

func (g *group) drop(why string) {
	if !g.dropped {
		g.dropped, g.why = true, why
	}
}

// launches are the calls that buy what was admitted: the nodes of a gang in a
// call of their own, all or nothing; other machines of an offering together.
func (a *admission) launches() (list []Launch, refs [][]planner.MachineRef) {
	gang := make(map[planner.MachineRef]planner.Allocation)
	jobs := make(map[planner.MachineRef][]planner.JobID)
	for _, x := range a.plan.Allocations {
		for _, ref := range x.Machines {
			jobs[ref] = append(jobs[ref], x.Job)
			if len(x.Machines) > 1 {
				gang[ref] = x
			}
		}
	}
	single := map[provider.Offering]int{} // launch of single machines, by offering
	whole := map[planner.JobID]int{}      // launch of a gang's nodes
	for _, g := range a.groups {
		if g.dropped {
			continue
		}
		for _, ref := range g.refs {
			m := a.plan.Machines[ref]
			x, inGang := gang[ref]
			at, ok := single[m.Offering]
			if inGang {
				at, ok = whole[x.Job]
			}
			if !ok {
				at = len(list)
				list = append(list, Launch{Offering: m.Offering, Min: 1, Rate: a.s.rate(m.Offering, m.Rate), Reason: m.Reason, Clock: m.Clock})
				refs = append(refs, nil)
				if inGang {
					whole[x.Job] = at
				} else {
					single[m.Offering] = at
				}
			}
			n := &list[at]
			n.Count++
			n.For = append(n.For, a.partsOf(m)...)
			if inGang {
				n.Min = n.Count
			}
			for _, job := range jobs[ref] {
				if !slices.Contains(n.Jobs, job) {
					n.Jobs = append(n.Jobs, job)
				}
			}
			if m.Reason != "" && !strings.Contains(n.Reason, m.Reason) {
				n.Reason += "; " + m.Reason
			}
			refs[at] = append(refs[at], ref)
		}
	}
	for at := range list {
		list[at].Alternates = a.alternates(refs[at], list[at].Jobs)
	}
	return list, refs
}

// alternates are the other zones that will do for all jobs of a launch, if it brings
// every machine of each of them.
func (a *admission) alternates(refs []planner.MachineRef, jobs []planner.JobID) []provider.Offering {
	var list []provider.Offering
	first := true
	for _, x := range a.plan.Allocations {
		if !slices.Contains(jobs, x.Job) {
			continue
		}
		if slices.ContainsFunc(x.Machines, func(ref planner.MachineRef) bool { return !slices.Contains(refs, ref) }) {
			return nil
		}
		if first {
			list, first = slices.Clone(x.Alternates), false
		}
		list = slices.DeleteFunc(list, func(o provider.Offering) bool { return !slices.Contains(x.Alternates, o) })
	}
	return list
}
