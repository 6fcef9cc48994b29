package policy

import (
	"testing"

	"github.com/goodfleet/goodfleet/planner"
)

// TestPlansMadeAnewNameWhatTheyHold: where a bound on spot and short supply have the plan
// made anew to the last try, and a search looks at some of the columns only, what a job is
// said to get is what its machines are, and those who wait are told why.
func TestPlansMadeAnewNameWhatTheyHold(t *testing.T) {
	for _, supply := range []int{-1, 1, 2} {
		for _, jobs := range []int{2, 3, 8} {
			for _, part := range []float64{0.2, 0.4, 0.5, 0.8, 1} {
				p := realProblem(t, jobs, 300)
				for i := range p.Offers {
					p.Offers[i].Cap = supply
				}
				p.Rows = []planner.Row{{Name: "spot", Kind: planner.SpotRow, Part: part}}
				plan, err := Value(p, Settings{Limits: planner.Limits{NoBound: true}})
				if err != nil {
					t.Fatal(err)
				}
				if n := len(plan.Allocations) + len(plan.Waits); n != jobs {
					t.Errorf("supply %d, part %g: %d answers for %d jobs", supply, part, n, jobs)
				}
				for _, a := range plan.Allocations {
					if len(a.Machines) != a.Config.Nodes {
						t.Errorf("supply %d, %d jobs, part %g: %s has %d machines for %d nodes", supply, jobs, part, a.Job, len(a.Machines), a.Config.Nodes)
					}
					for _, ref := range a.Machines {
						if m := &plan.Machines[ref]; m.Offering != a.Offering {
							t.Errorf("supply %d, %d jobs, part %g: %s is on %s, allocated %s", supply, jobs, part, a.Job, m.Offering, a.Offering)
						}
					}
				}
			}
		}
	}
}
