package autoscale

import (
	"slices"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/provider"
)

// stuck are the moves that are put off since a cap or a quota has no room for them beside
// what their jobs hold, and will be put off as long as nobody comes or goes. There are none
// while something is on its way out, which makes room in a moment.
func (a *admission) stuck() []Deferral {
	var list []Deferral
	for _, d := range a.deferrals() {
		if r := a.job[d.Job]; a.short[d.Job] && a.s.stays(r) && a.mayStay(d.Job) {
			list = append(list, d)
		}
	}
	if len(list) == 0 || a.endsSome() {
		return nil
	}
	return list
}

// stays reports whether a job has a place that it may keep.
func (s *State) stays(r *JobRecord) bool {
	return r.Target != nil && r.Stopping == 0 && s.leavesBy(r) == nil && !s.fixed(r)
}

// mayStay reports whether the plan was free to leave a job where it is, and has not been
// told to before.
func (a *admission) mayStay(job planner.JobID) bool {
	i := slices.IndexFunc(a.p.Jobs, func(j planner.JobState) bool { return j.Job.ID == job })
	return i >= 0 && a.p.Jobs[i].Running != nil && !a.p.Jobs[i].Stays
}

// endsSome reports whether a machine or a gang is on its way out, or goes in this round.
func (a *admission) endsSome() bool {
	for i := range a.s.Machines {
		if m := &a.s.Machines[i]; m.Instance.State != provider.Ended && (m.Draining || m.leaving()) {
			return true
		}
	}
	for i := range a.s.Jobs {
		if a.s.Jobs[i].Stopping != 0 {
			return true
		}
	}
	for _, e := range a.plan.Releases {
		used := slices.ContainsFunc(a.s.Jobs, func(r JobRecord) bool {
			return r.Gang != nil && r.Gang.holds(e.Instance) || r.Target != nil && slices.Contains(r.Target.Machines, e.Instance)
		})
		if !used {
			return true
		}
	}
	return false
}
