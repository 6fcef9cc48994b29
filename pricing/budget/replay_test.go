package budget_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/pricing/budget"
)

// What a replay says was spent when something was done is what a status says at that
// instant, whatever overlaps, begins or ends there; a second before, neither a step on what is
// spent nor the stop had been reached; and what was spent after it is the rest of the period.
func TestReplayCountsAsStatusDoes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := &budget.Policy{
			Name: "p", Over: anything(t),
			Cap: &budget.Cap{
				Amount: pricing.Dollar * pricing.Money(rapid.IntRange(1, 60).Draw(t, "amount")), Period: rapid.SampledFrom([]budget.Period{budget.Day, budget.Week, budget.Hour, budget.Always}).Draw(t, "period"),
				Overdraft: rapid.Bool().Draw(t, "overdraft"), Unused: 0.25 * float64(rapid.IntRange(0, 2).Draw(t, "unused")),
			},
		}
		if p.Cap.Period == budget.Always {
			p.Cap.Overdraft, p.Cap.Unused = false, 0
		}
		for n := range rapid.IntRange(0, 3).Draw(t, "steps") {
			p.Steps = append(p.Steps, budget.Step{At: float64(10+rapid.IntRange(0, 80).Draw(t, "share"))/100 + float64(n)/1000, Measure: budget.Actual, Do: budget.Warn})
		}
		if rapid.Bool().Draw(t, "exception") {
			from := monday.Add(time.Duration(rapid.IntRange(0, 50).Draw(t, "from")) * time.Hour)
			p.Exceptions = []budget.Exception{{From: from, Until: from.Add(5 * time.Hour), Add: 3 * pricing.Dollar}}
		}
		var spends []budget.Spend
		for range rapid.IntRange(1, 12).Draw(t, "spends") {
			at := monday.Add(time.Duration(rapid.IntRange(0, 240).Draw(t, "at")) * 10 * time.Minute)
			spends = append(spends, budget.Spend{
				At: at, To: at.Add(time.Duration(rapid.IntRange(0, 90).Draw(t, "length")) * 10 * time.Minute),
				Amount: pricing.Money(rapid.Int64Range(0, int64(20*pricing.Dollar)).Draw(t, "nano dollars")),
			})
		}
		spentBy := func(at time.Time) budget.Standing { return budget.Standings(budget.Policies{p}, spends, at)[0] }
		off := func(a, b pricing.Money) bool { return a-b > 100 || b-a > 100 } // of each spend that is cut a nano dollar
		for _, f := range budget.Replay(budget.Policies{p}, spends) {
			total := p.Total("")
			from, until := total.Span(f.At.Add(-1))
			if f.From.Equal(f.At) {
				from, until = total.Span(f.At)
			}
			at := f.At
			if at.Before(until) {
				at = at.Add(1) // what is paid at once is spent after its instant
			} else {
				at = until.Add(-1)
			}
			s := spentBy(at)
			perNano := pricing.Money(len(spends)) * 40 // what runs costs up to 20 dollars in ten minutes
			if d := s.Spent - f.Spent; d > 100+perNano || -d > 100+perNano {
				t.Errorf("%+v: at %s a status has %s USD", f, at, s.Spent)
			}
			all := pricing.Money(0)
			for i := range spends {
				all += spends[i].Amount.Between(spends[i].At, spends[i].To, from, until)
			}
			if off(f.After, all-f.Spent) {
				t.Errorf("%+v: %s USD are spent after it, want %s of %s", f, f.After, all-f.Spent, all)
			}
			share := 1.0
			for _, step := range p.Steps {
				if f.What == step.String() {
					share = step.At
				}
			}
			before := f.At.Add(-time.Second)
			if before.Before(from) {
				continue
			}
			if s, amount := spentBy(before), s.Amount; s.Amount == amount && float64(s.Spent) > share*float64(s.Amount)+100 {
				t.Errorf("%+v: a second before, %s of %s USD were spent already", f, s.Spent, s.Amount)
			}
		}
	})
}

func anything(t *rapid.T) *budget.Selector {
	over, err := budget.NewSelector(budget.Match{})
	if err != nil {
		t.Fatal(err)
	}
	return over
}
