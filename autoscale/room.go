package autoscale

import (
	"slices"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/provider"
)

// room is what is left on a machine, and how many nodes of larger gangs lie there.
type room struct {
	accelerators int
	vcpu, memGiB float64
	gangs        int
	closed       int // of these, those that share with none of their kind
}

// rooms are the machines that are here or on their way, with nobody on them.
func (s *State) rooms() map[provider.InstanceID]room {
	list := make(map[provider.InstanceID]room, len(s.Machines))
	add := func(id provider.InstanceID, o provider.Offering) {
		t, ok := s.Catalogue.Lookup(o.Cloud, o.Type)
		if i, sold := s.offer(o); sold {
			t = s.Offers[i].Type // as it was measured
		}
		if ok {
			list[id] = room{accelerators: t.Count, vcpu: float64(t.VCPU), memGiB: t.MemGiB}
		}
	}
	for i := range s.Machines {
		inst := &s.Machines[i].Instance
		add(inst.ID, inst.Offering)
	}
	for i := range s.Intents {
		x := &s.Intents[i]
		for k := range x.Count {
			add(standIn(x.Token, k), x.Offering)
		}
	}
	return list
}

// spare is how far memory and vCPU may fall short by rounding.
const spare = 1e-9

// takes reports whether a node of job fits beside what is on the machine.
func (r *room) takes(job *planner.Job, c planner.Config) bool {
	n := c.Replicas / c.Nodes
	switch {
	case r.accelerators < n,
		r.vcpu < job.Resources.VCPU*float64(n)-spare,
		r.memGiB < job.Resources.MemGiB*float64(n)-spare:
		return false
	}
	return c.Nodes == 1 || r.gangs == 0 || job.Resources.ShareNodes && r.closed == 0
}

// give takes what a node of job needs.
func (r *room) give(job *planner.Job, c planner.Config) {
	n := c.Replicas / c.Nodes
	r.accelerators -= n
	r.vcpu -= job.Resources.VCPU * float64(n)
	r.memGiB -= job.Resources.MemGiB * float64(n)
	if c.Nodes > 1 {
		r.gangs++
		if !job.Resources.ShareNodes {
			r.closed++
		}
	}
}

// fit puts off jobs whose machines are not given up in time: one that is put off
// keeps its place, so that another which was to have it must wait too, and so must one
// that would meet a gang there with which it may not share a machine.
func (a *admission) fit() {
	for a.fitOnce() {
	}
}

// fitOnce puts off the first job that does not fit beside those that stay and those
// before it in the plan; it reports whether there was one.
func (a *admission) fitOnce() bool {
	left := a.s.rooms()
	give := func(job *planner.Job, r *planner.Running) {
		for _, id := range r.Machines {
			if m, here := left[id]; here {
				m.give(job, r.Config)
				left[id] = m
			}
		}
	}
	for i := range a.s.Jobs {
		r := &a.s.Jobs[i]
		_, wants := a.want[r.Job.ID]
		if _, late := a.deferred[r.Job.ID]; r.Target != nil && (late || a.s.fixed(r) || wants && samePlace(a.want[r.Job.ID], r.Target)) {
			give(r.Job, r.Target)
		}
	}
	for _, x := range a.plan.Allocations {
		w, job := a.want[x.Job], a.job[x.Job].Job
		if _, put := a.deferred[x.Job]; put || samePlace(w, a.job[x.Job].Target) {
			continue
		}
		if slices.ContainsFunc(w.Machines, func(id provider.InstanceID) bool {
			m, here := left[id]
			return here && !m.takes(job, w.Config)
		}) {
			a.deferred[x.Job] = "its machines are not free yet"
			return true
		}
		give(job, w)
	}
	return false
}
