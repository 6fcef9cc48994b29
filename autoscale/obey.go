package autoscale

import (
	"fmt"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/provider"
)

// obey puts off what a person has paused, and moves beyond those of one round.
func (a *admission) obey() {
	over := overrides(a.s.Overrides)
	moves := 0
	for _, x := range a.plan.Allocations {
		r := a.job[x.Job]
		if samePlace(a.want[x.Job], r.Target) {
			continue
		}
		moving := r.Target != nil || r.Gang != nil && r.Stopping == 0
		if why := over.paused(r.Job); why != "" {
			a.deferred[x.Job] = why
			continue
		}
		for _, o := range a.places(x, r) {
			if why, ok := over.first(Pause, func(s string) bool { return s == "cloud/"+o.Cloud }); ok {
				a.deferred[x.Job] = why.String()
			}
		}
		if _, put := a.deferred[x.Job]; put || !moving {
			continue
		}
		if !a.s.forced(r) {
			if why, _ := windows(a.s.Windows).shut(ofMoves, a.s.Now); why != "" {
				a.deferred[x.Job] = why
				continue
			}
		}
		if moves++; a.s.MaxMoves > 0 && moves > a.s.MaxMoves {
			a.deferred[x.Job] = fmt.Sprintf("no more than %d jobs move in one round", a.s.MaxMoves)
			a.paced = true
		}
	}
}

// places are the offerings that a job comes from and goes to.
func (a *admission) places(x planner.Allocation, r *JobRecord) []provider.Offering {
	list := []provider.Offering{x.Offering}
	if r.Target != nil {
		list = append(list, r.Target.Offering)
	}
	return list
}

// keeps tells why a job keeps what it has although the plan gives it nothing; ""
// when it does not.
func (a *admission) keeps(r *JobRecord) string {
	over := overrides(a.s.Overrides)
	if a.s.isSpent(r) || a.s.leavesBy(r) != nil {
		return ""
	}
	if why := over.paused(r.Job); why != "" {
		return why
	}
	if why, ok := over.first(Pause, func(s string) bool { return s == "cloud/"+r.Target.Offering.Cloud }); ok {
		return why.String()
	}
	if !a.s.forced(r) {
		why, _ := windows(a.s.Windows).shut(ofMoves, a.s.Now)
		return why
	}
	return ""
}
