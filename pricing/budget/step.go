package budget

import (
	"time"

	"github.com/goodfleet/goodfleet/pricing"
)

// Mark is where a policy stands in a period: which steps are done, and whether all was
// stopped. It outlives a crash, so that nothing is told or begun twice.
type Mark struct {
	From    time.Time     `json:"from"` // of the period
	Steps   []StepMark    `json:"steps,omitempty"`
	Stopped pricing.Money `json:"stopped,omitempty"` // the amount at which all was stopped; 0: it is not
}

// StepMark is where one step stands.
type StepMark struct {
	Reached int       `json:"reached,omitempty"` // rounds in a row in which its share was reached
	Done    bool      `json:"done,omitempty"`
	Turned  time.Time `json:"turned,omitzero"` // when it was done, or armed again, last
}

// Measures are what steps look at.
type Measures struct {
	Amount, Spent, Tail pricing.Money // Tail: what runs on until it could be stopped
	Forecast            Forecast
}

// of is the measure of a step; ok is false when it is not known.
func (x *Measures) of(s Step) (value pricing.Money, ok bool) {
	switch {
	case s.Measure == Actual:
		return x.Spent, true
	case s.Measure == Committed:
		return x.Spent + x.Tail, true
	case s.Quantile > 0.5:
		return x.Forecast.P90, x.Forecast.Known
	}
	return x.Forecast.P50, x.Forecast.Known
}

// reached reports whether a measure has come to the share of a step.
func (s Step) reached(value, amount pricing.Money) bool {
	return float64(value) >= s.At*float64(amount)
}

// Turn is a step that was done, or armed again, just now.
type Turn struct {
	Step  Step
	Done  bool // else armed again
	Value pricing.Money
}

// Walk goes through the steps of a policy at now, and returns the marks after it, the
// most severe action in force ("": none) and what turned. A step whose measure is not
// known stays as it is.
func (p *Policy) Walk(m Mark, x Measures, now time.Time) (Mark, Action, []Turn) {
	marks := make([]StepMark, len(p.Steps))
	copy(marks, m.Steps)
	level := Action("")
	var turns []Turn
	for i, s := range p.Steps {
		k := &marks[i]
		value, known := x.of(s)
		cool := k.Turned.IsZero() || now.Sub(k.Turned) >= p.Cooldown
		switch {
		case !known:
		case !k.Done && s.reached(value, x.Amount):
			if k.Reached++; k.Reached >= s.Rounds && cool {
				k.Done, k.Turned = true, now
				turns = append(turns, Turn{s, true, value})
			}
		case !k.Done:
			k.Reached = 0
		case float64(value) < (s.At-p.Margin)*float64(x.Amount) && cool:
			*k = StepMark{Turned: now}
			turns = append(turns, Turn{s, false, value})
		}
		if k.Done && s.Do.severity() > level.severity() {
			level = s.Do
		}
	}
	m.Steps = marks
	return m, level, turns
}

// InForce is the most severe step that is reached at now by what was spent and the tail of
// what runs, as a first round counts it: one for several rounds is not reached by one look.
func (s *Standing) InForce(tail pricing.Money, now time.Time) (step Step, reached bool) {
	mark, _, _ := s.Policy.Walk(Mark{}, Measures{Amount: s.Amount, Spent: s.Spent, Tail: tail, Forecast: s.Forecast}, now)
	for i, m := range mark.Steps {
		if x := s.Policy.Steps[i]; m.Done && (!reached || x.Do.severity() > step.Do.severity()) {
			step, reached = x, true
		}
	}
	return step, reached
}

// AtLeast reports whether an action is as severe as another.
func (a Action) AtLeast(b Action) bool { return a.severity() >= b.severity() }

// Before is a period that is over: what was spent in it, and the most that exceptions added
// to the cap there.
type Before struct {
	Spent, Added pricing.Money
}

// Carried is what a period takes over from the one before: at most the share Unused of
// the amount, if less was spent, and a debt, if Overdraft, if more. What an exception has
// added is no debt, and is not carried over where it was not used. before are the periods
// before this one, the last one first; one that the ledger does not know is left out with
// all before it. Of the two that are looked at, what the first left may be used in the
// second.
func (c *Cap) Carried(before ...Before) pricing.Money {
	if c.Unused == 0 && !c.Overdraft || len(before) == 0 {
		return 0
	}
	carried := pricing.Money(0)
	for i := min(len(before), 2) - 1; i >= 0; i-- {
		left := c.Amount + carried - before[i].Spent
		switch {
		case left >= 0:
			carried = min(left, pricing.Money(c.Unused*float64(c.Amount)))
		case c.Overdraft:
			carried = min(0, left+before[i].Added)
		default:
			carried = 0
		}
	}
	return carried
}
