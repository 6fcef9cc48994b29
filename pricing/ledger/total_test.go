package ledger_test

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/pricing/ledger"
	"github.com/goodfleet/goodfleet/provider"
)

// month is two jobs of two teams on two clouds over a midnight.
func month(t testing.TB) []ledger.Charge {
	h := history(t,
		quoted(awsSpot, day, "2"), quoted(awsOnDemand, day, "10"),
		quoted(gcpSpot, day, "11"), quoted(gcpOnDemand, day, "10"))
	m := ledger.NewMeter(h, ledger.Rules{})
	var charges []ledger.Charge
	for i, o := range []provider.Offering{awsSpot, awsOnDemand, gcpSpot} {
		shares := []ledger.Share{{Job: "GPT-L", Team: "Vision", Accelerators: 4}, {Job: "bert", Team: "nlp", Accelerators: 2}}
		inst := life([]string{"i-1", "i-2", "i-3"}[i], o, clock(23, 0, 0), clock(25, 0, 0), provider.EndedByUs)
		charges = append(charges, m.Settle(inst, 8, shares, clock(25, 0, 0), 1)...)
	}
	return charges
}

func TestTotalSumsByAnyDimension(t *testing.T) {
	for _, c := range []struct {
		by   []ledger.Dimension
		want []string
	}{
		{nil, []string{"46"}},
		{[]ledger.Dimension{ledger.ByJob}, []string{"GPT-L 28.75", "bert 17.25"}},
		{[]ledger.Dimension{ledger.ByTeam}, []string{"Vision 28.75", "nlp 17.25"}},
		{[]ledger.Dimension{ledger.ByCloud}, []string{"aws 24", "gcp 22"}},
		{[]ledger.Dimension{ledger.ByRegion}, []string{"us-central1 22", "us-east-1 24"}},
		{[]ledger.Dimension{ledger.ByZone}, []string{"us-central1-a 22", "use1-az1 24"}},
		{[]ledger.Dimension{ledger.ByType}, []string{"a2-highgpu-8g 22", "p4d.24xlarge 24"}},
		{[]ledger.Dimension{ledger.ByMarket}, []string{"on-demand 20", "spot 26"}},
		{[]ledger.Dimension{ledger.ByAccount}, []string{"idle 11.5", "job 34.5"}},
		{[]ledger.Dimension{ledger.ByInstance}, []string{"i-1 4", "i-2 20", "i-3 22"}},
		{[]ledger.Dimension{ledger.ByDay}, []string{"2026-11-03 23", "2026-11-04 23"}},
		{[]ledger.Dimension{ledger.ByCloud, ledger.ByMarket}, []string{"aws on-demand 20", "aws spot 4", "gcp spot 22"}},
	} {
		totals := ledger.Total(month(t), c.by...)
		var got []string
		for _, r := range totals.Rows {
			text := ""
			for _, k := range r.Key {
				text += k + " "
			}
			got = append(got, text+r.Amount.String())
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%v:\n%s", c.by, diff)
		}
		checkColumns(t, totals)
	}
}

// checkColumns checks that each sum is the sum of its column.
func checkColumns(t *testing.T, totals ledger.Totals) {
	t.Helper()
	var amount, list, saving pricing.Money
	lines := 0
	for _, r := range totals.Rows {
		amount, list, saving, lines = amount+r.Amount, list+r.List, saving+r.Saving, lines+r.Charges
	}
	if s := totals.Sum; s.Amount != amount || s.List != list || s.Saving != saving || s.Charges != lines {
		t.Errorf("%v: sum %+v, columns %s, %s, %s, %d", totals.By, s, amount, list, saving, lines)
	}
}

func TestSpotSavingMayBeNegative(t *testing.T) {
	got := map[string][3]string{}
	for _, r := range ledger.Total(month(t), ledger.ByInstance).Rows {
		got[r.Key[0]] = [3]string{r.Amount.String(), r.List.String(), r.Saving.String()}
	}
	want := map[string][3]string{"i-1": {"4", "20", "16"}, "i-2": {"20", "20", "0"}, "i-3": {"22", "20", "-2"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestUnknownRateIsNoZero(t *testing.T) {
	h := history(t, quoted(awsSpot, clock(11, 0, 0), "3"), quoted(awsOnDemand, clock(12, 0, 0), "10"))
	m := ledger.NewMeter(h, ledger.Rules{})
	inst := life("i", awsSpot, clock(10, 0, 0), clock(13, 0, 0), provider.EndedByUs)
	charges := m.Settle(inst, 8, nil, clock(13, 0, 0), 1)
	amounts(t, charges)
	r := ledger.Total(charges).Sum
	want := ledger.Row{
		Amount: usd(t, "6"), Billed: usd(t, "6"), Idle: usd(t, "6"), List: usd(t, "10"), Saving: usd(t, "7"), // of the last hour alone
		Hours: 24, UnknownHours: 8, UnknownIdle: 8, UnlistedHours: 16, Charges: 3,
	}
	if diff := cmp.Diff(want, r); diff != "" {
		t.Error(diff)
	}
	if !r.LowerBound() || !r.ListLowerBound() {
		t.Error("want both sums marked as lower bounds")
	}
	if charges[0].Known || charges[0].Amount != 0 || charges[0].List != 0 {
		t.Errorf("got %+v, want a charge without a rate", charges[0])
	}
}

// A machine that was not billed in the end has a known cost, whatever its rate.
func TestFreeHourLeavesNothingUnknown(t *testing.T) {
	for _, c := range []struct {
		name   string
		quotes []pricing.Quote
	}{
		{"no rate", []pricing.Quote{quoted(gcpSpot, day, "1")}},
		{"rates that do not divide", []pricing.Quote{quoted(awsSpot, day, "8.781200007"), quoted(awsOnDemand, day, "21.957642001")}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := ledger.NewMeter(history(t, c.quotes...), ledger.Rules{})
			charges := settled(m, life("i", awsSpot, clock(10, 20, 0), clock(11, 19, 59), provider.Interrupted), 7, 13*time.Second)
			amounts(t, charges)
			r := ledger.Total(charges).Sum
			r.Charges = 0
			if diff := cmp.Diff(ledger.Row{}, r); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestListCostDoesNotKnowHowOftenItWasBooked(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		quotes := []pricing.Quote{
			{Offering: awsSpot, Rate: pricing.Rate(rapid.Int64Range(1, 30_000_000_000).Draw(t, "spot")), At: day, Source: "test"},
			{Offering: awsOnDemand, Rate: pricing.Rate(rapid.Int64Range(1, 30_000_000_000).Draw(t, "on demand")), At: day, Source: "test"},
		}
		h, err := pricing.NewHistory(quotes, nil)
		if err != nil {
			t.Fatal(err)
		}
		run := life("i", awsSpot, clock(10, 0, 0), clock(10, 0, 0).Add(time.Duration(rapid.Int64Range(int64(time.Minute), int64(5*time.Hour)).Draw(t, "lived"))), provider.EndedByUs)
		step := time.Duration(rapid.Int64Range(int64(30*time.Second), int64(time.Hour)).Draw(t, "round"))
		inOne := ledger.Total(settled(ledger.NewMeter(h, ledger.Rules{}), run, 7, 365*24*time.Hour), ledger.ByJob).Sum
		inMany := ledger.Total(settled(ledger.NewMeter(h, ledger.Rules{}), run, 7, step), ledger.ByJob).Sum
		inOne.Charges, inMany.Charges = 0, 0
		if diff := cmp.Diff(inOne, inMany); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestParseDimensionReadsWhatStringWrites(t *testing.T) {
	for _, want := range ledger.Dimensions() {
		if got, err := ledger.ParseDimension(want.String()); err != nil || got != want {
			t.Errorf("got %v, %v, want %v", got, err, want)
		}
	}
	if _, err := ledger.ParseDimension("Team"); err == nil {
		t.Error("Team: want an error")
	}
}

// BenchmarkReportOfAMillionCharges sums a million charges, each another, by three
// dimensions, as they would be read one by one: 1,000 jobs of 10 teams on machines
// of two markets, over 28 days. It prints CPU seconds and the memory that is live.
func BenchmarkReportOfAMillionCharges(b *testing.B) {
	some := month(b)
	jobs, teams := make([]string, 1000), make([]string, 10)
	for n := range jobs {
		jobs[n] = fmt.Sprintf("job-%d", n)
	}
	for n := range teams {
		teams[n] = fmt.Sprintf("team-%d", n)
	}
	b.ReportAllocs()
	for b.Loop() {
		sums := ledger.NewSums(time.UTC, ledger.ByTeam, ledger.ByMarket, ledger.ByDay)
		for n := range 1_000_000 {
			c := some[n%len(some)]
			c.Job, c.Team = jobs[n%1000], teams[n%10]
			c.From, c.To = c.From.Add(time.Duration(n%672)*time.Hour), c.To.Add(time.Duration(n%672)*time.Hour)
			sums.Add(&c)
		}
		if rows := len(sums.Totals().Rows); rows < 10*2*28 {
			b.Fatalf("%d rows, want at least 560", rows)
		}
	}
	var mem runtime.MemStats
	runtime.ReadMemStats(&mem)
	b.ReportMetric(float64(mem.HeapInuse)/1e6, "MB-live")
}

// BenchmarkSettle books a machine by the minute, half of it to each of two jobs.
func BenchmarkSettle(b *testing.B) {
	m := ledger.NewMeter(history(b, quoted(awsSpot, day, "12"), quoted(awsOnDemand, day, "20")), ledger.Rules{})
	inst := life("i", awsSpot, clock(1, 0, 0), time.Time{}, 0)
	shares := []ledger.Share{{Job: "a", Accelerators: 4}, {Job: "b", Accelerators: 4}}
	now := inst.Started
	b.ReportAllocs()
	for b.Loop() {
		now = now.Add(time.Minute)
		m.Settle(inst, 8, shares, now, 1)
	}
}
