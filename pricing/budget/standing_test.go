package budget_test

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/pricing/budget"
)

var monday = time.Date(2026, 11, 2, 0, 0, 0, 0, time.UTC)

// TestWindowsThatAdjoinShareWhatStraddlesThem: whatever the windows, each dollar is spent in
// one of them, to the nano dollar; and as much is seen at any instant before and after it.
func TestWindowsThatAdjoinShareWhatStraddlesThem(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var spends []budget.Spend
		all := pricing.Money(0)
		for range rapid.IntRange(1, 6).Draw(t, "spends") {
			x := budget.Spend{
				At:     monday.Add(time.Duration(rapid.Int64Range(0, int64(48*time.Hour)).Draw(t, "at"))),
				Amount: pricing.Money(rapid.Int64Range(-1e13, 1e13).Draw(t, "amount")),
			}
			x.To = x.At.Add(time.Duration(rapid.Int64Range(0, int64(30*time.Hour)).Draw(t, "long")))
			all += x.Amount
			spends = append(spends, x)
		}
		cuts := rapid.SliceOfNDistinct(rapid.Int64Range(1, int64(80*time.Hour)), 0, 5, rapid.ID).Draw(t, "cuts")
		slices.Sort(cuts)
		from := monday
		sum := pricing.Money(0)
		for _, c := range append(cuts, int64(90*time.Hour)) {
			until := monday.Add(time.Duration(c))
			p := &budget.Policy{Name: "p", Cap: &budget.Cap{Amount: 1, Period: budget.Dated, From: from, Until: until}}
			s := budget.Standings(budget.Policies{p}, spends, monday.AddDate(0, 1, 0))[0]
			sum += s.Spent
			from = until
		}
		if sum != all {
			t.Fatalf("%s USD are spent in windows cut at %v, %s in all", sum, cuts, all)
		}
	})
}

// A charge that runs over midnight counts to each day by its time there, in what stands and
// in what is replayed.
func TestDaysShareAChargeOverMidnight(t *testing.T) {
	day := &budget.Policy{Name: "day", Cap: &budget.Cap{Amount: 10 * pricing.Dollar, Period: budget.Day}}
	spends := []budget.Spend{
		{At: monday.Add(18 * time.Hour), To: monday.Add(26 * time.Hour), Amount: 12 * pricing.Dollar},
		{At: monday.Add(30 * time.Hour), To: monday.Add(31 * time.Hour), Amount: 7 * pricing.Dollar},
	}
	for _, c := range []struct {
		at   time.Duration
		want pricing.Money
	}{
		{22 * time.Hour, 6 * pricing.Dollar}, {24*time.Hour - 1, 9*pricing.Dollar - 1}, {25 * time.Hour, 3 * pricing.Dollar / 2}, {40 * time.Hour, 10 * pricing.Dollar},
	} {
		if got := budget.Standings(budget.Policies{day}, spends, monday.Add(c.at))[0].Spent; got != c.want {
			t.Errorf("after %v: %s USD are spent of the day, want %s", c.at, got, c.want)
		}
	}
	got := budget.Replay(budget.Policies{day}, spends)
	if len(got) != 1 || !got[0].At.Equal(monday.Add(31*time.Hour)) || got[0].Spent != 10*pricing.Dollar {
		t.Errorf("replayed: %+v, want a stop on Tuesday at seven", got)
	}
}

// A price that holds at night alone is not one of the evening before.
func TestReplayedPricesHoldInTheirTime(t *testing.T) {
	night := &budget.Policy{Name: "night", MaxRate: usd, Active: hours{monday.Add(22 * time.Hour), monday.Add(24 * time.Hour)}}
	spends := []budget.Spend{{At: monday.Add(21 * time.Hour), To: monday.Add(25 * time.Hour), Amount: 8 * pricing.Dollar, Rate: 2 * usd, Share: 1}}
	got := budget.Replay(budget.Policies{night}, spends)
	if len(got) != 1 || got[0].After != 4*pricing.Dollar || !got[0].At.Equal(monday.Add(22*time.Hour)) {
		t.Errorf("replayed: %+v, want 4 USD from ten on", got)
	}
	burn := &budget.Policy{Name: "burn", Burn: usd, Active: hours{monday.Add(22 * time.Hour), monday.Add(24 * time.Hour)}}
	got = budget.Replay(budget.Policies{burn}, spends)
	if len(got) != 1 || got[0].After != 2*pricing.Dollar || !got[0].At.Equal(monday.Add(22*time.Hour)) {
		t.Errorf("replayed: %+v, want 2 USD above the burn from ten on", got)
	}
}

// hours is one window.
type hours [2]time.Time

func (h hours) At(now time.Time) (open bool, next time.Time) {
	switch {
	case now.Before(h[0]):
		return false, h[0]
	case now.Before(h[1]):
		return true, h[1]
	}
	return false, time.Time{}
}

func (h hours) String() string { return h[0].String() + " to " + h[1].String() }
