package budget

import (
	"fmt"
	"time"

	"github.com/goodfleet/goodfleet/pricing"
)

// Look is what Due goes by beside policies and what was spent.
type Look struct {
	Now   time.Time
	Round time.Duration // between two looks at a step that is reached for some rounds in a row; positive

	// Tail is what the machines of a cap go on to cost until they could be stopped; nil:
	// that is not known, and what is spent is the least that is committed.
	Tail func(s *Standing) pricing.Money
}

// Due are the notices of what the caps of policies have come to at an instant, for each
// destination of each policy: steps that are reached, and the stop as the amount ends. The
// period before is looked at as it ended, so that nothing is lost that was reached in it
// after the last look. It keeps nothing: what was due is due again at the next look, with
// the same ID within its period, until the amount is changed by people.
//
// A step for some rounds in a row is measured at as many instants, a round apart; the tail
// of those before is not known, and counts as none.
func Due(policies Policies, spends []Spend, look Look) []Notice {
	var list []Notice
	for _, p := range policies {
		if p.Cap == nil || len(p.Notify) == 0 {
			continue
		}
		for _, key := range p.keys(spends) {
			for _, v := range p.views(key, look.Now) {
				list = append(list, p.due(key, spends, v, look)...)
			}
		}
	}
	return list
}

// view is an instant at which a period is looked at.
type view struct {
	in   time.Time // in the period
	at   time.Time // not before it
	over bool      // at is the end of the period
}

// views are where a cap is looked at: in the period that is on, and at the end of the one
// before.
func (p *Policy) views(key string, now time.Time) []view {
	t := p.Total(key)
	from, until := t.Span(now)
	switch {
	case t.Period.Endless():
		return []view{{in: now, at: now}}
	case t.Period == Dated && now.Before(from):
		return nil
	case t.Period == Dated && !now.Before(until):
		return []view{{in: until.Add(-1), at: until, over: true}}
	case t.Period == Dated:
		return []view{{in: now, at: now}}
	}
	return []view{{in: from.Add(-1), at: from, over: true}, {in: now, at: now}}
}

// due are the notices of one cap at one instant.
func (p *Policy) due(key string, spends []Spend, v view, look Look) []Notice {
	s := p.standingIn(key, spends, v.in, v.at)
	x := Measures{Amount: s.Amount, Spent: s.Spent, Forecast: s.Forecast}
	least := ""
	switch {
	case v.over: // what runs now ran on in the next
	case look.Tail == nil:
		least = "at least "
	default:
		x.Tail = look.Tail(&s)
	}
	added, _ := p.Added(v.in)
	var list []Notice
	tell := func(do Action, what, least string, value pricing.Money) {
		n := Notice{Policy: p.Name, Key: key, Action: do, At: v.at.UTC(), DryRun: p.DryRun}
		n.Event = fmt.Sprintf("%s\n%s\n%s", s.From.UTC().Format(time.RFC3339), what, p.Cap.Amount+added)
		n.Text = fmt.Sprintf("%s: %s: %s%s USD of %s", s.Name(), what, least, value, s.Amount)
		if !p.Cap.Period.Endless() {
			n.Text += " until " + s.End()
		}
		if p.DryRun {
			n.Text = "dry run: " + n.Text
		}
		for _, to := range p.Notify {
			n.To = to
			list = append(list, n)
		}
	}
	for _, step := range p.Steps {
		value, known := x.of(step)
		if !known || !step.reached(value, x.Amount) || !p.lasted(key, spends, v, s.From, step, look.Round) {
			continue
		}
		if step.Measure == Committed {
			tell(step.Do, step.String(), least, value)
		} else {
			tell(step.Do, step.String(), "", value)
		}
	}
	if value := x.Spent + x.Tail; value >= s.Amount {
		tell(Stop, "stop as the amount ends", least, value)
	}
	return list
}

// lasted reports whether a step was reached in the rounds before an instant too, as many as
// it wants. A period begins with none.
func (p *Policy) lasted(key string, spends []Spend, v view, from time.Time, step Step, round time.Duration) bool {
	for k := 1; k < step.Rounds; k++ {
		at := v.at.Add(-time.Duration(k) * round)
		if at.Before(from) {
			return false
		}
		s := p.standing(key, spends, at)
		x := Measures{Amount: s.Amount, Spent: s.Spent, Forecast: s.Forecast}
		if value, known := x.of(step); !known || !step.reached(value, x.Amount) {
			return false
		}
	}
	return true
}
