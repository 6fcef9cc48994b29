package autoscale_test

import (
	"context"
	"testing"
	"time"

	"github.com/goodfleet/goodfleet/autoscale"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/pricing/budget"
	"github.com/goodfleet/goodfleet/pricing/ledger"
	"github.com/goodfleet/goodfleet/provider"
	"github.com/goodfleet/goodfleet/provider/fake"
)

// billed runs jobs on a block, and on spot where that is full, with all that may cost
// beside machines; restart before each round or not. It returns the charges.
func billed(t *testing.T, restarts bool) (w *world, charges []ledger.Charge) {
	rules := ledger.Rules{
		Capacities: []ledger.Capacity{{
			ID: "cb-1", Item: ledger.Commitment, Offering: block, Machines: 1, From: start.Add(-24 * time.Hour), Until: start.Add(9 * 24 * time.Hour), Since: start,
			Upfront: 2400 * pricing.Dollar, Hourly: 2 * pricing.DollarPerHour, Known: true,
		}},
		Beside: []ledger.Beside{
			{Item: ledger.Disk, Cloud: "aws", Type: "gp3", Size: 72, Unit: 100_000_000},
			{Item: ledger.Address, Cloud: "aws", Type: "ipv4", Size: 1, Unit: ledger.AWSAddress},
		},
	}
	w = newWorld(t, setup{interruptions: 0.3, offerings: []provider.Offering{smallSpot, smallOnDemand, block}, blocks: []fake.Block{{Offering: block, Count: 1, From: start, Until: start.AddDate(0, 0, 9)}}, settings: func(s *autoscale.Settings) { s.Book = 7 * time.Minute }})
	w.cfg.Reservations = []autoscale.Reservation{{Offering: block, Count: 1}}
	w.cfg.Bills = autoscale.Bills{
		Capacities: rules.Capacities, Beside: rules.BesideRate,
		Controller: &ledger.Holding{Item: ledger.Controller, ID: "goodfleet", Offering: smallOnDemand, Size: 1, Started: start, Unit: pricing.DollarPerHour / 10, Known: true},
		Grants: []ledger.Grant{
			{Source: "promo", Offering: smallOnDemand, Amount: 5 * pricing.Dollar, From: start.Add(-time.Hour), To: start, Came: start.Add(10 * time.Minute)},
			{Source: "later", Offering: smallOnDemand, Amount: 5 * pricing.Dollar, From: start, To: start.Add(time.Hour), Came: start.Add(1000 * time.Hour)},
		},
	}
	w.cfg.Meter = func(charges []ledger.Charge) *ledger.Meter { return ledger.Resume(w.prices, rules, charges) }
	w.restart()
	w.submit(testJob("a", 1, 4), testJob("b", 0.5, 1), testJob("c", 2, 1, 2))
	w.until(2000, func() bool {
		if restarts {
			w.restart()
		}
		return w.allEnded()
	})
	for range 8 { // the last bills are as old as Book allows
		w.round(time.Minute)
	}
	charges, err := w.store.Charges(context.Background(), time.Time{}, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	if err := ledger.Check(charges); err != nil {
		t.Fatal(err)
	}
	return w, charges
}

func TestBillsBesideMachinesAreBookedOnceAndWhole(t *testing.T) {
	for name, restarts := range map[string]bool{"one loop": false, "a loop for each round": true} {
		t.Run(name, func(t *testing.T) {
			w, charges := billed(t, restarts)
			byItem, paid, credit, last := map[ledger.Item]pricing.Money{}, pricing.Money(0), pricing.Money(0), map[ledger.Item]time.Time{}
			var inBlock pricing.Money
			for _, c := range charges {
				byItem[c.Item] += c.Amount
				if c.To.After(last[c.Item]) && c.Kind == ledger.Usage {
					last[c.Item] = c.To
				}
				switch {
				case c.Kind == ledger.Purchase:
					paid += c.Price
				case c.Kind == ledger.Credit:
					credit += c.Amount
				case c.Item == ledger.Machine && c.Offering == block:
					inBlock += c.Amount
				}
			}
			// 2,400 USD over ten days and 2 USD an hour are 12 USD an hour, used or not.
			perHour := 12 * pricing.DollarPerHour
			if got, want := byItem[ledger.Commitment]+inBlock, perHour.Over(last[ledger.Commitment].Sub(start)); got < want-1000 || got > want+1000 || inBlock == 0 || byItem[ledger.Commitment] == 0 {
				t.Errorf("commitment: %s unused and %s used, want %s in all", byItem[ledger.Commitment], inBlock, want)
			}
			if got, want := byItem[ledger.Controller], (pricing.DollarPerHour / 10).Over(last[ledger.Controller].Sub(start)); got != want || w.now.Sub(last[ledger.Controller]) > 7*time.Minute {
				t.Errorf("controller: %s up to %s, want %s", got, last[ledger.Controller], want)
			}
			if credit != -5*pricing.Dollar {
				t.Errorf("credits: %s, want the one that came", credit)
			}
			// What was paid before the store was born is not booked: the hourly part is.
			if want := (2 * pricing.DollarPerHour).Over(w.now.Sub(start)); paid <= 0 || paid > want+2*pricing.Dollar {
				t.Errorf("purchases: %s, want about %s", paid, want)
			}
			var disks, addresses pricing.Money
			records, err := w.store.Instances(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range records {
				if !r.Instance.Started.IsZero() {
					lived := r.Instance.Ended.Sub(r.Instance.Started)
					disks += pricing.Rate(10_000_000).Over(max(lived, time.Minute)) // 72 GB at 0.10 USD in 720 h
					addresses += ledger.AWSAddress.Over(lived)
				}
			}
			near := func(got, want pricing.Money) bool { return max(got-want, want-got) < pricing.Money(len(records)) }
			if !near(byItem[ledger.Disk], disks) || !near(byItem[ledger.Address], addresses) || disks == 0 {
				t.Errorf("disks %s, addresses %s, want %s and %s", byItem[ledger.Disk], byItem[ledger.Address], disks, addresses)
			}
		})
	}
}

func TestMachinesCountInBudgetsWithWhatIsBesideThem(t *testing.T) {
	w := newWorld(t, setup{offerings: []provider.Offering{smallSpot}})
	w.cfg.Bills.Beside = func(provider.Offering) pricing.Rate { return pricing.DollarPerHour / 2 }
	w.guard(pricing.DollarPerHour * 5 / 4) // enough for the machine, and not for its disk
	w.submit(testJob("a", 1, 1))
	if r := w.round(time.Minute); len(r.Diff.Launches) != 0 {
		t.Errorf("launches %+v, want none", r.Diff.Launches)
	}
	w.guard(pricing.DollarPerHour * 3 / 2)
	if r := w.round(time.Minute); len(r.Diff.Launches) != 1 || r.Diff.Launches[0].Rate != pricing.DollarPerHour*3/2 {
		t.Errorf("launches %+v, want one at the rate with its disk", r.Diff.Launches)
	}
}

func TestBillsThatCannotBeAreRefused(t *testing.T) {
	for name, b := range map[string]autoscale.Bills{
		"credit":     {Grants: []ledger.Grant{{Source: "x"}}},
		"capacity":   {Capacities: []ledger.Capacity{{ID: "x"}}},
		"controller": {Controller: &ledger.Holding{Item: ledger.Disk}},
	} {
		w := newWorld(t, setup{})
		w.cfg.Bills = b
		if _, err := autoscale.New(w.cfg); err == nil {
			t.Errorf("%s: want an error", name)
		}
	}
}

// TestCreditHidesNothingFromABudget: a thousand dollars that come leave a total of
// two dollars a day what it is.
func TestCreditHidesNothingFromABudget(t *testing.T) {
	w := newWorld(t, setup{offerings: []provider.Offering{smallSpot}})
	w.cfg.Totals = []budget.Total{{Name: "daily", Amount: 2 * pricing.Dollar, Period: budget.Day, Zone: time.UTC, Unpriced: true}}
	w.cfg.Bills.Grants = []ledger.Grant{{Source: "promo", Offering: smallSpot, Amount: 1000 * pricing.Dollar, From: start, To: start.Add(time.Hour), Came: start}}
	w.restart()
	w.submit(testJob("a", 4, 1))
	for range 200 {
		w.round(time.Minute)
	}
	spent := w.spentBetween("", start, start.Add(24*time.Hour)) + 1000*pricing.Dollar
	if spent > 2*pricing.Dollar || spent < pricing.Dollar || w.runs() != 0 {
		t.Errorf("%s USD are spent and %d jobs run, want at most 2 and none", spent, w.runs())
	}
}
