package autoscale_test

import (
	"fmt"
	"time"

	"github.com/goodfleet/goodfleet/autoscale"
	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/provider"
)

// A job waits and nothing is held: a machine is bought, and the job is aimed at it.
func ExampleDecide() {
	machine := provider.InstanceType{
		Cloud: "aws", Name: "p3.2xlarge", Accelerator: "V100", Kind: provider.GPU, Count: 1, AcceleratorMemGiB: 16,
		VCPU: 8, MemGiB: 61, Hosts: 1,
	}
	catalogue, err := provider.NewCatalogue([]provider.InstanceType{machine})
	if err != nil {
		fmt.Println(err)
		return
	}
	spot := provider.Offering{Cloud: "aws", Region: "us-east-1", Zone: "use1-az1", Type: "p3.2xlarge", Market: provider.Spot}
	state := autoscale.State{
		Now:       time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC),
		Jobs:      []autoscale.JobRecord{{Job: &planner.Job{ID: "GPT-L"}, Phase: autoscale.JobWaiting}},
		Offers:    []planner.Offer{{Offering: spot, Type: machine, Rate: 918 * pricing.DollarPerHour / 1000}},
		Catalogue: catalogue,
	}
	// The plan here is written by hand; policy.Value makes real ones.
	diff, _, err := autoscale.Decide(state, func(p planner.Problem) (planner.Plan, error) {
		return planner.Plan{
			Machines: []planner.PlannedMachine{{Offering: spot, Reason: "cheapest per sample"}},
			Allocations: []planner.Allocation{{
				Job: "GPT-L", Config: planner.Config{Cloud: "aws", Type: "p3.2xlarge", Nodes: 1, Replicas: 1},
				Offering: spot, Machines: []planner.MachineRef{0},
			}},
		}, nil
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, n := range diff.Launches {
		fmt.Printf("buy %d × %s at %s USD/h for %v: %s\n", n.Count, n.Offering, n.Rate, n.Jobs, n.Reason)
	}
	for _, t := range diff.Targets {
		fmt.Printf("%s goes to %v\n", t.Job, t.Target.Machines)
	}
	// Output:
	// buy 1 × aws/use1-az1/p3.2xlarge/spot at 0.918 USD/h for [GPT-L]: cheapest per sample
	// GPT-L goes to [new/0]
}
