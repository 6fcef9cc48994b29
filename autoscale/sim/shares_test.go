package sim

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/goodfleet/goodfleet/autoscale"
	"github.com/goodfleet/goodfleet/autoscale/placement"
	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/planner/policy"
	"github.com/goodfleet/goodfleet/provider"
)

// onShares is a small world in which nothing is sold: so many machines are owned, and
// jobs of equal speed and one accelerator share them by a policy.
func onShares(t *testing.T, name string, machines int, weights ...float64) Setting {
	t.Helper()
	s := smallSetting(t, 3, 0)
	s.Offerings, s.Horizon = nil, 12*time.Hour
	own := provider.Offering{Cloud: "aws", Region: "us-east-1", Zone: "use1-az1", Type: "p3.2xlarge", Market: provider.Reserved, Reservation: "own"}
	s.Reservations = []autoscale.Reservation{{Offering: own, Count: machines}}
	for i, w := range weights {
		s.Jobs = append(s.Jobs, &planner.Job{
			ID: planner.JobID(string(rune('a' + i))), Submitted: start, Weight: w,
			Work:       planner.Work{Samples: 1e9, Kind: planner.WorkExact}, // more than the horizon
			Resources:  planner.Resources{Replicas: planner.Replicas{Set: []int{1}}},
			Curve:      speeds{"V100": 1000},
			Checkpoint: planner.Checkpoint{Save: time.Second, Restore: 10 * time.Second},
		})
	}
	named, err := policy.ByName(name)
	if err != nil {
		t.Fatal(err)
	}
	s.Plan = func(p planner.Problem) (planner.Plan, error) {
		return named.Policy(p, policy.Settings{Turns: placement.Turns})
	}
	return s
}

// What jobs have had after twelve hours is what their shares come to, to a twentieth
// of the time: leases, restarts and the boot of machines are in it.
func TestSimulatedSharesComeToTheirTargets(t *testing.T) {
	for _, tt := range []struct {
		name     string
		machines int
		weights  []float64
		want     []float64 // of the time
	}{
		{"max_min_fairness", 2, []float64{1, 1, 1}, []float64{2. / 3, 2. / 3, 2. / 3}},
		{"max_min_fairness", 1, []float64{3, 1}, []float64{3. / 4, 1. / 4}},
		{"isolated", 2, []float64{1, 1, 1, 1}, []float64{.5, .5, .5, .5}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			out, err := Simulate(context.Background(), onShares(t, tt.name, tt.machines, tt.weights...))
			if err != nil {
				t.Fatal(err)
			}
			for i, j := range out.JobOutcomes {
				got := j.Samples / 1000 / 12
				if math.Abs(got-tt.want[i]) > 0.05 {
					t.Errorf("%s did the work of %.3f of the time, its share is %.3f", j.Job, got, tt.want[i])
				}
				if most := int(12 * time.Hour / (6 * time.Minute)); j.Restarts > most {
					t.Errorf("%s started %d times in 12 h: a lease lasts at least six minutes", j.Job, j.Restarts)
				}
			}
		})
	}
}

// While there is room for all, a lease is renewed in place: nobody is moved.
func TestSimulatedLeasesAreRenewedInPlace(t *testing.T) {
	out, err := Simulate(context.Background(), onShares(t, "max_min_fairness", 3, 1, 1, 1))
	if err != nil {
		t.Fatal(err)
	}
	for _, j := range out.JobOutcomes {
		if stops := j.Restarts - 1; stops != 0 { // the end of the simulation stops each once
			t.Errorf("%s was stopped or moved %d times", j.Job, stops)
		}
	}
}
