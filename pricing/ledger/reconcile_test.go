package ledger_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/pricing/ledger"
	"github.com/goodfleet/goodfleet/provider"
)

// shared is an hour of one machine at a rate, three quarters of it to a job.
func shared(t *testing.T, quotes ...pricing.Quote) []ledger.Charge {
	m := ledger.NewMeter(history(t, quotes...), ledger.Rules{})
	return m.Settle(life("i", awsSpot, clock(10, 0, 0), clock(11, 0, 0), provider.EndedByUs), 8, []ledger.Share{{Job: "GPT-L", Team: "Vision", Accelerators: 6}}, clock(11, 0, 0), 1)
}

func bill(amount pricing.Money) []ledger.Fact {
	return []ledger.Fact{{Cloud: "aws", Instance: "i", From: clock(10, 0, 0), To: clock(11, 0, 0), Amount: amount, Line: 2}}
}

func TestBillCorrectsEachAccountInProportion(t *testing.T) {
	charges := shared(t, quoted(awsSpot, day, "8"))
	r := ledger.Reconcile(charges, bill(usd(t, "7.000000001")), clock(30, 0, 0), "bill.csv")
	want := []ledger.AccountError{
		{Account: ledger.ToJob, Booked: usd(t, "6"), Billed: usd(t, "5.25")},
		{Account: ledger.ToIdle, Booked: usd(t, "2"), Billed: usd(t, "1.750000001")},
	}
	want[0].Billed, want[1].Billed = usd(t, "5.250000001"), usd(t, "1.75") // the odd nano dollar is the job's: its remainder is larger
	if diff := cmp.Diff(want, r.Accounts); diff != "" {
		t.Error(diff)
	}
	if d := r.Differences[0]; d.Error() != usd(t, "-0.999999999") || d.Line != 2 {
		t.Errorf("got %+v", d)
	}
	if got := amounts(t, append(charges, r.Corrections...)); got != usd(t, "7.000000001") {
		t.Errorf("got %s USD", got)
	}
}

func TestSameBillAgainChangesNothingAndAnotherReplacesIt(t *testing.T) {
	var book ledger.Ledger
	load := func(amount string) int {
		r := ledger.Reconcile(book.Charges(), bill(usd(t, amount)), clock(30, 0, 0), "bill.csv")
		added, err := book.Append(r.Corrections...)
		if err != nil {
			t.Fatal(err)
		}
		if got := amounts(t, book.Charges()); got != usd(t, amount) {
			t.Errorf("bill of %s: the ledger says %s", amount, got)
		}
		return added
	}
	if _, err := book.Append(shared(t, quoted(awsSpot, day, "320"))...); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		amount string
		added  int
	}{{"322", 2}, {"322", 0}, {"300", 2}, {"322", 2}, {"322", 0}} {
		if got := load(step.amount); got != step.added {
			t.Errorf("bill of %s: %d corrections, want %d", step.amount, got, step.added)
		}
	}
}

func TestLateFeedMakesAnUnknownPriceKnown(t *testing.T) {
	charges := shared(t, quoted(awsOnDemand, day, "10"))
	if sum := ledger.Total(charges).Sum; !sum.LowerBound() || sum.Amount != 0 {
		t.Fatalf("got %+v, want a lower bound of 0", sum)
	}
	all := append(charges, ledger.Reconcile(charges, bill(usd(t, "4")), clock(30, 0, 0), "feed").Corrections...)
	amounts(t, all)
	sum := ledger.Total(all, ledger.ByAccount)
	if sum.Sum.LowerBound() || sum.Sum.Amount != usd(t, "4") || sum.Sum.Saving != usd(t, "6") || sum.Sum.Hours != 8 {
		t.Errorf("got %+v, want 4 known USD, 6 saved, 8 hours", sum.Sum)
	}
	if diff := cmp.Diff(map[string]string{"job": "3", "idle": "1"}, byAccount(all)); diff != "" {
		t.Error(diff)
	}
	if again := ledger.Reconcile(all, bill(usd(t, "4")), clock(31, 0, 0), "feed").Corrections; again != nil {
		t.Errorf("loaded again: got %v", again)
	}
}

func TestWhatOnlyOneSideKnowsIsNamed(t *testing.T) {
	charges := shared(t, quoted(awsSpot, day, "8"))
	facts := []ledger.Fact{{Cloud: "aws", Instance: "i-other", From: clock(10, 0, 0), To: clock(11, 0, 0), Amount: usd(t, "3")}}
	r := ledger.Reconcile(charges, facts, clock(30, 0, 0), "bill.csv")
	if len(r.Unbilled) != 2 || r.Unbilled[0].Instance != "i" {
		t.Errorf("unbilled: got %v, want the two lines of i", r.Unbilled)
	}
	all := append(charges, r.Corrections...)
	amounts(t, all)
	if diff := cmp.Diff(map[string]string{"job": "6", "idle": "2", "overhead": "3"}, byAccount(all)); diff != "" {
		t.Error(diff)
	}
	if again := ledger.Reconcile(all, facts, clock(31, 0, 0), "bill.csv").Corrections; again != nil {
		t.Errorf("loaded again: got %v", again)
	}
}

// TestEveryCorrectionCanBeReadAgain: a bill may be of machines that the ledger does not
// know, of known ones at other hours, and of clouds that are not ours.
func TestEveryCorrectionCanBeReadAgain(t *testing.T) {
	charges := shared(t, quoted(awsSpot, day, "8"))
	facts := []ledger.Fact{
		{Cloud: "aws", Instance: "i-other", From: clock(10, 0, 0), To: clock(11, 0, 0), Amount: usd(t, "3")},
		{Cloud: "aws", Instance: "i", From: clock(14, 0, 0), To: clock(15, 0, 0), Amount: usd(t, "4")},
		{Cloud: "azure", Instance: "vm", From: clock(10, 0, 0), To: clock(11, 0, 0), Amount: usd(t, "5")},
		{Cloud: "aws", Item: ledger.Disk, Instance: "vol", From: clock(10, 0, 0), To: clock(11, 0, 0), Amount: usd(t, "6")},
	}
	list := ledger.Reconcile(charges, facts, clock(30, 0, 0), "bill.csv").Corrections
	if len(list) != len(facts) {
		t.Fatalf("%d corrections of %d facts", len(list), len(facts))
	}
	for i := range list {
		if err := list[i].Check(); err != nil {
			t.Errorf("%s: %v", list[i].ID, err)
		}
		if list[i].Instance == "i" && list[i].Offering.Type != awsSpot.Type {
			t.Errorf("the type of i is known, and its correction is of %+v", list[i].Offering)
		}
	}
}

func TestThreeFeedLinesOfOneRunAddUp(t *testing.T) {
	feed := "#Version: 1.0\n" +
		"2026-11-03 10:00:07 UTC\tSpotUsage:p4d.24xlarge\tRunInstances:SV050\ti\tsir\t20 USD\t8.7812 USD\t8.7812 USD\t1\n" +
		"2026-11-03 11:00:07 UTC\tSpotUsage:p4d.24xlarge\tRunInstances:SV050\ti\tsir\t20 USD\t9.1 USD\t9.1 USD\t1\n" +
		"2026-11-03 12:00:07 UTC\tSpotUsage:p4d.24xlarge\tRunInstances:SV050\ti\tsir\t20 USD\t8.7812 USD\t4.3906 USD\t1\n"
	facts, err := ledger.ReadSpotFeed(strings.NewReader(feed))
	if err != nil {
		t.Fatal(err)
	}
	charges := settled(ledger.NewMeter(history(t, quoted(awsSpot, day, "0.21")), ledger.Rules{}), life("i", awsSpot, clock(10, 0, 0), clock(12, 30, 0), provider.EndedByUs), 8, time.Minute)
	r := ledger.Reconcile(charges, facts, clock(20, 0, 0), "feed")
	if got, want := amounts(t, append(charges, r.Corrections...)), usd(t, "22.2718"); got != want {
		t.Errorf("got %s USD, want %s", got, want)
	}
	if len(r.Corrections) != 3 {
		t.Errorf("got %d corrections, want one for each line", len(r.Corrections))
	}
}

func TestSpotFeedNamesLineAndField(t *testing.T) {
	good := "2026-11-03 10:00:07 UTC\tUSW2-SpotUsage:p4d.24xlarge\tRunInstances:SV050\ti\tsir\t20 USD\t8 USD\t8 USD\t1"
	for _, c := range []struct{ from, to, want string }{
		{"UTC", "PST", "line 1: Timestamp: "},
		{"SpotUsage:", "BoxUsage:", "line 1: UsageType: "},
		{"\ti\t", "\t\t", "line 1: InstanceID: "},
		{"8 USD\t1", "8 EUR\t1", "line 1: Charge: "},
		{"8 USD\t1", "x USD\t1", "line 1: Charge: "},
		{"\t1", "", "line 1: 8 columns"},
	} {
		_, err := ledger.ReadSpotFeed(strings.NewReader(strings.Replace(good, c.from, c.to, 1)))
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s to %s: got %v, want %q", c.from, c.to, err, c.want)
		}
	}
	if _, err := ledger.ReadSpotFeed(strings.NewReader("#Fields: Timestamp Charge\n" + good)); err == nil {
		t.Error("other columns: want an error")
	}
	if _, err := ledger.ReadSpotFeed(strings.NewReader("#Version: 1.0\n")); err == nil {
		t.Error("nothing: want an error")
	}
}

func TestParseBilledRoundsHalfToEven(t *testing.T) {
	for text, want := range map[string]pricing.Money{
		"1": pricing.Dollar, "-0.5": -pricing.Dollar / 2, "0.0000000005": 0, "0.0000000015": 2, "-0.0000000015": -2, "1.2E-3": 1_200_000, "0.00000000049": 0,
	} {
		if got, err := ledger.ParseBilled(text); err != nil || got != want {
			t.Errorf("%s: got %d, %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "1/3", "0x10", "1e99", "1e999999999", "NaN", "Inf", "1_000", "9999999999999"} {
		if _, err := ledger.ParseBilled(text); !errors.Is(err, pricing.ErrNotMoney) {
			t.Errorf("%q: got %v, want ErrNotMoney", text, err)
		}
	}
}

func FuzzReadSpotFeed(f *testing.F) {
	f.Add("2026-11-03 10:00:07 UTC\tUSW2-SpotUsage:p4d.24xlarge\tRunInstances:SV050\ti\tsir\t20 USD\t8 USD\t8 USD\t1")
	f.Fuzz(func(t *testing.T, text string) {
		facts, err := ledger.ReadSpotFeed(strings.NewReader(text))
		for _, fact := range facts {
			if err == nil && (fact.Instance == "" || !fact.From.Before(fact.To) || fact.Line == 0) {
				t.Errorf("%q: got %+v", text, fact)
			}
		}
	})
}

func TestLatePriceIsBookedAsACorrection(t *testing.T) {
	charges := settled(ledger.NewMeter(history(t, quoted(awsSpot, day, "8"), quoted(awsOnDemand, day, "20")), ledger.Rules{}),
		life("i", awsSpot, clock(10, 20, 0), clock(12, 50, 0), provider.EndedByUs), 8, time.Minute)
	right := history(t, quoted(awsSpot, day, "8"), quoted(awsSpot, clock(11, 0, 0), "9"), quoted(awsOnDemand, day, "20"))
	r := ledger.Reconcile(charges, ledger.Repriced(charges, right, ledger.Rules{}), clock(30, 0, 0), "prices")
	all := append(charges, r.Corrections...)
	if got, want := amounts(t, all), usd(t, "21.5"); got != want { // 8, 9 from 11:20, half of 9
		t.Errorf("got %s USD, want %s", got, want)
	}
	if again := ledger.Reconcile(all, ledger.Repriced(all, right, ledger.Rules{}), clock(31, 0, 0), "prices").Corrections; again != nil {
		t.Errorf("again: got %v", again)
	}
}

// randomHistory is a week of machines, disks, addresses, traffic and credits, with
// interruptions, moves of money and times without a price.
func randomHistory(t *rapid.T, rng *rand.Rand) []ledger.Charge {
	offerings := []provider.Offering{awsSpot, awsOnDemand, gcpSpot, gcpOnDemand}
	var quotes []pricing.Quote
	for _, o := range offerings {
		for at := day.Add(time.Duration(rng.IntN(3)) * time.Hour); at.Before(day.Add(12 * time.Hour)); at = at.Add(time.Duration(30+rng.IntN(400)) * time.Minute) {
			quotes = append(quotes, pricing.Quote{Offering: o, Rate: pricing.Rate(1 + rng.Int64N(40_000_000_000)), At: at, Source: "test"})
		}
	}
	h, err := pricing.NewHistory(quotes, nil)
	if err != nil {
		t.Fatal(err)
	}
	rules := ledger.Rules{Discounts: []ledger.Discount{{Cloud: "aws", Factor: ledger.Factor(1 + rng.Int64N(1_000_000_000))}}}
	m := ledger.NewMeter(h, rules)
	var charges []ledger.Charge
	share := func(n int) []ledger.Share {
		job := string(rune('a' + rng.IntN(3)))
		account := []ledger.Account{"", "", ledger.ToRestart, ledger.ToBoot, ledger.ToIdle}[rng.IntN(5)]
		return []ledger.Share{{Job: job, Team: "team-" + job, Project: "p", Accelerators: 1 + rng.IntN(n), Account: account}, {Job: "z", Accelerators: rng.IntN(2)}}
	}
	for i := range 1 + rng.IntN(3) {
		start := day.Add(time.Duration(rng.Int64N(int64(10 * time.Hour))))
		inst := life("i-"+string(rune('0'+i)), offerings[rng.IntN(4)], start, start.Add(time.Duration(rng.Int64N(int64(4*time.Hour)))), []provider.EndCause{provider.EndedByUs, provider.Interrupted}[rng.IntN(2)])
		for at := start; at.Before(inst.Ended); at = at.Add(time.Duration(1 + rng.Int64N(int64(time.Hour)))) {
			charges = append(charges, m.Settle(until(inst, at), 8, share(7), at, int64(len(charges)))...)
		}
		charges = append(charges, m.Settle(inst, 8, share(7), inst.Ended.Add(time.Hour), 99)...)
		charges = append(charges, m.Transfer(ledger.Move{Out: ledger.ToJob, Into: ledger.ToWaste, Job: "a", From: start, To: start.Add(time.Duration(rng.Int64N(int64(2 * time.Hour)))), Round: int64(1000 + i)})...)
		d := disk(inst.Offering.Cloud, 1+rng.Int64N(5000), "0.08", start, inst.Ended.Add(time.Hour))
		d.ID, d.Known = "vol-"+string(rune('0'+i)), rng.IntN(4) > 0
		charges = append(charges, m.Hold(d, share(1), d.Ended, 5)...)
		other := inst.Offering
		other.Zone += "x"
		flow := ledger.Flow{ID: "f-" + string(rune('0'+i)), Sender: inst.Offering, Receiver: other, Share: ledger.Share{Job: "a"}, Measured: rng.IntN(4) > 0}
		charges = append(charges, flow.Move(0, rng.Int64N(1e14), start, start.Add(time.Hour), 5)...)
	}
	credit, err := ledger.Grant{Source: "c", Offering: awsSpot, Amount: pricing.Money(1 + rng.Int64N(1e12)), From: day, To: day.Add(time.Hour), Came: day}.Credit(1)
	if err != nil {
		t.Fatal(err)
	}
	return append(charges, credit)
}

// billOf draws what a bill says of some of the things in a ledger, by the hour of
// the clock.
func billOf(charges []ledger.Charge, rng *rand.Rand) []ledger.Fact {
	var facts []ledger.Fact
	seen := map[string]bool{}
	for _, c := range charges {
		hour := c.From.Truncate(time.Hour)
		key := c.Offering.Cloud + string(c.Item) + string(c.Instance) + hour.String()
		if seen[key] || c.Kind == ledger.Credit || rng.IntN(3) == 0 {
			continue
		}
		seen[key] = true
		facts = append(facts, ledger.Fact{Cloud: c.Offering.Cloud, Item: c.Item, Instance: c.Instance, From: hour, To: hour.Add(time.Hour), Amount: pricing.Money(rng.Int64N(50_000_000_000))})
	}
	return facts
}

// TestSumsAgreeByEveryDimension draws ten histories at a time: the soak of a
// thousand draws makes ten thousand of them. Sums by every dimension are the total,
// before and after bills that come late and change, in any order of the lines.
func TestSumsAgreeByEveryDimension(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.Uint64().Draw(t, "seed")
		for stream := range uint64(10) {
			rng := rand.New(rand.NewPCG(seed, stream))
			var book ledger.Ledger
			if _, err := book.Append(randomHistory(t, rng)...); err != nil {
				t.Fatal(err)
			}
			checkSums(t, book.Charges(), nil)
			for range 2 {
				facts := billOf(book.Charges(), rng)
				r := ledger.Reconcile(book.Charges(), facts, day.Add(48*time.Hour), "bill")
				if _, err := book.Append(r.Corrections...); err != nil {
					t.Fatal(err)
				}
				again := ledger.Reconcile(book.Charges(), facts, day.Add(49*time.Hour), "bill")
				if len(again.Corrections) != 0 {
					t.Fatalf("the same bill again: %v", again.Corrections)
				}
				for _, d := range again.Differences {
					if d.Error() != 0 {
						t.Fatalf("corrected, and still off: %s", d)
					}
				}
			}
			checkSums(t, book.Charges(), rng)
		}
	})
}

// checkSums checks the charges and their sums by every dimension, with rng in
// another order of the lines too.
func checkSums(t *rapid.T, charges []ledger.Charge, rng *rand.Rand) {
	for _, c := range charges {
		if err := c.Check(); err != nil {
			t.Fatalf("charge %s: %v", c.ID, err)
		}
	}
	if err := ledger.Check(charges); err != nil {
		t.Fatal(err)
	}
	mixed := make([]ledger.Charge, len(charges))
	if rng != nil {
		for to, from := range rng.Perm(len(charges)) {
			mixed[to] = charges[from]
		}
	}
	var whole pricing.Money
	for _, c := range charges {
		whole += c.Amount
	}
	for _, d := range ledger.Dimensions() {
		totals := ledger.Total(charges, d)
		var rows pricing.Money
		for _, r := range totals.Rows {
			rows += r.Amount
		}
		if totals.Sum.Amount != whole || rows != whole {
			t.Fatalf("by %s: rows %s, sum %s, want %s", d, rows, totals.Sum.Amount, whole)
		}
		if rng == nil {
			continue
		}
		if other := ledger.Total(mixed, d); !reflect.DeepEqual(totals, other) {
			t.Fatalf("by %s in another order:\n%s", d, cmp.Diff(totals, other))
		}
	}
}

// TestSavingIsWhatTheBillLeavesOfIt: ten percent more on the bill of a spot machine are
// ten percent less saved; of a machine on demand they are a discount that is none.
func TestSavingIsWhatTheBillLeavesOfIt(t *testing.T) {
	charges := shared(t, quoted(awsSpot, day, "8"), quoted(awsOnDemand, day, "20"))
	facts := bill(usd(t, "8.8"))
	before := ledger.Total(charges).Sum
	if before.Saving != usd(t, "12") {
		t.Fatalf("saved before the bill: %s USD, want 12", before.Saving)
	}
	all := append(charges, ledger.Reconcile(charges, facts, clock(30, 0, 0), "bill.csv").Corrections...)
	sum := ledger.Total(all).Sum
	if sum.Saving != usd(t, "11.2") || sum.List-sum.Saving-sum.Discount != sum.Amount {
		t.Errorf("list %s, saved %s, discounts %s, amount %s: do not add up, or not to a saving of 11.2", sum.List, sum.Saving, sum.Discount, sum.Amount)
	}
	for i := range charges {
		charges[i].Offering.Market, charges[i].List = provider.OnDemand, charges[i].Rate
	}
	all = append(charges, ledger.Reconcile(charges, facts, clock(30, 0, 0), "bill.csv").Corrections...)
	if sum := ledger.Total(all).Sum; sum.Discount != usd(t, "-0.8") || sum.List-sum.Saving-sum.Discount != sum.Amount {
		t.Errorf("on demand: list %s, saved %s, discounts %s, amount %s", sum.List, sum.Saving, sum.Discount, sum.Amount)
	}
}

// A feed takes nothing back: a charge below nothing is a mistake, told with its line.
func TestSpotFeedOfLessThanNothingIsRefused(t *testing.T) {
	row := "2026-11-01 00:00:00 UTC\tUSE1-SpotUsage:p3.2xlarge\tRunInstances:SV001\ti-1\tsir-1\t3.06 USD\t0.918 USD\t%s\t1\n"
	for charge, want := range map[string]string{"-0.918 USD": `Charge: "-0.918 USD": is negative`, "0.918 USD": "", "0 USD": ""} {
		_, err := ledger.ReadSpotFeed(strings.NewReader("#Version: 1.0\n#Fields: Timestamp UsageType Operation InstanceID MyBidID MyMaxPrice MarketPrice Charge Version\n" + fmt.Sprintf(row, charge)))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", charge, err, want)
		}
	}
}
