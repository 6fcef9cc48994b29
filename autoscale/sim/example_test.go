package sim_test

import (
	"context"
	"fmt"
	"time"

	"github.com/goodfleet/goodfleet/autoscale/sim"
	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/planner/policy"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/provider"
)

// v100 is a curve of 1,000 samples per hour and V100.
type v100 struct{}

func (v100) Speed(accelerator string, _, replicas int) (planner.Speed, bool) {
	return planner.Speed{Goodput: 1000 * float64(replicas)}, accelerator == "V100"
}

// Two jobs of three hours on one V100 and of one hour on four, bought on demand.
func ExampleSimulate() {
	start := time.Date(2023, time.June, 5, 8, 0, 0, 0, time.UTC)
	catalogue, err := provider.EmbeddedCatalogue()
	if err != nil {
		fmt.Println(err)
		return
	}
	one := provider.Offering{Cloud: "aws", Region: "us-east-1", Zone: "use1-az1", Type: "p3.2xlarge", Market: provider.OnDemand}
	four := one
	four.Type = "p3.8xlarge"
	prices, err := pricing.NewHistory([]pricing.Quote{
		{Offering: one, Rate: 3_060_000_000, At: start, Source: "example"},
		{Offering: four, Rate: 12_240_000_000, At: start, Source: "example"},
	}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	job := func(id planner.JobID, replicas int, samples float64) *planner.Job {
		return &planner.Job{
			ID: id, Team: "Vision", Submitted: start, Curve: v100{},
			Work:      planner.Work{Samples: samples, Kind: planner.WorkExact},
			Resources: planner.Resources{Replicas: planner.Replicas{Set: []int{replicas}}},
		}
	}
	out, err := sim.Simulate(context.Background(), sim.Setting{
		Variant: "example", Seed: 1, Start: start, Catalogue: catalogue, Prices: prices,
		Offerings: []provider.Offering{one, four},
		Jobs:      []*planner.Job{job("ResNet-1", 1, 3000), job("GPT-L", 4, 4000)},
		Plan:      func(p planner.Problem) (planner.Plan, error) { return policy.Value(p, policy.Settings{}) },
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%d jobs, %d unfinished, %.0f V100-hours, %.1f hours on average\n", out.Jobs, out.Unfinished, out.ReferenceHours, out.AvgJCTHours)
	for _, j := range out.JobOutcomes {
		fmt.Printf("%s: %.2f USD\n", j.Job, j.Cost.Dollars())
	}
	// Output:
	// 2 jobs, 0 unfinished, 7 V100-hours, 2.0 hours on average
	// GPT-L: 12.24 USD
	// ResNet-1: 9.18 USD
}
