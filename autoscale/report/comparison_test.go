package report

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/goodfleet/goodfleet/autoscale/sim"
	"github.com/goodfleet/goodfleet/pricing"
)

func TestComparisonSaysWhereTheSubjectLoses(t *testing.T) {
	subject := sim.Outcome{Variant: "goodfleet", HazardScale: 1, UsesSpot: true, Reference: "V100", Jobs: 2,
		Cost: 100 * pricing.Dollar, ReferencePerDollar: 2, AvgJCTHours: 3, P95JCTHours: 5, MakespanHours: 10, AvgQueueHours: 0.5}
	rough := subject
	rough.HazardScale, rough.Cost = 3, 130*pricing.Dollar
	faster := subject
	faster.Variant, faster.UsesSpot, faster.Cost, faster.AvgJCTHours = "on-demand", false, 120*pricing.Dollar, 2.5
	faster.P95JCTHours = 5.0001 // the same as printed: no loss, no gain
	c := mustCompare(t, []sim.Outcome{subject, rough, faster})
	want := []Loss{
		{Figure: "JCT mean", Variant: "on-demand", HazardScale: 1, Subject: "3.00", Other: "2.50", Unit: "h"},
		{Figure: "cost", Variant: "on-demand", HazardScale: 3, Subject: "130.00", Other: "120.00", Unit: "USD"},
		{Figure: "JCT mean", Variant: "on-demand", HazardScale: 3, Subject: "3.00", Other: "2.50", Unit: "h"},
	}
	if diff := cmp.Diff(c.Losses(), want); diff != "" {
		t.Errorf("losses, got (-), want (+):\n%s", diff)
	}
	var b bytes.Buffer
	if err := c.Table(&b); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"▲ 2.50", "At interruptions × 3, goodfleet loses to on-demand in cost (130.00 against 120.00 USD)", "no spot"} {
		if !strings.Contains(b.String(), text) {
			t.Errorf("the table lacks %q:\n%s", text, b.String())
		}
	}
}

func TestTableMarksBoundsAndWhatIsNotKnown(t *testing.T) {
	o := sim.Outcome{Variant: "goodfleet", HazardScale: 1, UsesSpot: true, Reference: "V100", Jobs: 3, Unfinished: 1,
		AvgJCTHours: 4, P95JCTHours: 9, UnknownHours: 2, Cost: pricing.Dollar}
	var b bytes.Buffer
	if err := mustCompare(t, []sim.Outcome{o, {Variant: "nothing", Reference: "V100"}}).Table(&b); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"≥ 4.00", "≥ 1.00", unknown, "lower bound"} {
		if !strings.Contains(b.String(), text) {
			t.Errorf("the table lacks %q:\n%s", text, b.String())
		}
	}
}

func TestComparisonJSONKeepsMoneyExact(t *testing.T) {
	o := sim.Outcome{Variant: "goodfleet", Reference: "V100", Cost: 31_500_000_001}
	var b bytes.Buffer
	if err := mustCompare(t, []sim.Outcome{o}).JSON(&b); err != nil {
		t.Fatal(err)
	}
	var read struct {
		Currency string
		Outcomes []struct{ Cost any }
	}
	if err := json.Unmarshal(b.Bytes(), &read); err != nil {
		t.Fatal(err)
	}
	if read.Currency != "USD" || len(read.Outcomes) != 1 || read.Outcomes[0].Cost != "31.500000001" {
		t.Errorf("got %+v, want the cost as text \"31.500000001\"", read)
	}
}

func TestComparisonCSVLeavesTheUnknownEmpty(t *testing.T) {
	var b bytes.Buffer
	if err := mustCompare(t, []sim.Outcome{{Variant: `a "b", c`, HazardScale: 1, Reference: "V100"}}).CSV(&b); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(b.String()), "\n")
	if len(lines) != 2 || !strings.HasPrefix(lines[1], `"a ""b"", c",1,0,,`) {
		t.Errorf("got %q, want two lines with an empty goodput per dollar", lines)
	}
}

func TestNewComparisonRefusesNothing(t *testing.T) {
	if _, err := NewComparison(nil); err == nil {
		t.Error("got no error")
	}
}

// Rows add up to the total as printed, and no row is off by a whole unit.
func TestTogetherAddsUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		raw := rapid.SliceOfN(rapid.Int64Range(-5e12, 5e12), 0, 20).Draw(t, "amounts")
		amounts, exact := make([]pricing.Money, len(raw)), pricing.Money(0)
		for i, n := range raw {
			amounts[i] = pricing.Money(n)
			exact += amounts[i]
		}
		shown, total := Together(amounts, cent)
		sum := pricing.Money(0)
		for i, s := range shown {
			sum += s
			if off := s - amounts[i]; off <= -cent || off >= cent || s%cent != 0 {
				t.Fatalf("%s is shown as %s", amounts[i], s)
			}
		}
		if sum != total {
			t.Fatalf("rows add up to %s, the total is %s", sum, total)
		}
		if off := total - exact; 2*off > cent || 2*off < -cent {
			t.Fatalf("%s in all is shown as %s", exact, total)
		}
	})
}

func TestTogetherGivesTheRestToTheLargestRemainders(t *testing.T) {
	third := pricing.Money(3_333_333_333)
	got, total := Together([]pricing.Money{third, third, third + 1}, cent)
	want := []pricing.Money{3_330_000_000, 3_330_000_000, 3_340_000_000}
	if diff := cmp.Diff(got, want); diff != "" || total != 10*pricing.Dollar {
		t.Errorf("got %v of %v, want %v of 10", got, total, want)
	}
}

func TestNumbers(t *testing.T) {
	for _, tt := range []struct {
		v        float64
		decimals int
		want     string
	}{
		{1234567.891, 2, "1,234,567.89"}, {-1234.5, 1, "-1,234.5"}, {-0.001, 2, "0.00"}, {999, 0, "999"}, {1000, 0, "1,000"},
	} {
		if got := number(tt.v, tt.decimals); got != tt.want {
			t.Errorf("number(%v, %d) = %q, want %q", tt.v, tt.decimals, got, tt.want)
		}
	}
}

func TestTimesText(t *testing.T) {
	for scale, want := range map[float64]string{1.0 / 3: "× 1/3", 1: "× 1", 3: "× 3", 0.7: "× 0.7"} {
		if got := timesText(scale); got != want {
			t.Errorf("timesText(%v) = %q, want %q", scale, got, want)
		}
	}
}
