package policy

import (
	"fmt"
	"testing"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/pricing"
)

// TestTightCapsLeaveLittle: a hundred jobs on sixty offers under caps that leave most of
// them waiting, within 1 % of the bound: of the worth of the plan, which is the hardest to
// say it of, since what the plan decides on is far more than that.
func TestTightCapsLeaveLittle(t *testing.T) {
	const hundredth = 0.01
	for _, limit := range []pricing.Rate{40 * pricing.DollarPerHour, 60 * pricing.DollarPerHour, 100 * pricing.DollarPerHour, 150 * pricing.DollarPerHour} {
		t.Run(fmt.Sprint(limit), func(t *testing.T) {
			p := realProblem(t, 100, 60)
			p.BurnCap = limit
			pr, scale, err := Program(&p, Settings{})
			if err != nil {
				t.Fatal(err)
			}
			pr.Prune()
			sol := planner.Solve(pr, scale, planner.Limits{})
			t.Logf("plan %.2f, bound %.2f (%s) USD/h", sol.Value, sol.Bound.Value, sol.Bound.Kind)
			if short := (sol.Bound.Value - sol.Value) / sol.Value; short > hundredth {
				t.Errorf("short of the bound by %.2f %% of its worth", 100*short)
			}
			if burn := sol.Layout().Burn; burn > limit {
				t.Errorf("it burns %s USD/h", burn)
			}
		})
	}
}
