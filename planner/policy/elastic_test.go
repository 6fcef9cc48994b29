package policy

import (
	"testing"
	"time"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/planner/goodput"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/provider"
)

// elasticProblem is one job that adapts its batch, with that noise, where machines
// of four T4 are sold.
func elasticProblem(t *testing.T, noise goodput.Noise) (planner.Problem, planner.Curve) {
	t.Helper()
	profile := &goodput.Profile{
		Name: "resnet50", Noise: &noise,
		Limits: goodput.Limits{InitialBatch: 200, MaxBatch: 12800, MinLocal: 20, MaxLocal: 200, Accumulation: true},
		Types: []goodput.TypeProfile{{
			Accelerator: "T4", Kind: goodput.KindGPU,
			Theta: goodput.Theta{AlphaC: 0.064, BetaC: 0.0045, AlphaN: 0.32, BetaN: 0.0062, AlphaR: 0.075, BetaR: 0.00087, Gamma: 2.5},
		}},
	}
	curve, err := planner.GoodputCurve(profile, planner.Growth{Bought: true})
	if err != nil {
		t.Fatal(err)
	}
	job := &planner.Job{
		ID: "resnet50-1", Family: "resnet50", Curve: curve, ValueOfTime: 60 * pricing.DollarPerHour,
		Work:      planner.Work{Samples: 1e8, Kind: planner.WorkExact},
		Resources: planner.Resources{Replicas: planner.Replicas{Min: 1, Max: 64}, Ethernet: true},
	}
	rate := pricing.Rate(4) * pricing.DollarPerHour
	return planner.Problem{
		Now:  time.Date(2026, 8, 3, 0, 0, 0, 0, time.UTC),
		Jobs: []planner.JobState{{Job: job}},
		Offers: []planner.Offer{{
			Offering: provider.Offering{Cloud: "aws", Region: "us-east-1", Zone: "use1-az1", Type: "g4dn.12xlarge", Market: provider.OnDemand},
			Type: provider.InstanceType{Cloud: "aws", Name: "g4dn.12xlarge", Accelerator: "T4", Kind: provider.GPU, Count: 4, AcceleratorMemGiB: 16,
				VCPU: 48, MemGiB: 192, Hosts: 1},
			Rate: rate, Booked: rate, Cap: -1,
		}},
	}, curve
}

// As gradients get noisier in the course of training, larger batches are worth
// more, and with them more accelerators.
func TestElasticJobGrowsWithItsNoise(t *testing.T) {
	before := 0
	for _, noise := range []goodput.Noise{{Sqr: 1, Var: 1}, {Sqr: 1, Var: 10}, {Sqr: 1, Var: 100}} {
		p, curve := elasticProblem(t, noise)
		plan, err := Value(p, Settings{})
		if err != nil {
			t.Fatal(err)
		}
		if len(plan.Allocations) != 1 {
			t.Fatalf("noise %+v: the job waits: %+v", noise, plan.Waits)
		}
		c := plan.Allocations[0].Config
		if speed, _ := curve.Speed("T4", c.Nodes, c.Replicas); c.Batch != speed.Batch || c.Batch < 200 {
			t.Errorf("noise %+v: batch %d of %+v, the curve says %d", noise, c.Batch, c, speed.Batch)
		}
		if c.Replicas <= before {
			t.Errorf("noise %+v: %d replicas, with less noise %d", noise, c.Replicas, before)
		}
		before = c.Replicas
	}
}
