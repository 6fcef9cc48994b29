package budget

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/goodfleet/goodfleet/pricing"
)

// Spend is a line of a ledger as a policy sees it.
type Spend struct {
	Facts    Facts
	At, To   time.Time
	Amount   pricing.Money
	Rate     pricing.Rate // of a whole machine; 0: of something else
	List     pricing.Rate // of it on demand; 0: not known
	Share    float64      // of the machine
	Overrun  bool         // against our will
	Reversed bool         // it takes back, and holds no time
}

// within is the part of it that falls into [from, until), by its time there.
func (x *Spend) within(from, until time.Time) pricing.Money {
	if !from.Before(until) {
		return 0
	}
	return x.Amount.Between(x.At, x.To, from, until)
}

// falls reports whether some of its time lies in [from, until).
func (x *Spend) falls(from, until time.Time) bool {
	return x.At.Before(until) && (x.To.After(from) || !x.At.Before(from))
}

// until is the part of it before an instant, which lies after its start.
func (x *Spend) until(at time.Time) Spend {
	part := *x
	part.Amount, part.To = x.Amount.Accrued(x.At, x.To, at), earliest(x.To, at)
	return part
}

// cut divides it at an instant, where that lies inside.
func (x *Spend) cut(at time.Time) []Spend {
	if !at.After(x.At) || !at.Before(x.To) {
		return []Spend{*x}
	}
	first, rest := x.until(at), *x
	rest.At, rest.Amount = at, x.Amount-first.Amount
	return []Spend{first, rest}
}

func earliest(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// Standing is how a cap stands in the period of an instant, for one key.
type Standing struct {
	Policy      *Policy
	Key         string
	From, Until time.Time
	Amount      pricing.Money // with what is carried over and exceptions add
	Carried     pricing.Money
	Spent       pricing.Money
	Overrun     pricing.Money // of it, what was spent against our will
	Forecast    Forecast
	Before      []Before // the periods before that are known, the last one first, where something is carried over
}

// keys are for whom a policy holds a cap, as spends show it.
func (p *Policy) keys(spends []Spend) []string {
	if p.Cap.Each == ForAll {
		return []string{""}
	}
	seen := map[string]bool{}
	for i := range spends {
		if key := p.Cap.Each.Key(spends[i].Facts); key != "" && p.Over.Covers(spends[i].Facts) {
			seen[key] = true
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

// Standings are how the caps of policies stand at an instant, by what was spent before
// it: by policy and key.
func Standings(policies Policies, spends []Spend, now time.Time) []Standing {
	var list []Standing
	for _, p := range policies {
		if p.Cap == nil {
			continue
		}
		for _, key := range p.keys(spends) {
			list = append(list, p.standing(key, spends, now))
		}
	}
	return list
}

func (p *Policy) standing(key string, spends []Spend, now time.Time) Standing {
	return p.standingIn(key, spends, now, now)
}

// standingIn is how a cap stands at now in the period of another instant: of the one that is
// on, or at the end of one that is over.
func (p *Policy) standingIn(key string, spends []Spend, in, now time.Time) Standing {
	t := p.Total(key)
	s := Standing{Policy: p, Key: key}
	s.From, s.Until = t.Span(in)
	before := [2]time.Time{}
	if p.Cap.Unused > 0 || p.Cap.Overdraft {
		before[0], _ = t.Span(s.From.Add(-1))
		before[1], _ = t.Span(before[0].Add(-1))
	}
	tally := NewTally(t.Period)
	var past [2]Before
	known := 0
	for i := range spends {
		x := &spends[i]
		if !x.At.Before(now) {
			continue
		}
		covers := t.Covers(x.Facts)
		for k, from := range before {
			ends := s.From
			if k > 0 {
				ends = before[k-1]
			}
			if !from.IsZero() && x.falls(from, ends) {
				known = max(known, k+1)
				if covers {
					past[k].Spent += x.within(from, ends)
				}
			}
		}
		if !covers {
			continue
		}
		seen := x.until(now)
		tally.Add(seen.At, seen.To, seen.Amount)
		part := x.within(s.From, earliest(now, s.Until))
		s.Spent += part
		if x.Overrun {
			s.Overrun += part
		}
	}
	if !s.Until.IsZero() && !in.Before(s.Until) { // a window that is over stands as it ended
		in = s.Until.Add(-1)
	}
	past[0].Added, past[1].Added = p.AddedIn(before[0], s.From), p.AddedIn(before[1], before[0])
	added, _ := p.Added(in)
	s.Before = past[:known]
	s.Carried = p.Cap.Carried(s.Before...)
	s.Amount = max(0, p.Cap.Amount+added+s.Carried)
	s.Forecast = tally.Forecast(s.Spent, now, s.Until)
	return s
}

// Over reports whether the period has ended by then: it stops nothing any more.
func (s *Standing) Over(now time.Time) bool { return !s.Until.IsZero() && !now.Before(s.Until) }

// Name is the policy's, with the key.
func (s *Standing) Name() string {
	if s.Key == "" {
		return s.Policy.Name
	}
	return s.Policy.Name + "/" + s.Key
}

// Next is what a policy does next if money goes as the forecast says: the first step
// whose share is not reached yet, or the stop at the end of the amount. The time is zero
// when it does not come to that in the period.
func (s *Standing) Next(now time.Time) (what string, at time.Time) {
	if s.Over(now) {
		return "the window is over", time.Time{}
	}
	type mark struct {
		share float64
		what  string
	}
	var marks []mark
	for _, step := range s.Policy.Steps {
		if step.Measure != Foretold {
			marks = append(marks, mark{step.At, step.String()})
		}
	}
	marks = append(marks, mark{1, "stop as the amount ends"})
	slices.SortStableFunc(marks, func(a, b mark) int { return cmp.Compare(a.share, b.share) })
	for _, m := range marks {
		goal := pricing.Money(m.share * float64(s.Amount))
		if s.Spent >= goal {
			continue
		}
		pace := float64(s.Forecast.P50-s.Spent) / float64(s.Until.Sub(now))
		if !s.Forecast.Known || pace <= 0 {
			return m.what, time.Time{}
		}
		if wait := float64(goal-s.Spent) / pace; wait < float64(s.Until.Sub(now)) {
			return m.what, now.Add(time.Duration(wait)).Truncate(time.Second)
		}
		return m.what, time.Time{}
	}
	room := s.Room(now)
	if room.At.IsZero() {
		return "stopped for good", time.Time{}
	}
	return "stopped until " + room.Why, room.At
}

// End is the end of the period for people: "no end" of what has none.
func (s *Standing) End() string {
	if s.Policy.Cap.Period.Endless() {
		return "no end"
	}
	return s.Until.UTC().Format(time.RFC3339)
}
