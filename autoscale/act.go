package autoscale

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/provider"
)

// act carries out a diff: launches first, so that nothing is given up for what
// cannot be had. When a launch fails, what is known now goes into a new plan in
// the same round, MaxReplans times at most; then without buying.
func (l *Loop) act(ctx context.Context, s *State, d *decision) (*decision, error) {
	var launched []Launch
	for replans := 0; len(d.diff.Launches) > 0; replans++ {
		back, err := l.buy(ctx, d, s.Now)
		if err != nil {
			return d, err
		}
		if !back.replan {
			break
		}
		if back.noBuying == "" {
			launched = append(launched, d.diff.Launches...)
		}
		woke := s.Woke
		s = l.state(s.Now)
		s.Woke, s.NoBuying = woke, back.noBuying
		if replans >= l.cfg.Settings.MaxReplans {
			s.NoBuying = fmt.Sprintf("%d plans of this round failed", replans+1)
		}
		l.replans++
		if d, err = l.decide(s); err != nil {
			return &decision{diff: Diff{Launches: launched}}, fmt.Errorf("decide again: %w", err)
		}
	}
	d.diff.Launches = append(launched, d.diff.Launches...)
	return d, l.move(ctx, d, s.Now)
}

// move stores what is about to be done to gangs and machines, and does it. What
// is lost between the two is said again in the next round.
func (l *Loop) move(ctx context.Context, d *decision, now time.Time) error {
	for _, t := range d.diff.Targets {
		r := l.cache.job[t.Job]
		kind, text := EventPlan, t.Reason
		if t.Moves && t.Target != nil {
			kind = EventMove
		}
		l.cache.aim(r, t.Target, now)
		e := Event{At: now, Kind: kind, Job: t.Job, Text: text}
		if t.Target != nil {
			o := t.Target.Offering
			e.Offering = &o
		}
		l.event(e)
	}
	for _, stop := range d.diff.Stops {
		r := l.cache.job[stop.Job]
		r.Stopping, r.Times.Stopping = stop.Mode, now
		if stop.Mode == StopSave && r.Ended.IsZero() {
			r.Restarts++
		}
		l.cache.touchJob(r)
		l.jobEvent(now, EventStop, r, stop.Reason)
	}
	for _, start := range d.diff.Starts {
		r := l.cache.job[start.Gang.Job]
		gang := start.Gang
		l.charge(r.egressCharges(gang.Offering, gang.Generation, now, l.cache.round)) // stored with the gang, so never twice
		l.cache.seat(r, &gang)
		r.Generation, r.Times, r.Stopping = gang.Generation, GangTimes{Started: now}, 0
		if r.Started.IsZero() {
			r.Started = now
		}
		r.Phase = r.phase()
		l.jobEvent(now, EventStart, r, start.Reason)
	}
	for _, drain := range d.diff.Drains {
		m := l.cache.machine[drain.Instance]
		m.Draining, m.Reason = true, drain.Reason
		l.cache.touchMachine(m)
		l.machineEvent(now, EventDrain, m, drain.Reason)
	}
	for _, end := range d.diff.Terminations {
		m := l.cache.machine[end.Instance]
		m.EndAsked, m.Reason = now, end.Reason
		l.cache.touchMachine(m)
		l.machineEvent(now, EventRelease, m, end.Reason)
	}
	if err := l.cache.commit(ctx, l.cfg.Store); err != nil {
		return err
	}
	var errs []error
	for _, stop := range d.diff.Stops {
		if err := l.cfg.Runner.Stop(ctx, stop.Job, stop.Generation, stop.Mode); err != nil {
			errs = append(errs, fmt.Errorf("stop %s: %w", stop.Job, err))
		}
	}
	for _, start := range d.diff.Starts {
		errs = append(errs, l.start(ctx, l.cache.job[start.Gang.Job], now))
	}
	var ids []provider.InstanceID
	for _, end := range d.diff.Terminations {
		ids = append(ids, end.Instance)
	}
	l.terminate(ctx, ids, now)
	return errors.Join(errs...)
}

// start hands a gang to the runner. A runner that refuses it again and again has
// the job given up.
func (l *Loop) start(ctx context.Context, r *JobRecord, now time.Time) error {
	err := l.cfg.Runner.Start(ctx, *r.Gang)
	if err == nil {
		return nil
	}
	job := r.Job.ID
	if r.Failures+1 >= l.cfg.Settings.MaxFailures {
		l.fail(r, now, fmt.Sprintf("it could not be started (%v)", err))
	} else {
		r.Failures++
		l.cache.touchJob(r)
		l.jobEvent(now, EventFailed, r, fmt.Sprintf("it could not be started: %v", err))
	}
	return fmt.Errorf("start %s: %w", job, err)
}

// sayAgain repeats what the runner may not have heard: gangs that it does not
// know, and stops that it has not begun.
func (l *Loop) sayAgain(ctx context.Context, now time.Time) error {
	var errs []error
	for _, p := range l.strays {
		if err := l.cfg.Runner.Stop(ctx, p.Job, p.Generation, StopKill); err != nil {
			errs = append(errs, fmt.Errorf("stop %s: %w", p.Job, err))
		}
	}
	for _, again := range l.repeats {
		r := again.job
		switch {
		case r.Gang == nil || l.frozen(r.Gang.Offering.Cloud) != "":
		case r.Stopping != 0 && again.was.State == 0:
			l.free(r, now) // it was never started, or is long gone
		case r.Stopping != 0:
			if err := l.cfg.Runner.Stop(ctx, r.Job.ID, r.Gang.Generation, r.Stopping); err != nil {
				errs = append(errs, fmt.Errorf("stop %s: %w", r.Job.ID, err))
			}
		case l.stray(r.Job.ID):
		default:
			errs = append(errs, l.start(ctx, r, now))
		}
	}
	return errors.Join(errs...)
}

// stray reports whether a gang of a job runs that is not the job's.
func (l *Loop) stray(job planner.JobID) bool {
	return slices.ContainsFunc(l.strays, func(p Progress) bool { return p.Job == job })
}

// heed tells gangs on machines that the cloud takes back to save and stop, if the
// time that is left covers it. The others go on: what they still do may reach a
// checkpoint, and their new machines may be ready before the loss.
func (l *Loop) heed(ctx context.Context, now time.Time) error {
	var errs []error
	for _, r := range l.cache.jobs {
		if r.Gang == nil || r.Stopping != 0 || !r.Ended.IsZero() {
			continue
		}
		loss, noticed := l.firstLoss(r.Gang)
		if !noticed || loss.Before(now.Add(r.Job.Checkpoint.Save)) {
			continue
		}
		if err := l.cfg.Runner.Stop(ctx, r.Job.ID, r.Gang.Generation, StopSave); err != nil {
			errs = append(errs, fmt.Errorf("stop %s: %w", r.Job.ID, err))
			continue
		}
		r.Stopping, r.Times.Stopping = StopSave, now
		r.Restarts++
		l.cache.touchJob(r)
		l.jobEvent(now, EventStop, r, "the cloud takes a machine back")
	}
	return errors.Join(errs...)
}

// firstLoss is when the first machine of a gang goes, by the clouds' words.
func (l *Loop) firstLoss(g *Gang) (loss time.Time, noticed bool) {
	for _, n := range g.Nodes {
		m, ok := l.cache.machine[n.Instance]
		if !ok || m.Noticed.IsZero() {
			continue
		}
		if !noticed || m.Loss.Before(loss) {
			loss, noticed = m.Loss, true
		}
	}
	return loss, noticed
}

// terminate asks the clouds to end machines, cloud by cloud. A refusal is kept, so
// that the machine counts as ours again for a while; any other failure is met by
// asking again in the next round.
func (l *Loop) terminate(ctx context.Context, ids []provider.InstanceID, now time.Time) {
	for _, v := range l.clouds {
		var own []provider.InstanceID
		for _, id := range ids {
			if l.cache.machine[id].Instance.Offering.Cloud == v.name {
				own = append(own, id)
			}
		}
		if len(own) == 0 {
			continue
		}
		err := l.end(ctx, v, own...)
		if err != nil && len(own) > 1 {
			for _, id := range own { // one bad name must not keep the others
				l.ended(l.cache.machine[id], l.end(ctx, v, id), now)
			}
			continue
		}
		for _, id := range own {
			l.ended(l.cache.machine[id], err, now)
		}
	}
}

func (l *Loop) end(ctx context.Context, v *cloudView, ids ...provider.InstanceID) error {
	ctx, cancel := l.cfg.Settings.deadline(ctx)
	defer cancel()
	return v.cloud.Terminate(ctx, ids...)
}

// ended takes over the answer to a termination. That a machine is not there is
// what we wanted; the listing says when it ended.
func (l *Loop) ended(m *InstanceRecord, err error, now time.Time) {
	if !errors.Is(err, provider.ErrDenied) {
		if err != nil {
			l.cfg.Log.Warn("terminate", "instance", m.Instance.ID, "err", err)
		}
		return
	}
	m.EndAsked, m.Draining, m.Denied = time.Time{}, false, now
	if m.Astray.IsZero() && l.stopsIdle(m) {
		m.Astray = now // it costs on against a cap that should have stopped it
	}
	l.cache.touchMachine(m)
	l.last.changed = true
	l.machineEvent(now, EventDenied, m, err.Error())
}

// endAgain repeats terminations that the clouds have not confirmed.
func (l *Loop) endAgain(ctx context.Context, now time.Time) {
	var ids []provider.InstanceID
	for _, m := range l.cache.machines {
		if m.Instance.Live() && !m.EndAsked.IsZero() && m.EndAsked.Before(now) && l.frozen(m.Instance.Offering.Cloud) == "" {
			ids = append(ids, m.Instance.ID)
		}
	}
	slices.Sort(ids)
	l.terminate(ctx, ids, now)
}
