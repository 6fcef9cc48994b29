package autoscale_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/pricing/budget"
	"github.com/goodfleet/goodfleet/provider"
)

// A cap for each hour is burnt evenly. A fleet bought for what a stop needs alone, at
// rates that may rise to those on demand, was stopped a minute or two after it came, in
// each hour anew: nothing was ever done.
func TestACapOfHoursRunsFromHourToHour(t *testing.T) {
	for _, c := range []struct {
		name      string
		offerings []provider.Offering
		usd       pricing.Money
		least     float64 // of the amount, spent in each hour after the first
	}{
		// A stop takes 5 minutes here: 18 USD carry 16 USD/h, which are five machines.
		{"on demand", []provider.Offering{smallOnDemand}, 18, 0.8},
		// Spot may rise to three times its rate: 10 USD carry 8 USD/h, a machine each.
		{"spot", []provider.Offering{smallSpot, smallOnDemand}, 10, 0.7},
	} {
		t.Run(c.name, func(t *testing.T) {
			amount := c.usd * pricing.Dollar
			w := under(t, setup{offerings: c.offerings}, &budget.Policy{Name: "hour", Cap: &budget.Cap{Amount: amount, Period: budget.Hour}})
			for k := range 11 {
				w.submit(testJob(planner.JobID(fmt.Sprintf("j%02d", k)), 100, 1))
			}
			ran := 0
			for range 3 * 60 {
				w.round(time.Minute)
				if w.now.Sub(start) > time.Hour {
					ran = max(ran, w.runs())
					if w.runs() < ran {
						t.Fatalf("%d jobs run at %v, after %d\n%s", w.runs(), w.now.Sub(start), ran, w.history())
					}
				}
			}
			for h := 1; h < 3; h++ {
				from := start.Add(time.Duration(h) * time.Hour)
				if spent := w.spentBetween("", from, from.Add(time.Hour)); spent > amount || float64(spent) < c.least*float64(amount) {
					t.Errorf("hour %d: %s USD of %s are spent, want %g of it at least", h, spent, amount, c.least)
				}
			}
		})
	}
}
