package highs

import (
	"flag"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/goodfleet/goodfleet/planner/share"
)

var (
	instances = flag.Int("instances", 500, "random instances for each policy")
	larger    = flag.Int("larger", 12, "random assignments of more than 50 jobs")
	seed      = flag.Uint64("seed", 1, "seed of the instances")
)

// near is the relative difference that two solvers with tolerances of 1e-9 may have.
const near = 1e-6

func TestPoliciesAgreeWithHiGHS(t *testing.T) {
	pairs := true
	for _, c := range []struct {
		policy string
		pairs  bool
		most   int // jobs
		want   func(p *share.Problem) answer
	}{
		{"max_min_fairness", false, 40, func(p *share.Problem) answer { return maxMin(p, false, false) }},
		{"max_min_fairness_agnostic", false, 40, func(p *share.Problem) answer { return maxMin(p, true, false) }},
		{"max_min_fairness_packed", pairs, 12, func(p *share.Problem) answer { return maxMin(p, false, true) }},
		{"makespan", false, 40, func(p *share.Problem) answer { return makespan(p, false) }},
		{"makespan_packed", pairs, 12, func(p *share.Problem) answer { return makespan(p, true) }},
		{"finish_time_fairness", false, 10, func(p *share.Problem) answer { return finishTime(p, false) }},
		{"finish_time_fairness_packed", pairs, 6, func(p *share.Problem) answer { return finishTime(p, true) }},
		{"fifo", false, 40, func(p *share.Problem) answer { return sumOf(p, false, inOrder(p)) }},
		{"fifo_packed", pairs, 12, func(p *share.Problem) answer { return sumOf(p, true, inOrder(p)) }},
		{"max_sum_throughput", false, 40, func(p *share.Problem) answer { return sumOf(p, false, throughputGain) }},
		{"max_sum_throughput_packed", pairs, 12, func(p *share.Problem) answer { return sumOf(p, true, throughputGain) }},
		{"max_sum_normalized_throughput", false, 40, func(p *share.Problem) answer { return sumOf(p, false, normalized(p)) }},
		{"max_sum_normalized_throughput_packed", pairs, 12, func(p *share.Problem) answer { return sumOf(p, true, normalized(p)) }},
		{"min_cost", false, 40, func(p *share.Problem) answer { return sumOf(p, false, priced(p)) }},
		{"min_cost_packed", pairs, 12, func(p *share.Problem) answer { return sumOf(p, true, priced(p)) }},
		{"min_cost_slo", false, 40, func(p *share.Problem) answer { return withDeadlines(p, false, priced(p), free) }},
		{"min_cost_slo_packed", pairs, 12, func(p *share.Problem) answer { return withDeadlines(p, true, priced(p), free) }},
		{"min_spend_slo", false, 40, func(p *share.Problem) answer { return negated(withDeadlines(p, false, nothing, prices(p))) }},
		{"min_spend_slo_packed", pairs, 12, func(p *share.Problem) answer { return negated(withDeadlines(p, true, nothing, prices(p))) }},
		{"cost_ratio_slo", false, 40, costRatio},
		{"shortest_job_first", false, 12, soonest},
	} {
		t.Run(c.policy, func(t *testing.T) {
			y, ok := share.Find(c.policy)
			if !ok {
				t.Fatalf("there is no policy %s", c.policy)
			}
			r := rand.New(rand.NewPCG(*seed, 1))
			infeasible := 0
			for i := range *instances {
				p := draw(r, c.most, c.pairs)
				got, err := y.Share(p, share.Options{})
				if err != nil {
					t.Fatalf("instance %d: %v", i, err)
				}
				want := c.want(p)
				if want.infeasible {
					infeasible++
				}
				checkAnswer(t, i, p, &got, want)
			}
			t.Logf("%d instances, %d of them infeasible", *instances, infeasible)
		})
	}
}

func negated(a answer) answer { return answer{-a.value, a.infeasible} }

func prices(p *share.Problem) func(int) float64 {
	return func(w int) float64 { return p.Types[w].Price }
}

func checkAnswer(t *testing.T, i int, p *share.Problem, got *share.Answer, want answer) {
	t.Helper()
	if (got.Status == "infeasible") != want.infeasible {
		t.Errorf("instance %d, %d jobs: status %s, want infeasible %v (objective %g, want %g)", i, len(p.Jobs), got.Status, want.infeasible, got.Objective, want.value)
		return
	}
	if want.infeasible {
		if len(got.Conflict) == 0 {
			t.Errorf("instance %d: infeasible without a conflict", i)
		}
		return
	}
	if got.Status != "optimal" {
		t.Errorf("instance %d, %d jobs: status %s, gap %g", i, len(p.Jobs), got.Status, got.Gap)
	}
	if d := math.Abs(got.Objective - want.value); !(d <= near*max(math.Abs(want.value), 1e-9)) {
		t.Errorf("instance %d, %d jobs: objective %.12g, want %.12g", i, len(p.Jobs), got.Objective, want.value)
	}
	checkRows(t, i, p, got)
}

// checkRows holds the shares against time and workers.
func checkRows(t *testing.T, i int, p *share.Problem, got *share.Answer) {
	t.Helper()
	time, used := make([]float64, len(p.Jobs)), make([]float64, len(p.Types))
	for j := range got.Share {
		for w, x := range got.Share[j] {
			if x < 0 {
				t.Errorf("instance %d: job %d has a share of %g", i, j, x)
			}
			time[j] += x
			used[w] += x * float64(p.Jobs[j].Scale)
		}
	}
	for k, x := range got.PairShare {
		q := p.Pairs[k/len(p.Types)]
		time[q.A] += x
		time[q.B] += x
		used[k%len(p.Types)] += x * float64(p.Jobs[q.A].Scale)
	}
	for j, v := range time {
		if v > 1+1e-7 {
			t.Errorf("instance %d: job %d has %g of its time", i, j, v)
		}
	}
	for w, v := range used {
		if v > float64(p.Types[w].Workers)*(1+1e-7)+1e-9 {
			t.Errorf("instance %d: %g of %d workers", i, v, p.Types[w].Workers)
		}
	}
}

func TestWaterFillingAgreesWithItsDefinition(t *testing.T) {
	for _, c := range []struct {
		policy  string
		stream  uint64
		most    int
		pairs   bool
		prepare func(*rand.Rand, *share.Problem)
	}{
		{"water_filling_sum", 2, 8, false, wholeWeights},
		{"water_filling_packed", 2, 6, true, wholeWeights},
		{"hierarchical", 16, 8, false, inTeams},
		{"hierarchical_packed", 16, 6, true, inTeams},
	} {
		t.Run(c.policy, func(t *testing.T) {
			y, _ := share.Find(c.policy)
			r := rand.New(rand.NewPCG(*seed, c.stream))
			for i := range *instances {
				p := draw(r, c.most, c.pairs)
				c.prepare(r, p)
				got, err := y.Share(p, share.Options{})
				if err != nil || got.Status != "optimal" {
					t.Fatalf("instance %d: %v, status %s", i, err, got.Status)
				}
				for j, u := range filled(p) {
					if math.Abs(got.Vector[j]-u) > 1e-5*max(u, 1e-2) {
						t.Errorf("instance %d, %d jobs: job %d at %.9g, want %.9g", i, len(p.Jobs), j, got.Vector[j], u)
					}
				}
				checkRows(t, i, p, &got)
			}
		})
	}
}
