package placement

import (
	"fmt"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/provider"
)

// Check reports the first thing that no placement may have: an accelerator held
// twice or that is not there, a machine twice in a gang or not there at all,
// nodes of unequal size, a gang of several nodes over several offerings (and so
// over zones), a job with two gangs.
func Check(machines []Machine, gangs []Gang) error {
	there := make(map[provider.InstanceID]Machine, len(machines))
	for _, m := range machines {
		if _, twice := there[m.ID]; twice {
			return fmt.Errorf("machine %s is listed twice", m.ID)
		}
		there[m.ID] = m
	}
	holder := map[slot]planner.JobID{}
	seen := map[planner.JobID]bool{}
	for _, g := range gangs {
		if seen[g.Job] {
			return fmt.Errorf("job %s has two gangs", g.Job)
		}
		seen[g.Job] = true
		if err := checkGang(g, there, holder); err != nil {
			return fmt.Errorf("job %s: %w", g.Job, err)
		}
	}
	return nil
}

func checkGang(g Gang, there map[provider.InstanceID]Machine, holder map[slot]planner.JobID) error {
	if len(g.Nodes) == 0 {
		return fmt.Errorf("the gang has no nodes")
	}
	used := map[provider.InstanceID]bool{}
	first, ok := there[g.Nodes[0].Instance]
	if !ok {
		return fmt.Errorf("machine %s is not there", g.Nodes[0].Instance)
	}
	for _, n := range g.Nodes {
		m, ok := there[n.Instance]
		switch {
		case !ok:
			return fmt.Errorf("machine %s is not there", n.Instance)
		case used[n.Instance]:
			return fmt.Errorf("machine %s carries two nodes", n.Instance)
		case m.Offering != first.Offering:
			return fmt.Errorf("nodes lie in %s and in %s", first.Offering, m.Offering)
		case len(n.Accelerators) == 0 || len(n.Accelerators) != len(g.Nodes[0].Accelerators):
			return fmt.Errorf("nodes hold %d and %d accelerators", len(g.Nodes[0].Accelerators), len(n.Accelerators))
		}
		used[n.Instance] = true
		for k, i := range n.Accelerators {
			s := slot{n.Instance, i}
			other, taken := holder[s]
			switch {
			case i < 0 || i >= m.Accelerators:
				return fmt.Errorf("machine %s has no accelerator %d", n.Instance, i)
			case k > 0 && i <= n.Accelerators[k-1]:
				return fmt.Errorf("accelerators of machine %s are not ascending", n.Instance)
			case taken:
				return fmt.Errorf("accelerator %d of machine %s is held by %s too", i, n.Instance, other)
			}
			holder[s] = g.Job
		}
	}
	return nil
}

// CheckPlan reports the first thing in plan that cannot be placed: a machine of
// the problem named wrongly or twice, more accelerators shared out than a type
// has, an allocation that is not whole or spans offerings, a job that has two
// answers or none.
func CheckPlan(p planner.Problem, plan planner.Plan, lookup func(cloud, name string) (provider.InstanceType, bool)) error {
	held := make(map[provider.InstanceID]planner.Machine, len(p.Machines))
	for _, m := range p.Machines {
		held[m.ID] = m
	}
	named := map[provider.InstanceID]bool{}
	left := make([]int, len(plan.Machines))
	for i, m := range plan.Machines {
		if m.Instance != "" {
			own, ok := held[m.Instance]
			switch {
			case !ok:
				return fmt.Errorf("plan: machine %s is not in the problem", m.Instance)
			case named[m.Instance]:
				return fmt.Errorf("plan: machine %s is named twice", m.Instance)
			case own.Offering != m.Offering:
				return fmt.Errorf("plan: machine %s is of %s, not of %s", m.Instance, own.Offering, m.Offering)
			case own.Leaving && len(m.Jobs) > 0:
				return fmt.Errorf("plan: machine %s is leaving and is given to %s", m.Instance, m.Jobs[0].Job)
			}
			named[m.Instance] = true
		}
		t, ok := lookup(m.Offering.Cloud, m.Offering.Type)
		if !ok {
			return fmt.Errorf("plan: type %s of %s is not known", m.Offering.Type, m.Offering.Cloud)
		}
		left[i] = t.Count
	}
	for _, r := range plan.Releases {
		if _, ok := held[r.Instance]; !ok {
			return fmt.Errorf("plan: releases machine %s, which is not in the problem", r.Instance)
		}
		if named[r.Instance] {
			return fmt.Errorf("plan: machine %s is kept and released", r.Instance)
		}
	}
	answered := map[planner.JobID]bool{}
	answer := func(job planner.JobID) error {
		if answered[job] {
			return fmt.Errorf("plan: job %s has two answers", job)
		}
		answered[job] = true
		return nil
	}
	for _, a := range plan.Allocations {
		if err := answer(a.Job); err != nil {
			return err
		}
		if err := checkAllocation(a, plan, left); err != nil {
			return fmt.Errorf("plan: job %s: %w", a.Job, err)
		}
	}
	for _, w := range plan.Waits {
		if err := answer(w.Job); err != nil {
			return err
		}
	}
	for _, j := range p.Jobs {
		if !answered[j.Job.ID] {
			return fmt.Errorf("plan: job %s has no answer", j.Job.ID)
		}
	}
	if len(answered) != len(p.Jobs) {
		return fmt.Errorf("plan: answers for %d jobs, the problem has %d", len(answered), len(p.Jobs))
	}
	return nil
}

// checkAllocation takes what a gets from what is left of each machine.
func checkAllocation(a planner.Allocation, plan planner.Plan, left []int) error {
	c := a.Config
	switch {
	case c.Nodes <= 0 || len(a.Machines) != c.Nodes:
		return fmt.Errorf("%d machines for %d nodes", len(a.Machines), c.Nodes)
	case c.Replicas <= 0 || c.Replicas%c.Nodes != 0:
		return fmt.Errorf("%d replicas do not lie evenly on %d nodes", c.Replicas, c.Nodes)
	}
	used := map[planner.MachineRef]bool{}
	for _, ref := range a.Machines {
		switch {
		case ref < 0 || int(ref) >= len(plan.Machines):
			return fmt.Errorf("there is no machine %d", ref)
		case used[ref]:
			return fmt.Errorf("machine %d carries two nodes", ref)
		case plan.Machines[ref].Offering != a.Offering:
			return fmt.Errorf("machine %d is of %s, not of %s", ref, plan.Machines[ref].Offering, a.Offering)
		}
		used[ref] = true
		if left[ref] -= c.Replicas / c.Nodes; left[ref] < 0 {
			return fmt.Errorf("machine %d (%s) has not enough accelerators", ref, a.Offering)
		}
	}
	return nil
}
