package policy

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/provider"
)

// held is a job of an hour on a machine of 1 USD/h, with another at a rate beside it.
func held(other pricing.Rate) planner.Problem {
	typ := provider.InstanceType{Cloud: "aws", Name: "small", Accelerator: "V100", Kind: provider.GPU, Count: 1, AcceleratorMemGiB: 16, VCPU: 8, MemGiB: 61, Hosts: 1}
	at := func(zone string) provider.Offering {
		return provider.Offering{Cloud: "aws", Region: "us-east-1", Zone: zone, Type: "small", Market: provider.OnDemand}
	}
	offer := func(zone string, rate pricing.Rate) planner.Offer {
		return planner.Offer{Offering: at(zone), Type: typ, Rate: rate, Booked: rate, Cap: -1, Boot: 2 * time.Minute}
	}
	now := time.Date(2026, 11, 2, 0, 0, 0, 0, time.UTC)
	return planner.Problem{
		Now: now,
		Jobs: []planner.JobState{{
			Job: &planner.Job{
				ID: "a", Submitted: now.Add(-time.Hour), ValueOfTime: pricing.DollarPerHour,
				Work:       planner.Work{Samples: 1000, Kind: planner.WorkExact},
				Resources:  planner.Resources{Replicas: planner.Replicas{Set: []int{1}}},
				Checkpoint: planner.Checkpoint{Save: 20 * time.Second, Restore: 30 * time.Second},
				Curve:      flat{},
			},
			Running: &planner.Running{Config: planner.Config{Cloud: "aws", Type: "small", Nodes: 1, Replicas: 1}, Offering: at("a"), Machines: []provider.InstanceID{"i-1"}},
		}},
		Machines: []planner.Machine{{ID: "i-1", Offering: at("a"), Rate: pricing.DollarPerHour, ReadyAt: now}},
		Offers:   []planner.Offer{offer("a", pricing.DollarPerHour), offer("b", other)},
		Unpriced: []planner.Offer{{Offering: at("c"), Type: typ}},
	}
}

// flat is a curve of a thousand samples an hour and accelerator.
type flat struct{}

func (flat) Speed(_ string, _, replicas int) (planner.Speed, bool) {
	return planner.Speed{Goodput: 1000 * float64(replicas)}, true
}

func TestHeldSaysWhatAMoveWouldSave(t *testing.T) {
	for _, tt := range []struct {
		name  string
		other pricing.Rate
		held  bool
		moves bool
	}{
		{"dearer", pricing.DollarPerHour * 11 / 10, false, false},
		{"a tie", pricing.DollarPerHour, false, false},
		{"a billionth cheaper", pricing.DollarPerHour - 1, false, false},
		{"3 % cheaper", pricing.DollarPerHour * 97 / 100, true, false},
		{"far cheaper", pricing.DollarPerHour / 5, false, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			plan, err := Value(held(tt.other), Settings{})
			if err != nil || len(plan.Allocations) != 1 {
				t.Fatalf("plan %+v, %v", plan, err)
			}
			a := plan.Allocations[0]
			if a.Keeps == tt.moves || a.Held != tt.held {
				t.Errorf("keeps %v, held %v: %s", a.Keeps, a.Held, a.Reason)
			}
			if says := strings.HasPrefix(a.Reason, "held: saving below threshold: aws/b/small/on-demand would be "); says != tt.held {
				t.Errorf("reason %q", a.Reason)
			}
		})
	}
}

func TestWaitNamesWhatHasNoPrice(t *testing.T) {
	p := held(pricing.DollarPerHour)
	p.Machines, p.Jobs[0].Running, p.Jobs[0].Waiting = nil, nil, p.Now
	p.Jobs[0].Job.MaxPrice = pricing.DollarPerHour / 2
	plan, err := Value(p, Settings{})
	if err != nil || len(plan.Waits) != 1 {
		t.Fatalf("plan %+v, %v", plan, err)
	}
	const want = "; aws/c/small/on-demand has no price"
	if got := plan.Waits[0].Reason; !strings.HasPrefix(got, "maxPrice: wants 0.5 USD/h") || !strings.HasSuffix(got, want) {
		t.Errorf("reason %q, want the limit, and %q", got, want)
	}
	// What would not fit at any price is not named.
	p.Jobs[0].Job.Markets = []provider.Market{provider.Spot}
	if plan, err = Value(p, Settings{}); err != nil || strings.Contains(plan.Waits[0].Reason, "no price") {
		t.Errorf("waits %+v, %v", plan.Waits, err)
	}
	// A limit that equals the price is kept.
	p.Jobs[0].Job.Markets, p.Jobs[0].Job.MaxPrice = nil, pricing.DollarPerHour
	if plan, err = Value(p, Settings{}); err != nil || len(plan.Allocations) != 1 {
		t.Errorf("plan %+v, %v: a price that equals the limit is within it", plan, err)
	}
}

// TestSwitchesAreJudgedOverWhatTheyLast: where jobs were never left in peace for long, what a move
// gains does not last.
func TestSwitchesAreJudgedOverWhatTheyLast(t *testing.T) {
	for turnover, moves := range map[time.Duration]bool{0: true, time.Hour: true, 10 * time.Minute: true, 150 * time.Second: false, time.Second: false} {
		p := held(pricing.DollarPerHour / 5)
		p.Turnover = turnover
		plan, err := Value(p, Settings{})
		if err != nil || len(plan.Allocations) != 1 {
			t.Fatalf("plan %+v, %v", plan, err)
		}
		if a := plan.Allocations[0]; a.Keeps == moves {
			t.Errorf("after a turnover of %v: keeps %v: %s", turnover, a.Keeps, a.Reason)
		}
	}
}

// TestWhatSavesNoMoneyIsNotHeldByTurnover: under a goal jobs grow and shrink with the queue, which costs
// no money.
func TestWhatSavesNoMoneyIsNotHeldByTurnover(t *testing.T) {
	for seed := range uint64(20) {
		p := drawProblem(seed, shape{jobs: 6, machines: true, capped: true})
		want, err := MaxGoodput(p, Settings{})
		if err != nil {
			t.Fatal(err)
		}
		p.Turnover = time.Second
		got, err := MaxGoodput(p, Settings{})
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("seed %d: %v, worth %g, want %g", seed, err, got.Value, want.Value)
		}
	}
}
