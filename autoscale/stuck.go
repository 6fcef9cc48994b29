package autoscale

import (
	"slices"
	"time"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/provider"
)

// patience is how long a fleet stands still before nobody waits any longer for moves that
// have no room on the way.
const patience = 10 * time.Minute

// stuck are the moves that are put off since a cap or a quota has no room for them beside
// what their jobs hold, will be put off as long as nobody comes or goes, and keep another
// waiting who was to share their new machine, or to have their old one. There are none while
// something is on its way out, which makes room in a moment.
func (a *admission) stuck() []Deferral {
	var list []Deferral
	for _, d := range a.deferrals() {
		if r := a.job[d.Job]; a.short[d.Job] && a.s.stays(r) && a.mayStay(d.Job) && a.holdsUp(d.Job) {
			list = append(list, d)
		}
	}
	if len(list) == 0 || a.endsSome() {
		return nil
	}
	return list
}

// holdsUp reports whether a job that waits is put off beside a move, for a machine that the
// move goes to or comes from.
func (a *admission) holdsUp(mover planner.JobID) bool {
	from, to := a.job[mover].Target.Machines, a.want[mover].Machines
	for id := range a.deferred {
		if r, w := a.job[id], a.want[id]; r.Target == nil && r.Gang == nil && w != nil && slices.ContainsFunc(w.Machines, func(m provider.InstanceID) bool {
			return slices.Contains(from, m) || slices.Contains(to, m)
		}) {
			return true
		}
	}
	return false
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
