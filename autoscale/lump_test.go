package autoscale

import (
	"testing"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/provider"
)

// A checkpoint that a gang may yet write when it stops is money that a move may take, though none
// is safe when the move is judged.
func TestMoveIsJudgedWithTheCheckpointThatStoppingMakes(t *testing.T) {
	here := provider.Offering{Cloud: "gcp", Region: "us-central1", Market: provider.OnDemand}
	there := provider.Offering{Cloud: "aws", Region: "us-east-1", Market: provider.OnDemand}
	for name, c := range map[string]struct {
		safe float64
		gang *Gang
		ran  provider.Offering
		want int
	}{
		"never ran":                  {0, nil, provider.Offering{}, 0},
		"ran, and lost all":          {0, nil, here, 0},
		"ran, and saved":             {1, nil, here, 1},
		"runs, and nothing is saved": {0, &Gang{}, here, 1},
		"runs there":                 {1, &Gang{}, there, 0},
	} {
		r := &JobRecord{Job: &planner.Job{ID: "a"}, Safe: c.safe, Gang: c.gang, Place: c.ran}
		r.Job.Checkpoint.Size = planner.Size{GiB: 1, Known: true}
		if got := len(r.lumps(there, 1)); got != c.want {
			t.Errorf("%s: %d lumps, want %d", name, got, c.want)
		}
	}
}
