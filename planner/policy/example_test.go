package policy_test

import (
	"fmt"
	"time"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/planner/policy"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/provider"
)

// speeds is samples per hour on one accelerator.
type speeds map[string]float64

func (s speeds) Speed(accelerator string, nodes, replicas int) (planner.Speed, bool) {
	g, ok := s[accelerator]
	return planner.Speed{Goodput: g * float64(replicas)}, ok
}

// Two jobs gain differently from a faster accelerator: the one that gains 2.4×
// stays on the cheap machine, the one that gains 8× gets the dear one.
func ExampleValue() {
	machine := func(name, accelerator, rate string) planner.Offer {
		r, err := pricing.ParseRate(rate)
		if err != nil {
			panic(err)
		}
		return planner.Offer{
			Offering: provider.Offering{Cloud: "aws", Region: "us-east-1", Zone: "use1-az1", Type: name, Market: provider.OnDemand},
			Type: provider.InstanceType{Cloud: "aws", Name: name, Accelerator: accelerator, Kind: provider.GPU, Count: 1,
				AcceleratorMemGiB: 12, VCPU: 4, MemGiB: 61, Hosts: 1},
			Rate: r, Booked: r, Boot: 3 * time.Minute, Cap: -1,
		}
	}
	job := func(id planner.JobID, k80, v100 float64) planner.JobState {
		return planner.JobState{Job: &planner.Job{
			ID: id, Work: planner.Work{Samples: 10 * v100, Kind: planner.WorkExact},
			Resources:   planner.Resources{Replicas: planner.Replicas{Min: 1, Max: 1}},
			Curve:       speeds{"K80": k80, "V100": v100},
			ValueOfTime: pricing.DollarPerHour / 2,
		}}
	}
	plan, err := policy.Value(planner.Problem{
		Now:    time.Date(2023, 6, 1, 0, 0, 0, 0, time.UTC),
		Jobs:   []planner.JobState{job("recommender", 1000, 2400), job("translator", 1000, 8000)},
		Offers: []planner.Offer{machine("p2.xlarge", "K80", "0.90"), machine("p3.2xlarge", "V100", "3.06")},
	}, policy.Settings{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, a := range plan.Allocations {
		fmt.Printf("%s: %d × %s at %s USD/h\n", a.Job, a.Config.Nodes, a.Config.Type, a.Rate)
		fmt.Printf("  not %s: %s\n", a.RunnerUp.Config.Type, a.RunnerUp.Reason)
	}
	// Output:
	// recommender: 1 × p2.xlarge at 0.9 USD/h
	//   not p3.2xlarge: 2.40× the useful speed at 3.40× the rate: 6.0 % dearer per unit of work
	// translator: 1 × p3.2xlarge at 3.06 USD/h
	//   not p2.xlarge: 0.12× the useful speed at 0.29× the rate: 215 % dearer per unit of work
}
