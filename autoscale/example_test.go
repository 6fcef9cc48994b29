package autoscale_test

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/goodfleet/goodfleet/autoscale"
	"github.com/goodfleet/goodfleet/autoscale/store"
	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/planner/policy"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/pricing/budget"
	"github.com/goodfleet/goodfleet/pricing/ledger"
	"github.com/goodfleet/goodfleet/provider"
	"github.com/goodfleet/goodfleet/provider/fake"
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

// printer is a runner that says what it is told. Its gangs never end.
type printer struct{ gangs []autoscale.Progress }

func (p *printer) Start(_ context.Context, g autoscale.Gang) error {
	fmt.Printf("start %s on accelerators %v of %d machine\n", g.Job, g.Nodes[0].Accelerators, len(g.Nodes))
	p.gangs = append(p.gangs, autoscale.Progress{Job: g.Job, Generation: g.Generation, State: autoscale.GangRunning})
	return nil
}

func (p *printer) Stop(context.Context, planner.JobID, int64, autoscale.StopMode) error { return nil }

func (p *printer) Progress(context.Context) ([]autoscale.Progress, error) { return p.gangs, nil }

// A fleet of one job on a cloud in memory: what the daemon does with the real
// clock, and the simulator from event to event.
func ExampleLoop_Round() {
	ctx := context.Background()
	now := start
	catalogue := testCatalogue(nil)
	prices := testPrices()
	cloud, err := fake.New(fake.Config{
		Name: "aws", Seed: 1, Start: now, Catalogue: catalogue, Offerings: []provider.Offering{smallOnDemand}, InterruptionScale: 1,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	loop, err := autoscale.New(autoscale.Config{
		Clouds: []provider.Cloud{cloud}, Store: store.NewMemory(""), Runner: &printer{}, Catalogue: catalogue,
		Prices: prices, Hazards: pricing.NewHazards(pricing.HazardConfig{Catalogue: catalogue}),
		Guard:     budget.NewGuard(10 * pricing.DollarPerHour),
		Meter:     func(charges []ledger.Charge) *ledger.Meter { return ledger.Resume(prices, ledger.Rules{}, charges) },
		Plan:      func(p planner.Problem) (planner.Plan, error) { return policy.Value(p, policy.Settings{}) },
		Offerings: []provider.Offering{smallOnDemand},
		Tokens:    uuid.NewString,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := loop.Submit(ctx, now, testJob("GPT-L", 2, 1)); err != nil {
		fmt.Println(err)
		return
	}
	for range 10 {
		cloud.Advance(now)
		round, err := loop.Round(ctx, now)
		if err != nil {
			fmt.Println(err)
			return
		}
		for _, n := range round.Diff.Launches {
			fmt.Printf("buy %d × %s\n", n.Count, n.Offering)
		}
		now = now.Add(time.Minute)
	}
	// Output:
	// buy 1 × aws/use1-az1/small/on-demand
	// start GPT-L on accelerators [0] of 1 machine
}
