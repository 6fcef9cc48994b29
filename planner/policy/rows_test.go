package policy

import (
	"fmt"
	"strings"
	"testing"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/provider"
)

// checkRows holds a plan against the rows of its problem, from the plan alone.
func checkRows(t testing.TB, p *planner.Problem, plan planner.Plan) {
	t.Helper()
	burn := 0.0
	free := make([]int, len(plan.Machines))
	bought := map[provider.Offering]int{}
	seen := map[provider.InstanceID]bool{}
	for i, m := range plan.Machines {
		free[i] = typeOf(m.Offering.Type).Count
		burn += m.Rate.Dollars()
		if m.Instance == "" {
			bought[m.Offering]++
			continue
		}
		if seen[m.Instance] {
			t.Errorf("%s is planned twice", m.Instance)
		}
		seen[m.Instance] = true
		for _, s := range m.Jobs {
			if s.Accelerators <= 0 {
				t.Errorf("%s holds %d accelerators of %s", s.Job, s.Accelerators, m.Instance)
			}
		}
	}
	for _, r := range plan.Releases {
		if seen[r.Instance] {
			t.Errorf("%s is held and released", r.Instance)
		}
		seen[r.Instance] = true
	}
	for _, m := range p.Machines {
		if !seen[m.ID] && !m.Leaving {
			t.Errorf("%s is neither held nor released", m.ID)
		}
	}
	jobs := map[planner.JobID]bool{}
	for _, a := range plan.Allocations {
		if jobs[a.Job] {
			t.Errorf("%s is allocated twice", a.Job)
		}
		jobs[a.Job] = true
		if len(a.Machines) != a.Config.Nodes {
			t.Errorf("%s: %d machines for %d nodes", a.Job, len(a.Machines), a.Config.Nodes)
		}
		for _, ref := range a.Machines {
			free[ref] -= a.Config.Replicas / a.Config.Nodes
			if plan.Machines[ref].Offering != a.Offering {
				t.Errorf("%s: on %s, allocated %s", a.Job, plan.Machines[ref].Offering, a.Offering)
			}
		}
	}
	for _, w := range plan.Waits {
		if jobs[w.Job] {
			t.Errorf("%s is allocated and waits", w.Job)
		}
		jobs[w.Job] = true
		if w.Reason == "" {
			t.Errorf("%s waits without a reason", w.Job)
		}
	}
	if len(jobs) != len(p.Jobs) {
		t.Errorf("%d of %d jobs are in the plan", len(jobs), len(p.Jobs))
	}
	for i, n := range free {
		if n < 0 {
			t.Errorf("machine %d is over-full by %d accelerators", i, -n)
		}
	}
	if p.BurnCap > 0 && burn > p.BurnCap.Dollars()+1e-6 {
		t.Errorf("burns %.6f USD/h of %s", burn, p.BurnCap)
	}
	for _, q := range p.Quotas {
		used := 0
		for o, n := range bought {
			if provider.QuotaClassOf(o, typeOf(o.Type)) == q.Class {
				used += n * q.Unit.Use(typeOf(o.Type))
			}
		}
		if used > q.Left {
			t.Errorf("quota %s: %d of %d", q.Class.Family, used, q.Left)
		}
	}
	for i := range p.Offers {
		if o := &p.Offers[i]; o.Cap >= 0 && bought[o.Offering] > o.Cap || o.Blocked != "" && bought[o.Offering] > 0 {
			t.Errorf("%d of %s bought, cap %d, blocked %q", bought[o.Offering], o.Offering, o.Cap, o.Blocked)
		}
	}
	if plan.Bound.Kind != "" && plan.Value > plan.Bound.Value+1e-6 {
		t.Errorf("value %.6f above its bound %.6f", plan.Value, plan.Bound.Value)
	}
}

// TestPlansKeepTheirRows draws problems with every row present, blocked and short
// offers among them, and holds the plans of every policy against the rows.
func TestPlansKeepTheirRows(t *testing.T) {
	policies := map[string]Policy{"value": Value, "blind": Blind, "on demand": OnDemand(Value), "one type": OneType(Value, "aws", "v4")}
	for seed := range uint64(150) {
		p := drawProblem(seed, shape{jobs: 2 + int(seed%12), capped: seed%2 == 0, quota: seed%3 == 0, machines: seed%4 < 3, spot: true})
		p.Offers[seed%uint64(len(p.Offers))].Blocked = "no capacity"
		p.Offers[(seed+3)%uint64(len(p.Offers))].Cap = int(seed % 3)
		for name, policy := range policies {
			plan, err := policy(p, Settings{})
			if err != nil {
				t.Fatalf("%s, seed %d: %v", name, seed, err)
			}
			checkRows(t, &p, plan)
			if t.Failed() {
				t.Fatalf("%s, seed %d", name, seed)
			}
		}
	}
}

// TestProblemsThatCannotBeMeant are refused with the row named.
func TestProblemsThatCannotBeMeant(t *testing.T) {
	p := drawProblem(1, shape{jobs: 2})
	p.Offers = append(p.Offers, p.Offers[0])
	if _, err := Value(p, Settings{}); err == nil {
		t.Error("an offering that is offered twice passes")
	}
	p = drawProblem(1, shape{jobs: 2})
	p.Jobs = append(p.Jobs, p.Jobs[0])
	if _, err := Value(p, Settings{}); err == nil {
		t.Error("a job that is listed twice passes")
	}
	for _, count := range []int{0, -8} {
		p = drawProblem(1, shape{jobs: 2})
		p.Offers[1].Type.Count = count
		if _, err := Value(p, Settings{}); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("offers[1]: %s: ", p.Offers[1].Offering)) {
			t.Errorf("a machine of %d accelerators: %v", count, err)
		}
	}
	p = drawProblem(1, shape{jobs: 2})
	p.Offers[0].Rate = -1
	if _, err := Value(p, Settings{}); err == nil {
		t.Error("a machine that pays those who use it passes")
	}
}

// TestBoundOnSpotLeavesNobodyWaiting: jobs whose cheapest way is spot go on demand
// beside others, however small the part of spot, even when spot fills all the columns
// that a search looks at.
func TestBoundOnSpotLeavesNobodyWaiting(t *testing.T) {
	p := realProblem(t, 4, 300)
	for _, part := range []float64{1, 0.8, 0.5, 0.2, 0} {
		p.Rows = []planner.Row{{Name: "spot", Kind: planner.SpotRow, Part: part}}
		plan, err := Value(p, Settings{})
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range plan.Waits {
			t.Errorf("part %g: %s waits: %s", part, w.Job, w.Reason)
		}
		all, spot := 0.0, 0.0
		for _, m := range plan.Machines {
			all += m.Rate.Dollars()
			if m.Offering.Market == provider.Spot {
				spot += m.Rate.Dollars()
			}
		}
		if spot > part*all+1e-9 {
			t.Errorf("part %g: spot is %.4f of %.4f USD/h", part, spot, all)
		}
	}
}
