package peer

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/provider"
)

// byStep is a scheduler that predicts step times by size, of jobs with so many steps left.
func byStep(sec map[planner.JobID][]float64, left map[planner.JobID]float64) Optimus {
	return Optimus{
		Left: func(j *planner.JobState) float64 { return left[j.Job.ID] },
		StepSec: func(j *planner.JobState, _ string, _, n int) (float64, bool) {
			if times := sec[j.Job.ID]; n <= len(times) {
				return times[n-1], true
			}
			return 0, false
		},
	}
}

// sizes are what a plan gives jobs on two machines of four.
func sizes(t *testing.T, o Optimus, jobs ...*planner.Job) map[planner.JobID]int {
	t.Helper()
	p := planner.Problem{Now: start, Round: time.Minute}
	offer := planner.Offer{Offering: provider.Offering{Cloud: "own", Type: "4xV100"}, Type: provider.InstanceType{Name: "4xV100", Accelerator: "V100", Count: 4}}
	p.Offers = append(p.Offers, offer)
	for _, id := range []provider.InstanceID{"m1", "m2"} {
		p.Machines = append(p.Machines, planner.Machine{ID: id, Offering: offer.Offering})
	}
	for _, j := range jobs {
		p.Jobs = append(p.Jobs, planner.JobState{Job: j})
	}
	plan, err := o.Plan(p)
	return given(t, plan, err)
}

func TestOptimusGivesToWhomItSavesMost(t *testing.T) {
	elastic := func(id string, sizes ...int) *planner.Job {
		j := job(id, 0, 3600, 1)
		j.Resources.Replicas.Set = sizes
		return j
	}
	// Halving pays until the second machine, where the fifth replica is slower than four.
	cliff := []float64{8, 4, 2.7, 2, 2.5, 1.4, 1.2, 1}
	smooth := []float64{8, 4, 2.7, 2, 1.6, 1.35, 1.15, 1}
	for name, tt := range map[string]struct {
		sec  map[planner.JobID][]float64
		left map[planner.JobID]float64
		jobs []*planner.Job
		want map[planner.JobID]int
	}{
		"stops at a cliff": {
			map[planner.JobID][]float64{"a": cliff}, map[planner.JobID]float64{"a": 100},
			[]*planner.Job{elastic("a", 1, 2, 4, 8)}, map[planner.JobID]int{"a": 4},
		},
		"by the time that is left": {
			map[planner.JobID][]float64{"a": smooth, "b": smooth}, map[planner.JobID]float64{"a": 1, "b": 1000},
			[]*planner.Job{elastic("a", 1, 2, 4), elastic("b", 1, 2, 3, 4)}, map[planner.JobID]int{"a": 4, "b": 4}, // b had 7: the rest goes to a
		},
		"none that slows down": {
			map[planner.JobID][]float64{"a": {8, 9}}, map[planner.JobID]float64{"a": 5},
			[]*planner.Job{elastic("a", 1, 2)}, map[planner.JobID]int{"a": 1},
		},
	} {
		if diff := cmp.Diff(tt.want, sizes(t, byStep(tt.sec, tt.left), tt.jobs...)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}
