package sim

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/provider"
	"github.com/goodfleet/goodfleet/provider/fake"
)

// badDays is a small world in which everything goes wrong, so often a day each.
func badDays(t testing.TB, seed uint64, perDay float64) Setting {
	s := smallSetting(t, seed, 8)
	s.Faults = fake.Hostile(perDay, 36*time.Hour)
	return s
}

// Whatever the clouds do, gangs stay whole and apart, every machine's whole life is
// booked once, and every job ends: Simulate proves it, or fails.
func TestBooksHoldUnderEveryFault(t *testing.T) {
	for _, perDay := range []float64{6, 48} {
		for seed := uint64(1); seed <= 4; seed++ {
			t.Run(fmt.Sprintf("%g a day, seed %d", perDay, seed), func(t *testing.T) {
				t.Parallel()
				out, err := Simulate(t.Context(), badDays(t, seed, perDay))
				if err != nil {
					t.Fatal(err)
				}
				if out.Horizon || out.Unfinished > 0 {
					t.Errorf("%d of %d jobs are not done", out.Unfinished, out.Jobs)
				}
			})
		}
	}
}

// Each fault by itself, so often that no round is spared.
func TestBooksHoldUnderEachFault(t *testing.T) {
	for _, fault := range fake.AllFaults() {
		t.Run(fault.String(), func(t *testing.T) {
			t.Parallel()
			s := smallSetting(t, 2, 3)
			s.Faults = fake.Faults{PerDay: map[fake.Fault]float64{fault: 150}, Horizon: 12 * time.Hour}
			if _, err := Simulate(t.Context(), s); err != nil {
				t.Fatal(err)
			}
		})
	}
}

func TestBadDaysRepeat(t *testing.T) {
	told := func(faults uint64) []byte {
		s := badDays(t, 5, 12)
		s.Faults.Seed = faults
		out, err := Simulate(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(out)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	first := told(7)
	if !bytes.Equal(first, told(7)) {
		t.Error("one seed of faults made two outcomes")
	}
	if bytes.Equal(first, told(8)) {
		t.Error("another seed of faults made the same outcome")
	}
}

// What a scenario says befalls the simulation: a pool that is down for the whole
// time is not bought from.
func TestScenarioIsPlayed(t *testing.T) {
	s := smallSetting(t, 3, 4)
	scene, err := fake.ParseScenario("outage", "pool aws/*/*/* down taking none\npool gcp/us-central1-c/*/* down taking none\n")
	if err != nil {
		t.Fatal(err)
	}
	s.Scenario = scene
	out, err := Simulate(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range out.Charges {
		if c.Offering.Zone != "us-central1-a" {
			t.Fatalf("a machine of %s was had", c.Offering)
		}
	}
	if out.Unfinished > 0 {
		t.Errorf("%d of %d jobs are not done", out.Unfinished, out.Jobs)
	}
}

func TestScriptedPricesHoldUntilTheNext(t *testing.T) {
	o := provider.Offering{Cloud: "aws", Region: "us-east-1", Zone: "use1-az1", Type: "p3.2xlarge", Market: provider.Spot}
	at := func(minutes int) time.Time { return start.Add(time.Duration(minutes) * time.Minute) }
	h, err := pricing.NewHistory([]pricing.Quote{{Offering: o, Rate: 1000, At: at(-60)}, {Offering: o, Rate: 500, At: at(40)}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	scene, err := fake.ParseScenario("prices", strings.Join([]string{
		"at 10m price aws/*/*/spot times 2",
		"at 20m price aws/*/*/spot times 1.5", // of what it was made, not of what it was
		"at 50m price aws/*/*/spot times 3",   // of the history's own
		"at 60m price aws/*/*/spot unknown",
		"at 70m price aws/*/*/spot times 2", // of nothing
		"at 80m price aws/*/*/spot 0.000000004",
		"at 80m price aws/*/*/spot times 2",
	}, "\n"))
	if err != nil {
		t.Fatal(err)
	}
	s := smallSetting(t, 1, 1)
	s.Scenario, s.Offerings, s.HazardScale, s.Climate = scene, []provider.Offering{o}, 1, fake.Measured
	clouds, err := s.clouds()
	if err != nil {
		t.Fatal(err)
	}
	got, err := moved(h, clouds)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []struct {
		minute int
		rate   pricing.Rate
	}{{5, 1000}, {10, 2000}, {19, 2000}, {25, 3000}, {40, 500}, {55, 1500}, {65, 0}, {75, 0}, {85, 8}} {
		if rate, ok := got.RateAt(o, at(want.minute)); rate != want.rate || ok != (want.rate != 0) {
			t.Errorf("at %d min: %d, %t, want %d", want.minute, rate, ok, want.rate)
		}
	}
	if rate, _ := h.RateAt(o, at(15)); rate != 1000 {
		t.Errorf("the history that was given has changed: %d", rate)
	}
}
