package policy

import (
	"strings"
	"testing"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/pricing"
)

// Each limit over the plan is named for the job that it keeps waiting, and for the
// offering that it would use; one that does not bind is not.
func TestLimitsThatBindAreNamed(t *testing.T) {
	for _, tt := range []struct {
		name  string
		limit func(p *planner.Problem)
		says  string // "": nothing binds
	}{
		{"no limit", func(*planner.Problem) {}, ""},
		{"a cap that does not bind", func(p *planner.Problem) { p.BurnCap = 100 * pricing.DollarPerHour }, ""},
		{"a cap", func(p *planner.Problem) { p.BurnCap = 1 }, "burn cap: "},
		{"a limit of its team", func(p *planner.Problem) {
			p.Rows = []planner.Row{{Name: "tight", Kind: planner.BurnRow, Team: "Vision", Most: 1}}
		}, "limit tight: burn cap "},
		{"a limit of another team", func(p *planner.Problem) {
			p.Rows = []planner.Row{{Name: "tight", Kind: planner.BurnRow, Team: "NLP", Most: 1}}
		}, ""},
		{"dear money", func(p *planner.Problem) { p.Budgets = []planner.BudgetPrice{{Name: "month", Mu: 1000}} }, "budget month: a dollar counts 1001.00"},
		{"dear money of its team", func(p *planner.Problem) {
			p.Budgets = []planner.BudgetPrice{{Name: "month", Team: "Vision", Mu: 1000}}
		}, "budget month: a dollar counts 1001.00"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := drawProblem(1, shape{jobs: 1})
			p.Offers = p.Offers[:2] // K80 and V100, one each
			job := p.Jobs[0].Job
			job.ID, job.Team, job.ValueOfTime = "a", "Vision", pricing.DollarPerHour
			job.Work.Samples, job.Resources.Replicas = 5000, planner.Replicas{Set: []int{1}}
			job.Curve = tableCurve{"K80": {1: 100}, "V100": {1: 1000}}
			p = fresh(p)
			tt.limit(&p)
			r, err := Explain(p, Settings{})
			if err != nil {
				t.Fatal(err)
			}
			binds, err := r.Binds("a")
			if err != nil {
				t.Fatal(err)
			}
			if tt.says == "" {
				if len(binds) != 0 {
					t.Errorf("binds %+v, want none", binds)
				}
				return
			}
			if len(binds) != 1 || !strings.HasPrefix(binds[0].What, tt.says) || binds[0].Saves != 1 {
				t.Fatalf("binds %+v, want %q", binds, tt.says)
			}
			if allocation(&r.Plan, "a") != nil {
				t.Errorf("it runs: %+v", r.Plan.Allocations)
			}
			kept, err := r.KeptFrom(binds[0].Offering)
			if err != nil || len(kept) != 1 || kept[0] != binds[0].What {
				t.Errorf("%s is kept back by %v, %v; want %q", binds[0].Offering, kept, err, binds[0].What)
			}
		})
	}
}

func TestEachKindOfLimitIsNamedForWhatItIs(t *testing.T) {
	for kind, want := range map[planner.RowKind]string{
		planner.BurnRow:      "limit x: burn cap 2 USD/h of team a",
		planner.SpotRow:      "limit x: spot share 40 % of team a",
		planner.LeastSpotRow: "limit x: spot share of at least 40 % of team a",
	} {
		if got := rowText(&planner.Row{Name: "x", Kind: kind, Team: "a", Part: 0.4, Most: 2 * pricing.DollarPerHour}); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
