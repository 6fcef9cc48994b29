package autoscale_test

import (
	"math"
	"testing"
	"time"

	"github.com/goodfleet/goodfleet/autoscale"
	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/provider"
)

// TestMeasuredMemoryIsThatOfTheNextPlan: the least of the last five machines counts,
// more than the catalogue as well as less.
func TestMeasuredMemoryIsThatOfTheNextPlan(t *testing.T) {
	var seen float64
	w := newWorld(t, setup{offerings: []provider.Offering{smallSpot}, plan: func(p planner.Problem) (planner.Plan, error) {
		for _, o := range p.Offers {
			seen = o.Type.MemGiB
		}
		return thrifty(p)
	}})
	if err := w.clouds[0].Do("launch boots with 58 GiB"); err != nil {
		t.Fatal(err)
	}
	w.submit(testJob("GPT-a", 1, 1))
	w.round(time.Minute)
	if seen != 64 {
		t.Errorf("before any boot: %g GiB, want the catalogue's 64", seen)
	}
	w.until(10, func() bool { return w.runs() == 1 })
	w.round(time.Minute)
	if got := w.kinds()[autoscale.EventMeasured]; seen != 58 || got != 1 {
		t.Errorf("after the boot: %g GiB and %d events, want 58 and 1", seen, got)
	}
	w.restart()
	w.round(time.Minute)
	if seen != 58 {
		t.Errorf("after a restart: %g GiB, want 58: the records tell", seen)
	}
	// Five machines as they should be, and the odd one is forgotten.
	for _, id := range []planner.JobID{"b", "c", "d", "e", "f"} {
		w.submit(testJob("GPT-"+id, 1, 1))
	}
	w.until(20, func() bool { return w.runs() == 6 })
	w.round(time.Minute)
	if seen != 64 {
		t.Errorf("after five more boots: %g GiB, want 64", seen)
	}
}

func TestMemoryThatIsNoneIsOdd(t *testing.T) {
	for _, gib := range []float64{math.NaN(), math.Inf(1), -1} {
		w := newWorld(t, setup{offerings: []provider.Offering{smallSpot}})
		w.clouds[0].tell = func(list []provider.Instance) {
			for i := range list {
				list[i].MemGiB = gib
			}
		}
		w.submit(testJob("GPT-L", 1, 1))
		w.round(time.Minute)
		w.round(time.Minute)
		if w.kinds()[autoscale.EventOdd] != 1 {
			t.Errorf("%g GiB: events %v, want one that says odd", gib, w.kinds())
		}
	}
}
