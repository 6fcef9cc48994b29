package autoscale

import (
	"math"
	"testing"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/pricing"
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
		if got := len(r.Lumps(there, 1)); got != c.want {
			t.Errorf("%s: %d lumps, want %d", name, got, c.want)
		}
	}
}

// What a job takes is paid wherever it leaves its region, for another cloud or not, and
// nowhere else, as it is planned: regions have no zone there.
func TestWhatLeavesItsRegionIsPaid(t *testing.T) {
	var places []provider.Offering
	for _, cloud := range []string{"aws", "gcp"} {
		for _, region := range []string{"us-east-1", "us-west-2", "us-central1"} {
			places = append(places, provider.Offering{Cloud: cloud, Region: region, Market: provider.OnDemand})
		}
	}
	for _, from := range places {
		for _, to := range places {
			r := &JobRecord{Job: &planner.Job{ID: "a"}}
			r.Job.Data = planner.Data{Cloud: from.Cloud, Region: from.Region, Size: planner.Size{GiB: 100, Known: true}}
			zoned := to
			zoned.Zone = to.Region + "a"
			sum := pricing.Money(0)
			for _, l := range r.Lumps(zoned, 1) {
				sum += l.Amount
			}
			if planned, _ := planner.DefaultTransfer().Move(r.Job.Data.Size, from.Cloud, from.Region, to.Cloud, to.Region); math.Abs(planned-sum.Dollars()) > 1e-8 {
				t.Errorf("100 GiB from %s/%s to %s/%s: %g USD are planned, %s booked", from.Cloud, from.Region, to.Cloud, to.Region, planned, sum)
			}
			if near := from == to; near != (sum == 0) {
				t.Errorf("100 GiB from %s/%s to %s/%s cost %s USD", from.Cloud, from.Region, to.Cloud, to.Region, sum)
			}
		}
	}
}
