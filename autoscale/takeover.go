package autoscale

import (
	"fmt"
	"slices"
	"time"

	"github.com/goodfleet/goodfleet/planner"
)

// takeOver brings jobs up to generations of theirs that the store has not heard of:
// it was restored from a copy. A gang that runs is taken over with its machines.
func (l *Loop) takeOver(now time.Time) {
	for _, p := range l.newer {
		r := l.cache.job[p.Job]
		if p.live() && (p.Gang == nil || !l.allHere(p.Gang)) {
			l.strays = append(l.strays, p) // nobody knows where it is: it has to stop
			continue
		}
		if r.Gang != nil {
			l.cache.unseat(r)
		}
		r.Generation, r.Target, r.Safe = p.Generation, nil, max(r.Safe, p.Safe)
		l.cache.touchJob(r)
		l.last.changed = true
		if p.live() {
			gang := *p.Gang
			l.cache.seat(r, &gang)
			r.Times, r.Stopping = GangTimes{Started: later(p.Since, r.Job.Submitted)}, 0
			if r.Times.Started.After(now) {
				r.Times.Started = now
			}
			if p.State != GangStarting {
				r.Times.Running = r.Times.Started
			}
			target := planner.Running{Config: gang.Config, Offering: gang.Offering, Since: now}
			for _, n := range gang.Nodes {
				target.Machines = append(target.Machines, n.Instance)
				if m := l.cache.machine[n.Instance]; !m.Orphan.IsZero() {
					m.Orphan = time.Time{}
					l.cache.touchMachine(m)
				}
			}
			if r.Started.IsZero() {
				r.Started = now
			}
			l.cache.aim(r, &target, now)
			l.jobEvent(now, EventAdopt, r, fmt.Sprintf("generation %d runs, of which the store did not know", p.Generation))
			l.readGang(r, p, now)
			continue
		}
		r.Seen = r.Safe
		if p.State == GangDone {
			r.Phase, r.Ended, r.Waiting, r.Seen = JobDone, earlier(later(p.Since, r.Job.Submitted), now), time.Time{}, max(p.Seen, p.Safe)
			l.jobEvent(r.Ended, EventDone, r, "")
			continue
		}
		l.jobEvent(earlier(later(p.Since, r.Job.Submitted), now), EventStopped, r, fmt.Sprintf("generation %d, of which the store did not know", p.Generation))
		l.cache.aim(r, nil, now)
	}
	l.newer = nil
}

// allHere reports whether we have a record of every machine of a gang, and it runs.
func (l *Loop) allHere(g *Gang) bool {
	return !slices.ContainsFunc(g.Nodes, func(n GangNode) bool {
		m, ok := l.cache.machine[n.Instance]
		return !ok || !m.Instance.Live()
	})
}
