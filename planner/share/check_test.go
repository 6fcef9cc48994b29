package share

import (
	"math"
	"strings"
	"testing"
)

// TestSharesThatNoFleetHasAreCutOrRefused breaks a right answer, one row at a time.
func TestSharesThatNoFleetHasAreCutOrRefused(t *testing.T) {
	text := strings.Replace(twoJobs, `"steps_left":100,`, `"steps_left":100,"slo_left_s":200,`, 2)
	text = text[:len(text)-1] + `,"pairs":[{"jobs":["x","y"],"throughput":{"a":[3,1]}}]}`
	for _, c := range []struct {
		name, policy string
		harm         func(p *Problem, a *Answer)
		miss, status string
	}{
		{"nothing", "min_spend_slo", func(*Problem, *Answer) {}, "", "optimal"},
		{"workers twice", "max_sum_throughput", func(_ *Problem, a *Answer) { a.Share[1] = []float64{1, 0} }, "type a: 2 of 1 workers", "feasible"},
		{"a pair on top", "max_sum_throughput_packed", func(_ *Problem, a *Answer) { a.PairShare = []float64{1, 0} }, "job x runs 2 of its time", "feasible"},
		{"negative", "max_sum_throughput", func(_ *Problem, a *Answer) { a.Share[0][0] = -0.5 }, "a share of -0.5", "feasible"},
		{"no number", "max_sum_throughput", func(_ *Problem, a *Answer) { a.Share[0][0] = math.NaN() }, "a share of NaN", "feasible"},
		{"theta", "max_min_fairness", func(_ *Problem, a *Answer) { a.Theta[0] *= 2 }, "job x has 4 steps/s, said to be 8", "optimal"},
		{"objective", "max_min_fairness", func(_ *Problem, a *Answer) { a.Objective *= 2 }, "an objective of 1.3333333333333333, said to be 2.6666666666666665", "optimal"},
		{"deadline", "min_cost_slo", func(p *Problem, a *Answer) {
			a.Share[1] = []float64{0, 0}
			a.Theta = p.theta(a)
		}, "job y misses its deadline", "limit"},
		{"a procedure", "shortest_job_first", func(p *Problem, a *Answer) {
			a.Share[1] = []float64{1, 1}
			a.Theta = p.theta(a)
		}, "job y runs 2 of its time", ""},
	} {
		p := parse(t, text)
		y, _ := Find(c.policy)
		a, err := y.Share(p, Options{})
		if err != nil || a.Status != "optimal" {
			t.Fatalf("%s: %s, %v", c.name, a.Status, err)
		}
		want := a.Bound
		c.harm(p, &a)
		if got := y.misses(p, &a, Options{}); got != c.miss {
			t.Errorf("%s: misses %q, want %q", c.name, got, c.miss)
		}
		got, err := y.checked(p, a, Options{})
		if c.status == "" {
			if err == nil || !strings.Contains(err.Error(), c.miss) {
				t.Errorf("%s: %v, want an error", c.name, err)
			}
			continue
		}
		if err != nil || got.Status != c.status || got.Bound != want || got.Gap != distance(got.Objective, got.Bound) {
			t.Errorf("%s: %s, objective %g, bound %g, gap %g, %v; want %s with the bound %g", c.name, got.Status, got.Objective, got.Bound, got.Gap, err, c.status, want)
		}
		if c.status != "limit" {
			if miss := y.misses(p, &got, Options{}); miss != "" {
				t.Errorf("%s: still %s", c.name, miss)
			}
		} else if len(got.Conflict) != 1 || got.Conflict[0] != 1 {
			t.Errorf("%s: conflict %v, want job 1", c.name, got.Conflict)
		}
	}
}
