package autoscale

import (
	"slices"

	"github.com/goodfleet/goodfleet/autoscale/placement"
	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/provider"
)

// rooms are the machines that are here or on their way, with nobody on them.
func (s *State) rooms() map[provider.InstanceID]placement.Room {
	list := make(map[provider.InstanceID]placement.Room, len(s.Machines))
	add := func(id provider.InstanceID, o provider.Offering) {
		t, ok := s.Catalogue.Lookup(o.Cloud, o.Type)
		if i, sold := s.offer(o); sold {
			t = s.Offers[i].Type // as it was measured
		}
		if ok {
			list[id] = placement.RoomOf(t)
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
	given := map[planner.JobID]*planner.Running{} // to jobs that share
	second := func(job *planner.Job, r *planner.Running) bool {
		with, ok := given[r.Config.With]
		return ok && with.Config.With == job.ID && slices.Equal(with.Machines, r.Machines)
	}
	give := func(job *planner.Job, r *planner.Running) {
		shares := second(job, r)
		for _, id := range r.Machines {
			if m, here := left[id]; here {
				if shares {
					m.Share(r.Config)
				}
				m.Give(job, r.Config)
				left[id] = m
			}
		}
		if r.Config.With != "" {
			given[job.ID] = r
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
		shares := second(job, w)
		if slices.ContainsFunc(w.Machines, func(id provider.InstanceID) bool {
			m, here := left[id]
			if shares {
				m.Share(w.Config)
			}
			return here && (m.Lacks(job, w.Config) != "" || !shares && m.Meets(job, w.Config))
		}) {
			a.deferred[x.Job] = "its machines are not free yet"
			return true
		}
		give(job, w)
	}
	return false
}
