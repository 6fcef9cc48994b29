package ledger_test

import (
	"fmt"
	"time"

	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/pricing/ledger"
	"github.com/goodfleet/goodfleet/provider"
)

// A spot machine of AWS lives from 10:40 to 13:10 while its price moves: each hour
// counted from its start is billed at the price of its beginning.
func ExampleMeter_Settle() {
	spot := provider.Offering{Cloud: "aws", Region: "us-east-1", Zone: "use1-az1", Type: "p4d.24xlarge", Market: provider.Spot}
	at := func(hour, minute int) time.Time { return time.Date(2026, 11, 3, hour, minute, 0, 0, time.UTC) }
	prices, err := pricing.NewHistory([]pricing.Quote{
		{Offering: spot, Rate: 12 * pricing.DollarPerHour, At: at(9, 0)},
		{Offering: spot, Rate: 15 * pricing.DollarPerHour, At: at(11, 5)},
		{Offering: spot, Rate: 9 * pricing.DollarPerHour, At: at(12, 10)},
	}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	meter := ledger.NewMeter(prices, ledger.Rules{})
	machine := provider.Instance{ID: "i-1", Offering: spot, State: provider.Running, Started: at(10, 40)}
	job := []ledger.Share{{Job: "GPT-L", Team: "Vision", Accelerators: 6}} // of 8

	charges := meter.Settle(machine, 8, job, at(12, 0), 1)
	machine.State, machine.Ended, machine.Cause = provider.Ended, at(13, 10), provider.EndedByUs
	charges = append(charges, meter.Settle(machine, 8, job, at(13, 11), 2)...)

	for _, c := range charges {
		fmt.Printf("%s–%s %-4s %-5s %d of %d at %2s USD/h: %5s\n", c.From.Format("15:04"), c.To.Format("15:04"),
			c.Account, c.Job, c.Share, c.Of, c.Rate, c.Amount)
	}
	fmt.Println("total", ledger.Total(charges).Sum.Amount)
	// Output:
	// 10:40–11:00 idle GPT-L 2 of 8 at 12 USD/h:     1
	// 10:40–11:00 job  GPT-L 6 of 8 at 12 USD/h:     3
	// 11:00–11:40 idle GPT-L 2 of 8 at 12 USD/h:     2
	// 11:00–11:40 job  GPT-L 6 of 8 at 12 USD/h:     6
	// 11:40–12:00 idle GPT-L 2 of 8 at 15 USD/h:  1.25
	// 11:40–12:00 job  GPT-L 6 of 8 at 15 USD/h:  3.75
	// 12:00–12:40 idle GPT-L 2 of 8 at 15 USD/h:   2.5
	// 12:00–12:40 job  GPT-L 6 of 8 at 15 USD/h:   7.5
	// 12:40–13:00 idle GPT-L 2 of 8 at  9 USD/h:  0.75
	// 12:40–13:00 job  GPT-L 6 of 8 at  9 USD/h:  2.25
	// 13:00–13:10 idle GPT-L 2 of 8 at  9 USD/h: 0.375
	// 13:00–13:10 job  GPT-L 6 of 8 at  9 USD/h: 1.125
	// total 31.5
}

func ExampleTotal() {
	spot := provider.Offering{Cloud: "gcp", Region: "us-central1", Zone: "us-central1-a", Type: "a2-highgpu-1g", Market: provider.Spot}
	onDemand := spot
	onDemand.Market = provider.OnDemand
	start := time.Date(2026, 11, 3, 10, 0, 0, 0, time.UTC)
	prices, err := pricing.NewHistory([]pricing.Quote{
		{Offering: spot, Rate: pricing.DollarPerHour, At: start},
		{Offering: onDemand, Rate: 4 * pricing.DollarPerHour, At: start},
	}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	meter := ledger.NewMeter(prices, ledger.Rules{})
	var charges []ledger.Charge
	for i, o := range []provider.Offering{spot, onDemand} {
		machine := provider.Instance{ID: provider.InstanceID(fmt.Sprint("vm-", i)), Offering: o, State: provider.Running, Started: start}
		shares := []ledger.Share{{Job: "bert", Team: "nlp", Accelerators: 1}}
		charges = append(charges, meter.Settle(machine, 1, shares, start.Add(90*time.Minute), 1)...)
	}
	totals := ledger.Total(charges, ledger.ByTeam, ledger.ByMarket)
	for _, r := range append(totals.Rows, totals.Sum) {
		fmt.Printf("%v: %s USD for %g accelerator-hours, list %s, saved %s\n", r.Key, r.Amount, r.Hours, r.List, r.Saving)
	}
	// Output:
	// [nlp on-demand]: 6 USD for 1.5 accelerator-hours, list 6, saved 0
	// [nlp spot]: 1.5 USD for 1.5 accelerator-hours, list 6, saved 4.5
	// []: 7.5 USD for 3 accelerator-hours, list 12, saved 4.5
}
