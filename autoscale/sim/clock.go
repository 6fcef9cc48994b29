package sim

import (
	"context"
	"fmt"
	"time"

	"github.com/goodfleet/goodfleet/autoscale"
	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/provider"
)

// run moves time from round to round and event to event until nothing is left.
func (w *world) run(ctx context.Context) error {
	if w.s.Standing {
		if err := w.raise(ctx); err != nil {
			return err
		}
	}
	round := w.now // the next of the period
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		passed, err := w.pass(ctx)
		if err != nil {
			return err
		}
		if !passed {
			if err := w.turn(ctx); err != nil {
				return err
			}
		}
		if over, err := w.over(ctx); over || err != nil {
			return err
		}
		if w.s.Lockstep && !w.closing {
			w.advance(w.turnOver())
			continue
		}
		for !round.After(w.now) {
			round = round.Add(w.s.Loop.Round)
		}
		if w.still() { // nothing happens before the next job comes
			for round.Before(w.coming[0].Submitted) {
				round = round.Add(w.s.Loop.Round)
			}
		}
		w.advance(w.next(round))
	}
}

// next is the first event before the next round of the period, else that round.
func (w *world) next(round time.Time) time.Time {
	next := round
	sooner := func(at time.Time, ok bool) {
		if ok && at.After(w.now) && at.Before(next) {
			next = at
		}
	}
	for _, c := range w.clouds {
		sooner(c.NextEvent())
	}
	sooner(w.runner.NextEvent())
	if !w.closing {
		if len(w.coming) > 0 {
			sooner(w.coming[0].Submitted, true)
		}
		sooner(w.end(), true)
	}
	return next
}

// end is when the horizon passes.
func (w *world) end() time.Time { return w.s.Start.Add(w.s.Horizon) }

// still reports whether there is nothing to run, nothing that runs, and more to come.
func (w *world) still() bool { return w.open() == 0 && w.quiet >= bookedAfter && len(w.coming) > 0 }

// bookedAfter is how many rounds in a row must end without a machine and a gang
// before nothing is left to do: what a round has ended is seen and booked by the
// next one.
const bookedAfter = 2

// open is how many jobs were submitted and have not ended.
func (w *world) open() int { return len(w.s.Jobs) - len(w.coming) - w.done - w.failed }

// step submits what is due and runs one round.
func (w *world) step(ctx context.Context) error {
	if !w.closing {
		if err := w.submit(ctx); err != nil {
			return err
		}
		if all := w.open() == 0 && len(w.coming) == 0 || w.counted == 0; all || !w.now.Before(w.end()) {
			w.closing, w.closedAt, w.passed = true, w.now, !all
			if len(w.s.Reservations) > 0 { // no clock ends a machine that costs nothing: the fleet is given up by hand
				if err := w.loop.Resume(ctx, w.now, "the simulation", true); err != nil {
					return err
				}
			}
		}
	}
	round, err := w.loop.Round(ctx, w.now)
	if err != nil {
		return err
	}
	w.counts.rounds++
	w.declared, w.nextDecision, w.lastRound = round.Breaker == "", round.NextDecision, w.now
	w.stirred, w.runner.news = false, false
	if round.Breaker != "" { // nobody is there who could look: what the policy wants is done in the next round
		if err := w.loop.Resume(ctx, w.now, "the simulation", true); err != nil {
			return err
		}
	}
	if err := w.take(ctx, round.Events); err != nil {
		return err
	}
	w.look()
	w.rest()
	if running, waiting := w.runner.Live(), w.open()-w.runner.Live(); len(w.jobs) == 0 || w.jobs[len(w.jobs)-1].running != running || w.jobs[len(w.jobs)-1].waiting != waiting {
		w.jobs = append(w.jobs, jobCount{w.now, running, max(0, waiting)})
	}
	if w.s.Progress != nil {
		w.s.Progress(Progress{Now: w.now, Done: w.done + w.failed, Jobs: len(w.s.Jobs)})
	}
	if w.s.Check {
		return w.check.round(w.now, w.live, w.runner.Gangs())
	}
	return nil
}

// rest counts rounds after which nothing is left, and the most that all machines cost.
func (w *world) rest() {
	w.quiet++
	if len(w.live)+w.leaving > 0 || w.runner.Live() > 0 {
		w.quiet = 0
	}
	w.counts.peakBurn = max(w.counts.peakBurn, w.check.burnOf(w.now, w.live))
}

// submit hands in the jobs whose time has come.
func (w *world) submit(ctx context.Context) error {
	due := 0
	for due < len(w.coming) && !w.coming[due].Submitted.After(w.now) {
		due++
	}
	if due == 0 {
		return nil
	}
	jobs := w.coming[:due]
	w.coming = w.coming[due:]
	return w.loop.Submit(ctx, w.now, jobs...)
}

// take counts what a round tells.
func (w *world) take(ctx context.Context, events []autoscale.Event) error {
	recount := false
	for i := range events {
		switch events[i].Kind {
		case autoscale.EventDone:
			w.done++
			w.count(events[i].Job)
		case autoscale.EventLaunchFailed:
			w.counts.failedLaunches++
		case autoscale.EventFailed:
			recount = true
		}
	}
	if !recount {
		return nil
	}
	all, err := w.store.Jobs(ctx)
	if err != nil {
		return fmt.Errorf("count failed jobs: %w", err)
	}
	w.failed = 0
	for i := range all {
		if all[i].Phase == autoscale.JobFailed {
			w.failed++
			w.count(all[i].Job.ID)
		}
	}
	return nil
}

// over reports whether the fleet has ended after all else has. A fleet that does
// not end is an error.
func (w *world) over(ctx context.Context) (bool, error) {
	switch {
	case !w.closing:
		return false, nil
	case w.quiet >= bookedAfter && !w.s.hostile():
		return true, nil
	case w.quiet >= bookedAfter:
		return w.booked(ctx)
	case w.now.Sub(w.closedAt) > drainLimit:
		return false, fmt.Errorf("%w: %d machines are still held %v after the last job", ErrBroken, len(w.live), drainLimit)
	}
	return false, nil
}

// booked reports whether every machine's books are closed. Where listings lie that
// takes its time: a machine that they have forgotten may come back.
func (w *world) booked(ctx context.Context) (bool, error) {
	snap, err := w.store.Load(ctx)
	if err != nil {
		return false, fmt.Errorf("are the books closed: %w", err)
	}
	if len(snap.Instances) == 0 && len(snap.Intents) == 0 {
		return true, nil
	}
	if w.now.Sub(w.closedAt) > drainLimit {
		return false, fmt.Errorf("%w: the books of %d machines are still open %v after the last job", ErrBroken, len(snap.Instances), drainLimit)
	}
	return false, nil
}

// advance moves the clouds and the runner to an instant, and tells the runner of
// machines that went away.
func (w *world) advance(to time.Time) {
	for _, c := range w.clouds {
		if at, ok := c.NextEvent(); ok && !at.After(to) {
			w.stirred = true
		}
		c.Advance(to)
	}
	w.look()
	w.runner.Advance(to)
	w.now = to
}

// look takes over what changed of our machines, as they really are: what listings
// say is for the loop to judge.
func (w *world) look() {
	w.live, w.leaving = w.live[:0], 0
	for i, c := range w.clouds {
		for _, m := range w.watches[i].Look(c) {
			if m.Tags.Fleet != w.fleet {
				continue
			}
			switch m.State {
			case provider.Pending, provider.Running:
				w.live = append(w.live, m)
			case provider.Ending:
				w.leaving++
			}
			before, seen := w.machines[m.ID]
			if !seen {
				w.order = append(w.order, m.ID)
			}
			if !m.Live() && (before.Live() || !seen) {
				w.runner.Lose(m.ID, w.lostAt(m))
			}
			w.machines[m.ID] = m
		}
	}
}

// lostAt is when a machine went from under its gangs.
func (w *world) lostAt(m provider.Instance) time.Time {
	if m.Ended.IsZero() {
		return w.now
	}
	return m.Ended
}

// outcome reads the books, proves them, and says what it all came to.
func (w *world) outcome(ctx context.Context) (Outcome, error) {
	charges, err := w.store.Charges(ctx, time.Time{}, time.Time{})
	if err != nil {
		return Outcome{}, err
	}
	records, err := w.store.Jobs(ctx)
	if err != nil {
		return Outcome{}, err
	}
	machines := make([]provider.Instance, len(w.order))
	for i, id := range w.order {
		machines[i] = w.machines[id]
		if machines[i].Cause == provider.Interrupted {
			w.counts.interruptions++
		}
	}
	w.counts.launches = len(machines)
	if err := w.check.books(charges, machines); err != nil {
		return Outcome{}, err
	}
	out := Outcome{
		Variant: w.s.Variant, HazardScale: w.s.HazardScale, Seed: w.s.Seed, From: w.s.Start, To: w.now, Horizon: w.passed,
		UsesSpot: w.s.usesSpot(), BurnCap: w.s.Loop.BurnCap, Reference: w.s.Reference, Charges: charges,
	}
	records = append(records, unsubmitted(w.coming)...)
	for _, c := range w.clouds {
		out.Script += c.Script()
	}
	out.figures(charges, records, newReference(w.s.Reference, w.s.Catalogue), w.counts)
	for i := range records {
		for n := range out.JobOutcomes {
			if j := &out.JobOutcomes[n]; j.Job == records[i].Job.ID && j.Done {
				j.Hindsight = w.hindsight(records[i].Job, records[i].Safe, records[i].Started)
			}
		}
	}
	for n := range out.JobOutcomes {
		out.JobOutcomes[n].Course = w.courses[out.JobOutcomes[n].Job]
	}
	out.Series = seriesOf(out.From, out.To, charges, w.jobs)
	out.Prices = priceSeries(w.prices, machines, out.From, out.To)
	return out, nil
}

// unsubmitted are the records of jobs that had not come when the horizon passed.
func unsubmitted(jobs []*planner.Job) []autoscale.JobRecord {
	records := make([]autoscale.JobRecord, len(jobs))
	for i, job := range jobs {
		records[i] = autoscale.JobRecord{Job: job, Phase: autoscale.JobWaiting}
	}
	return records
}
