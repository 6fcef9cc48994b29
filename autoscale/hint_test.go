package autoscale_test

import (
	"math"
	"testing"
	"time"

	"github.com/goodfleet/goodfleet/autoscale"
	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/planner/policy"
	"github.com/goodfleet/goodfleet/provider"
)

// A hint starts no stop: the job goes on, another machine is bought elsewhere at once,
// and the job leaves when that is ready. The machine and its pool are not marked down.
func TestHintPreparesAReplacementWithoutAStop(t *testing.T) {
	w := newWorld(t, setup{})
	w.submit(testJob("a", 20, 1))
	w.until(10, func() bool { return w.job("a").Gang != nil && !w.job("a").Times.Running.IsZero() })
	before := w.job("a")
	if before.Gang.Offering != smallSpot {
		t.Fatalf("it runs on %s", before.Gang.Offering)
	}
	w.round(20 * time.Minute)
	w.do("hint all of aws/use1-az1/*/spot")
	r := w.round(time.Minute)
	after := w.job("a")
	if after.Gang == nil || after.Gang.Generation != before.Gang.Generation || after.Stopping != 0 {
		t.Errorf("it was stopped by a hint: %+v", after)
	}
	if len(r.Bought) != 1 || r.Bought[0].Offering != smallSpotB {
		t.Fatalf("bought %+v, want a replacement in the other zone\n%s", r.Bought, w.history())
	}
	if k := w.kinds(); k[autoscale.EventHint] != 1 || k[autoscale.EventNotice] != 0 || k[autoscale.EventBackOff] != 0 {
		t.Errorf("events %v", k)
	}
	w.until(15, func() bool { return w.job("a").Gang != nil && w.job("a").Gang.Offering == smallSpotB })
	if k := w.kinds(); k[autoscale.EventLost] != 0 || k[autoscale.EventMove] != 1 {
		t.Errorf("events %v", k)
	}
	w.until(10, func() bool { return len(w.live()) == 1 })
}

// A job that nothing else carries stays where it is.
func TestHintDisturbsNothingThatCannotBeReplaced(t *testing.T) {
	w := newWorld(t, setup{})
	w.submit(testJob("a", 40, 1))
	w.until(10, func() bool { return w.job("a").Gang != nil })
	w.do("pool aws/use1-az2/small/spot down")
	w.do("pool aws/use1-az1/small/on-demand down")
	w.do("pool aws/use1-az1/large/spot down")
	w.do("hint all of aws/use1-az1/*/spot")
	for range 40 {
		w.round(time.Minute)
	}
	if r := w.job("a"); r.Gang == nil || r.Gang.Generation != 1 {
		t.Errorf("it was disturbed though nothing else could be had: %+v\n%s", r.Gang, w.history())
	}
}

// A hint adds ten losses an hour to its pool, and wears off as it does not come true.
func TestHintWearsOff(t *testing.T) {
	run := func(hinted bool) (risks []float64) {
		risk := 0.0
		w := newWorld(t, setup{offerings: []provider.Offering{smallSpot}, plan: func(p planner.Problem) (planner.Plan, error) {
			risk = p.Offers[0].Hazard.PoolPerHour
			return policy.Value(p, policy.Settings{})
		}})
		w.submit(testJob("a", 40, 1))
		w.until(10, func() bool { return w.job("a").Gang != nil })
		if hinted {
			w.do("hint all of aws/use1-az1/*/spot for 1m")
		}
		for range 3 {
			w.round(0)
			risks = append(risks, risk)
			w.advance(w.now.Add(time.Hour))
		}
		return risks
	}
	without, with := run(false), run(true)
	for n, want := range []float64{1 / 0.1, 1 / 1.1, 1 / 2.1} {
		if got := with[n] - without[n]; math.Abs(got-want) > 1e-9 {
			t.Errorf("%d hours after the hint: %g losses an hour more, want %g", n, got, want)
		}
	}
}
