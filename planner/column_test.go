package planner

import (
	"math"
	"testing"
	"time"

	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/provider"
)

// TestALongStayExpectsFewerLosses: of a pool of which little is known, a job expects the
// losses of the time that it would be there. For a law of shape 1/2 that are, with b hours
// the shape over the mean, (1 − √(b/(b + t))) / (2·√b·(√(b + t) − √b)) an hour.
func TestALongStayExpectsFewerLosses(t *testing.T) {
	gpu := sold[1]
	gpu.Hazard = pricing.Hazard{PoolPerHour: 0.6, OnePerHour: 0.01, Shape: 0.5, Rate: 0.5 / 0.6, Down: 2 * time.Hour}
	slice := gpu
	slice.Type.Kind = provider.TPU
	known := gpu
	known.Hazard.Shape = 0
	job := &Job{
		Resources:  Resources{Accelerators: []string{"V100"}, Ethernet: true},
		Curve:      flat{"V100": 100},
		Checkpoint: Checkpoint{Save: 20 * time.Second, Restore: time.Minute},
	}
	met := func(stay float64) float64 {
		b := 0.5 / 0.6
		return (1 - math.Sqrt(b/(b+stay))) / (2 * math.Sqrt(b) * (math.Sqrt(b+stay) - math.Sqrt(b)))
	}
	for _, tt := range []struct {
		name       string
		offer      Offer
		replicas   int
		work, done float64 // hours
		want       float64 // losses per hour
	}{
		{"a short job", gpu, 16, 0.5, 0, met(0.5) + 2*0.01},
		{"a long job", gpu, 16, 20, 0, met(20) + 2*0.01},
		{"a long job near its end", gpu, 16, 20, 19.5, met(0.5) + 2*0.01},
		{"a slice is lost as a whole", slice, 8, 20, 0, met(20) + 0.01},
		{"a rate that is known", known, 16, 20, 0, 0.6 + 2*0.01},
	} {
		j, pace := *job, 100*float64(tt.replicas) // samples per hour
		j.Resources.Replicas.Set = []int{tt.replicas}
		j.Work = Work{Samples: tt.work * pace, Kind: WorkExact}
		s := &JobState{Job: &j, Done: tt.done * pace}
		p := &Problem{Offers: []Offer{tt.offer}}
		list := newShelf(p, []bool{true}).columns(p, s, DefaultTransfer())
		if len(list) != 1 || list[0].Replicas() != tt.replicas {
			t.Fatalf("%s: columns %+v, want one of %d replicas", tt.name, list, tt.replicas)
		}
		if got := list[0].Loss; math.Abs(got-tt.want) > 1e-9 {
			t.Errorf("%s: %.4f losses per hour, want %.4f", tt.name, got, tt.want)
		}
	}
	if !(met(20) < met(0.5)/2) {
		t.Errorf("%.3f and %.3f losses per hour: the cases do not differ", met(20), met(0.5))
	}
}
