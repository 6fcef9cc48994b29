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
// waiting who was to share their new machine or to have their old one, if there are any. If
// there are none, all those are that a budget policy has no room for while it, or another,
// has none for jobs that wait: these are crowded, and what could be bought for them meanwhile
// would take the room that the moves wait for. Nothing is stuck while something is on its
// way out, which makes room in a moment.
func (a *admission) stuck() (moves []Deferral, crowded []planner.JobID) {
	var over []Deferral
	for _, d := range a.deferrals() {
		r := a.job[d.Job]
		switch {
		case a.waits(d.Job) && a.over[d.Job] && !a.shares(d.Job):
			crowded = append(crowded, d.Job)
		case a.short[d.Job] && a.s.stays(r) && a.mayStay(d.Job) && a.holdsUp(d.Job):
			moves = append(moves, d)
		case a.over[d.Job] && a.s.stays(r) && a.mayStay(d.Job):
			over = append(over, d)
		}
	}
	if len(moves) == 0 && (len(over) == 0 || len(crowded) == 0) || a.endsSome() {
		return nil, nil
	}
	if len(moves) > 0 {
		return moves, nil
	}
	return over, crowded
}

// waits reports whether a job of the plan holds nothing.
func (a *admission) waits(job planner.JobID) bool {
	r := a.job[job]
	return r.Target == nil && r.Gang == nil
}

// holdsUp reports whether a job that waits is put off beside a move, for a machine that the
// move goes to or comes from.
func (a *admission) holdsUp(mover planner.JobID) bool {
	from, to := a.job[mover].Target.Machines, a.want[mover].Machines
	for id := range a.deferred {
		if w := a.want[id]; a.waits(id) && w != nil && slices.ContainsFunc(w.Machines, func(m provider.InstanceID) bool {
			return slices.Contains(from, m) || slices.Contains(to, m)
		}) {
			return true
		}
	}
	return false
}

// shares reports whether the plan was told before that nothing is bought for a job.
func (a *admission) shares(job planner.JobID) bool {
	return slices.ContainsFunc(a.p.Jobs, func(j planner.JobState) bool { return j.Job.ID == job && j.Shares })
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
