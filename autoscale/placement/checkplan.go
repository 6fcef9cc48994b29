package placement

import (
	"fmt"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/provider"
)

// CheckPlan reports the first thing in plan that cannot be placed: a machine of
// the problem named wrongly or twice, more accelerators, vCPU or memory shared out than
// a type has, an allocation that is not whole or spans offerings, a TPU slice that is split or
// joined, a gang over machines without an interconnect whose job did not ask for that,
// two gangs of several nodes on a machine of which one does not share, a job that shares with
// one that does not share all of its machines with it, a job that has two answers or none. Types are those of the offers of p, as they were measured, or else of
// lookup.
func CheckPlan(p planner.Problem, plan planner.Plan, lookup func(cloud, name string) (provider.InstanceType, bool)) error {
	types := map[provider.Offering]provider.InstanceType{} // of the offerings that the plan names: few of those that are sold
	known := func(o provider.Offering) (t provider.InstanceType, ok bool) {
		if t, ok = types[o]; ok {
			return t, true
		}
		for i := range p.Offers {
			if p.Offers[i].Offering == o {
				types[o] = p.Offers[i].Type
				return p.Offers[i].Type, true
			}
		}
		if t, ok = lookup(o.Cloud, o.Type); ok {
			types[o] = t
		}
		return t, ok
	}
	held := make(map[provider.InstanceID]planner.Machine, len(p.Machines))
	for _, m := range p.Machines {
		held[m.ID] = m
	}
	named := make(map[provider.InstanceID]bool, len(p.Machines))
	left := make([]Room, len(plan.Machines))
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
		t, ok := known(m.Offering)
		if !ok {
			return fmt.Errorf("plan: type %s of %s is not known", m.Offering.Type, m.Offering.Cloud)
		}
		left[i] = RoomOf(t)
	}
	for _, r := range plan.Releases {
		if _, ok := held[r.Instance]; !ok {
			return fmt.Errorf("plan: releases machine %s, which is not in the problem", r.Instance)
		}
		if named[r.Instance] {
			return fmt.Errorf("plan: machine %s is kept and released", r.Instance)
		}
	}
	jobs := make(map[planner.JobID]*planner.Job, len(p.Jobs))
	for i := range p.Jobs {
		jobs[p.Jobs[i].Job.ID] = p.Jobs[i].Job
	}
	spans := map[planner.MachineRef]*planner.Job{} // gangs of several nodes
	answered := make(map[planner.JobID]bool, len(p.Jobs))
	answer := func(job planner.JobID) error {
		if answered[job] {
			return fmt.Errorf("plan: job %s has two answers", job)
		}
		answered[job] = true
		return nil
	}
	pairs := couplesOf(plan)
	for i, a := range plan.Allocations {
		if err := answer(a.Job); err != nil {
			return err
		}
		first, err := pairs.first(plan, i)
		if err != nil {
			return fmt.Errorf("plan: job %s: %w", a.Job, err)
		}
		if !first {
			for _, ref := range a.Machines {
				left[ref].Share(a.Config)
			}
		}
		if err := checkAllocation(a, jobs[a.Job], plan, left); err != nil {
			return fmt.Errorf("plan: job %s: %w", a.Job, err)
		}
		t, _ := known(a.Offering)
		if job := jobs[a.Job]; job != nil && first {
			if err := checkRules(a, job, t, spans); err != nil {
				return fmt.Errorf("plan: job %s: %w", a.Job, err)
			}
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

// checkAllocation takes what a gets from what is left of each machine; job may be nil.
func checkAllocation(a planner.Allocation, job *planner.Job, plan planner.Plan, left []Room) error {
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
		if lacks := left[ref].Lacks(job, c); lacks != "" {
			return fmt.Errorf("machine %d (%s) has not enough %s", ref, a.Offering, lacks)
		}
		left[ref].Give(job, c)
	}
	return nil
}

// checkRules holds an allocation to what its job and its machines demand of a gang.
// spans is who of the allocations before lies on several machines.
func checkRules(a planner.Allocation, job *planner.Job, t provider.InstanceType, spans map[planner.MachineRef]*planner.Job) error {
	c := a.Config
	switch {
	case t.Kind == provider.TPU && (c.Nodes != 1 || c.Replicas != t.Count):
		return fmt.Errorf("%d replicas on %d slices of %d: a TPU slice is used whole and alone", c.Replicas, c.Nodes, t.Count)
	case c.Nodes > 1 && t.Interconnect == "" && !job.Resources.Ethernet:
		return fmt.Errorf("%d nodes of %s, which declares no interconnect", c.Nodes, t.Name)
	case c.Nodes == 1:
		return nil
	}
	for _, ref := range a.Machines {
		other, taken := spans[ref]
		if taken && !(job.Resources.ShareNodes && other.Resources.ShareNodes) {
			return fmt.Errorf("machine %d carries the gang of %s too, and one of the two does not share", ref, other.ID)
		}
		if !taken || !job.Resources.ShareNodes {
			spans[ref] = job
		}
	}
	return nil
}
