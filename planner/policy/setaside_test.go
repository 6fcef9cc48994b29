package policy

import (
	"strings"
	"testing"
	"time"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/pricing"
)

// TestDearMoneyStopsNobodyItIsSetAsideFor plans the last half day of a month at prices at
// which nothing pays, with jobs that wait whose hour is worth thousands: with enough for
// all that runs nothing stops, with nothing left all that can stop does, and before money is
// set aside the price decides.
func TestDearMoneyStopsNobodyItIsSetAsideFor(t *testing.T) {
	ran, stops, late := 0, 0, 0
	for seed := range uint64(60) {
		p := fresh(drawProblem(6000+seed, shape{jobs: 5, spot: true, machines: true, running: true, shortage: true}))
		for i := range p.Jobs {
			if s := &p.Jobs[i]; s.Running == nil {
				j := *s.Job
				j.ValueOfTime = 5000 * pricing.DollarPerHour
				s.Job = &j
			}
		}
		stopped := func(since time.Time, left pricing.Money) (n int) {
			p.Budgets = []planner.BudgetPrice{{Name: "month", Mu: 1e5, Since: since, Until: p.Now.Add(12 * time.Hour), At: p.Now, Left: left}}
			plan, err := Value(p, Settings{})
			if err != nil {
				t.Fatal(err)
			}
			for i := range p.Jobs {
				if s := &p.Jobs[i]; s.Running != nil && allocation(&plan, s.Job.ID) == nil {
					n++
				}
			}
			return n
		}
		for i := range p.Jobs {
			if p.Jobs[i].Running != nil {
				ran++
			}
		}
		since := p.Now.Add(-24 * time.Hour)
		if n := stopped(since, 1e6*pricing.Dollar); n > 0 {
			t.Errorf("seed %d: %d jobs stop for which there is money", seed, n)
		}
		stops += stopped(since, 0)
		late += stopped(time.Time{}, 1e6*pricing.Dollar)
	}
	t.Logf("%d jobs run; %d stop with nothing left, %d where nothing is set aside", ran, stops, late)
	if stops < ran/4 || late < ran/4 {
		t.Errorf("of %d jobs %d stop with nothing left, %d where nothing is set aside: nothing is shown", ran, stops, late)
	}
}

// TestWhatIsSetAsideStartsNothing leaves enough for the job that runs and not for another:
// that waits, says so, and names when there will be enough.
func TestWhatIsSetAsideStartsNothing(t *testing.T) {
	p := fresh(drawProblem(1, shape{jobs: 2}))
	p.Offers = p.Offers[:1]
	for i := range p.Jobs {
		j := p.Jobs[i].Job
		j.ValueOfTime, j.Work.Samples = 1e6*pricing.DollarPerHour, 1e9
		j.Resources.Replicas = planner.Replicas{Set: []int{1}}
		p.Jobs[i].Running = nil
	}
	p.Jobs = p.Jobs[:1]
	rate := p.Offers[0].Rate
	for _, tt := range []struct {
		left   float64 // hours of it
		starts bool
	}{{13, true}, {11, false}} {
		p.Budgets = []planner.BudgetPrice{{Name: "month", Mu: 1, Since: p.Now.Add(-time.Hour), Until: p.Now.Add(12 * time.Hour), At: p.Now, Left: pricing.Money(tt.left * float64(rate))}}
		plan, err := Value(p, Settings{})
		if err != nil {
			t.Fatal(err)
		}
		if got := len(plan.Allocations) == 1; got != tt.starts {
			t.Fatalf("with %g hours left it starts: %v, want %v (waits %+v)", tt.left, got, tt.starts, plan.Waits)
		}
		if tt.starts {
			continue
		}
		if w := plan.Waits[0]; w.Never || !strings.Contains(w.Reason, "budget month: what is left is set aside for what runs") {
			t.Errorf("waits as %+v, want the budget named", w)
		}
		if at := p.Now.Add(time.Hour); plan.NextDecision.After(at.Add(time.Minute)) || plan.NextDecision.IsZero() {
			t.Errorf("planned again at %v, want %v, when eleven hours are enough", plan.NextDecision, at)
		}
	}
}
