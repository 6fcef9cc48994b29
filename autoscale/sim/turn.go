package sim

import (
	"context"
	"fmt"
	"time"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/provider"
)

// turn does what is to be done at an instant. In lockstep that is done to the end: what
// a gang leaves at once is given on at the same instant.
func (w *world) turn(ctx context.Context) error {
	if !w.s.Lockstep || w.closing {
		return w.step(ctx)
	}
	w.runner.beginTurn(w.now.Add(w.s.Loop.Round))
	if w.idle() {
		return nil
	}
	w.runner.endedAtOnce()
	for range mostSteps {
		if err := w.step(ctx); err != nil {
			return err
		}
		if w.closing || !w.runner.endedAtOnce() {
			return nil
		}
	}
	return fmt.Errorf("%w: the plan of one instant changes without end", ErrBroken)
}

// mostSteps is how often a plan is asked for anew at one instant: a first time, and
// when gangs have left their places, for which others then leave theirs. Three in a row
// are usual, and on 2,048 accelerators a dozen were seen.
const mostSteps = 32

// mostIdle is how long no round is run at most: a loop that hears nothing for long takes
// its clock to be wrong.
const mostIdle = time.Hour

// idle reports whether a round now would find everything as the last plan declared it:
// no job came or went, no cloud had anything to say, and no clock has passed.
func (w *world) idle() bool {
	return w.s.Loop.SkipUnchanged && w.declared && w.now.Sub(w.lastRound) < mostIdle && !w.runner.news && !w.stirred &&
		(w.nextDecision.IsZero() || w.now.Before(w.nextDecision)) &&
		(w.open() > 0 || len(w.coming) > 0) && w.counted != 0 &&
		(len(w.coming) == 0 || w.coming[0].Submitted.After(w.now)) && w.now.Before(w.end())
}

// turnOver is when the next round in lockstep begins.
func (w *world) turnOver() time.Time {
	at, runs := w.runner.turnOver()
	switch {
	case !runs && len(w.coming) > 0 && w.coming[0].Submitted.After(w.now):
		at = w.coming[0].Submitted
	case !runs:
		at = w.now.Add(w.s.Loop.Round)
	}
	if at.After(w.end()) && w.end().After(w.now) {
		return w.end()
	}
	if !at.After(w.now) { // nobody does a whole step in this round
		return w.now.Add(w.s.Loop.Round)
	}
	return at
}

// raise brings up all that is owned, before the first job comes.
func (w *world) raise(ctx context.Context) error {
	want := 0
	for _, r := range w.s.Reservations {
		want += r.Count
	}
	w.raising = true
	defer func() { w.raising = false }()
	for range mostSteps {
		if _, err := w.loop.Round(ctx, w.now); err != nil {
			return err
		}
		w.look()
		ready := 0
		for _, m := range w.live {
			if !m.Started.IsZero() {
				ready++
			}
		}
		if ready == want {
			return nil
		}
	}
	return fmt.Errorf("%d of %d machines that are owned are up", len(w.live), want)
}

// raised is the plan by which all that is owned comes up.
func raised(p planner.Problem) planner.Plan {
	var plan planner.Plan
	for _, m := range p.Machines {
		plan.Machines = append(plan.Machines, planner.PlannedMachine{Instance: m.ID, Offering: m.Offering})
	}
	for _, o := range p.Offers {
		if o.Rate == 0 && o.Blocked == "" {
			for range o.Cap {
				plan.Machines = append(plan.Machines, planner.PlannedMachine{Offering: o.Offering, Reason: "it is owned"})
			}
		}
	}
	return plan
}

// count takes a job that has ended off those that the simulation is about.
func (w *world) count(id planner.JobID) {
	if w.awaited[id] {
		delete(w.awaited, id)
		w.counted--
	}
}

// certain is what is believed of the losses of a cluster: there are none.
type certain struct{}

func (certain) Of(provider.Offering, time.Time) pricing.Hazard  { return pricing.Hazard{} }
func (certain) Observe(_ provider.Pool, _, _ time.Time, _ bool) {}
