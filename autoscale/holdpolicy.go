package autoscale

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/pricing/budget"
	"github.com/goodfleet/goodfleet/pricing/ledger"
	"github.com/goodfleet/goodfleet/provider"
)

// holdPolicy goes through the steps of a policy and stops what it covers in time: a
// stop that is told in this round is saved by the next, the machine is ended in it or
// the one after, one round may be lost, and the cloud may take a while to confirm. most
// is what is covered may burn at until then.
func (l *Loop) holdPolicy(t *total, now time.Time, most pricing.Rate, save time.Duration) {
	p := t.policy
	t.lasts = l.cfg.Settings.Tail(save)
	tail := t.tail()
	before := t.mark
	if !t.mark.From.Equal(t.from) {
		t.mark = budget.Mark{From: t.from}
	}
	// What runs as a window opens must be stopped in time there too.
	soon := now.Before(t.from) && !now.Add(t.lasts+l.cfg.Settings.Round).Before(t.from)
	if t.outside(now) && !soon { // its window has not begun, or is over
		t.level, t.says, t.stopAt = "", "", time.Time{}
		l.liftStop(t, now)
		return
	}
	x := budget.Measures{Amount: t.Amount, Spent: t.spent, Tail: tail}
	if t.tally != nil {
		x.Forecast = t.tally.Forecast(t.spent, now, t.until)
	}
	var turns []budget.Turn
	t.mark, t.level, turns = p.Walk(t.mark, x, now)
	for _, turn := range turns {
		l.tellTurn(t, turn, now)
	}
	left := t.Amount - t.spent - tail
	switch {
	case t.mark.Stopped != 0 && (t.Amount > t.mark.Stopped || t.spent == 0 && most == 0 && left > 0):
		t.mark.Stopped = 0 // there is more money, or it was stopped before its window opened
	case t.mark.Stopped == 0 && left <= 0:
		t.mark.Stopped = max(t.Amount, 1)
	}
	t.stopAt = time.Time{}
	next := t.Period != budget.Dated && t.Period != budget.Always && !now.Add(t.lasts+l.cfg.Settings.Round).Before(t.until)
	switch {
	case t.mark.Stopped == 0 && next && tail > t.base:
		t.level = budget.Stop
		t.says = fmt.Sprintf("the next %s begins, and its %s USD are less than the %s that go on until all has stopped", t.Period, t.base, tail)
	case t.mark.Stopped != 0 || t.level == budget.Stop:
		t.level = budget.Stop
		t.says = fmt.Sprintf("%s of %s USD %s are spent, and up to %s go on until all has stopped", t.spent, t.Amount, perPeriod(t.Period), tail)
	case t.level.AtLeast(budget.NoNew):
		t.says = fmt.Sprintf("%s of %s USD %s are spent: %s", t.spent, t.Amount, perPeriod(t.Period), t.level)
		fallthrough
	default:
		t.stopAt = lastsUntil(now, left, most)
	}
	if t.level.AtLeast(budget.NoNew) {
		t.says += "; " + t.room(now).String()
	}
	if !sameMark(before, t.mark) {
		l.cache.setBudget(BudgetRecord{Name: t.Name, Team: t.Team, Price: t.price, Mark: t.mark})
		l.last.changed = l.last.changed || !t.tells()
	}
	l.enforce(t, now)
}

// tail is what goes on to be spent until all that is covered could be stopped.
func (t *total) tail() pricing.Money { return t.runs.most.Over(t.lasts) + t.comes }

// room is when more may begin under a policy that lets nothing begin.
func (t *total) room(now time.Time) budget.Room {
	s := budget.Standing{Policy: t.policy, Key: t.key, From: t.from, Until: t.until, Spent: t.spent, Carried: t.carried, Before: t.past}
	return s.Room(now)
}

// Tail is how long a stop by a budget policy takes, of jobs that need save for it.
func (s *Settings) Tail(save time.Duration) time.Duration { return save + 3*s.Round + s.Grace }

// perPeriod is the period as words after an amount.
func perPeriod(p budget.Period) string {
	switch p {
	case budget.Dated, budget.Always:
		return "in all"
	case budget.Hour:
		return "an hour"
	}
	return "a " + p.String()
}

func sameMark(a, b budget.Mark) bool {
	return a.From.Equal(b.From) && a.Stopped == b.Stopped && slices.EqualFunc(a.Steps, b.Steps, func(x, y budget.StepMark) bool {
		return x.Done == y.Done && x.Reached == y.Reached && x.Turned.Equal(y.Turned)
	})
}

// enforce puts the level of a policy above the plan. A dry run tells and does nothing.
func (l *Loop) enforce(t *total, now time.Time) {
	if t.policy.DryRun {
		if t.level == budget.Stop && !t.warned {
			t.warned = true
			l.event(Event{At: now, Kind: EventBudget, Text: "dry run: " + t.why()})
		}
		t.level, t.stopAt = "", time.Time{}
		l.liftStop(t, now) // of a time in which it did more than tell
		return
	}
	if t.level == budget.Stop {
		if _, said := l.cache.overrides.of(Spent, t.subject()); !said {
			l.sayStop(t, now, t.why())
			l.tellHooks(t.policy, now, budget.Stop, t.why())
		}
	} else {
		l.liftStop(t, now)
	}
	if t.level == budget.Stop {
		for _, m := range l.cache.machines { // those that the cloud refused to end before the stop
			denied := !m.Denied.IsZero() && now.Before(m.Denied.Add(l.cfg.Settings.DeniedWait))
			if denied && m.Astray.IsZero() && m.Instance.Live() && t.Covers(l.factsOf(m.Instance.Offering)) {
				m.Astray = now
				l.cache.touchMachine(m)
			}
		}
	}
	if t.level.AtLeast(budget.Drain) {
		l.drainCovered(func(m *InstanceRecord) bool { return l.costsIdle(t, m) }, t.why(), now)
	}
}

// costsIdle reports whether a machine counts against a total, and goes on counting when
// the jobs that are on it have left.
func (l *Loop) costsIdle(t *total, m *InstanceRecord) bool {
	if !t.Covers(l.factsOf(m.Instance.Offering)) {
		return false
	}
	return slices.ContainsFunc(l.parts(m.Instance.ID, m.Instance.Offering, false), func(p budget.Part) bool { return t.Covers(p.Facts) })
}

// liftStop lets what a total covers run again.
func (l *Loop) liftStop(t *total, now time.Time) {
	if l.cache.liftOverride(OverrideKey{Kind: Spent, Subject: t.subject()}) {
		l.event(Event{At: now, Kind: EventLifted, Text: "spent " + t.subject()})
		l.last.changed = true
	}
}

// tellTurn notes that a step was done, or armed again.
func (l *Loop) tellTurn(t *total, turn budget.Turn, now time.Time) {
	word := ""
	if t.policy.DryRun {
		word = "dry run: "
	}
	text := fmt.Sprintf("%s%s: %s: %s USD of %s", word, t.Name, turn.Step, turn.Value, t.Amount)
	if !turn.Done {
		text = fmt.Sprintf("%s%s: %s is armed again: %s USD of %s", word, t.Name, turn.Step, turn.Value, t.Amount)
	}
	l.event(Event{At: now, Kind: EventBudget, Text: text})
	l.last.changed = l.last.changed || !t.tells()
	if turn.Done {
		l.tellHooks(t.policy, now, turn.Step.Do, text)
	}
}

// tellHooks has the destinations of a policy told.
func (l *Loop) tellHooks(p *budget.Policy, now time.Time, do budget.Action, text string) {
	for _, to := range p.Notify {
		l.notices = append(l.notices, budget.Notice{To: to, Policy: p.Name, Action: do, At: now, Text: text, DryRun: p.DryRun})
	}
}

// closures are what policies forbid in this round.
func (l *Loop) closures() []closure {
	var list []closure
	for i := range l.totals {
		t := &l.totals[i]
		if t.policy != nil && t.level.AtLeast(budget.NoNew) {
			c := closure{
				policy: t.Name, says: t.says, level: t.level, spent: t.spent, amount: t.Amount,
				stops: t.level == budget.Stop, over: t.Covers, ofOffers: t.policy.Over.OfOffers(),
			}
			if !t.Period.Endless() {
				c.until = t.until
			}
			list = append(list, c)
		}
	}
	return list
}

// policyClocks tells when something passes that policies depend on.
func (l *Loop) policyClocks(now time.Time, tell func(at time.Time)) {
	for i := range l.totals {
		if t := &l.totals[i]; t.policy != nil && !t.tells() {
			tell(t.until)
			_, until := t.policy.Added(now)
			tell(until)
			tell(l.paceGrows(t, now))
		}
	}
	for _, p := range l.enforced {
		_, next := p.ActiveAt(now)
		tell(next)
		_, until := p.BurnAt(now)
		tell(until)
	}
	l.fallbackClocks(tell)
	l.questionClocks(tell)
}

// gap is a stretch in which a machine was out of contact: nothing could be done about
// what it cost.
type gap struct {
	machine  provider.InstanceID
	from, to time.Time
	trails   bool                    // it goes on until the machine has stopped
	passed   bool                    // a cap was passed in it, in a period that is over
	over     func(budget.Facts) bool // by what this covers
}

// gapsBefore finds what gaps have of periods that are over, whose amount was passed in
// them: what machines cost there is an overrun, though the cap stops nothing any more.
func (l *Loop) gapsBefore(ctx context.Context, t *total, now time.Time) error {
	if t.policy == nil || t.policy.DryRun {
		return nil
	}
	known := map[time.Time]bool{} // whether a period was passed, by its start: the store is asked once
	for _, g := range slices.Clone(l.gaps) {
		m, ok := l.cache.machine[g.machine]
		if !ok || g.passed || m.Instance.Offering.PaidAhead() {
			continue
		}
		for at := g.from; at.Before(g.to); {
			from, until := t.Span(at)
			if until.After(now) {
				break // it is on, and stops what there is
			}
			if in := (gap{machine: g.machine, from: later(at, from), to: earlier(g.to, until), passed: true, over: t.Covers}); in.from.Before(in.to) {
				passed, asked := known[from]
				if !asked {
					var err error
					if passed, err = l.passed(ctx, t, from, until); err != nil {
						return err
					}
					known[from] = passed
				}
				if passed {
					l.gaps = append(l.gaps, in)
				}
			}
			if t.Period == budget.Dated || !until.After(at) {
				break
			}
			at = until
		}
	}
	return nil
}

// passed reports whether more was spent in a period that is over than its amount.
func (l *Loop) passed(ctx context.Context, t *total, from, until time.Time) (bool, error) {
	before := t.before(from)
	since := from
	if !before[1].IsZero() {
		since = before[1]
	}
	charges, err := l.cfg.Store.Charges(ctx, since, until)
	if err != nil {
		return false, err
	}
	charges = slices.Concat(charges, l.cache.charges)
	spent := pricing.Money(0)
	for i := range charges {
		if c := &charges[i]; l.charged(t, c) {
			spent += c.Amount.Between(c.From, c.To, from, until)
		}
	}
	for _, m := range l.cache.machines {
		since, ends := later(later(m.Booked, m.Instance.Started), from), until
		if m.Instance.State == provider.Ended {
			ends = earlier(until, m.Instance.Ended)
		}
		if !m.Instance.Started.IsZero() && since.Before(ends) {
			rate := m.Rate
			if was, seen := l.hours[m.Instance.ID]; seen {
				rate = was.rate
			}
			spent += pricing.Rate(float64(rate) * l.share(t, m, false)).Over(ends.Sub(since))
		}
	}
	added, _ := t.policy.Added(until.Add(-1))
	return spent > t.base+added+t.carries(l.past(t, before, from, charges)), nil
}

// noteGap keeps a gap of a machine that is seen again at now: what is longer than the
// round that may be lost.
func (l *Loop) noteGap(m *InstanceRecord, now time.Time) {
	allowed := later(m.Seen, m.Instance.Launched).Add(2 * l.cfg.Settings.Round)
	if now.After(allowed) && m.Instance.Live() {
		l.gaps = append(l.gaps, gap{machine: m.Instance.ID, from: allowed, to: now})
	}
}

// stopsIdle reports whether a cap stops a machine that nobody is on.
func (l *Loop) stopsIdle(m *InstanceRecord) bool {
	f := l.factsOf(m.Instance.Offering)
	return slices.ContainsFunc(l.totals, func(t total) bool {
		return t.policy != nil && t.level == budget.Stop && t.Covers(f)
	})
}

// bookGaps moves to Overrun what machines cost out of contact, of those that a cap now
// stops: it could not be stopped earlier. Where a period began meanwhile, nothing made
// room for it, and what they cost until they have stopped is no less against our will.
func (l *Loop) bookGaps(now time.Time) {
	var open []gap
	for _, g := range l.gaps {
		m, ok := l.cache.machine[g.machine]
		if !ok {
			continue
		}
		if g.passed {
			l.bookGap(g, m, g.over, "a budget of the period before")
			continue
		}
		for i := range l.totals {
			t := &l.totals[i]
			if t.policy == nil || t.level != budget.Stop || m.Instance.Offering.PaidAhead() {
				continue
			}
			l.bookGap(g, m, t.Covers, t.Name)
			if g.trails || t.from.After(g.from) {
				g.trails = true
				if k := len(open); k == 0 || open[k-1].machine != g.machine {
					open = append(open, g)
				}
			}
		}
	}
	for i := range open {
		open[i].to = now.Add(l.cfg.Settings.Round)
	}
	l.gaps = open
}

// bookGap moves what a machine cost in a gap to those whom a cap covers.
func (l *Loop) bookGap(g gap, m *InstanceRecord, over func(budget.Facts) bool, name string) {
	idle := l.factsOf(m.Instance.Offering)
	for _, who := range l.meter.Bearers(g.machine, g.from, g.to) {
		if !over(idle.For(who.Job, who.Team, who.Project)) {
			continue
		}
		from := g.from
		for _, to := range l.periodEnds(g.from, g.to) {
			for _, out := range []ledger.Account{ledger.ToJob, ledger.ToRestart, ledger.ToWaste, ledger.ToBoot, ledger.ToIdle} {
				l.charge(l.meter.Transfer(ledger.Move{
					Out: out, Into: ledger.Overrun, Job: who.Job, Instances: []provider.InstanceID{g.machine},
					From: from, To: to, Round: l.cache.round, Note: "out of contact as " + name + " was used up",
				}))
			}
			from = to
		}
	}
}
