package autoscale

import (
	"context"
	"fmt"
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

// total is how far a budget.Total is used in the period that the loop is in.
type total struct {
	budget.Total
	from, until time.Time
	booked      pricing.Money // of the period, as far as it is in the ledger
	warned      bool
	stopAt      time.Time // when it is used up at the present burn; zero: nothing burns
	price       budget.Price
}

// subject is whom a total is about, as an override has it.
func (t *total) subject() string {
	if t.Team == "" {
		return ""
	}
	return "team/" + t.Team
}

// count adds a charge to a total that covers it.
func (t *total) count(c ledger.Charge) {
	if (t.Team == "" || c.Team == t.Team) && !c.From.Before(t.from) && c.From.Before(t.until) {
		t.booked += c.Amount
	}
}

// share is the part of a machine that a total covers.
func (l *Loop) share(t *total, m *InstanceRecord) float64 {
	if l.reservation(m.Instance.Offering) != nil {
		return 0 // paid ahead
	}
	if t.Team == "" {
		return 1
	}
	typ, ok := l.typeOf(m.Instance.Offering)
	if !ok {
		return 0
	}
	held := 0
	for _, r := range l.cache.on(m.Instance.ID) {
		if r.Job.Team != t.Team {
			continue
		}
		for _, n := range r.Gang.Nodes {
			if n.Instance == m.Instance.ID {
				held += len(n.Accelerators)
			}
		}
	}
	return float64(held) / float64(typ.Count)
}

// readTotals holds what is spent against the totals. One is used up when what its jobs
// burn until they have saved and their machines are gone would pass it.
func (l *Loop) readTotals(ctx context.Context, now time.Time) error {
	for i := range l.totals {
		t := &l.totals[i]
		if from, until := t.Span(now); !from.Equal(t.from) {
			t.from, t.until, t.booked, t.warned = from, until, 0, false
			charges, err := l.cfg.Store.Charges(ctx, from, until)
			if err != nil {
				return fmt.Errorf("load charges of budget %s: %w", t.Name, err)
			}
			for _, c := range charges {
				t.count(c)
			}
		}
		l.holdTotal(t, now)
	}
	return nil
}

func (l *Loop) holdTotal(t *total, now time.Time) {
	spent, burn, save := t.booked, pricing.Rate(0), time.Duration(0)
	for _, m := range l.cache.machines {
		if m.Instance.State == provider.Ended {
			continue
		}
		rate, ok := l.rateOf(m.Instance.Offering)
		if !ok {
			rate = m.Rate
		}
		rate = pricing.Rate(float64(rate) * l.share(t, m))
		burn += rate
		if from := later(later(m.Booked, m.Instance.Started), t.from); !m.Instance.Started.IsZero() && now.After(from) {
			spent += rate.Over(now.Sub(from))
		}
	}
	if !t.Unpriced && (burn != t.price.Burn || !sameSpan(t, now)) {
		t.price = t.price.See(t.Total, now, t.Amount-spent, burn)
		l.cache.setBudget(t.Name, t.Team, t.price)
	}
	for _, r := range l.cache.jobs {
		if r.Gang != nil && (t.Team == "" || r.Job.Team == t.Team) {
			save = max(save, r.Job.Checkpoint.Save)
		}
	}
	if !t.warned && float64(spent) >= softShare*float64(t.Amount) {
		t.warned = true
		l.event(Event{At: now, Kind: EventBudget, Text: fmt.Sprintf("%s: %s of %s USD a %s are spent", t.Name, spent, t.Amount, t.Period)})
	}
	// The stop is told in this round, saved by the next, and the machine ends in it or the one after.
	tail := burn.Over(save + 2*l.cfg.Settings.Round)
	t.stopAt = time.Time{}
	if left := t.Amount - spent - tail; left > 0 {
		if burn > 0 {
			t.stopAt = now.Add(time.Duration(min(float64(left)/float64(burn), 24*366) * float64(time.Hour)))
		}
		return
	}
	if o, used := l.cache.overrides.of(Spent, t.subject()); used && !o.Until.Before(t.until) {
		return
	}
	why := fmt.Sprintf("budget %s: %s of %s USD a %s are spent, and %s go on until all has stopped", t.Name, spent, t.Amount, t.Period, tail)
	l.cache.setOverride(Override{OverrideKey: OverrideKey{Kind: Spent, Subject: t.subject()}, Who: "goodfleet", Why: why, Since: now, Until: t.until})
	l.event(Event{At: now, Kind: EventBudget, Text: why})
	l.last.changed = true
	if t.Team != "" {
		return // the plan gives up what nobody else is on
	}
	for _, m := range l.cache.machines {
		if m.Instance.Live() && !m.Draining && l.reservation(m.Instance.Offering) == nil {
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
		if t := &l.totals[i]; !t.Unpriced && !t.price.At.IsZero() {
			if mu := t.price.To(t.Total, now).Mu(); mu > 0 {
				list = append(list, planner.BudgetPrice{Name: t.Name, Team: t.Team, Mu: mu})
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

func (s *State) isSpent(r *JobRecord) bool {
	why, _ := overrides(s.Overrides).spent(r.Job)
	return why != ""
}

// stopSpent lets the jobs wait whose budget is used up.
func (s *State) stopSpent(plan *planner.Plan) {
	for i := range s.Jobs {
		r := &s.Jobs[i]
		if why, until := overrides(s.Overrides).spent(r.Job); why != "" && r.Ended.IsZero() && !s.fixed(r) {
			plan.Waits = append(plan.Waits, planner.Wait{Job: r.Job.ID, Reason: why, Retries: until})
		}
	}
}
