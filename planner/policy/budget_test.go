package policy

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/pricing"
)

// burnOf is what the machines of a plan burn that cost something, and the part of it
// that the jobs of a team have, USD/h.
func burnOf(p *planner.Problem, plan *planner.Plan, team string) float64 {
	held := map[string]bool{}
	for _, m := range p.Machines {
		held[string(m.ID)] = m.HoldTo.After(p.Now)
	}
	teams := map[planner.JobID]string{}
	for _, s := range p.Jobs {
		teams[s.Job.ID] = s.Job.Team
	}
	sum := 0.0
	for _, m := range plan.Machines {
		if team == "" {
			if !held[string(m.Instance)] {
				sum += m.Rate.Dollars()
			}
			continue
		}
		for _, s := range m.Jobs {
			if teams[s.Job] == team {
				sum += m.Rate.Dollars() * float64(s.Accelerators) / float64(typeOf(m.Offering.Type).Count)
			}
		}
	}
	return sum
}

// fresh is a problem whose jobs came this moment: none has a bonus.
func fresh(p planner.Problem) planner.Problem {
	for i := range p.Jobs {
		p.Jobs[i].Job.Submitted, p.Jobs[i].Waiting = p.Now, p.Now
	}
	return p
}

// TestBonusBuysWorkNotHours lets a job wait for weeks while money is dear: its bonus
// buys the machine that does most for a dollar, not the one that costs least an hour.
func TestBonusBuysWorkNotHours(t *testing.T) {
	p := drawProblem(1, shape{jobs: 1})
	p.Offers = p.Offers[:2] // K80 and V100, one each
	p.Budgets = []planner.BudgetPrice{{Name: "month", Mu: 50}}
	job := p.Jobs[0].Job
	job.Submitted, job.ValueOfTime = p.Now.Add(-1000*time.Hour), pricing.DollarPerHour/10
	job.Work.Samples = 5000
	job.Resources.Replicas = planner.Replicas{Set: []int{1}}
	job.Curve = tableCurve{"K80": {1: 100}, "V100": {1: 1000}}
	plan, err := Value(p, Settings{})
	if err != nil {
		t.Fatal(err)
	}
	if len(plan.Allocations) != 1 || plan.Allocations[0].Config.Type != "v1" {
		t.Errorf("allocations %+v, waits %+v: want the V100, three times the work for a dollar", plan.Allocations, plan.Waits)
	}
}

// TestDearerMoneyIsSpentLess: of best plans at two prices, the one at the higher price
// never burns more of what the price is on. (Each is the best at its own price, so
// adding the two inequalities leaves (mu − mu')·(burn − burn') ≤ 0.)
func TestDearerMoneyIsSpentLess(t *testing.T) {
	for _, team := range []string{"", "u"} {
		less := 0
		for seed := range uint64(40) {
			p := fresh(drawProblem(3000+seed, shape{jobs: 4, spot: true, budgets: true}))
			last := math.Inf(1)
			for _, mu := range []float64{0, 0.2, 0.5, 1, 2, 5} {
				p.Budgets = []planner.BudgetPrice{{Name: "b", Team: team, Mu: mu}}
				pr, scale := programOf(t, &p)
				sol := planner.Solve(pr, scale, planner.Limits{Any: true, Nodes: 1 << 20})
				plan := planner.Plan{Machines: sol.Layout().Machines}
				burn := burnOf(&p, &plan, team)
				if burn > last+1e-6 {
					t.Errorf("team %q, seed %d: at mu %g %.6f USD/h are burned, %.6f at a lower price", team, seed, mu, burn, last)
				}
				if burn < last-1e-6 && mu > 0 {
					less++
				}
				last = burn
			}
		}
		if less < 40 {
			t.Errorf("team %q: a dearer dollar saves something in %d of 200 steps: nothing is shown", team, less)
		}
	}
}

// TestTeamBudgetCountsTheShareOfItsJobs holds the worth of every column with a price on
// a team's budget against the one without.
func TestTeamBudgetCountsTheShareOfItsJobs(t *testing.T) {
	for seed := range uint64(20) {
		p := fresh(drawProblem(4000+seed, shape{jobs: 4, spot: true, budgets: true, smallJobs: true}))
		p.Budgets = nil
		free, _ := programOf(t, &p)
		p.Budgets = []planner.BudgetPrice{{Name: "of u", Team: "u", Mu: 0.7}}
		dear, _ := programOf(t, &p)
		for i := range free.Jobs {
			mu := 0.0
			if p.Jobs[i].Job.Team == "u" {
				mu = 0.7
			}
			for c := range free.Jobs[i].Columns {
				a, b := &free.Jobs[i].Columns[c], &dear.Jobs[i].Columns[c]
				o := &p.Offers[a.Offer]
				want := mu * o.Rate.Dollars() * float64(a.Nodes*a.PerNode) / float64(o.Type.Count)
				for n, d := range []float64{a.Stay - b.Stay, a.Here - b.Here, a.Bought - b.Bought} {
					if math.Abs(d-want) > 1e-9 {
						t.Fatalf("seed %d, %s on %s: worth %d falls by %g, want %g", seed, p.Jobs[i].Job.ID, o.Offering, n, d, want)
					}
				}
			}
		}
	}
}

// TestNoPriceChangesNothing plans with budgets of which there is enough.
func TestNoPriceChangesNothing(t *testing.T) {
	p := drawProblem(3, shape{jobs: 4, spot: true, running: true})
	want, err := Value(p, Settings{})
	if err != nil {
		t.Fatal(err)
	}
	p.Budgets = []planner.BudgetPrice{{Name: "month"}, {Name: "of t", Team: "t"}}
	got, err := Value(p, Settings{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("plan (-want +got):\n%s", diff)
	}
}

// TestBudgetIsNamedWhereItKeepsAJobWaiting prices money until nothing pays.
func TestBudgetIsNamedWhereItKeepsAJobWaiting(t *testing.T) {
	p := drawProblem(3, shape{jobs: 3})
	p.Budgets = []planner.BudgetPrice{{Name: "month", Mu: 50}}
	r, err := Explain(p, Settings{})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Plan.Waits) != 3 {
		t.Fatalf("%d jobs wait, want 3", len(r.Plan.Waits))
	}
	for _, w := range r.Plan.Waits {
		if !strings.HasSuffix(w.Reason, "by budget month: a dollar counts 51.00") {
			t.Errorf("%s: %s", w.Job, w.Reason)
		}
	}
	d, err := r.Machine(p.Offers[0].Offering, "")
	if err != nil {
		t.Fatal(err)
	}
	if want := 51 * p.Offers[0].Rate.Dollars(); math.Abs(d.Rate.Dollars()-want) > 1e-6 || d.More > d.Rate.Dollars() {
		t.Errorf("one more is worth %g at a rate of %s, want a rate of %g that is not reached", d.More, d.Rate, want)
	}
}

func TestBadBudgetPriceIsRefused(t *testing.T) {
	for _, mu := range []float64{-0.1, math.NaN(), math.Inf(1)} {
		p := drawProblem(1, shape{jobs: 1})
		p.Budgets = []planner.BudgetPrice{{Name: "month", Mu: mu}}
		if _, err := Value(p, Settings{}); err == nil || !strings.Contains(err.Error(), "budgets[0]: month: a price of "+fmt.Sprint(mu)) {
			t.Errorf("mu %g: got %v", mu, err)
		}
	}
}
