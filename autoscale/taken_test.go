package autoscale_test

import (
	"slices"
	"testing"
	"time"

	"github.com/goodfleet/goodfleet/autoscale"
	"github.com/goodfleet/goodfleet/provider"
)

// take lets the cloud take every machine of an offering at once, unannounced.
func (w *world) take(o provider.Offering) {
	w.t.Helper()
	if err := w.clouds[0].Do("take all of " + o.String() + " without notice"); err != nil {
		w.t.Fatal(err)
	}
}

// TestPoolThatTakesMachinesIsLeftForLonger lets every machine go four minutes after
// it was bought. Each launch is granted, and the waits grow all the same.
func TestPoolThatTakesMachinesIsLeftForLonger(t *testing.T) {
	for _, restarts := range []bool{false, true} {
		w := newWorld(t, setup{plan: thrifty, offerings: []provider.Offering{smallSpot}})
		w.submit(testJob("GPT-L", 10, 1))
		var bought []time.Duration
		for range 120 {
			r := w.round(time.Minute)
			if len(r.Bought) > 0 {
				bought = append(bought, w.now.Sub(start)/time.Minute)
			}
			if n := len(bought); n > 0 && w.now.Sub(start)/time.Minute == bought[n-1]+3 {
				w.take(smallSpot)
				if restarts {
					w.restart()
				}
			}
		}
		// Lost after four minutes each, then 3, 6, 12, 24 and 30 minutes.
		if want := []time.Duration{1, 8, 18, 34, 62, 96}; !slices.Equal(bought, want) {
			t.Errorf("restarts %v: bought in minutes %d, want %d", restarts, bought, want)
		}
	}
}

// TestPoolThatWentOnIsNewAgain takes a machine after it ran for hours: the wait is
// the first one again.
func TestPoolThatWentOnIsNewAgain(t *testing.T) {
	w := newWorld(t, setup{plan: thrifty, offerings: []provider.Offering{smallSpot}})
	w.submit(testJob("GPT-L", 10, 1))
	for range 2 {
		w.until(30, func() bool { return w.runs() == 1 })
		for range 60 {
			w.round(time.Minute)
		}
		w.take(smallSpot)
		lost := w.now
		w.round(time.Minute)
		w.until(30, func() bool { return len(w.live()) == 1 })
		if got := w.now.Sub(lost); got != 4*time.Minute {
			t.Errorf("bought again after %v, want the round to notice and 3 minutes", got)
		}
	}
}

// TestHeldIsToldOnceAPlace halves the price elsewhere by less than a restart costs.
func TestHeldIsToldOnceAPlace(t *testing.T) {
	w := newWorld(t, setup{offerings: []provider.Offering{smallSpot, smallSpotB}})
	w.prices.later, w.prices.turn = nil, start
	w.submit(testJob("GPT-L", 2, 1))
	w.until(10, func() bool { return w.runs() == 1 })
	w.prices.rates[smallSpotB] = w.prices.rates[smallSpot] * 97 / 100
	for range 20 {
		w.round(time.Minute)
	}
	if got := w.kinds(); got[autoscale.EventHeld] != 1 || got[autoscale.EventMove] != 0 {
		t.Errorf("events %v, want one that says held, and no move", got)
	}
}
