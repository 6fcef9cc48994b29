package autoscale

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/pricing/budget"
	"github.com/goodfleet/goodfleet/provider"
)

// Round is what one round did.
type Round struct {
	Number  int64
	At      time.Time
	Skipped bool   // nothing had changed, or nothing may change: nothing was decided
	Halted  string // why nothing may change; "": it may
	Breaker string // why the breaker is open; "": it is not
	Replans int    // plans made anew because launches failed
	Frozen  []Frozen
	Diff    Diff
	Plan    planner.Plan // the last one; that of an earlier round if this one was skipped
	Bought  []provider.Instance
	Events  []Event         // all that was noted since the last round
	Burn    pricing.Rate    // sum of the rates of all machines at the end of the round
	Notices []budget.Notice // what destinations of budget policies are to be told

	// NextDecision is when a clock passes that may change the plan, or lets it go on, if
	// nothing else happens; zero: never. NextClock is its name.
	NextDecision time.Time
	NextClock    planner.Clock
}

// Clocks of the loop's own, beside those of the planner.
const (
	ReadyClock   planner.Clock = "ready"   // a machine is ready
	LossClock    planner.Clock = "loss"    // a machine goes by the cloud's word
	PendingClock planner.Clock = "pending" // a machine that does not come up is given up
	StepClock    planner.Clock = "step"    // what was too much for one round goes on
)

// Round runs one round at now. It neither sleeps nor reads a clock, so that the
// daemon and the simulator drive the same code. An error says what could not be
// done; whatever was bought is recorded and booked.
func (l *Loop) Round(ctx context.Context, now time.Time) (Round, error) {
	release, err := l.take(ctx)
	if err != nil {
		return Round{}, fmt.Errorf("observe: %w", err)
	}
	defer release()
	l.cache.round++
	l.bought, l.replans, l.halt = nil, 0, ""
	if l.stirred.IsZero() {
		l.stirred = now
	}

	state, err := l.observe(ctx, now) // a cloud that cannot be listed is frozen in state, no error
	if err != nil {
		return l.result(now, Diff{}), fmt.Errorf("observe: %w", err) // the store failed
	}
	var saidErr error
	if l.halt == "" {
		saidErr = l.sayAgain(ctx, now)
	}
	diff, actErr := Diff{}, error(nil)
	if state != nil { // else nothing has changed since the last decision
		decision, err := l.decide(state)
		if err != nil {
			// The fleet stays as it is, and what it costs is booked.
			return l.result(now, Diff{}), errors.Join(fmt.Errorf("decide: %w", err), l.settle(context.WithoutCancel(ctx), now))
		}
		decision, actErr = l.act(ctx, state, decision)
		if diff = decision.diff; !diff.Empty() {
			l.stirred = now
		}
		if !state.Stands {
			l.tellHeld(decision.plan, now)
			l.tellPromises(decision.plan, now)
			l.claim(decision.plan, diff.Deferred, now)
			l.keep(decision, now)
			l.allowed = l.allowed && actErr != nil
		}
		l.wakeAt(now)
	}
	// What was bought is booked, even after a failed act or during a shutdown.
	if err := l.settle(context.WithoutCancel(ctx), now); err != nil {
		return l.result(now, diff), errors.Join(saidErr, actErr, fmt.Errorf("settle: %w", err))
	}
	round := l.result(now, diff)
	round.Skipped = state == nil
	for _, id := range l.cache.prune(now) {
		l.beliefs.Forget(id)
	}
	if !l.misread {
		l.lastAt = now
	}
	l.log(round)
	return round, errors.Join(saidErr, actErr)
}

// decide is what the diff is made by. What happens from here on is news to the
// plan that it comes from.
func (l *Loop) decide(state *State) (*decision, error) {
	l.last.goesOn = false
	if state.Stands {
		d, err := goOn(state)
		l.last.changed = err != nil
		return d, err
	}
	l.last.changed = false
	d, err := decide(state, l.cfg.Plan, &l.asked)
	l.beliefs.NextRound()
	if err == nil {
		l.keepQuestions(d.questions, state.Now)
	}
	l.last.changed = err != nil
	if err == nil {
		l.last.paced = d.paced
		if why := d.diff.Breaker; why != "" {
			l.trip(state.Now, why)
			l.halt = why
		}
	}
	return d, err
}

// Plan says what a round at now would do, as far as that depends on no answer of
// a cloud: it observes and decides, and changes nothing.
func (l *Loop) Plan(ctx context.Context, now time.Time) (Diff, planner.Plan, error) {
	release, err := l.take(ctx)
	if err != nil {
		return Diff{}, planner.Plan{}, fmt.Errorf("observe: %w", err)
	}
	defer release()
	l.look(ctx, now)
	state := l.state(now)
	l.cache.loaded = false // what was read into the cache is not stored: forget it
	l.told = nil
	return Decide(*state, l.cfg.Plan)
}

// wake says what is new since the last plan: a clock's name when that is all, and
// whether a plan has to be made.
func (l *Loop) wake(now time.Time) (clock planner.Clock, due bool) {
	switch {
	case l.last.changed || !l.last.made:
		return planner.NoClock, true
	case l.repriced():
		return planner.PriceClock, true
	case !slices.Equal(l.budgetPrices(now), l.last.budgets):
		return BudgetClock, true
	case !l.last.next.IsZero() && !now.Before(l.last.next):
		return l.last.clock, true
	}
	return planner.NoClock, !l.cfg.Settings.SkipUnchanged
}

// keep remembers what a plan was made of.
func (l *Loop) keep(d *decision, now time.Time) {
	l.last = decided{
		made: true, changed: l.last.changed, goesOn: l.last.goesOn, paced: l.last.paced, stuck: d.stuck, open: len(d.plan.Waits)+len(d.diff.Deferred) > 0, roomy: d.plan.Roomy,
		plan: d.plan, rates: l.rates, book: l.prices, budgets: l.budgetPrices(now),
	}
}

// happened notes that something has, and whether the last plan counts on it: then
// that goes on, if nobody waits.
func (l *Loop) happened(planned bool) {
	if planned && !l.last.open {
		l.last.goesOn = true
	} else {
		l.last.changed = true
	}
}

// wakeAt finds out when the next plan is due.
func (l *Loop) wakeAt(now time.Time) {
	l.last.next, l.last.clock, l.last.ready = l.last.plan.NextDecision, l.last.plan.NextClock, time.Time{}
	l.clocks(now, func(at time.Time, clock planner.Clock) {
		if l.last.next.IsZero() || at.Before(l.last.next) {
			l.last.next, l.last.clock = at, clock
		}
	})
}

// tellHeld notes why jobs stay where they are although their work would be cheaper
// elsewhere, once for each place that a job has.
func (l *Loop) tellHeld(plan planner.Plan, now time.Time) {
	held := make(map[planner.JobID]bool, len(l.held))
	for _, a := range plan.Allocations {
		if !a.Keeps {
			continue
		}
		if a.Held && !l.held[a.Job] {
			o := a.Offering
			l.event(Event{At: now, Kind: EventHeld, Job: a.Job, Offering: &o, Text: a.Reason})
		}
		if a.Held || l.held[a.Job] {
			held[a.Job] = true
		}
	}
	l.held = held
}

// tellPromises notes how the plan stands to the deadline of each job, when that is
// another state than before: a job that will be late is said so in the round that
// first sees it.
func (l *Loop) tellPromises(plan planner.Plan, now time.Time) {
	states := make(map[planner.JobID]planner.PromiseState, len(plan.Promises))
	for _, p := range plan.Promises {
		states[p.Job] = p.State
		if before := l.promises[p.Job]; before != p.State {
			l.event(Event{At: now, Kind: EventDeadline, Job: p.Job, Text: p.String()})
		}
	}
	l.promises = states
}

// clocks tells every clock of the loop's own that is still to pass.
func (l *Loop) clocks(now time.Time, tell func(at time.Time, clock planner.Clock)) {
	ahead := func(at time.Time, clock planner.Clock) {
		if at.After(now) {
			tell(at, clock)
		}
	}
	for _, m := range l.cache.machines {
		if !m.Instance.Live() {
			continue
		}
		ahead(m.Loss, LossClock)
		if m.leaving() {
			continue
		}
		ahead(m.Instance.Launched.Add(l.cfg.Settings.Hold), planner.HoldClock)
		if !m.Denied.IsZero() {
			ahead(m.Denied.Add(l.cfg.Settings.DeniedWait), planner.HoldClock)
		}
		if m.Instance.State == provider.Pending {
			ahead(l.overdue(m), PendingClock)
		} else if l.last.open || !l.allWanted(m) {
			ahead(m.ReadyAt, ReadyClock)
		} else if m.ReadyAt.After(now) && (l.last.ready.IsZero() || m.ReadyAt.Before(l.last.ready)) {
			l.last.ready = m.ReadyAt
		}
	}
	for _, s := range l.cache.shortages {
		ahead(s.Until, planner.BackClock)
	}
	for _, v := range l.clouds {
		if v.busy { // what was put off is asked for again in the next round
			tell(now.Add(1), planner.BackClock)
		}
	}
	if l.last.stuck {
		ahead(l.stirred.Add(patience), StepClock)
	}
	if l.last.paced { // what was put off goes on in the next round
		tell(now.Add(1), StepClock)
	}
	for _, m := range l.cache.machines {
		if m.Instance.Live() && !m.Orphan.IsZero() && !m.Draining {
			ahead(m.Orphan.Add(l.cfg.Settings.OrphanGrace), planner.HoldClock)
		}
		if m.Silent && !m.leaving() {
			ahead(l.overdue(m), PendingClock)
		}
		if set := l.cfg.Settings; set.MaxLife > 0 && !m.leaving() {
			ahead(m.Instance.Launched.Add(set.MaxLife), planner.HoldClock)
		}
	}
	for i := range l.totals {
		ahead(l.totals[i].stopAt, BudgetClock)
		ahead(l.totals[i].price.Next(l.totals[i].Total), BudgetClock)
	}
	l.policyClocks(now, func(at time.Time) { ahead(at, BudgetClock) })
	for _, o := range l.cache.overrides {
		if o.Kind == Spent {
			ahead(o.Until, BudgetClock)
		}
	}
	for _, w := range l.cfg.Settings.Windows {
		_, next := w.Time.At(now)
		ahead(next, WindowClock)
	}
	for i := range l.cfg.Reservations {
		r := &l.cfg.Reservations[i]
		ahead(r.From, planner.BackClock)
		ahead(l.leaveAt(r), LossClock)
	}
	for _, x := range l.cache.intents {
		if x.State == IntentOpen { // the answer is asked for again in every round
			tell(now.Add(l.cfg.Settings.Round), PendingClock)
		}
	}
}

// result gathers what the round did.
func (l *Loop) result(now time.Time, diff Diff) Round {
	r := Round{
		Number: l.cache.round, At: now, Halted: l.halt, Replans: l.replans, Diff: diff, Plan: l.last.plan, Bought: l.bought,
		Notices: l.notices,
		Events:  l.told, Burn: l.burn(), NextDecision: l.last.next, NextClock: l.last.clock,
	}
	if at := l.last.ready; !at.IsZero() && (r.NextDecision.IsZero() || at.Before(r.NextDecision)) {
		r.NextDecision, r.NextClock = at, ReadyClock
	}
	if o, open := l.cache.overrides.of(Breaker, ""); open {
		r.Breaker = o.Why
	}
	for _, v := range l.clouds {
		if v.frozen != "" {
			r.Frozen = append(r.Frozen, Frozen{v.name, v.frozen})
		}
	}
	l.told, l.notices = nil, nil
	return r
}

// log writes the round's one line.
func (l *Loop) log(r Round) {
	l.cfg.Log.Info("round", "round", r.Number, "skipped", r.Skipped, "burn", r.Burn.String(),
		"launches", len(r.Diff.Launches), "terminations", len(r.Diff.Terminations), "starts", len(r.Diff.Starts),
		"stops", len(r.Diff.Stops), "frozen", len(r.Frozen), "replans", r.Replans)
}
