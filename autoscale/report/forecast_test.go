package report

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/pricing/ledger"
	"github.com/goodfleet/goodfleet/provider"
)

// daily is one machine for an hour at noon of each day, at so many dollars.
func daily(first time.Time, amounts ...int) []ledger.Charge {
	o := provider.Offering{Cloud: "aws", Region: "us-east-1", Zone: "use1-az1", Type: "p3.8xlarge", Market: provider.Spot}
	var charges []ledger.Charge
	for n, usd := range amounts {
		at := first.AddDate(0, 0, n).Add(12 * time.Hour)
		amount := pricing.Money(usd) * pricing.Dollar
		charges = append(charges, ledger.Charge{ID: fmt.Sprint(n), Kind: ledger.Usage, Instance: "i-1", Run: 1, Offering: o, From: at, To: at.Add(time.Hour),
			Account: ledger.ToJob, Job: "GPT-L", Team: "Vision", Share: 1, Of: 1, Rate: pricing.Rate(amount), Known: true, List: pricing.Rate(2 * amount), Amount: amount})
	}
	return charges
}

func TestForecastIsTheMeanOfWholeDays(t *testing.T) {
	first := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	f := NewForecast(daily(first, 99, 8, 12, 8, 12, 5), first.AddDate(0, 0, 5), time.UTC) // the sixth is to come
	// 139 spent; the first day is left out: 10 a day for the 25 days left, 2.309 its deviation.
	if !f.Known || f.Days != 4 || f.Spent != 139*pricing.Dollar || f.P50 != 389*pricing.Dollar {
		t.Errorf("got %+v", f)
	}
	if got := (f.P90 - f.P50).Dollars(); got < 14.79 || got > 14.81 { // 1.2816 × 2.3094 × 5
		t.Errorf("P90 is %g above P50, want 14.80", got)
	}
	// Of a ledger that begins with a day, that day is whole: it costs two dollars more.
	charges := daily(first, 99, 8, 12, 8, 12, 5)
	early := charges[0]
	early.ID, early.From, early.To, early.Amount = "early", first, first.Add(time.Hour), 2*pricing.Dollar
	if f := NewForecast(append(charges, early), first.AddDate(0, 0, 5), time.UTC); f.Days != 5 || f.PerDay != (99+2+8+12+8+12)*pricing.Dollar/5 {
		t.Errorf("with the first day whole: got %+v", f)
	}
	if f := NewForecast(nil, first, time.UTC); f.Known || f.Spent != 0 {
		t.Errorf("of nothing: got %+v", f)
	}
}

func TestDaysOfAZoneHave23To25Hours(t *testing.T) {
	zone, err := time.LoadLocation("America/New_York")
	if err != nil {
		t.Fatal(err)
	}
	days := Days(daily(time.Date(2026, 10, 31, 0, 0, 0, 0, time.UTC), 1, 2, 3), zone)
	var lengths []float64
	for _, d := range days {
		lengths = append(lengths, d.Length.Hours())
	}
	if fmt.Sprint(lengths) != "[24 25 24]" {
		t.Errorf("got %v, want 24, 25 and 24 hours", lengths)
	}
}

func TestAnomaliesNameTheDayTheDiskAndTheMachine(t *testing.T) {
	first := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	charges := daily(first, 10, 11, 10, 9, 10, 11, 10, 10, 50, 10, 10)
	lost := charges[0]
	lost.ID, lost.Item, lost.Instance, lost.Account, lost.Job, lost.Amount = "d", ledger.Disk, "vol-1", ledger.ToIdle, "", 1
	lost.To = lost.From.Add(30 * time.Hour)
	alone := charges[0]
	alone.ID, alone.Instance, alone.Account, alone.Job, alone.Amount = "m", "i-2", ledger.ToIdle, "", 2
	var got []string
	for _, a := range Anomalies(append(charges, lost, alone), time.UTC) {
		got = append(got, a.Kind+" "+a.What)
	}
	if want := "[day 2026-11-09 machine i-2 disk vol-1]"; fmt.Sprint(got) != want {
		t.Errorf("got %v, want %s", got, want)
	}
	if steady := Anomalies(daily(first, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10), time.UTC); steady != nil {
		t.Errorf("steady days: got %v", steady)
	}
}

func TestCostPageHoldsItsPicturesAndEscapes(t *testing.T) {
	charges := daily(time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC), 1, 2, 3)
	charges[1].Team = `<script>alert(1)</script>`
	var b bytes.Buffer
	if err := NewCost(CostConfig{Charges: charges, By: []ledger.Dimension{ledger.ByTeam}}).HTML(&b); err != nil {
		t.Fatal(err)
	}
	page := b.String()
	for _, want := range []string{"Cost of each day", "What cost most", "Where the money went", "To look at", "6.00", "&lt;script&gt;"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Contains(page, "<script>") || strings.Contains(page, "http") || strings.Contains(page, "NaN") {
		t.Error("the page has a script, an address or NaN in it")
	}
	if err := NewCost(CostConfig{By: []ledger.Dimension{ledger.ByTeam}}).HTML(&b); err != nil {
		t.Errorf("of nothing: %v", err)
	}
}

func TestWorkIsPutBesideItsJobsOnly(t *testing.T) {
	charges := daily(time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC), 1, 2, 3)
	work := &Work{Unit: "V100-hours", Jobs: []JobWork{{Job: "GPT-L", Done: 3}}}
	c := NewCost(CostConfig{Charges: charges, By: []ledger.Dimension{ledger.ByTeam}, Work: work})
	if c.works[0] == nil || *c.works[0] != 3 || c.work == nil || *c.work != 3 {
		t.Errorf("by team: got %v, %v, want 3", c.works, c.work)
	}
	if c := NewCost(CostConfig{Charges: charges, By: []ledger.Dimension{ledger.ByMarket}, Work: work}); c.works[0] != nil || *c.work != 3 {
		t.Errorf("by market: got %v, want not known, and 3 in all", c.works)
	}
	if c := NewCost(CostConfig{Charges: charges, From: charges[0].From, By: []ledger.Dimension{ledger.ByTeam}, Work: work}); c.works[0] != nil || c.work != nil {
		t.Errorf("of a part of its life: got %v, want not known", c.works)
	}
	for _, text := range []string{`{}`, `{"apiVersion":"goodfleet/v1","kind":"Work","jobs":[{"job":"","done":1}]}`, `{"apiVersion":"goodfleet/v1","kind":"Work","more":1}`} {
		if _, err := ReadWork(strings.NewReader(text)); err == nil {
			t.Errorf("%s: want an error", text)
		}
	}
}

// What has no known rate makes a forecast a lower bound: in the month, and in the days that it
// looks back on, but not before them.
func TestForecastOfWhatLacksARateIsALowerBound(t *testing.T) {
	day := func(n int, known bool) ledger.Charge {
		at := time.Date(2026, 11, n, 6, 0, 0, 0, time.UTC)
		c := ledger.Charge{From: at, To: at.Add(time.Hour), Share: 1, Of: 1, Known: known}
		if known {
			c.Amount = 10 * pricing.Dollar
		}
		return c
	}
	now := time.Date(2026, 12, 2, 0, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		charges []ledger.Charge
		want    bool
	}{
		"all known":        {[]ledger.Charge{day(2, true), day(20, true), day(31, true)}, false},
		"of this month":    {[]ledger.Charge{day(2, true), day(31, false)}, true},
		"of days before":   {[]ledger.Charge{day(1, true), day(20, false), day(31, true)}, true},
		"of what is past":  {[]ledger.Charge{day(1, false), day(20, true), day(31, true)}, false},
		"of what is ahead": {[]ledger.Charge{day(2, true), day(20, true), day(33, false)}, false},
	} {
		if f := NewForecast(c.charges, now, time.UTC); f.Lower != c.want {
			t.Errorf("%s: a lower bound: %v, want %v", name, f.Lower, c.want)
		}
	}
}
