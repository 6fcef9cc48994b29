package budget_test

import (
	"strings"
	"testing"
	"time"

	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/pricing/budget"
)

// What refuses a launch because a cap is used up says when there is room again, whatever
// makes it: each period in its zone, a window, an exception, a debt; or that nothing does.
func TestAUsedUpCapSaysWhenRoomComes(t *testing.T) {
	newYork, err := time.LoadLocation("America/New_York")
	if err != nil {
		t.Fatal(err)
	}
	now := monday.Add(12*time.Hour + 30*time.Minute) // Monday, 2 November 2026
	add := func(from time.Duration, amount pricing.Money) budget.Exception {
		return budget.Exception{From: now.Add(from), Until: now.AddDate(0, 6, 0), Add: amount * pricing.Dollar, Owner: "ada", Reason: "review"}
	}
	for name, c := range map[string]struct {
		cap        budget.Cap
		exceptions []budget.Exception
		steps      []budget.Step
		spent      pricing.Money
		want       string
	}{
		"an hour":              {cap: budget.Cap{Period: budget.Hour}, want: "room comes at 2026-11-02T13:00:00Z, as the hour ends"},
		"a day of a zone":      {cap: budget.Cap{Period: budget.Day, Zone: newYork}, want: "room comes at 2026-11-03T00:00:00-05:00, as the day ends"},
		"a week":               {cap: budget.Cap{Period: budget.Week}, want: "room comes at 2026-11-09T00:00:00Z, as the week ends"},
		"a month of a zone":    {cap: budget.Cap{Period: budget.Month, Zone: newYork}, want: "room comes at 2026-12-01T00:00:00-05:00, as the month ends"},
		"a window":             {cap: budget.Cap{Period: budget.Dated, From: monday, Until: monday.AddDate(0, 0, 4)}, want: "room comes at 2026-11-06T00:00:00Z, as its window ends"},
		"no end":               {cap: budget.Cap{Period: budget.Always}, want: "it has no end: only a higher amount makes room"},
		"an exception":         {cap: budget.Cap{Period: budget.Month}, exceptions: []budget.Exception{add(time.Hour, 2)}, want: "room comes at 2026-11-02T13:30:00Z, as ada adds 2 USD (review)"},
		"too small a one":      {cap: budget.Cap{Period: budget.Week}, exceptions: []budget.Exception{add(time.Hour, 1)}, want: "room comes at 2026-11-09T00:00:00Z, as the week ends"},
		"two together":         {cap: budget.Cap{Period: budget.Week}, exceptions: []budget.Exception{add(time.Hour, 1), add(2*time.Hour, 1)}, want: "room comes at 2026-11-02T14:30:00Z, as ada adds 1 USD"},
		"one after the period": {cap: budget.Cap{Period: budget.Day}, exceptions: []budget.Exception{add(30*time.Hour, 9)}, want: "room comes at 2026-11-03T00:00:00Z, as the day ends"},
		"one without an end":   {cap: budget.Cap{Period: budget.Always}, exceptions: []budget.Exception{add(30*time.Hour, 9)}, want: "room comes at 2026-11-03T18:30:00Z, as ada adds 9 USD"},
		"short of a step":      {cap: budget.Cap{Period: budget.Day}, exceptions: []budget.Exception{add(time.Hour, 2)}, steps: []budget.Step{{At: 0.9, Measure: budget.Actual, Do: budget.NoNew}}, want: "room comes at 2026-11-03T00:00:00Z, as the day ends"},
		"a debt":               {cap: budget.Cap{Period: budget.Day, Overdraft: true}, spent: 15, want: "room comes at 2026-11-03T00:00:00Z, as the day ends"},
		"more debt than a day": {cap: budget.Cap{Period: budget.Day, Overdraft: true}, spent: 25, want: "room comes at 2026-11-04T00:00:00Z, as a day begins that owes less than its amount"},
		"no debt":              {cap: budget.Cap{Period: budget.Day}, spent: 95, want: "room comes at 2026-11-03T00:00:00Z, as the day ends"},
		"debt and exception":   {cap: budget.Cap{Period: budget.Day, Overdraft: true}, spent: 25, exceptions: []budget.Exception{add(20*time.Hour, 9)}, want: "room comes at 2026-11-03T08:30:00Z, as ada adds 9 USD"},
		"used to the last":     {cap: budget.Cap{Period: budget.Day, Overdraft: true}, spent: 10, want: "room comes at 2026-11-03T00:00:00Z, as the day ends"},
	} {
		t.Run(name, func(t *testing.T) {
			c.cap.Amount = 10 * pricing.Dollar
			if c.spent == 0 {
				c.spent = 11
			}
			p := &budget.Policy{Name: "p", Owner: "o", Cap: &c.cap, Exceptions: c.exceptions, Steps: c.steps}
			spends := []budget.Spend{{At: now.Add(-20 * time.Minute), To: now.Add(-10 * time.Minute), Amount: c.spent * pricing.Dollar}}
			ask := budget.Ask{Offering: aws, Count: 1, Rate: usd, For: []budget.Part{{Facts: budget.FactsOf(aws, p4d), Count: 8}}}
			verdicts, err := budget.Explain(budget.Policies{p}, spends, ask, budget.Known{}, now)
			refused := err != nil && strings.Contains(err.Error(), "it is used up; "+c.want)
			if !refused || !strings.Contains(verdicts[0].Says, c.want) {
				t.Errorf("refused: %v, says %q, want %q", err, verdicts[0].Says, c.want)
			}
			// And there is: with what was spent, something is allowed from then on and not before.
			s := budget.Standings(budget.Policies{p}, spends, now)[0]
			room := s.Room(now)
			if _, at := s.Next(now); !at.Equal(room.At) {
				t.Errorf("what is next comes at %v, room at %v", at, room.At)
			}
			if room.At.IsZero() {
				return
			}
			before, then := budget.Standings(budget.Policies{p}, spends, room.At.Add(-1))[0], budget.Standings(budget.Policies{p}, spends, room.At)[0]
			if before.Spent < before.Amount && len(c.steps) == 0 || then.Spent >= then.Amount && !then.Over(room.At) {
				t.Errorf("just before %v %s of %s USD are spent, then %s of %s", room.At, before.Spent, before.Amount, then.Spent, then.Amount)
			}
		})
	}
}
