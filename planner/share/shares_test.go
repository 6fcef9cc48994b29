package share

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// failer is testing.T or rapid.T.
type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

// checkShares holds an answer to every row: time, workers, and what Need asks for.
func checkShares(t failer, p *Problem, a *Answer) {
	t.Helper()
	for j := range a.Share {
		for w, x := range a.Share[j] {
			if !(x >= 0) {
				t.Fatalf("job %d has a share of %g on type %d", j, x, w)
			}
		}
	}
	for j, v := range p.time(a) {
		if v > 1+rowTol {
			t.Fatalf("job %d runs %g of its time", j, v)
		}
	}
	for w, v := range p.used(a) {
		if v > float64(p.Types[w].Workers)*(1+rowTol)+1e-9 {
			t.Fatalf("type %d: %g of %d workers", w, v, p.Types[w].Workers)
		}
	}
	for j := range a.Need {
		if a.Theta[j] < a.Need[j]*(1-1e-6) {
			t.Fatalf("job %d has %g steps/s and needs %g", j, a.Theta[j], a.Need[j])
		}
	}
}

// vertexPolicies give points at which few jobs are split.
var vertexPolicies = []string{"max_min_fairness", "max_min_fairness_agnostic", "makespan", "finish_time_fairness",
	"max_sum_throughput", "max_sum_normalized_throughput", "min_cost", "fifo"}

// TestFewJobsAreSplitOverTypes counts the columns of a vertex: each row holds one, so
// beyond one type per job there are as many as types, and one for the level. A job whose
// time is used up while it is just at the level needs a second type for its second row.
func TestFewJobsAreSplitOverTypes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawProblem(t, 40)
		for _, name := range vertexPolicies {
			checkSplit(t, p, name, name)
		}
	})
}

// checkSplit holds the answer of a policy to its rows, and to the number of jobs of several types.
func checkSplit(t failer, p *Problem, name, what string) {
	t.Helper()
	y, _ := Find(name)
	a, err := y.Share(p, Options{})
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	if a.Status == "infeasible" {
		return
	}
	checkShares(t, p, &a)
	split, time := 0, p.time(&a)
	for j := range a.Share {
		types := 0
		for _, x := range a.Share[j] {
			if x > 1e-9 {
				types++
			}
		}
		if bothTight := a.Need != nil && a.Theta[j] <= a.Need[j]*(1+1e-7) && time[j] >= 1-1e-7; types > 1 && !bothTight {
			split++
		}
	}
	if split > len(p.Types)+1 {
		t.Fatalf("%s: %d of %d jobs are split over %d types", what, split, len(p.Jobs), len(p.Types))
	}
}

func TestSharesDoNotDependOnTheOrderOfJobs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := generic(rapid.Uint64().Draw(t, "seed"), 15)
		order := rapid.Permutation(index(len(p.Jobs))).Draw(t, "order")
		q := &Problem{Types: p.Types}
		for _, j := range order {
			q.Jobs = append(q.Jobs, p.Jobs[j])
		}
		for _, name := range []string{"max_min_fairness", "water_filling_sum", "power_mean"} {
			y, _ := Find(name)
			a, errA := y.Share(p, Options{})
			b, errB := y.Share(q, Options{})
			if errA != nil || errB != nil {
				t.Fatal(errA, errB)
			}
			near := 1e-4
			if name == "power_mean" { // flat at its optimum: a gap of 1e-7 leaves shares free by its square root
				near = 2e-3
			}
			for i, j := range order {
				if math.Abs(a.Theta[j]-b.Theta[i]) > near*max(a.Theta[j], p.fastest(j)*1e-2) {
					t.Fatalf("%s: job %d has %.9g, in another order %.9g", name, j, a.Theta[j], b.Theta[i])
				}
			}
		}
	})
}

// generic makes a problem without ties: of two jobs of equal weight in both objectives,
// such as two that can run on one type only, either may go first.
func generic(seed uint64, most int) *Problem {
	r := rand.New(rand.NewPCG(seed, 1))
	p := &Problem{}
	for w := range 2 + r.IntN(3) {
		p.Types = append(p.Types, Type{Name: fmt.Sprint(w), Workers: 1 + r.IntN(8), Price: 1})
	}
	for j := range r.IntN(most + 1) {
		job := Job{ID: fmt.Sprint(j), Scale: 1 << r.IntN(4), Weight: 0.5 + r.Float64(), Steps: 1 + 1000*r.Float64(), Deadline: math.NaN()}
		base := math.Exp(2 * r.NormFloat64())
		for range p.Types {
			job.Throughput = append(job.Throughput, base*math.Exp(r.NormFloat64()))
		}
		p.Jobs = append(p.Jobs, job)
	}
	return p
}

func index(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

func TestAllPoliciesAnswerTheSameTwice(t *testing.T) {
	p := parse(t, twoJobs)
	for _, y := range Policies() {
		a, errA := y.Share(p, Options{})
		b, errB := y.Share(p, Options{})
		if errA != nil || errB != nil || a.Objective != b.Objective {
			t.Errorf("%s: %v, %v", y.Name, errA, errB)
		}
		for j := range a.Share {
			if !slices.Equal(a.Share[j], b.Share[j]) {
				t.Errorf("%s: job %d has %v, then %v", y.Name, j, a.Share[j], b.Share[j])
			}
		}
	}
}
