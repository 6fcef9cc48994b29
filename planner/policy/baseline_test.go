package policy

import (
	"testing"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/provider"
)

func TestBlindTakesTheCheapestHour(t *testing.T) {
	for seed := range uint64(50) {
		p := drawProblem(seed, shape{jobs: 4, spot: true})
		plan, err := Blind(p, Settings{})
		if err != nil {
			t.Fatal(err)
		}
		if len(plan.Allocations) != len(p.Jobs) {
			t.Fatalf("seed %d: %d of %d jobs run, uncapped: %+v", seed, len(plan.Allocations), len(p.Jobs), plan.Waits)
		}
		want, least := "", 1e9
		for _, o := range p.Offers {
			if hour := o.Rate.Dollars() / float64(o.Type.Count); hour < least {
				want, least = o.Type.Accelerator, hour
			}
		}
		for _, a := range plan.Allocations {
			if got := typeOf(a.Config.Type).Accelerator; got != want {
				t.Errorf("seed %d: %s runs on %s, want %s, the cheapest hour", seed, a.Job, got, want)
			}
		}
	}
}

// Where nothing is to be had for a job it waits, as under any other policy.
func TestBlindWaitsWhereNothingIsSold(t *testing.T) {
	for seed := range uint64(20) {
		p := drawProblem(seed, shape{jobs: 4, spot: true})
		for i := range p.Offers {
			p.Offers[i].Blocked = "it is short"
		}
		plan, err := Blind(p, Settings{})
		if err != nil {
			t.Fatal(err)
		}
		if len(plan.Allocations) != 0 || len(plan.Waits) != len(p.Jobs) {
			t.Errorf("seed %d: %d jobs run and %d of %d wait", seed, len(plan.Allocations), len(plan.Waits), len(p.Jobs))
		}
	}
}

func TestOnDemandBuysNoSpot(t *testing.T) {
	p := drawProblem(3, shape{jobs: 5, spot: true})
	plan, err := OnDemand(Value)(p, Settings{})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range plan.Machines {
		if m.Offering.Market != provider.OnDemand {
			t.Errorf("holds %s", m.Offering)
		}
	}
	if len(plan.Allocations) != 5 {
		t.Errorf("%d jobs run, want 5", len(plan.Allocations))
	}
}

func TestCheapestTypeIsTheCheapestForAllTheWork(t *testing.T) {
	for seed := range uint64(40) {
		p := drawProblem(seed, shape{jobs: 4})
		var jobs []*planner.Job
		for i := range p.Jobs {
			jobs = append(jobs, p.Jobs[i].Job)
		}
		_, name, ok := CheapestType(jobs, p.Offers)
		if !ok {
			t.Fatal("no type")
		}
		cost := func(typ string) float64 {
			sum := 0.0
			for _, j := range jobs {
				least := -1.0
				for _, o := range p.Offers {
					if o.Type.Name != typ {
						continue
					}
					for _, n := range j.Resources.Replicas.Set {
						nodes := (n + o.Type.Count - 1) / o.Type.Count
						speed, known := j.Curve.Speed(o.Type.Accelerator, nodes, n)
						if !known || n%nodes != 0 {
							continue
						}
						if usd := o.Rate.Dollars() * float64(nodes) * j.Work.Samples / speed.Goodput; least < 0 || usd < least {
							least = usd
						}
					}
				}
				sum += least
			}
			return sum
		}
		for _, other := range []string{"k1", "v1", "v4", "p2"} {
			// Within the share that is lost to failures and checkpoints.
			if cost(other) < cost(name)*0.99 {
				t.Errorf("seed %d: %s costs %.2f, %s only %.2f", seed, name, cost(name), other, cost(other))
			}
		}
	}
}
