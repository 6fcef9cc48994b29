package sim

import (
	"bytes"
	"context"
	"encoding/json"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/goodfleet/goodfleet/autoscale"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/pricing/budget"
)

// drawDryRun draws policies of every kind, so strict that each would stop something.
func drawDryRun(t *testing.T, r *rand.Rand) budget.Policies {
	t.Helper()
	selectors := []budget.Match{{}, {Team: "NLP"}, {Market: "spot"}, {Zone: "use1-az1"}, {Where: `accelerators > 1 || team == "Vision"`}}
	periods := []budget.Period{budget.Hour, budget.Day, budget.Week, budget.Month, budget.Always, budget.Dated}
	var list []*budget.Policy
	for _, name := range []string{"a", "b", "c"} {
		match := selectors[r.IntN(len(selectors))]
		over, err := budget.NewSelector(match)
		if err != nil {
			t.Fatal(err)
		}
		p := &budget.Policy{Name: name, Owner: "o", DryRun: true, Over: over, Cooldown: time.Hour, Margin: 0.03}
		p.Cap = &budget.Cap{
			Amount: pricing.Money(1+r.IntN(40)) * pricing.Dollar, Period: periods[r.IntN(len(periods))],
			From: start.Add(time.Hour), Until: start.Add(5 * time.Hour), Each: []budget.Each{budget.ForAll, budget.PerJob, budget.PerTeam}[r.IntN(3)],
		}
		p.Steps = []budget.Step{
			{At: 0.3, Measure: budget.Actual, Do: budget.Drain},
			{At: 0.6, Measure: budget.Committed, Do: budget.Stop},
		}
		if p.Cap.Period != budget.Always {
			p.Steps = append(p.Steps, budget.Step{At: 0.5, Measure: budget.Foretold, Quantile: 0.9, Do: budget.NoNew})
		}
		switch r.IntN(4) {
		case 0:
			p.Burn = pricing.RateOf(0.5 + 4*r.Float64())
		case 1:
			p.MaxRate, p.OfList = pricing.RateOf(0.5+3*r.Float64()), 0.3
		case 2:
			p.Fallback = &budget.Fallback{After: 45 * time.Minute, Deadlines: true}
			p.Approval = &budget.Approval{Above: 1}
		default:
			if match.Market == "" {
				p.Spot = &budget.SpotShare{Min: 0.4, Max: 0.5}
			}
		}
		list = append(list, p)
	}
	policies, err := budget.NewPolicies(list...)
	if err != nil {
		t.Fatal(err)
	}
	return policies
}

// TestDryRunChangesNoByte runs worlds as they are and under policies that only tell: what is
// bought, booked and done is the same to the byte, and the policies do tell.
func TestDryRunChangesNoByte(t *testing.T) {
	told := 0
	for seed := range uint64(6) {
		run := func(policies budget.Policies) ([]byte, []autoscale.Event) {
			s := smallSetting(t, seed, 6)
			s.Policies = policies
			w, err := newWorld(s)
			if err != nil {
				t.Fatal(err)
			}
			if err := w.run(context.Background()); err != nil {
				t.Fatal(err)
			}
			charges, err := w.store.Charges(context.Background(), time.Time{}, time.Time{})
			if err != nil {
				t.Fatal(err)
			}
			out, err := w.outcome(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			all, err := w.store.Events(context.Background(), time.Time{}, time.Time{})
			if err != nil {
				t.Fatal(err)
			}
			var events, budgets []autoscale.Event
			for _, e := range all {
				if e.Kind == autoscale.EventBudget {
					budgets = append(budgets, e)
				} else {
					events = append(events, e)
				}
			}
			text, err := json.Marshal(map[string]any{"charges": charges, "outcome": out, "events": events})
			if err != nil {
				t.Fatal(err)
			}
			return text, budgets
		}
		plain, _ := run(nil)
		under, events := run(drawDryRun(t, rand.New(rand.NewPCG(seed, 0xd12))))
		if !bytes.Equal(plain, under) {
			t.Errorf("seed %d: under policies that only tell the run is another", seed)
		}
		told += len(events)
	}
	if told == 0 {
		t.Error("the policies told nothing in any world")
	}
}
