package ledger_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/pricing/ledger"
	"github.com/goodfleet/goodfleet/provider"
)

// machineCost is what one machine costs by the rules, booked by the minute.
func machineCost(rules ledger.Rules, cause provider.EndCause, start, end time.Time, quotes ...pricing.Quote) func(t *testing.T) pricing.Money {
	return func(t *testing.T) pricing.Money {
		inst := life("i", quotes[0].Offering, start, end, cause)
		return amounts(t, settled(ledger.NewMeter(history(t, quotes...), rules), inst, 8, time.Minute))
	}
}

// holdingCost is what a holding costs up to a time, booked every 47 minutes.
func holdingCost(h ledger.Holding, until time.Time) func(t *testing.T) pricing.Money {
	return func(t *testing.T) pricing.Money {
		m := ledger.NewMeter(history(t), ledger.Rules{})
		var charges []ledger.Charge
		book := func(now time.Time) {
			seen := h
			if now.Before(h.Ended) {
				seen.Ended = time.Time{}
			}
			charges = append(charges, m.Hold(seen, []ledger.Share{{Job: "GPT-L", Accelerators: 1}}, now, 1)...)
		}
		for at := h.Started; at.Before(until); at = at.Add(47 * time.Minute) {
			book(at)
		}
		book(until)
		book(until)
		return amounts(t, charges)
	}
}

func disk(cloud string, size int64, price string, started, ended time.Time) ledger.Holding {
	o := provider.Offering{Cloud: cloud, Region: "us-east-1", Zone: "use1-az1", Type: "gp3", Market: provider.OnDemand}
	return ledger.Holding{Item: ledger.Disk, ID: "vol-1", Offering: o, Size: size, Started: started, Ended: ended, Unit: rateOf(price), Known: true}
}

func rateOf(text string) pricing.Rate {
	r, err := pricing.ParseRate(text)
	if err != nil {
		panic(err)
	}
	return r
}

// addresses holds n addresses for an hour and a half.
func addresses(cloud string, n int64, price pricing.Rate) func(t *testing.T) pricing.Money {
	return holdingCost(ledger.Holding{Item: ledger.Address, ID: "eip-1", Offering: provider.Offering{Cloud: cloud, Type: "ipv4"}, Size: n,
		Started: clock(1, 0, 0), Ended: clock(2, 30, 0), Unit: price, Known: true}, clock(5, 0, 0))
}

// flow moves 10,000 GB in uneven parts.
func flow(sender, receiver provider.Offering) func(t *testing.T) pricing.Money {
	return func(t *testing.T) pricing.Money {
		f := ledger.Flow{ID: "GPT-L", Sender: sender, Receiver: receiver, Share: ledger.Share{Job: "GPT-L"}, Measured: true}
		var charges []ledger.Charge
		counter := int64(0)
		for n := range 20 {
			next := min(10_000_000_000_000, counter+int64(n+1)*49_123_456_789)
			if n == 19 {
				next = 10_000_000_000_000
			}
			charges = append(charges, f.Move(counter, next, clock(n, 0, 0), clock(n+1, 0, 0), 1)...)
			counter = next
		}
		return amounts(t, charges)
	}
}

// capacityCost books a day of one capacity with one machine in it, by the quarter
// hour, and returns what the machine, the unused time and the purchases come to.
func capacityCost(t *testing.T, c ledger.Capacity, start, end, last time.Time) (used, unused, bought pricing.Money) {
	t.Helper()
	rules := ledger.Rules{Capacities: []ledger.Capacity{c}}
	if err := rules.Validate(); err != nil {
		t.Fatal(err)
	}
	o := c.Offering
	o.Market, o.Reservation = provider.Reserved, c.ID
	m := ledger.NewMeter(history(t, quoted(awsOnDemand, day, "21.957642")), rules)
	inst := life("i", o, start, end, provider.EndedByUs)
	var charges []ledger.Charge
	for at := c.From; !at.After(last); at = at.Add(15 * time.Minute) {
		lives := []ledger.Life{{From: inst.Started, To: inst.Ended}}
		charges = append(charges, m.Settle(until(inst, at), 8, []ledger.Share{{Job: "GPT-L", Accelerators: 8}}, at, 1)...)
		charges = append(charges, m.SettleCapacity(c, lives, at, 1)...)
		m = ledger.Resume(history(t, quoted(awsOnDemand, day, "21.957642")), rules, charges)
	}
	charges = append(charges, c.Purchases(c.From, last, 1)...)
	amounts(t, charges)
	sums := map[string]pricing.Money{}
	for _, r := range ledger.Total(charges, ledger.ByAccount).Rows {
		sums[r.Key[0]] = r.Amount
	}
	for _, line := range charges {
		if line.Kind == ledger.Purchase {
			bought += line.Billed()
		} else if c.Upfront > 0 && line.Billed() != 0 {
			t.Errorf("charge %s is billed %s USD, though it was paid ahead", line.ID, line.Billed())
		}
	}
	return sums["job"], sums["unused"], bought
}

// TestEachBillingRuleByItsNumber is a worked example of each statement of Sources.
func TestEachBillingRuleByItsNumber(t *testing.T) {
	spot := []pricing.Quote{quoted(awsSpot, clock(9, 0, 0), "12"), quoted(awsSpot, clock(11, 5, 0), "15"), quoted(awsSpot, clock(12, 10, 0), "9")}
	onDemand := quoted(awsOnDemand, day, "21.957642")
	suse, tpus := ledger.Rules{Image: ledger.SUSE}, ledger.Rules{Types: catalogue(t)}
	minutes := func(n int) time.Time { return clock(10, n, 0) }
	otherZone, gcpZone, otherRegion, gcpRegion := awsSpot, gcpSpot, awsSpot, gcpSpot
	otherZone.Zone, gcpZone.Zone = "use1-az2", "us-central1-b"
	otherRegion.Region, otherRegion.Zone = "eu-west-1", "euw1-az1"
	gcpRegion.Region, gcpRegion.Zone = "europe-west4", "europe-west4-a"
	reserved := ledger.Capacity{ID: "cr-1", Item: ledger.Reservation, Offering: awsOnDemand, Machines: 1, From: clock(0, 0, 0), Until: clock(24, 15, 0), Hourly: rateOf("21.957642"), Known: true}
	yearly := ledger.Capacity{ID: "ri-1", Item: ledger.Commitment, Offering: awsOnDemand, Machines: 1, From: clock(0, 0, 0), Until: clock(8760, 0, 0), Upfront: usd(t, "100000"), Known: true}
	google := yearly
	google.Offering, google.Upfront, google.Hourly = gcpOnDemand, 0, rateOf("7")
	block := ledger.Capacity{ID: "cb-1", Item: ledger.Block, Offering: awsOnDemand, Machines: 1, From: clock(11, 30, 0), Until: clock(35, 30, 0), Upfront: usd(t, "720"), Known: true}
	all := func(c ledger.Capacity, start, end, to time.Time) func(t *testing.T) pricing.Money {
		return func(t *testing.T) pricing.Money {
			used, unused, _ := capacityCost(t, c, start, end, to)
			return used + unused
		}
	}
	covered := map[string]bool{}
	for _, c := range []struct {
		id, what string
		got      func(t *testing.T) pricing.Money
		want     string
	}{
		{"A1", "20 seconds cost 60", machineCost(ledger.Rules{}, provider.EndedByUs, minutes(0), clock(10, 0, 20), onDemand), "0.3659607"},
		{"A2", "only running is billed", machineCost(ledger.Rules{}, provider.EndedByUs, minutes(4), minutes(24), onDemand), "7.319214"},
		{"A3", "whole hours of SUSE", machineCost(suse, provider.EndedByUs, minutes(0), clock(11, 0, 1), onDemand), "43.915284"},
		{"A4", "price of each instance-hour", machineCost(ledger.Rules{}, provider.EndedByUs, minutes(40), clock(13, 10, 0), spot...), "31.5"},
		{"A5", "the market price is paid", feedCost("2026-11-03 10:00:00 UTC\tSpotUsage:p4d.24xlarge\tRunInstances:SV050\ti\tsir-1\t20.00 USD\t12.00 USD\t12.00 USD\t1"), "12"},
		{"A6", "interrupted in the first hour", machineCost(ledger.Rules{}, provider.Interrupted, minutes(40), clock(11, 39, 59), spot...), "0"},
		{"A6", "interrupted after 90 minutes", machineCost(ledger.Rules{}, provider.Interrupted, minutes(0), clock(11, 30, 0), quoted(awsSpot, day, "0.04")), "0.06"},
		{"A6", "the cut hour of SUSE is free", machineCost(suse, provider.Interrupted, minutes(0), clock(11, 30, 0), quoted(awsSpot, day, "0.04")), "0.04"},
		{"A7", "the disk of a free hour costs", freeHourWithDisk, "0.005376344"},
		{"A8", "an amount is no rate", feedCost("2026-11-03 10:00:00 UTC\tSpotUsage:p4d.24xlarge\tRunInstances:SV050\ti\tsir-1\t20 USD\t8.7812 USD\t4.3906 USD\t1"), "4.3906"},
		{"A9", "a price from before the window holds", machineCost(ledger.Rules{}, provider.EndedByUs, clock(34, 0, 0), clock(35, 0, 0), quoted(awsSpot, clock(3, 0, 0), "7")), "7"},
		{"A10", "36 hours in a month of 31 days", holdingCost(disk("aws", 500, "0.08", date(10, 1), date(10, 2).Add(12*time.Hour)), date(11, 1)), "1.935483871"},
		{"A10", "36 hours in a month of 30 days", holdingCost(disk("aws", 500, "0.08", date(11, 1), date(11, 2).Add(12*time.Hour)), date(12, 1)), "2"},
		{"A10", "36 hours in a month of 28 days", holdingCost(disk("aws", 500, "0.08", date(2, 1), date(2, 2).Add(12*time.Hour)), date(3, 1)), "2.142857143"},
		{"A10", "over the end of a month", holdingCost(disk("aws", 500, "0.08", date(10, 31), date(11, 2)), date(11, 5)), "2.623655914"}, // 40/31 + 40/30
		{"A10", "at least a minute", holdingCost(disk("aws", 31*24*60, "1", date(10, 1), date(10, 1).Add(time.Second)), date(10, 2)), "1"},
		{"A11", "disks inside a machine are in its price", machineCost(ledger.Rules{}, provider.EndedByUs, minutes(0), clock(11, 0, 0), onDemand), "21.957642"},
		{"A12", "two addresses", addresses("aws", 2, ledger.AWSAddress), "0.015"},
		{"A13", "inside a zone", flow(awsSpot, awsOnDemand), "0"},
		{"A14", "out and in", flow(awsSpot, otherZone), "200"},
		{"A22", "to another region the sender pays", flow(awsSpot, otherRegion), "200"},
		{"A22", "to another cloud", flow(awsSpot, gcpSpot), "900"},
		{"A15", "24.25 hours, used or not", all(reserved, clock(0, 0, 0), clock(20, 0, 0), clock(30, 0, 0)), "532.4728185"},
		{"A16", "the whole block", all(block, clock(12, 0, 0), clock(35, 0, 0), clock(40, 0, 0)), "720"},
		{"A17", "a day of a yearly commitment", all(yearly, clock(0, 0, 0), clock(18, 0, 0), clock(24, 0, 0)), "273.97260274"},
		{"A18", "the sum of clock hours is that of the run", machineCost(ledger.Rules{}, provider.EndedByUs, minutes(0), clock(13, 5, 6), onDemand), "67.73932557"},
		{"A19", "given up after reaching running", machineCost(ledger.Rules{}, provider.EndedByUs, minutes(0), clock(10, 0, 5), onDemand), "0.3659607"},
		{"A20", "ended by us after a recommendation", machineCost(ledger.Rules{}, provider.EndedByUs, minutes(40), clock(11, 39, 59), spot...), "11.996666667"},
		{"A21", "a second start has a first hour of its own", secondFirstHour, "1"},
		{"G1", "stopping counts", machineCost(ledger.Rules{}, provider.EndedByUs, minutes(4), minutes(27), quoted(gcpOnDemand, day, "21.957642")), "8.4170961"},
		{"G2", "nothing before it runs", neverStarted, "0"},
		{"G3", "one machine is one sum", machineCost(ledger.Rules{}, provider.EndedByUs, minutes(0), clock(11, 0, 0), quoted(gcpOnDemand, day, "12")), "12"},
		{"G4", "the price in force", machineCost(ledger.Rules{}, provider.EndedByUs, minutes(40), clock(13, 10, 0), quoted(gcpSpot, clock(9, 0, 0), "12"), quoted(gcpSpot, clock(11, 5, 0), "15"), quoted(gcpSpot, clock(12, 10, 0), "9")), "30.25"},
		{"G5", "preempted in the first minute", machineCost(ledger.Rules{}, provider.Interrupted, minutes(0), clock(10, 0, 59), quoted(gcpSpot, day, "12")), "0"},
		{"G6", "no committed rate on spot", machineCost(ledger.Rules{Capacities: []ledger.Capacity{google}}, provider.EndedByUs, minutes(0), clock(11, 0, 0), quoted(gcpSpot, day, "5")), "5"},
		{"G7", "the disk of a stopped machine costs on", holdingCost(disk("gcp", 100, "0.30", date(11, 1), date(11, 16)), date(11, 20)), "15"},
		{"G8", "by the second, without a least time", holdingCost(disk("gcp", 30*24*3600, "1", date(11, 1), date(11, 1).Add(time.Second)), date(11, 2)), "1"},
		{"G9", "standard", addresses("gcp", 2, ledger.GCPAddress), "0.015"},
		{"G9", "spot", addresses("gcp", 2, ledger.GCPSpotAddress), "0.0075"},
		{"G10", "the sender pays, in GiB", flow(gcpSpot, gcpZone), "93.132257462"},
		{"G10", "inside a zone", flow(gcpSpot, gcpOnDemand), "0"},
		{"G17", "to another region the sender pays, in GiB", flow(gcpSpot, gcpRegion), "186.264514923"},
		{"G17", "to another cloud", flow(gcpSpot, awsSpot), "1117.587089539"},
		{"G11", "used or lost", all(google, clock(0, 0, 0), clock(18, 0, 0), clock(24, 0, 0)), "168"},
		{"G12", "none without a configured factor", machineCost(ledger.Rules{}, provider.EndedByUs, clock(0, 0, 0), clock(720, 0, 0), quoted(gcpOnDemand, day, "1")), "720"},
		{"G13", "by the second while READY", machineCost(tpus, provider.EndedByUs, minutes(0), clock(10, 0, 20), quoted(tpuSpot, day, "4.8")), "0.026666667"},
		{"G14", "preempted after an hour, and left", machineCost(tpus, provider.Interrupted, minutes(0), clock(11, 0, 0), quoted(tpuSpot, day, "4.8")), "4.8"},
		{"G14", "preempted in the first minute", machineCost(tpus, provider.Interrupted, minutes(0), clock(10, 0, 40), quoted(tpuSpot, day, "4.8")), "0"},
		{"G15", "a reservation, used or not", all(ledger.Capacity{ID: "r", Item: ledger.Reservation, Offering: gcpOnDemand, Machines: 1, From: clock(0, 0, 0), Hourly: rateOf("3"), Known: true}, clock(5, 0, 0), clock(6, 0, 0), clock(10, 0, 0)), "30"},
		{"G16", "a bill that comes a day late", lateBill, "11"},
	} {
		t.Run(c.id+" "+c.what, func(t *testing.T) {
			if s := ledger.Sources[c.id]; s.Says == "" || s.Sure == "" {
				t.Errorf("%s is no source", c.id)
			}
			if got, want := c.got(t), usd(t, c.want); got != want {
				t.Errorf("got %s USD, want %s", got, want)
			}
		})
		covered[c.id] = true
	}
	for _, id := range slices.Sorted(maps.Keys(ledger.Sources)) {
		if !covered[id] {
			t.Errorf("source %s has no worked example", id)
		}
	}
}

func date(month time.Month, d int) time.Time { return time.Date(2026, month, d, 0, 0, 0, 0, time.UTC) }

// feedCost is what one spot machine of an hour costs after a feed came.
func feedCost(line string) func(t *testing.T) pricing.Money {
	return func(t *testing.T) pricing.Money {
		facts, err := ledger.ReadSpotFeed(strings.NewReader("#Version: 1.0\n#Fields: Timestamp UsageType Operation InstanceID MyBidID MyMaxPrice MarketPrice Charge Version\n" + line + "\n"))
		if err != nil {
			t.Fatal(err)
		}
		charges := settled(ledger.NewMeter(history(t, quoted(awsSpot, day, "9")), ledger.Rules{}), life("i", awsSpot, clock(10, 0, 0), clock(11, 0, 0), provider.EndedByUs), 8, time.Minute)
		return amounts(t, append(charges, ledger.Reconcile(charges, facts, clock(20, 0, 0), "feed").Corrections...))
	}
}

func freeHourWithDisk(t *testing.T) pricing.Money {
	h := history(t, quoted(awsSpot, date(10, 1), "12"))
	m := ledger.NewMeter(h, ledger.Rules{})
	charges := settled(m, life("i", awsSpot, date(10, 1), date(10, 1).Add(30*time.Minute), provider.Interrupted), 8, time.Minute)
	charges = append(charges, m.Hold(disk("aws", 100, "0.08", date(10, 1), date(10, 1).Add(30*time.Minute)), []ledger.Share{{Job: "GPT-L", Accelerators: 1}}, date(10, 2), 1)...)
	return amounts(t, charges)
}

func secondFirstHour(t *testing.T) pricing.Money {
	m := ledger.NewMeter(history(t, quoted(awsSpot, day, "1")), ledger.Rules{})
	charges := settled(m, life("i", awsSpot, clock(0, 0, 0), clock(1, 0, 0), provider.Interrupted), 8, time.Minute)
	charges = append(charges, settled(m, life("i", awsSpot, clock(5, 0, 0), clock(5, 30, 0), provider.Interrupted), 8, time.Minute)...)
	return amounts(t, charges)
}

func neverStarted(t *testing.T) pricing.Money {
	m := ledger.NewMeter(history(t, quoted(gcpOnDemand, day, "1")), ledger.Rules{})
	return amounts(t, m.Settle(provider.Instance{ID: "i", Offering: gcpOnDemand, State: provider.Pending}, 8, nil, clock(5, 0, 0), 1))
}

func lateBill(t *testing.T) pricing.Money {
	charges := settled(ledger.NewMeter(history(t, quoted(gcpSpot, day, "10")), ledger.Rules{}), life("i", gcpSpot, clock(10, 0, 0), clock(11, 0, 0), provider.EndedByUs), 8, time.Minute)
	bill := []ledger.Fact{{Cloud: "gcp", Instance: "i", From: clock(10, 0, 0), To: clock(11, 0, 0), Amount: usd(t, "11")}}
	return amounts(t, append(charges, ledger.Reconcile(charges, bill, clock(34, 0, 0), "bill").Corrections...))
}

func TestCapacityIsPaidOnceAndBorneByItsHours(t *testing.T) {
	c := ledger.Capacity{ID: "ri-1", Item: ledger.Commitment, Offering: awsOnDemand, Machines: 1, From: clock(0, 0, 0), Until: clock(8760, 0, 0), Upfront: usd(t, "100000"), Known: true}
	used, unused, bought := capacityCost(t, c, clock(0, 0, 0), clock(18, 0, 0), clock(24, 0, 0))
	if got, want := [3]string{used.String(), unused.String(), bought.String()}, [3]string{"205.479452055", "68.493150685", "100000"}; got != want {
		t.Errorf("used, unused, bought: got %v, want %v", got, want)
	}
	c.Until, c.Upfront, c.Hourly = clock(48, 30, 0), usd(t, "97"), rateOf("1.5") // part ahead, part by the hour
	used, unused, bought = capacityCost(t, c, clock(0, 0, 0), clock(30, 0, 0), clock(60, 0, 0))
	if got, want := used+unused, usd(t, "169.75"); got != want || bought != want {
		t.Errorf("borne %s, billed %s, want both %s", got, bought, want)
	}
}

func TestReservationIsSharedOutToWhoeverUsedIt(t *testing.T) {
	c := ledger.Capacity{ID: "cr-1", Item: ledger.Reservation, Offering: awsOnDemand, Machines: 1, From: clock(0, 0, 0), Until: clock(24, 15, 0), Hourly: rateOf("21.957642"), Known: true, Team: "Vision"}
	used, unused, bought := capacityCost(t, c, clock(2, 0, 0), clock(22, 0, 0), clock(30, 0, 0))
	if got, want := [3]string{used.String(), unused.String(), bought.String()}, [3]string{"439.15284", "93.3199785", "0"}; got != want {
		t.Errorf("used, unused, bought: got %v, want %v", got, want)
	}
}

func TestNegotiatedDiscountIsAColumnOfItsOwn(t *testing.T) {
	rules := ledger.Rules{Discounts: []ledger.Discount{{Cloud: "aws", Market: provider.Spot, Factor: factor(t, "0.9")}, {Cloud: "aws", Factor: factor(t, "0.8")}}}
	if err := rules.Validate(); err != nil {
		t.Fatal(err)
	}
	got := map[string][4]string{}
	for _, o := range []provider.Offering{awsSpot, awsOnDemand, gcpSpot} {
		h := history(t, quoted(awsSpot, day, "4"), quoted(awsOnDemand, day, "10"), quoted(gcpSpot, day, "3"), quoted(gcpOnDemand, day, "9"))
		r := ledger.Total(settled(ledger.NewMeter(h, rules), life("i", o, clock(1, 0, 0), clock(2, 0, 0), provider.EndedByUs), 8, 7*time.Minute)).Sum
		got[o.Cloud+" "+o.Market.String()] = [4]string{r.Amount.String(), r.List.String(), r.Saving.String(), r.Discount.String()}
	}
	want := map[string][4]string{"aws spot": {"3.6", "10", "6", "0.4"}, "aws on-demand": {"8", "10", "0", "2"}, "gcp spot": {"3", "9", "6", "0"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func factor(t testing.TB, text string) ledger.Factor {
	t.Helper()
	f, err := ledger.ParseFactor(text)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestRulesThatCannotBeAreNamed(t *testing.T) {
	good := ledger.Capacity{ID: "c", Item: ledger.Block, Offering: awsOnDemand, Machines: 1, From: clock(0, 0, 0), Until: clock(24, 0, 0), Upfront: 1, Known: true}
	for _, c := range []struct {
		want  string
		spoil func(r *ledger.Rules)
	}{
		{"discounts[0].factor: ", func(r *ledger.Rules) { r.Discounts[0].Factor = 1_100_000_000 }},
		{"discounts[0].market: ", func(r *ledger.Rules) { r.Discounts[0].Market = provider.Reserved }},
		{"capacities[0].id: is missing", func(r *ledger.Rules) { r.Capacities[0].ID = "" }},
		{"capacities[0].item: ", func(r *ledger.Rules) { r.Capacities[0].Item = ledger.Disk }},
		{"capacities[0].offering: ", func(r *ledger.Rules) { r.Capacities[0].Offering = provider.Offering{} }},
		{"capacities[0].machines: ", func(r *ledger.Rules) { r.Capacities[0].Machines = 0 }},
		{"capacities[0].from: ", func(r *ledger.Rules) { r.Capacities[0].From = time.Time{} }},
		{"capacities[0].until: is not after", func(r *ledger.Rules) { r.Capacities[0].Until = clock(0, 0, 0) }},
		{"capacities[0].until: is missing", func(r *ledger.Rules) { r.Capacities[0].Until = time.Time{} }},
		{"capacities[0].rate: ", func(r *ledger.Rules) { r.Capacities[0].Upfront = -1 }},
		{"capacities[0].hourly: ", func(r *ledger.Rules) { r.Capacities[0].Hourly = 1 }},
		{"capacities[1].id: c comes twice", func(r *ledger.Rules) { r.Capacities = append(r.Capacities, good) }},
	} {
		r := ledger.Rules{Discounts: []ledger.Discount{{Factor: 900_000_000}}, Capacities: []ledger.Capacity{good}}
		if err := r.Validate(); err != nil {
			t.Fatal(err)
		}
		c.spoil(&r)
		if err := r.Validate(); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("got %v, want %q", err, c.want)
		}
	}
	for _, text := range []string{"0", "1.01", "-0.5", "90%", ""} {
		if _, err := ledger.ParseFactor(text); err == nil {
			t.Errorf("factor %q: want an error", text)
		}
	}
}

func TestTrafficThatWasNotMeasuredIsUnknown(t *testing.T) {
	far := awsSpot
	far.Region, far.Zone = "eu-west-1", "euw1-az1"
	zone := awsSpot
	zone.Zone = "use1-az2"
	for _, f := range []ledger.Flow{
		{ID: "a", Sender: awsSpot, Receiver: zone, Share: ledger.Share{Job: "a"}},
		{ID: "a", Sender: awsSpot, Receiver: far, Share: ledger.Share{Job: "a"}},
		{ID: "a", Sender: provider.Offering{Cloud: "other", Region: "r"}, Receiver: gcpSpot, Share: ledger.Share{Job: "a"}, Measured: true},
	} {
		charges := f.Move(0, 1_000_000, clock(1, 0, 0), clock(2, 0, 0), 1)
		amounts(t, charges)
		if r := ledger.Total(charges).Sum; !r.LowerBound() || r.Amount != 0 || r.Hours != 0 {
			t.Errorf("%s to %s: got %+v, want a lower bound of 0", f.Sender, f.Receiver, r)
		}
	}
	if got := (ledger.Flow{ID: "a", Sender: awsSpot, Receiver: awsOnDemand}).Move(0, 5, clock(1, 0, 0), clock(2, 0, 0), 1); got != nil {
		t.Errorf("inside a zone: got %v, want nothing", got)
	}
}

func TestCreditIsALineOfItsOwnAndRefundIsOnTheInvoiceThatBringsIt(t *testing.T) {
	credit, err := ledger.Grant{Source: "credit-7", Offering: awsOnDemand, Amount: usd(t, "1000"), From: date(11, 1), To: date(12, 1), Came: date(11, 30)}.Credit(1)
	if err != nil {
		t.Fatal(err)
	}
	charges := append(settled(ledger.NewMeter(history(t, quoted(awsOnDemand, day, "1000")), ledger.Rules{}), life("i", awsOnDemand, clock(1, 0, 0), clock(2, 0, 0), provider.EndedByUs), 8, time.Hour), credit)
	amounts(t, charges)
	sum := ledger.Total(charges).Sum
	if got, want := [3]string{sum.Amount.String(), (sum.Amount - sum.Credit).String(), sum.Credit.String()}, [3]string{"0", "1000", "-1000"}; got != want {
		t.Errorf("net, gross, credit: got %v, want %v", got, want)
	}
	refund, err := ledger.Grant{Source: "refund-1", Offering: awsOnDemand, Amount: usd(t, "50"), From: date(9, 1), To: date(10, 1), Came: date(11, 12)}.Refund(1)
	if err != nil {
		t.Fatal(err)
	}
	if refund.Amount != usd(t, "-50") || refund.Kind != ledger.Correction || !refund.Invoiced.Equal(date(11, 12)) {
		t.Errorf("got %+v", refund)
	}
	for _, g := range []ledger.Grant{{}, {Source: "x", Offering: awsSpot, From: date(9, 1), To: date(10, 1)}, {Source: "x", Offering: awsSpot, Amount: 1, From: date(9, 1), To: date(9, 1)}} {
		if _, err := g.Credit(1); err == nil {
			t.Errorf("%+v: want an error", g)
		}
	}
	for _, c := range append(charges, refund) {
		if err := c.Check(); err != nil {
			t.Error(err)
		}
	}
}

func TestControllerIsOverhead(t *testing.T) {
	m := ledger.NewMeter(history(t), ledger.Rules{})
	h := ledger.Holding{Item: ledger.Controller, ID: "goodfleet", Offering: provider.Offering{Cloud: "aws", Region: "us-east-1"}, Size: 1, Started: clock(0, 0, 0), Unit: rateOf("0.1"), Known: true}
	charges := m.Hold(h, []ledger.Share{{Account: ledger.Overhead, Accelerators: 1}}, clock(24, 0, 0), 1)
	amounts(t, charges)
	if diff := cmp.Diff(map[string]string{"overhead": "2.4"}, byAccount(charges)); diff != "" {
		t.Error(diff)
	}
	if sum := ledger.Total(charges).Sum; sum.Hours != 0 {
		t.Errorf("got %g accelerator-hours, want none", sum.Hours)
	}
}

func TestFailedLaunchIsOverheadByItsName(t *testing.T) {
	m, charges := ledger.NewMeter(history(t, quoted(awsOnDemand, day, "12")), ledger.Rules{}), []ledger.Charge(nil)
	for _, id := range []string{"i-1", "i-2", "i-3"} { // of four in zone A; five minutes until we gave up
		charges = append(charges, m.Settle(life(id, awsOnDemand, clock(1, 0, 0), clock(1, 5, 0), provider.EndedByUs), 8, nil, clock(1, 5, 0), 1)...)
	}
	charges = append(charges, m.Transfer(ledger.Move{Out: ledger.ToIdle, Into: ledger.Overhead, From: clock(1, 0, 0), To: clock(1, 5, 0), Round: 2, Note: "failed launch"})...)
	amounts(t, charges)
	if diff := cmp.Diff(map[string]string{"idle": "0", "overhead": "3"}, byAccount(charges)); diff != "" {
		t.Error(diff)
	}
	if last := charges[len(charges)-1]; last.Note != "failed launch" {
		t.Errorf("got note %q, want failed launch", last.Note)
	}
}

func TestIdleOfADedicatedMachineIsItsTeams(t *testing.T) {
	m := ledger.NewMeter(history(t, quoted(awsOnDemand, day, "8")), ledger.Rules{})
	shares := []ledger.Share{{Account: ledger.ToIdle, Team: "A"}, {Job: "b", Team: "B", Accelerators: 2}}
	charges := m.Settle(life("i", awsOnDemand, clock(1, 0, 0), clock(2, 0, 0), provider.EndedByUs), 8, shares, clock(2, 0, 0), 1)
	amounts(t, charges)
	got := map[string]string{}
	for _, r := range ledger.Total(charges, ledger.ByTeam, ledger.ByAccount).Rows {
		got[r.Key[0]+" "+r.Key[1]] = r.Amount.String()
	}
	if diff := cmp.Diff(map[string]string{"A idle": "6", "B job": "2"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestStoppedMachinesCostTheirDisksAlone(t *testing.T) {
	m := ledger.NewMeter(history(t, quoted(awsOnDemand, date(11, 1), "1")), ledger.Rules{})
	var charges []ledger.Charge
	for n := range 30 {
		id := "i-" + string(rune('a'+n))
		if n < 18 {
			charges = append(charges, m.Settle(life(id, awsOnDemand, date(11, 1), date(11, 2), provider.EndedByUs), 8, nil, date(11, 2), 1)...)
		}
		d := disk("aws", 30, "1", date(11, 1), date(11, 2))
		d.ID = "vol-" + id
		charges = append(charges, m.Hold(d, nil, date(11, 3), 1)...)
	}
	amounts(t, charges)
	got := map[string]string{}
	for _, r := range ledger.Total(charges, ledger.ByItem).Rows {
		got[r.Key[0]] = r.Amount.String()
	}
	if diff := cmp.Diff(map[string]string{"machine": "432", "disk": "30"}, got); diff != "" {
		t.Error(diff)
	}
}
