package policy

import (
	"strings"
	"testing"
	"time"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/provider"
)

// TestMinCostWaitsAndGoes follows one job of 4 h through what may happen to it.
func TestMinCostWaitsAndGoes(t *testing.T) {
	for _, tc := range []struct {
		name   string
		left   time.Duration // to the deadline
		spot   bool
		holds  provider.Market
		market provider.Market // 0: it waits
	}{
		{"spot is there", 10 * time.Hour, true, 0, provider.Spot},
		{"no spot, much slack", 10 * time.Hour, false, 0, 0},
		{"no spot, slack under an eighth", 4*time.Hour + 40*time.Minute, false, 0, provider.OnDemand},
		{"no spot, more than an eighth", 5 * time.Hour, false, 0, 0},
		{"spot, little slack", 4*time.Hour + 20*time.Minute, true, 0, provider.Spot},
		{"spot, no slack", 4*time.Hour + 10*time.Minute, true, 0, provider.OnDemand},
		{"back to spot that lasts", 6 * time.Hour, true, provider.OnDemand, provider.Spot},
		{"not back without slack", 4*time.Hour + 10*time.Minute, true, provider.OnDemand, provider.OnDemand},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := spotAndSure(trainFor("a", 4, tc.left))
			if !tc.spot {
				p.Offers[1].Blocked = "no capacity"
			}
			if tc.holds != 0 {
				at := p.Offers[0].Offering
				at.Market = tc.holds
				p.Machines = []planner.Machine{{ID: "i-0", Offering: at, Rate: p.Offers[0].Rate, ReadyAt: start}}
				p.Jobs[0].Running = &planner.Running{Config: planner.Config{Cloud: "aws", Type: "v1", Nodes: 1, Replicas: 1}, Offering: at, Machines: []provider.InstanceID{"i-0"}}
			}
			plan := planFor(t, p, MinCost)
			if got := marketOf(plan, "a"); got != tc.market {
				t.Errorf("on %v, want %v: %s", got, tc.market, plan.Promises[0])
			}
			if tc.market == 0 && !strings.HasPrefix(plan.Waits[0].Reason, "waits for spot: ") {
				t.Errorf("waits because %q", plan.Waits[0].Reason)
			}
			if next := plan.Promises[0].From; tc.market == 0 && (plan.NextDecision.IsZero() || plan.NextDecision.After(next)) {
				t.Errorf("next decision at %v, the net is due at %v", plan.NextDecision, next)
			}
		})
	}
}

// TestMinCostGivesDeadlines: four times the time at the knee, or what is set.
func TestMinCostGivesDeadlines(t *testing.T) {
	job := trainFor("a", 4, 0)
	job.Deadline = time.Time{}
	for _, times := range []float64{0, 2} {
		plan, err := MinCost(spotAndSure(job), Settings{Patience: times})
		if err != nil {
			t.Fatal(err)
		}
		if times == 0 {
			times = 4
		}
		// The knee is spot: six minutes to start, and 4 h with a wait of 2 h after each loss.
		want := times * (0.1 + 4*1.2/0.99)
		if got := plan.Promises[0].Deadline.Sub(start).Hours(); got < 0.98*want || got > 1.02*want {
			t.Errorf("deadline after %.2f h, want about %.2f", got, want)
		}
		if !job.Deadline.IsZero() {
			t.Fatal("the job itself was changed")
		}
	}
}

// TestMinCostSpendsNoMoreThanValue on plans without scarcity: what it runs, on
// whole machines, costs no more than what Value runs.
func TestMinCostSpendsNoMoreThanValue(t *testing.T) {
	for seed := range uint64(40) {
		value := planFor(t, drawProblem(seed, shape{jobs: 1, spot: true}), Value)
		least := planFor(t, drawProblem(seed, shape{jobs: 1, spot: true}), MinCost)
		if len(value.Allocations) == 0 || len(least.Allocations) == 0 {
			t.Fatalf("seed %d: %+v, %+v", seed, value.Waits, least.Waits)
		}
		whole := func(a planner.Allocation) float64 { return a.Cost.Dollars() * a.Alone.Dollars() / a.Rate.Dollars() }
		if a, b := whole(least.Allocations[0]), whole(value.Allocations[0]); a > 1.001*b {
			t.Errorf("seed %d: %.4f USD on %v, value spends %.4f on %v", seed, a, least.Allocations[0].Config, b, value.Allocations[0].Config)
		}
	}
}
