package autoscale

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/provider"
)

// readProgress takes over what the runner says of each gang. A runner that does
// not answer freezes every cloud for the round: nobody knows who holds what.
func (l *Loop) readProgress(ctx context.Context, now time.Time) {
	list, err := l.cfg.Runner.Progress(ctx)
	if err != nil {
		l.freeze(fmt.Sprintf("the runner cannot be read: %v", err), now)
		return
	}
	said := make(map[planner.JobID]Progress, len(list))
	for _, p := range list {
		said[p.Job] = p
	}
	l.said = said
	for _, r := range l.cache.jobs {
		p, ok := said[r.Job.ID]
		switch {
		case ok && p.Generation > r.Generation:
			l.newer = append(l.newer, p)
		case r.Gang == nil:
			if ok && p.live() {
				l.strays = append(l.strays, p)
			}
		case !ok || p.Generation != r.Gang.Generation:
			if ok && p.live() {
				l.strays = append(l.strays, p)
			}
			l.repeats = append(l.repeats, repeat{r, Progress{}}) // it was never started, or is forgotten
		default:
			l.fit(r, p, now)
			l.readGang(r, p, now)
		}
	}
	for _, p := range list {
		if !p.live() {
			continue
		}
		if _, known := l.cache.job[p.Job]; !known && l.cache.everJob[p.Job] {
			l.strays = append(l.strays, p) // its job is over
		}
		if p.Gang != nil {
			for _, n := range p.Gang.Nodes {
				l.used[n.Instance] = true
			}
		}
	}
}

// live reports whether the gang holds its machines.
func (p Progress) live() bool {
	return p.State == GangStarting || p.State == GangRunning || p.State == GangStopping
}

// readGang takes over what the runner says of one gang.
func (l *Loop) readGang(r *JobRecord, p Progress, now time.Time) {
	before := *r
	if p.Safe > r.Safe {
		r.Safe, r.Failures = p.Safe, 0
	}
	if r.Times.Running.IsZero() && p.State >= GangRunning && p.State != GangFailed {
		r.Times.Running = l.restored(r, p)
	}
	at := later(p.Since, r.Times.Started)
	if at.After(now) {
		at = now
	}
	switch p.State {
	case GangStarting, GangRunning, GangStopping:
		r.Seen, r.SeenAt = p.Seen, now
		if r.Stopping != 0 && p.State != GangStopping {
			l.repeats = append(l.repeats, repeat{r, p})
		}
	case GangStopped:
		r.Seen = p.Safe
		l.jobEvent(at, EventStopped, r, "")
		l.free(r, at)
	case GangDone:
		r.Seen = max(p.Seen, p.Safe)
		if r.Ended.IsZero() {
			r.Phase, r.Ended, r.Target, r.Waiting = JobDone, at, nil, time.Time{}
			l.jobEvent(at, EventDone, r, "")
		}
		l.free(r, at)
	case GangLost:
		if r.Stopping == StopKill {
			l.jobEvent(at, EventStopped, r, "") // that it is lost is known
		} else {
			l.countLoss(r, at, now)
		}
		r.Seen = p.Safe
		l.free(r, at)
	case GangFailed:
		r.Seen = p.Safe
		if l.ranOut {
			l.jobEvent(at, EventFailed, r, "out of memory: it does not run so again")
			l.free(r, at)
			break
		}
		l.fail(r, at, "its program failed")
	}
	if r.Safe != before.Safe || r.Seen != before.Seen || r.Times != before.Times {
		l.cache.touchJob(r)
	}
}

// restored is when a gang that has run made its first progress. Of one that has
// already ended between two rounds the moment was not seen: it took as long as
// the job declares.
func (l *Loop) restored(r *JobRecord, p Progress) time.Time {
	if p.State == GangRunning {
		return later(p.Since, r.Times.Started)
	}
	at := r.Times.Started.Add(r.Job.Checkpoint.Restore)
	if at.After(p.Since) {
		return later(p.Since, r.Times.Started)
	}
	return at
}

// free takes a gang off its machines at an instant, after they were booked to it.
func (l *Loop) free(r *JobRecord, at time.Time) {
	gang := r.Gang
	for _, n := range gang.Nodes {
		if m, ok := l.cache.machine[n.Instance]; ok {
			l.book(m, at)
		}
	}
	if at.After(r.Times.Started) {
		r.Held += at.Sub(r.Times.Started)
		r.Claims = slices.Clone(r.Claims)
		had(r.Claims, gang, at.Sub(r.Times.Started))
	}
	if r.Target != nil && sameMachines(*r.Target, gang) && r.Stopping == 0 {
		r.Target = nil // it lost these machines; the plan may give them again
	}
	moving := r.Stopping == StopSave && r.Target != nil && r.Ended.IsZero()
	l.cache.unseat(r)
	if r.Ended.IsZero() {
		l.cache.aim(r, r.Target, at)
	}
	l.happened(moving) // it was stopped for the place that the last plan gave it
}

// fail counts a failure of a job's program. After too many in a row without
// progress the job is given up.
func (l *Loop) fail(r *JobRecord, at time.Time, why string) {
	r.Failures++
	if r.Ended.IsZero() && r.Failures >= l.cfg.Settings.MaxFailures {
		r.Phase, r.Ended, r.Target, r.Waiting = JobFailed, at, nil, time.Time{}
		why = fmt.Sprintf("%s %d times without progress: given up", why, r.Failures)
	}
	l.jobEvent(at, EventFailed, r, why)
	l.free(r, at)
	l.last.changed = true
}

// loseMachine deals with a machine that is no longer there: its gangs are lost,
// and what was aimed at it is not.
func (l *Loop) loseMachine(m *InstanceRecord, now time.Time) {
	at := m.Instance.Ended
	if at.IsZero() || at.After(now) {
		at = now
	}
	l.last.changed = l.last.changed || !l.expected(m)
	if m.Instance.Cause == provider.EndedByUs || !m.EndAsked.IsZero() {
		l.machineEvent(at, EventEnded, m, "")
	} else {
		l.machineEvent(at, EventLoss, m, m.Instance.Cause.String())
		if m.Noticed.IsZero() {
			l.markDown(scopeOf(m.Instance.Offering), errTaken, l.cfg.Settings.BackOffMin, now)
		}
	}
	for _, r := range l.cache.on(m.Instance.ID) {
		if r.Stopping != StopKill {
			l.countLoss(r, at, now)
			r.Stopping, r.Times.Stopping = StopKill, at
		}
		l.cache.touchJob(r)
		if !l.anyLeft(r.Gang) {
			r.Seen = r.Safe
			if p, ok := l.said[r.Job.ID]; ok && p.Generation == r.Gang.Generation && p.live() {
				l.strays = append(l.strays, p) // the runner does not know yet: it must, before the job goes on elsewhere
			}
			l.free(r, at)
			continue
		}
		l.repeats = append(l.repeats, repeat{r, Progress{State: GangRunning}})
	}
	l.abandon(m.Instance.ID, now)
}

// expected reports whether the last plan did without a machine that is gone now, and would
// be the same with what that took of caps and quotas. The loss of a pool says something of
// its other machines.
func (l *Loop) expected(m *InstanceRecord) bool {
	if l.last.open || !l.last.roomy || len(l.enforced)+len(l.totals) > 0 {
		return false
	}
	if !m.EndAsked.IsZero() {
		return true
	}
	return !m.Noticed.IsZero() && !slices.ContainsFunc(l.cache.machines, func(x *InstanceRecord) bool {
		return x.Instance.Live() && x.Noticed.IsZero() && x.Instance.Offering.Pool() == m.Instance.Offering.Pool()
	})
}

// anyLeft reports whether a machine of the gang is still there.
func (l *Loop) anyLeft(g *Gang) bool {
	return slices.ContainsFunc(g.Nodes, func(n GangNode) bool {
		m, ok := l.cache.machine[n.Instance]
		return ok && m.Instance.Live()
	})
}

// countLoss notes that a job lost its gang, and moves what was paid for the work
// that must be done again from the job to waste.
func (l *Loop) countLoss(r *JobRecord, at, now time.Time) {
	r.Losses++
	r.Restarts++
	l.cache.touchJob(r)
	l.last.changed = true
	again := l.unsafeTime(r, at)
	l.jobEvent(at, EventLost, r, fmt.Sprintf("%v of work to be done again", again.Round(time.Second)))
	for _, n := range r.Gang.Nodes {
		if m, ok := l.cache.machine[n.Instance]; ok {
			l.book(m, at)
		}
	}
	if again > 0 {
		l.waste(r, at.Add(-again), at)
	}
}

// unsafeTime is how long a gang had worked since its last checkpoint when it was
// lost: the samples that no checkpoint holds, at the speed of its config.
func (l *Loop) unsafeTime(r *JobRecord, at time.Time) time.Duration {
	if r.Times.Running.IsZero() || !at.After(r.Times.Running) {
		return 0
	}
	ran := at.Sub(r.Times.Running)
	t, ok := l.typeOf(r.Gang.Offering)
	if !ok {
		return 0
	}
	speed, ok := l.beliefs.Of(r.Job).Curve.Speed(t.Accelerator, r.Gang.Config.Nodes, r.Gang.Config.Replicas)
	if !ok || !(speed.Goodput > 0) {
		return 0
	}
	done := r.Seen
	if seen := later(r.SeenAt, r.Times.Running); at.After(seen) {
		done += speed.Goodput * at.Sub(seen).Hours() // what it did after it was last seen
	}
	hours := min(max(0, done-r.Safe)/speed.Goodput, ran.Hours())
	return time.Duration(hours * float64(time.Hour))
}

// abandon takes a machine out of every target: it will not carry anything more.
// A job that is still on other machines stays there.
func (l *Loop) abandon(id provider.InstanceID, now time.Time) {
	for _, r := range l.cache.jobs {
		if r.Target == nil || !slices.Contains(r.Target.Machines, id) {
			continue
		}
		l.last.changed = true
		l.cache.aim(r, nil, now)
		if r.Gang == nil || r.Stopping != 0 {
			continue
		}
		for _, n := range r.Gang.Nodes {
			m, ok := l.cache.machine[n.Instance]
			if !ok || n.Instance == id || !m.Quarantined.IsZero() || l.cache.overrides.drained(n.Instance) != "" {
				continue
			}
			if m.Draining && m.EndAsked.IsZero() && m.Noticed.IsZero() {
				m.Draining = false // it was to leave for a place that is gone
				l.cache.touchMachine(m)
			}
		}
	}
}

// sameMachines reports whether a target is where a gang is, with as many replicas.
func sameMachines(t planner.Running, g *Gang) bool {
	if len(t.Machines) != len(g.Nodes) || t.Config.Replicas != g.Config.Replicas {
		return false
	}
	return !slices.ContainsFunc(t.Machines, func(id provider.InstanceID) bool { return !g.holds(id) })
}

func (l *Loop) jobEvent(at time.Time, kind string, r *JobRecord, text string) {
	e := Event{At: at, Kind: kind, Job: r.Job.ID, Text: text}
	if r.Gang != nil {
		o := r.Gang.Offering
		e.Offering = &o
	}
	l.event(e)
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
