package autoscale_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/goodfleet/goodfleet/autoscale"
	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/provider"
)

// drawFault is what happens to one launch: mostly nothing. Clouds are called at
// the same time, so each has randomness of its own.
func drawFault(rng *rand.Rand) fault {
	switch rng.IntN(20) {
	case 0:
		return fault{before: true, err: fmt.Errorf("launch: %w", provider.ErrCapacity)}
	case 1:
		return fault{before: true, err: fmt.Errorf("launch: %w", provider.ErrQuota)}
	case 2:
		return fault{before: true, err: fmt.Errorf("launch: %w", provider.ErrThrottled)}
	case 3:
		return fault{before: true, err: errors.New("connection reset")} // the cloud did not hear it
	case 4:
		return fault{err: fmt.Errorf("launch: %w", provider.ErrUnknown)} // the cloud did, the answer is lost
	case 5:
		return fault{empty: true}
	case 6:
		return fault{only: 1}
	case 7:
		return fault{before: true, err: fmt.Errorf("launch: %w", provider.ErrDenied)}
	}
	return fault{}
}

func drawSetup(t *rapid.T) setup {
	var limit pricing.Rate
	if rapid.Bool().Draw(t, "capped") {
		limit = pricing.DollarPerHour * pricing.Rate(rapid.IntRange(8, 20).Draw(t, "cap"))
	}
	skip := rapid.Bool().Draw(t, "skip unchanged")
	s := setup{
		interruptions: rapid.SampledFrom([]float64{0, 0.2, 0.7}).Draw(t, "interruptions per hour"),
		notice:        rapid.SampledFrom([]time.Duration{0, 20 * time.Second, 2 * time.Minute}).Draw(t, "notice"),
		awsQuota:      rapid.SampledFrom([]int{0, 64, 96}).Draw(t, "quota"),
		gcp:           rapid.Bool().Draw(t, "gcp"),
		settings: func(x *autoscale.Settings) {
			x.BurnCap, x.SkipUnchanged = limit, skip
		},
	}
	return s
}

func drawJob(t *rapid.T, n int) *planner.Job {
	sizes := rapid.SampledFrom([][]int{{1}, {2}, {1, 2}, {1, 2, 4}, {4}, {2, 4, 8}, {8}}).Draw(t, "replicas")
	j := testJob(planner.JobID(fmt.Sprintf("job-%d", n)), rapid.Float64Range(0.05, 1.5).Draw(t, "hours"), sizes...)
	j.ValueOfTime = pricing.RateOf(rapid.Float64Range(0.2, 10).Draw(t, "value of time"))
	return j
}

// In any little fleet, under any faults, what must never be never is (see check),
// every job comes to an end once the faults stop, and every machine is booked.
func TestFleetKeepsItsPromisesUnderFaults(t *testing.T) {
	t.Run("thrifty", func(t *testing.T) { rapid.Check(t, func(t *rapid.T) { promises(t, thrifty) }) })
	t.Run("value", func(t *testing.T) { rapid.Check(t, func(t *rapid.T) { promises(t, nil) }) })
}

func promises(t *rapid.T, plan autoscale.PlanFunc) {
	s := drawSetup(t)
	s.plan = plan
	w := newWorld(t, s)
	faults := true
	seed := rapid.Uint64().Draw(t, "seed of faults")
	for i, c := range w.clouds {
		rng := rand.New(rand.NewPCG(seed, uint64(i)))
		c.launch = func(provider.LaunchRequest) fault {
			if !faults {
				return fault{}
			}
			return drawFault(rng)
		}
	}
	if rapid.Bool().Draw(t, "prices fall") {
		w.prices.turn = start.Add(time.Duration(rapid.IntRange(1, 60).Draw(t, "minute of the fall")) * time.Minute)
		w.prices.later = map[provider.Offering]pricing.Rate{largeSpot: pricing.DollarPerHour * 3 / 2}
	}
	jobs := rapid.IntRange(1, 6).Draw(t, "jobs")
	for n := range jobs {
		w.submit(drawJob(t, n))
	}
	for range rapid.IntRange(1, 40).Draw(t, "rounds with faults") {
		for _, c := range w.clouds {
			c.list, c.deny = nil, false
			switch rapid.IntRange(0, 9).Draw(t, "trouble of "+c.Name()) {
			case 0:
				c.list = errors.New("503")
			case 1:
				c.deny = true
			}
		}
		if rapid.IntRange(0, 19).Draw(t, "restart") == 0 {
			w.restart()
		}
		after := time.Duration(rapid.IntRange(1, 240).Draw(t, "seconds")) * time.Second
		if _, err := w.tryRound(after); err != nil {
			t.Fatalf("round at %v: %v\n%s", w.now.Sub(start), err, w.history())
		}
	}
	faults = false
	for _, c := range w.clouds {
		c.list, c.deny = nil, false
		c.Cloud.Advance(w.now)
	}
	w.until(1500, w.allEnded)
	w.round(time.Minute)
	w.checkBooks()
}
