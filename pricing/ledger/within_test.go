package ledger

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/provider"
)

// drawLine is a line of any kind, of some seconds to some days.
func drawLine(t *rapid.T) Charge {
	from := time.Date(2026, 10, 31, 20, 0, 0, 0, time.UTC).Add(time.Duration(rapid.Int64Range(0, int64(48*time.Hour)).Draw(t, "from")))
	c := Charge{
		Kind: rapid.SampledFrom(kinds).Draw(t, "kind"), Item: rapid.SampledFrom(items).Draw(t, "item"), From: from,
		To:       from.Add(time.Duration(rapid.Int64Range(1, int64(72*time.Hour)).Draw(t, "long"))),
		Account:  rapid.SampledFrom(accounts).Draw(t, "account"),
		Offering: provider.Offering{Cloud: "aws", Market: rapid.SampledFrom([]provider.Market{provider.Spot, provider.OnDemand}).Draw(t, "market")},
		Share:    rapid.IntRange(-8, 8).Draw(t, "share"), Of: 8, Known: true,
		Rate: pricing.Rate(rapid.Int64Range(0, 1e11).Draw(t, "rate")), List: pricing.Rate(rapid.Int64Range(0, 1e11).Draw(t, "list")),
		Amount: pricing.Money(rapid.Int64Range(-1e13, 1e13).Draw(t, "amount")), Quantity: rapid.Int64Range(0, 1e15).Draw(t, "quantity"),
	}
	if c.Kind == Purchase {
		c.Amount, c.Price = 0, pricing.Money(rapid.Int64Range(1, 1e13).Draw(t, "price"))
	}
	return c
}

// TestWindowsSumToTheWhole cuts time anywhere: over windows that adjoin, amounts, what is
// billed, accelerator-time and what was moved sum to those of all charges.
func TestWindowsSumToTheWhole(t *testing.T) {
	type sums struct {
		Amount, Billed pricing.Money
		Time           time.Duration
		Moved          int64
	}
	rapid.Check(t, func(t *rapid.T) {
		charges := rapid.SliceOfN(rapid.Custom(drawLine), 1, 6).Draw(t, "charges")
		cuts := rapid.SliceOfN(rapid.Int64Range(-int64(time.Hour), int64(130*time.Hour)), 0, 6).Draw(t, "cuts")
		slices.Sort(cuts)
		borders := []time.Time{{}}
		for _, c := range cuts {
			borders = append(borders, time.Date(2026, 10, 31, 20, 0, 0, 0, time.UTC).Add(time.Duration(c)))
		}
		borders = append(borders, time.Time{})
		var got, want sums
		add := func(s *sums, c *Charge) {
			s.Amount, s.Billed = s.Amount+c.Amount, s.Billed+c.Billed()
			if c.Kind != Purchase {
				s.Time += c.Time()
			}
			if c.Item == Traffic {
				s.Moved += c.Quantity
			}
		}
		for i := range charges {
			add(&want, &charges[i])
			for k := 1; k < len(borders); k++ {
				if part, ok := charges[i].Within(borders[k-1], borders[k]); ok {
					add(&got, &part)
				}
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatal(diff)
		}
	})
}

// TestDaysAreTheWindowsOfTheirDays: a report by day says of each day what a report of the
// window of that day says, in zones whose days begin within an hour of the clock too.
func TestDaysAreTheWindowsOfTheirDays(t *testing.T) {
	for _, name := range []string{"UTC", "America/New_York", "Asia/Kathmandu", "Australia/Adelaide"} {
		zone, err := time.LoadLocation(name)
		if err != nil {
			t.Fatal(err)
		}
		rapid.Check(t, func(t *rapid.T) {
			charges := rapid.SliceOfN(rapid.Custom(drawLine), 1, 5).Draw(t, "charges")
			days := NewSums(zone, ByDay)
			for i := range charges {
				days.Add(&charges[i])
			}
			byDay := days.Totals()
			seen := map[string]bool{}
			for at := time.Date(2026, 10, 30, 0, 0, 0, 0, zone); at.Day() != 8; at = at.AddDate(0, 0, 1) {
				window := NewSums(zone)
				some := false
				for i := range charges {
					if part, ok := charges[i].Within(at, at.AddDate(0, 0, 1)); ok {
						window.Add(&part)
						some = true
					}
				}
				day := at.Format(time.DateOnly)
				row := slices.IndexFunc(byDay.Rows, func(r Row) bool { return r.Key[0] == day })
				if (row >= 0) != some {
					t.Fatalf("%s: charges fall to it: %v, it has a row: %v", day, some, row >= 0)
				}
				if !some {
					continue
				}
				seen[day] = true
				got, want := byDay.Rows[row], window.Totals().Rows[0]
				got.Key, got.Charges, want.Key, want.Charges = nil, 0, nil, 0
				if diff := cmp.Diff(want, got); diff != "" {
					t.Fatalf("%s: %s", day, diff)
				}
			}
			if len(seen) != len(byDay.Rows) || byDay.Sum.Charges != len(charges) {
				t.Fatalf("%d days of %d, %d lines of %d", len(seen), len(byDay.Rows), byDay.Sum.Charges, len(charges))
			}
		})
	}
}
