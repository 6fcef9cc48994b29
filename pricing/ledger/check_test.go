package ledger_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/pricing/ledger"
	"github.com/goodfleet/goodfleet/provider"
)

// historyOf is one price that holds on the day of the examples.
func historyOf(t *rapid.T, o provider.Offering, nano int64) *pricing.History {
	h, err := pricing.NewHistory([]pricing.Quote{{Offering: o, Rate: pricing.Rate(nano), At: day, Source: "test"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// checkNames checks that Check refuses the charges and that its words hold some.
func checkNames(t *testing.T, charges []ledger.Charge, words ...string) {
	t.Helper()
	err := ledger.Check(charges)
	if !errors.Is(err, ledger.ErrUnbalanced) {
		t.Fatalf("got %v, want ErrUnbalanced", err)
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("got %q, want it to name %q", err, w)
		}
	}
}

// sound is an hour of one machine, held by two jobs.
func sound(t *testing.T) []ledger.Charge {
	m := ledger.NewMeter(history(t, quoted(awsOnDemand, day, "8")), ledger.Rules{})
	shares := []ledger.Share{{Job: "a", Accelerators: 2}, {Job: "b", Accelerators: 6}}
	return m.Settle(life("i-7", awsOnDemand, clock(1, 0, 0), clock(2, 0, 0), provider.EndedByUs), 8, shares, clock(2, 0, 0), 1)
}

func TestCheckNamesWhatDoesNotAddUp(t *testing.T) {
	if err := ledger.Check(sound(t)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		spoil func(charges []ledger.Charge) []ledger.Charge
		words string
	}{
		{"booked twice", func(c []ledger.Charge) []ledger.Charge { return append(c, c[0]) }, "comes twice"},
		{"overlap", func(c []ledger.Charge) []ledger.Charge {
			again := c[1]
			again.ID, again.From, again.To = "other", again.From.Add(30*time.Minute), again.To.Add(time.Hour)
			return append(c, again)
		}, "14 of 8 accelerators are held at 2026-11-03T01:30:00Z"},
		{"taken back more than borne", func(c []ledger.Charge) []ledger.Charge {
			back := c[0]
			back.ID, back.Kind, back.Share, back.Amount = "back", ledger.Reversal, -back.Share, -back.Amount-1
			return append(c, back)
		}, `account job, job "a" bears -0.000000001 USD`},
		{"taken back where nothing was held", func(c []ledger.Charge) []ledger.Charge {
			back := c[0]
			back.ID, back.Kind, back.Share, back.Amount = "back", ledger.Reversal, -back.Share, -back.Amount
			back.From, back.To = back.From.Add(time.Hour), back.To.Add(time.Hour)
			return append(c, back)
		}, "holds -2 accelerators at 2026-11-03T02:00:00Z"},
		{"half a transfer", func(c []ledger.Charge) []ledger.Charge {
			in := c[0]
			in.ID, in.Kind, in.Account = "in", ledger.Transfer, ledger.ToWaste
			return append(c, in)
		}, "transfers sum to 2 USD"},
		{"money at no known rate", func(c []ledger.Charge) []ledger.Charge { c[0].Known = false; return c }, "no known rate"},
		{"money against the accelerators", func(c []ledger.Charge) []ledger.Charge { c[0].Amount = -c[0].Amount; return c }, "for 2 accelerators"},
		{"no time", func(c []ledger.Charge) []ledger.Charge { c[0].To = c[0].From; return c }, "2 of 8 accelerators from"},
	} {
		t.Run(c.name, func(t *testing.T) {
			checkNames(t, c.spoil(sound(t)), "instance i-7 of aws", c.words)
		})
	}
}

func TestCheckOfAChargeNamesItsField(t *testing.T) {
	for _, c := range sound(t) {
		if err := c.Check(); err != nil {
			t.Fatal(err)
		}
	}
	for _, tc := range []struct {
		want  string
		spoil func(c *ledger.Charge)
	}{
		{"id: ", func(c *ledger.Charge) { c.ID = "" }},
		{"kind: ", func(c *ledger.Charge) { c.Kind = "gift" }},
		{"instance: ", func(c *ledger.Charge) { c.Instance = "" }},
		{"offering.cloud: ", func(c *ledger.Charge) { c.Offering = provider.Offering{} }},
		{"offering.type: ", func(c *ledger.Charge) { c.Offering.Type = "" }},
		{"run: ", func(c *ledger.Charge) { c.Run = -1 }},
		{"to: ", func(c *ledger.Charge) { c.To = c.From.Add(-time.Second) }},
		{"account: ", func(c *ledger.Charge) { c.Account = "petty cash" }},
		{"job: ", func(c *ledger.Charge) { c.Job = "" }},
		{"share: ", func(c *ledger.Charge) { c.Of = 0 }},
		{"share: ", func(c *ledger.Charge) { c.Share = -c.Share }},
		{"share: ", func(c *ledger.Charge) { c.Kind = ledger.Reversal }},
		{"rate: ", func(c *ledger.Charge) { c.Rate = -c.Rate }},
		{"amount: ", func(c *ledger.Charge) { c.Known = false }},
		{"amount: 2.01 USD for 2 of 8 accelerators over 1h0m0s at 8 USD/h, which cost 2.000000000", func(c *ledger.Charge) { c.Amount += 10_000_000 }},
		{"amount: ", func(c *ledger.Charge) { c.Share++ }},
	} {
		c := sound(t)[0]
		tc.spoil(&c)
		if err := c.Check(); err == nil || !strings.HasPrefix(err.Error(), tc.want) {
			t.Errorf("got %v, want %q", err, tc.want)
		}
	}
}
