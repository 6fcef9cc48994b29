package peer

import (
	"slices"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/provider"
)

// floor is the machines of a problem by kind, and what is free of them while a round
// is made.
type floor struct {
	p     *planner.Problem
	kinds []kind // in order of name
	free  []int  // accelerators, by machine of the problem
	plan  planner.Plan
	at    map[provider.InstanceID]int
}

// kind is the machines of one instance type.
type kind struct {
	name     string
	typ      provider.InstanceType
	offering provider.Offering
	machines []int // of the problem, in order
	workers  int   // accelerators of all
}

func newFloor(p *planner.Problem) *floor {
	f := &floor{p: p, free: make([]int, len(p.Machines)), at: make(map[provider.InstanceID]int, len(p.Machines))}
	types := make(map[provider.Offering]provider.InstanceType, len(p.Offers))
	for i := range p.Offers {
		types[p.Offers[i].Offering] = p.Offers[i].Type
	}
	index := map[provider.Offering]int{}
	for i := range p.Machines {
		m := &p.Machines[i]
		t, known := types[m.Offering]
		if !known || m.Leaving {
			continue
		}
		k, ok := index[m.Offering]
		if !ok {
			k = len(f.kinds)
			index[m.Offering] = k
			f.kinds = append(f.kinds, kind{name: planner.KindOf(m.Offering), typ: t, offering: m.Offering})
		}
		f.kinds[k].machines = append(f.kinds[k].machines, i)
		f.kinds[k].workers += t.Count
		f.free[i], f.at[m.ID] = t.Count, i
	}
	slices.SortFunc(f.kinds, func(a, b kind) int { return a.offering.Compare(b.offering) })
	f.plan.Machines = make([]planner.PlannedMachine, len(p.Machines))
	for i := range p.Machines {
		f.plan.Machines[i] = planner.PlannedMachine{Instance: p.Machines[i].ID, Offering: p.Machines[i].Offering}
	}
	return f
}

// spread is over how many machines a gang of n lies on a kind, as few as hold it with
// as many replicas on each. ok is false when there is no such way.
func (k *kind) spread(n int) (nodes int, ok bool) {
	for nodes = (n + k.typ.Count - 1) / k.typ.Count; nodes <= min(n, len(k.machines)); nodes++ {
		if n%nodes == 0 {
			return nodes, true
		}
	}
	return 0, false
}

// keeps gives a job the machines that it has, if they are of the kind, as many replicas
// as it has, and free.
func (f *floor) keeps(j *planner.JobState, k *kind, n int) bool {
	r := j.Running
	if r == nil || r.Offering != k.offering || r.Config.Replicas != n {
		return false
	}
	var at []int
	for _, id := range r.Machines {
		i, ok := f.at[id]
		if !ok || f.free[i] < n/len(r.Machines) {
			return false
		}
		at = append(at, i)
	}
	f.seat(j, k, at, n)
	return true
}

// place gives a job machines of the kind: the fullest that hold a node of it. Whole
// machines go to gangs of several. A loose gang takes more machines where as few as hold it
// have no room. It reports whether there are enough.
func (f *floor) place(j *planner.JobState, k *kind, n int, loose bool) bool {
	nodes, ok := k.spread(n)
	if !ok {
		return false
	}
	most := nodes
	if loose {
		most = min(n, len(k.machines))
	}
	for ; nodes <= most; nodes++ {
		if n%nodes != 0 {
			continue
		}
		var at []int
		for _, i := range k.machines {
			if f.free[i] >= n/nodes {
				at = append(at, i)
			}
		}
		if len(at) < nodes {
			continue
		}
		if k.typ.Count > 1 {
			slices.SortStableFunc(at, func(a, b int) int { return f.free[a] - f.free[b] })
		}
		f.seat(j, k, at[:nodes], n)
		return true
	}
	return false
}

func (f *floor) seat(j *planner.JobState, k *kind, at []int, n int) {
	each := n / len(at)
	a := planner.Allocation{
		Job: j.Job.ID, Offering: k.offering,
		Config: planner.Config{Cloud: k.offering.Cloud, Type: k.offering.Type, Nodes: len(at), Replicas: n},
	}
	if s, ok := j.Job.Curve.Speed(k.typ.Accelerator, len(at), n); ok {
		a.Speed, a.Config.Batch, a.Config.MaxLocal = s, s.Batch, s.MaxLocal
	}
	same := j.Running != nil && len(j.Running.Machines) == len(at) && j.Running.Config.Replicas == n
	for _, i := range at {
		f.free[i] -= each
		a.Machines = append(a.Machines, planner.MachineRef(i))
		f.plan.Machines[i].Jobs = append(f.plan.Machines[i].Jobs, planner.Share{Job: j.Job.ID, Accelerators: each})
		same = same && i < len(f.p.Machines) && slices.Contains(j.Running.Machines, f.p.Machines[i].ID)
	}
	a.Keeps = same
	f.plan.Allocations = append(f.plan.Allocations, a)
}

// finish adds the jobs that wait, and puts all in the order of the problem.
func (f *floor) finish(why string) planner.Plan {
	order := make(map[planner.JobID]int, len(f.p.Jobs))
	for i := range f.p.Jobs {
		order[f.p.Jobs[i].Job.ID] = i
	}
	seated := make([]bool, len(f.p.Jobs))
	for _, a := range f.plan.Allocations {
		seated[order[a.Job]] = true
	}
	for i := range f.p.Jobs {
		if !seated[i] {
			f.plan.Waits = append(f.plan.Waits, planner.Wait{Job: f.p.Jobs[i].Job.ID, Reason: why})
		}
	}
	slices.SortFunc(f.plan.Allocations, func(a, b planner.Allocation) int { return order[a.Job] - order[b.Job] })
	return f.plan
}
