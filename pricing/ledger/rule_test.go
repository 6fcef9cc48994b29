package ledger_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/pricing/ledger"
	"github.com/goodfleet/goodfleet/provider"
)

// The worked examples of the clouds' rules. Each run is booked in one piece, by
// the minute and in uneven rounds: the amount must not know.
func TestRunCostsWhatTheCloudBills(t *testing.T) {
	steps := []pricing.Quote{
		quoted(awsSpot, clock(9, 0, 0), "12"), quoted(awsSpot, clock(11, 5, 0), "15"), quoted(awsSpot, clock(12, 10, 0), "9"),
		quoted(gcpSpot, clock(9, 0, 0), "12"), quoted(gcpSpot, clock(11, 5, 0), "15"), quoted(gcpSpot, clock(12, 10, 0), "9"),
	}
	cheap := []pricing.Quote{quoted(awsSpot, day, "0.04"), quoted(gcpSpot, day, "0.04")}
	list := []pricing.Quote{quoted(awsOnDemand, day, "21.957642"), quoted(gcpOnDemand, day, "21.957642")}
	tpu := []pricing.Quote{quoted(tpuSpot, day, "4.8")}
	perSecond := ledger.Rules{Spot: ledger.PerSecond}
	for _, c := range []struct {
		name   string
		quotes []pricing.Quote
		rules  ledger.Rules
		run    provider.Instance
		want   string
		hours  float64 // accelerator-hours billed, of 8
	}{
		{"price fixed at each instance-hour", steps, ledger.Rules{},
			life("i", awsSpot, clock(10, 40, 0), clock(13, 10, 0), provider.EndedByUs), "31.5", 20},
		{"price as it moves, when so set", steps, perSecond,
			life("i", awsSpot, clock(10, 40, 0), clock(13, 10, 0), provider.EndedByUs), "30.25", 20},
		{"google's price in force", steps, ledger.Rules{},
			life("i", gcpSpot, clock(10, 40, 0), clock(13, 10, 0), provider.EndedByUs), "30.25", 20},
		{"interrupted in the first instance-hour", steps, ledger.Rules{},
			life("i", awsSpot, clock(10, 40, 0), clock(11, 39, 59), provider.Interrupted), "0", 0},
		{"ended by us in the first instance-hour", steps, ledger.Rules{},
			life("i", awsSpot, clock(10, 40, 0), clock(11, 39, 59), provider.EndedByUs), "11.996666667", 8 * 3599. / 3600},
		{"interrupted when the first instance-hour is over", steps, ledger.Rules{},
			life("i", awsSpot, clock(10, 40, 0), clock(11, 40, 0), provider.Interrupted), "12", 8},
		{"interrupted after 90 minutes", cheap, ledger.Rules{},
			life("i", awsSpot, clock(10, 0, 0), clock(11, 30, 0), provider.Interrupted), "0.06", 12},
		{"interrupted after 59:59", cheap, ledger.Rules{},
			life("i", awsSpot, clock(10, 0, 0), clock(10, 59, 59), provider.Interrupted), "0", 0},
		{"ended by us after 59:59", cheap, ledger.Rules{},
			life("i", awsSpot, clock(10, 0, 0), clock(10, 59, 59), provider.EndedByUs), "0.039988889", 8 * 3599. / 3600},
		{"first hour is free on spot alone", list, ledger.Rules{},
			life("i", awsOnDemand, clock(10, 0, 0), clock(10, 30, 0), provider.Interrupted), "10.978821", 4},
		{"by the second on demand", list, ledger.Rules{},
			life("i", awsOnDemand, clock(10, 0, 0), clock(13, 5, 6), provider.EndedByUs), "67.73932557", 8 * 11106. / 3600},
		{"20 seconds cost 60", list, ledger.Rules{},
			life("i", awsOnDemand, clock(10, 0, 0), clock(10, 0, 20), provider.EndedByUs), "0.3659607", 8. / 60},
		{"20 seconds cost 60 on google", list, ledger.Rules{},
			life("i", gcpOnDemand, clock(10, 0, 0), clock(10, 0, 20), provider.EndedByUs), "0.3659607", 8. / 60},
		{"pending 4, running 20, stopping 3: aws leaves running", list, ledger.Rules{},
			life("i", awsOnDemand, clock(10, 4, 0), clock(10, 24, 0), provider.EndedByUs), "7.319214", 8 * 1200. / 3600},
		{"pending 4, running 20, stopping 3: google reaches TERMINATED", list, ledger.Rules{},
			life("i", gcpOnDemand, clock(10, 4, 0), clock(10, 27, 0), provider.EndedByUs), "8.4170961", 8 * 1380. / 3600},
		{"preempted in the first minute on google", cheap, ledger.Rules{},
			life("i", gcpSpot, clock(10, 0, 0), clock(10, 0, 59), provider.Interrupted), "0", 0},
		{"preempted after the first minute on google", cheap, ledger.Rules{},
			life("i", gcpSpot, clock(10, 0, 0), clock(10, 1, 0), provider.Interrupted), "0.000666667", 8. / 60},
		{"tpu preempted after 40 seconds of READY", tpu, ledger.Rules{Types: catalogue(t)},
			life("i", tpuSpot, clock(10, 0, 0), clock(10, 0, 40), provider.Interrupted), "0", 0},
		{"tpu preempted after an hour and left for a day", tpu, ledger.Rules{Types: catalogue(t)},
			life("i", tpuSpot, clock(10, 0, 0), clock(11, 0, 0), provider.Interrupted), "4.8", 8},
		{"tpu has no least time", tpu, ledger.Rules{Types: catalogue(t)},
			life("i", tpuSpot, clock(10, 0, 0), clock(10, 0, 20), provider.EndedByUs), "0.026666667", 8. / 180},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, step := range []time.Duration{365 * 24 * time.Hour, time.Minute, 7*time.Minute + 13*time.Second + 777, 11 * time.Second} {
				charges := settled(ledger.NewMeter(history(t, c.quotes...), c.rules), c.run, 8, step)
				if got, want := amounts(t, charges), usd(t, c.want); got != want {
					t.Errorf("rounds of %v: got %s USD, want %s", step, got, want)
				}
				sum := ledger.Total(charges, ledger.ByJob).Sum
				if diff := sum.Hours - c.hours; diff > hoursTolerance || diff < -hoursTolerance {
					t.Errorf("rounds of %v: got %g accelerator-hours, want %g", step, sum.Hours, c.hours)
				}
			}
		})
	}
}

// hoursTolerance is for hours that are summed exactly and turned into a float once.
const hoursTolerance = 1e-12

func TestEachStartHasItsOwnMinimum(t *testing.T) {
	m := ledger.NewMeter(history(t, quoted(awsOnDemand, day, "21.957642")), ledger.Rules{})
	var charges []ledger.Charge
	for start := range 3 {
		at := clock(10, start, 0) // the machine keeps its id, and only the last start is told
		charges = append(charges, settled(m, life("i", awsOnDemand, at, at.Add(20*time.Second), provider.EndedByUs), 8, time.Minute)...)
	}
	if got, want := amounts(t, charges), usd(t, "1.0978821"); got != want {
		t.Errorf("got %s USD, want %s: three times 60 s", got, want)
	}
	runs := map[int]bool{}
	var billed time.Duration
	for _, c := range charges {
		runs[c.Run] = true
		billed += c.To.Sub(c.From)
	}
	if len(runs) != 3 || billed != 180*time.Second {
		t.Errorf("got %d runs and %v billed, want 3 and 180 s", len(runs), billed)
	}
}

func TestSecondStartKeepsTheFirstRun(t *testing.T) {
	m := ledger.NewMeter(history(t, quoted(awsOnDemand, day, "1")), ledger.Rules{})
	first := life("i", awsOnDemand, clock(0, 0, 0), clock(5, 0, 0), provider.EndedByUs)
	second := life("i", awsOnDemand, clock(105, 0, 0), clock(106, 0, 0), provider.EndedByUs)
	charges := append(settled(m, first, 8, time.Hour), settled(m, second, 8, time.Hour)...)
	if got, want := amounts(t, charges), usd(t, "6"); got != want {
		t.Errorf("got %s USD, want %s: six hours in two runs", got, want)
	}
}

func TestStopThatWasNeverSeenEndsAtTheNextStart(t *testing.T) {
	m := ledger.NewMeter(history(t, quoted(awsOnDemand, day, "1")), ledger.Rules{})
	running := life("i", awsOnDemand, clock(0, 0, 0), time.Time{}, provider.NotEnded)
	charges := m.Settle(running, 8, nil, clock(2, 0, 0), 1)
	again := life("i", awsOnDemand, clock(1, 30, 0), time.Time{}, provider.NotEnded) // between two rounds
	charges = append(charges, m.Settle(again, 8, nil, clock(2, 0, 0), 2)...)
	if got, want := amounts(t, charges), usd(t, "2"); got != want {
		t.Errorf("got %s USD, want %s", got, want)
	}
	var first pricing.Money
	for _, c := range charges {
		if c.Run == 1 {
			first += c.Amount
		}
	}
	if want := usd(t, "1.5"); first != want {
		t.Errorf("first run: got %s USD, want %s", first, want)
	}
}

// The next start is listed at its very instant: nothing of it is billed yet, but
// what was booked past the stop is taken back.
func TestStartAtThisInstantEndsTheRunBefore(t *testing.T) {
	m := ledger.NewMeter(history(t, quoted(awsOnDemand, day, "1")), ledger.Rules{})
	charges := m.Settle(life("i", awsOnDemand, clock(0, 0, 0), time.Time{}, 0), 8, nil, clock(2, 0, 0), 1)
	again := life("i", awsOnDemand, clock(1, 30, 0), time.Time{}, 0)
	charges = append(charges, m.Settle(again, 8, nil, clock(1, 30, 0), 2)...)
	if got, want := amounts(t, charges), usd(t, "1.5"); got != want {
		t.Errorf("got %s USD, want %s", got, want)
	}
}

func TestMinimumIsBorneByThoseWhoHeldItLast(t *testing.T) {
	job := []ledger.Share{{Job: "a", Accelerators: 6}}
	for _, c := range []struct {
		name string
		seen time.Time // until when it was booked as running before its end was seen
		want map[string]string
	}{
		{"end seen at once", clock(1, 0, 10), map[string]string{"boot": "0.4", "job": "1.5", "idle": "0.5"}},
		{"end seen late", clock(1, 10, 0), map[string]string{"boot": "2.4"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := ledger.NewMeter(history(t, quoted(awsOnDemand, day, "144")), ledger.Rules{}) // 0.04 USD a second
			charges := m.Settle(life("i", awsOnDemand, clock(1, 0, 0), time.Time{}, 0), 8, []ledger.Share{{Account: ledger.ToBoot, Accelerators: 8}}, c.seen, 1)
			gone := life("i", awsOnDemand, clock(1, 0, 0), clock(1, 0, 20), provider.Failed)
			charges = append(charges, m.Settle(gone, 8, job, clock(1, 20, 0), 2)...)
			amounts(t, charges)
			if diff := cmp.Diff(c.want, byAccount(charges)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestNameUsedAgainIsAnotherInstance(t *testing.T) {
	m := ledger.NewMeter(history(t, quoted(awsOnDemand, day, "1")), ledger.Rules{})
	september := life("i-1", awsOnDemand, clock(0, 0, 0), clock(1, 0, 0), provider.EndedByUs)
	october := life("i-2", awsOnDemand, clock(720, 0, 0), clock(721, 0, 0), provider.EndedByUs)
	charges := append(settled(m, september, 8, time.Hour), settled(m, october, 8, time.Hour)...)
	totals := ledger.Total(charges, ledger.ByJob)
	if got, want := totals.Sum.Amount, usd(t, "2"); got != want {
		t.Errorf("got %s USD, want %s", got, want)
	}
	if rows := ledger.Total(charges, ledger.ByInstance).Rows; len(rows) != 2 {
		t.Errorf("got %d instances, want 2", len(rows))
	}
}

func TestNothingIsBilledBeforeTheStart(t *testing.T) {
	m := ledger.NewMeter(history(t, quoted(awsOnDemand, day, "1")), ledger.Rules{})
	pending := provider.Instance{ID: "i", Offering: awsOnDemand, State: provider.Pending, Launched: clock(0, 0, 0)}
	failed := pending
	failed.State, failed.Ended, failed.Cause = provider.Ended, clock(0, 5, 0), provider.Failed
	for _, inst := range []provider.Instance{pending, failed} {
		if got := m.Settle(inst, 8, nil, clock(1, 0, 0), 1); got != nil {
			t.Errorf("%s: got %v, want no charge", inst.State, got)
		}
	}
}

func TestEveryRuleCitesASource(t *testing.T) {
	rules := ledger.Rules{Types: catalogue(t)}
	tpu := tpuSpot
	tpu.Market = provider.OnDemand
	for _, o := range []provider.Offering{awsSpot, awsOnDemand, gcpSpot, gcpOnDemand, tpuSpot, tpu} {
		rule := rules.Of(o)
		if len(rule.Cites) == 0 {
			t.Errorf("%s: rule %s cites nothing", o, rule.Name)
		}
		for _, id := range rule.Cites {
			if s := ledger.Sources[id]; s.Says == "" || s.URL == "" {
				t.Errorf("rule %s cites %s, which is no source", rule.Name, id)
			}
		}
	}
}

func TestParseSpotRateReadsWhatStringWrites(t *testing.T) {
	for _, want := range []ledger.SpotRate{ledger.InstanceHour, ledger.PerSecond} {
		if got, err := ledger.ParseSpotRate(want.String()); err != nil || got != want {
			t.Errorf("got %v, %v, want %v", got, err, want)
		}
	}
	if _, err := ledger.ParseSpotRate("hourly"); err == nil {
		t.Error("hourly: want an error")
	}
}
