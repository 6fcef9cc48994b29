package autoscale

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/pricing/budget"
	"github.com/goodfleet/goodfleet/pricing/ledger"
	"github.com/goodfleet/goodfleet/provider"
)

// Spent is set by the loop when a total is used up: the jobs that it covers save and
// stop, and nothing is bought for them until its period is over. Its subject is "" for
// the whole fleet, or "team/NAME".
const Spent OverrideKind = "spent"

// BudgetClock passes when a total is used up, or begins anew.
const BudgetClock planner.Clock = "budget"

// softShare is the share of a total at which it is said that it will be used up.
const softShare = 0.8

// total is how far a cap on money is used in the period that the loop is in.
type total struct {
	budget.Total
	from, until time.Time
	booked      pricing.Money // of the period, as far as it is in the ledger
	warned      bool
	stopAt      time.Time // when it is used up at the present burn; zero: nothing burns
	price       budget.Price

	policy  *budget.Policy // nil: of Config.Totals
	key     string         // whose it is, of a policy for each
	base    pricing.Money  // amount, before exceptions and what is carried over
	carried pricing.Money
	past    []budget.Before // the periods before that carried comes of
	tally   *budget.Tally   // nil: no step asks for a forecast
	mark    budget.Mark
	level   budget.Action // in force; "": none
	says    string        // why, without the name of the policy
	spent   pricing.Money // with what is not booked yet
	lasts   time.Duration // until all could be stopped
	runs    burning       // what is covered
	comes   pricing.Money // what jobs take at once that are about to start
}

// subject is whom a total is about, as an override has it.
func (t *total) subject() string {
	switch {
	case t.policy != nil:
		return "policy/" + t.Name
	case t.Team == "":
		return ""
	}
	return "team/" + t.Team
}

// why is why the level of a policy is in force.
func (t *total) why() string { return "budget policy " + t.Name + ": " + t.says }

// outside reports whether an instant is not in the period: before a window, or after it.
func (t *total) outside(at time.Time) bool { return at.Before(t.from) || !at.Before(t.until) }

// tells reports whether a total only tells what it would do: it must change nothing else,
// the bytes of the ledger included.
func (t *total) tells() bool { return t.policy != nil && t.policy.DryRun }

// turns tells when periods begin and end between two instants, where what is booked is cut:
// an overrun is one of a period.
func (t *total) turns(from, to time.Time, add func(time.Time)) {
	if t.tells() || !from.Before(t.from) && !to.After(t.until) {
		return
	}
	for at := from; at.Before(to); {
		begins, ends := t.Span(at)
		add(begins)
		add(ends)
		if t.Period == budget.Dated || !ends.After(at) {
			return
		}
		at = ends
	}
}

// periodEnds are the instants in (from, to] at which a period of any total begins or
// ends, ascending; the last is to.
func (l *Loop) periodEnds(from, to time.Time) []time.Time {
	list := []time.Time{to}
	for i := range l.totals {
		l.totals[i].turns(from, to, func(at time.Time) {
			if at.After(from) && at.Before(to) {
				list = append(list, at)
			}
		})
	}
	slices.SortFunc(list, time.Time.Compare)
	return slices.CompactFunc(list, time.Time.Equal)
}

// covers is Covers for a limit; nil where it covers everything.
func (t *total) covers() func(budget.Facts) bool {
	if t.Whole() {
		return nil
	}
	return t.Covers
}

// count adds a charge to a total that covers it: what falls into the period.
func (l *Loop) count(t *total, c *ledger.Charge) {
	part := c.Amount.Between(c.From, c.To, t.from, t.until)
	if part == 0 && t.tally == nil || !l.charged(t, c) {
		return
	}
	t.booked += part
	if t.tally != nil {
		t.tally.Add(c.From, c.To, c.Amount)
	}
}

// charged reports whether a total covers a charge.
func (l *Loop) charged(t *total, c *ledger.Charge) bool {
	if !c.Budgeted() {
		return false
	}
	if t.Over == nil {
		return t.Team == "" || c.Team == t.Team
	}
	return t.Covers(l.factsOf(c.Offering).For(c.Job, c.Team, c.Project))
}

// share is the part of a machine that a total covers; ahead counts jobs that are to
// run on it too.
func (l *Loop) share(t *total, m *InstanceRecord, ahead bool) float64 {
	if m.Instance.Offering.PaidAhead() {
		return 0
	}
	if t.Whole() {
		return 1
	}
	count, of := 0, 0
	for _, p := range l.parts(m.Instance.ID, m.Instance.Offering, ahead) {
		of += p.Count
		if t.Covers(p.Facts) {
			count += p.Count
		}
	}
	return float64(count) / float64(of)
}

// readTotals holds what is spent against the totals. One is used up when what its jobs
// burn until they have saved and their machines are gone would pass it.
func (l *Loop) readTotals(ctx context.Context, now time.Time) error {
	l.meetKeys()
	for i := range l.totals {
		t := &l.totals[i]
		if from, until := t.Span(now); !from.Equal(t.from) {
			t.from, t.until, t.booked, t.warned = from, until, 0, false
			if err := l.countAnew(ctx, t, now); err != nil {
				return fmt.Errorf("load charges of budget %s: %w", t.Name, err)
			}
		}
		if err := l.gapsBefore(ctx, t, now); err != nil {
			return fmt.Errorf("load charges of budget %s: %w", t.Name, err)
		}
		l.holdTotal(t, now)
	}
	return nil
}

// countAnew counts what the ledger has of a period that has just begun, and of those
// before it as far as they matter.
func (l *Loop) countAnew(ctx context.Context, t *total, now time.Time) error {
	since, before := t.from, t.before(t.from)
	if !before[1].IsZero() {
		since = before[1]
	}
	if t.tally != nil {
		t.tally = budget.NewTally(t.Period)
		since = earlier(since, t.tally.Since(now))
	}
	charges, err := l.cfg.Store.Charges(ctx, since, t.until)
	if err != nil {
		return err
	}
	charges = slices.Concat(charges, l.cache.charges) // what was booked as the round looked is not in the store yet
	for i := range charges {
		l.count(t, &charges[i])
	}
	t.past = l.past(t, before, t.from, charges)
	if t.carried = t.carries(t.past); t.carried != 0 {
		l.event(Event{At: now, Kind: EventBudget, Text: fmt.Sprintf("%s: %s USD are carried over to the %s from %s", t.Name, t.carried, t.Period, t.from.Format(time.RFC3339))})
	}
	return nil
}

// before is when the period before one began, and that before it, of a policy that
// carries over; zero: they do not matter.
func (t *total) before(from time.Time) (before [2]time.Time) {
	if p := t.policy; p != nil && (p.Cap.Unused > 0 || p.Cap.Overdraft) {
		before[0], _ = t.Span(from.Add(-1))
		before[1], _ = t.Span(before[0].Add(-1))
	}
	return before
}

// past are the periods before one from an instant on that the ledger knows, by charges of
// the two before it; none where nothing is carried over.
func (l *Loop) past(t *total, before [2]time.Time, from time.Time, charges []ledger.Charge) []budget.Before {
	if before[0].IsZero() {
		return nil
	}
	var past [2]budget.Before
	known := 0
	for i := range charges {
		c := &charges[i]
		for k, ends := range [...]time.Time{from, before[0]} {
			if part, ok := c.Within(before[k], ends); ok {
				known = max(known, k+1)
				if l.charged(t, c) {
					past[k].Spent += part.Amount
				}
			}
		}
	}
	past[0].Added, past[1].Added = t.policy.AddedIn(before[0], from), t.policy.AddedIn(before[1], before[0])
	return past[:known]
}

// carries is what a period takes over from those before it.
func (t *total) carries(past []budget.Before) pricing.Money {
	if len(past) == 0 {
		return 0
	}
	return t.policy.Cap.Carried(past...)
}

// holdTotal reckons how far a total is used at now, and does what that asks for.
func (l *Loop) holdTotal(t *total, now time.Time) {
	var runs burning
	spent, save := t.booked, time.Duration(0)
	for _, m := range l.cache.machines {
		if m.Instance.State == provider.Ended {
			continue
		}
		rate, upTo := l.paid(m, now)
		runs.add(m.Instance.Offering.Market, rate, upTo, l.share(t, m, true))
		if from := later(later(m.Booked, m.Instance.Started), t.from); !m.Instance.Started.IsZero() && now.After(from) {
			spent += pricing.Rate(float64(rate) * l.share(t, m, false)).Over(now.Sub(from))
		}
	}
	if p := t.policy; p != nil {
		added, _ := p.Added(now)
		t.Amount = max(0, t.base+added+t.carried)
	}
	if !t.Unpriced && !t.outside(now) && (runs.burn != t.price.Burn || !sameSpan(t, now)) {
		t.price = t.price.See(t.Total, now, t.Amount-spent, runs.burn)
		l.cache.setBudget(BudgetRecord{Name: t.Name, Team: t.Team, Price: t.price, Mark: t.mark})
	}
	for _, r := range l.cache.jobs {
		if r.Gang != nil && t.Covers(l.factsOf(r.Gang.Offering).For(string(r.Job.ID), r.Job.Team, r.Job.Project)) {
			save = max(save, r.Job.Checkpoint.Save)
		}
	}
	once := l.comes(t)
	if t.policy != nil {
		t.spent, t.runs, t.comes = spent, runs, once
		l.holdPolicy(t, now, runs.most, save)
		return
	}
	if !t.warned && float64(spent) >= softShare*float64(t.Amount) {
		t.warned = true
		l.event(Event{At: now, Kind: EventBudget, Text: fmt.Sprintf("%s: %s of %s USD a %s are spent", t.Name, spent, t.Amount, t.Period)})
	}
	// The stop is told in this round, saved by the next, and the machine ends in it or the one after.
	tail := runs.burn.Over(save+2*l.cfg.Settings.Round) + once
	t.stopAt = time.Time{}
	if left := t.Amount - spent - tail; left > 0 {
		t.stopAt = lastsUntil(now, left, runs.burn)
		return
	}
	if o, used := l.cache.overrides.of(Spent, t.subject()); used && !o.Until.Before(t.until) {
		return
	}
	why := fmt.Sprintf("budget %s: %s of %s USD a %s are spent, and %s go on until all has stopped", t.Name, spent, t.Amount, t.Period, tail)
	l.sayStop(t, now, why)
	if t.Team == "" { // else the plan gives up what nobody else is on
		l.drainCovered(func(*InstanceRecord) bool { return true }, why, now)
	}
}

// comes is what a total covers of the moves of jobs that have been given a place and have
// not started there.
func (l *Loop) comes(t *total) (sum pricing.Money) {
	for _, r := range l.cache.jobs {
		if r.Target == nil || r.Gang != nil && sameMachines(*r.Target, r.Gang) {
			continue
		}
		for _, x := range r.Lumps(r.Target.Offering, 1) {
			if t.Covers(x.Facts) {
				sum += x.Amount
			}
		}
	}
	return sum
}

// lastsUntil is when money is used up at a burn; zero: nothing burns.
func lastsUntil(now time.Time, left pricing.Money, burn pricing.Rate) time.Time {
	if burn <= 0 {
		return time.Time{}
	}
	return now.Add(time.Duration(min(float64(left)/float64(burn), 24*366) * float64(time.Hour)))
}

// sayStop puts it above the plan that what a total covers may cost nothing more.
func (l *Loop) sayStop(t *total, now time.Time, why string) {
	l.cache.setOverride(Override{OverrideKey: OverrideKey{Kind: Spent, Subject: t.subject()}, Who: "goodfleet", Why: why, Since: now, Until: t.until})
	l.event(Event{At: now, Kind: EventBudget, Text: why})
	l.last.changed = true
}

// drainCovered drains the machines that a budget is about.
func (l *Loop) drainCovered(covered func(*InstanceRecord) bool, why string, now time.Time) {
	for _, m := range l.cache.machines {
		if m.Instance.Live() && !m.Draining && !m.Instance.Offering.PaidAhead() && covered(m) {
			m.Draining, m.Reason = true, why
			l.cache.touchMachine(m)
			l.machineEvent(now, EventDrain, m, why)
		}
	}
}

// sameSpan reports whether the price of a total is of the period that holds an instant.
func sameSpan(t *total, at time.Time) bool {
	from, _ := t.Span(at)
	return !t.price.At.Before(from)
}

// budgetPrices are what the totals make of rates at now.
func (l *Loop) budgetPrices(now time.Time) []planner.BudgetPrice {
	var list []planner.BudgetPrice
	for i := range l.totals {
		if t := &l.totals[i]; !t.Unpriced && !t.price.At.IsZero() && !t.outside(now) {
			if mu := t.price.To(t.Total, now).Mu(); mu > 0 {
				b := planner.BudgetPrice{Name: t.Name, Team: t.Team, Mu: mu, Burn: t.price.Burn, Lasts: t.price.Lasts(t.Total), Rises: budget.Reaction}
				if since := t.SetAside(now); !now.Before(since) {
					b.Since, b.Until, b.At, b.Left, b.Swing = since, t.until, t.price.At, t.price.Left, t.Swing(now)
				}
				list = append(list, b)
			}
		}
	}
	return list
}

// spent tells why a job may cost nothing more; "" when it may.
func (list overrides) spent(job *planner.Job) (why string, until time.Time) {
	o, ok := list.first(Spent, func(s string) bool { return s == "" || job.Team != "" && s == "team/"+job.Team })
	if !ok {
		return "", time.Time{}
	}
	return o.String(), o.Until
}

// spent tells why a job may cost nothing more, wherever it runs; "" when it may.
func (s *State) spent(job *planner.Job) (why string, until time.Time) {
	if c := s.stopping(job); c != nil {
		return c.why(), c.until
	}
	return overrides(s.Overrides).spent(job)
}

// isSpent reports whether a job may cost nothing more.
func (s *State) isSpent(r *JobRecord) bool {
	why, _ := s.spent(r.Job)
	return why != ""
}

// stopSpent lets the jobs wait whose budget is used up.
func (s *State) stopSpent(plan *planner.Plan) {
	for i := range s.Jobs {
		r := &s.Jobs[i]
		if why, until := s.spent(r.Job); why != "" && r.Ended.IsZero() && !s.fixed(r) {
			plan.Waits = append(plan.Waits, planner.Wait{Job: r.Job.ID, Reason: why, Retries: until})
		}
	}
}
