package autoscale

import (
	"slices"
	"time"

	"github.com/goodfleet/goodfleet/planner"
)

// dueBy lets the shares that were planned last run up to now.
func (r *JobRecord) dueBy(now time.Time) []planner.Claim {
	list := slices.Clone(r.Claims)
	if past := now.Sub(r.ClaimedAt); past > 0 {
		for i := range list {
			list[i].Due += time.Duration(list[i].Share * float64(past))
		}
	}
	return list
}

// claims are what the job has a right to and has had at now, with its present gang.
func (r *JobRecord) claims(now time.Time) []planner.Claim {
	list := r.dueBy(now)
	if r.Gang != nil {
		had(list, r.Gang, now.Sub(r.Times.Started))
	}
	return list
}

// had adds the time that a gang held its machines to the claim on their kind.
func had(list []planner.Claim, g *Gang, span time.Duration) {
	kind := planner.KindOf(g.Offering)
	for i := range list {
		if list[i].Kind == kind {
			list[i].Had += max(0, span)
		}
	}
}

// claim notes the shares that a plan gives, and the leases of jobs that were not put
// off. What a job has had of a kind that it gets no more share of stays with it.
func (l *Loop) claim(plan planner.Plan, deferred []Deferral, now time.Time) {
	for _, s := range plan.Shares {
		r, ok := l.cache.job[s.Job]
		if !ok {
			continue
		}
		list := r.dueBy(now)
		for i := range list {
			list[i].Share = 0
		}
		for _, c := range s.Claims {
			i := slices.IndexFunc(list, func(x planner.Claim) bool { return x.Kind == c.Kind })
			if i < 0 {
				i = len(list)
				list = append(list, planner.Claim{Kind: c.Kind})
			}
			list[i].Share = c.Share
		}
		r.Claims, r.ClaimedAt = list, now
		if !slices.ContainsFunc(deferred, func(d Deferral) bool { return d.Job == s.Job }) {
			r.Lease = s.Lease
		}
		l.cache.touchJob(r)
	}
}
