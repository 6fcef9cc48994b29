package peer

import (
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/goodfleet/goodfleet/planner/share"
)

// fairProblem has jobs of so many workers each at throughputs by type.
func fairProblem(workers []int, scales []int, throughput [][]float64) *share.Problem {
	p := &share.Problem{}
	for w, n := range workers {
		p.Types = append(p.Types, share.Type{Name: fmt.Sprintf("t%d", w), Workers: n, Price: -1})
	}
	for j, n := range scales {
		p.Jobs = append(p.Jobs, share.Job{ID: fmt.Sprintf("j%d", j), Scale: n, Weight: 1, Steps: 1, Throughput: throughput[j], Deadline: math.NaN()})
	}
	return p
}

// What ECOS 2.0.14 itself answers, by its Python package at its default settings.
func TestEmbeddingEndsWhereECOSDoes(t *testing.T) {
	p := fairProblem([]int{3, 4, 5}, []int{1, 2, 4, 1, 1, 2}, [][]float64{{4, 2, 1}, {6, 5, 1}, {9, 4, 2}, {1.5, 2.5, 1.5}, {3, 0, 2}, {2, 3, 4}})
	for _, c := range []struct {
		name string
		want [][]float64
	}{
		{fairAware, [][]float64{
			{0.65356, 0.15111, 0.11572}, {0.22307, 0.30492, 0.28638}, {0.11087, 0.22081, 0.44567},
			{0, 1, 0}, {0.63166, 0.09316, 0.20144}, {0.1824, 0.23238, 0.41884},
		}},
		{fairAgnostic, [][]float64{
			{0.29302, 0.34262, 0.36436}, {0.21081, 0.26567, 0.29075}, {0.15578, 0.22704, 0.26963},
			{0.29302, 0.34262, 0.36436}, {0.29302, 0.34262, 0.36436}, {0.21081, 0.26567, 0.29075},
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			rule, _ := share.Find(c.name)
			x, err := fairest(rule, p)
			if err != nil {
				t.Fatal(err)
			}
			for j, row := range x {
				for w, got := range row {
					if want := c.want[j][w]; math.Abs(got-want) > 1e-4 { // the last steps of its path are not sure
						t.Errorf("job %d on type %d: %.5f, want %.5f", j, w, got, want)
					}
				}
			}
		})
	}
}

// The level is the best, as the exact method has it, and no worker is given twice.
func TestEmbeddingIsFairest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		kinds, n := rapid.IntRange(1, 3).Draw(t, "kinds"), rapid.IntRange(1, 7).Draw(t, "jobs")
		workers, scales, throughput := make([]int, kinds), make([]int, n), make([][]float64, n)
		for w := range workers {
			workers[w] = rapid.IntRange(1, 9).Draw(t, "workers")
		}
		for j := range scales {
			scales[j] = rapid.SampledFrom([]int{1, 2, 4}).Draw(t, "scale")
			throughput[j] = make([]float64, kinds)
			for w := range workers {
				throughput[j][w] = rapid.Float64Range(0.2, 5).Draw(t, "throughput")
			}
		}
		p := fairProblem(workers, scales, throughput)
		for _, blind := range []bool{false, true} {
			name := "max_min_fairness"
			if blind {
				name = "max_min_fairness_agnostic"
			}
			r, _ := share.Find(name)
			exact, err := r.Share(p, share.Options{})
			if err != nil {
				t.Fatal(err)
			}
			x, err := fairest(r, p)
			if err != nil {
				t.Fatal(err)
			}
			level := math.Inf(1)
			used := make([]float64, kinds)
			for j := range x {
				all, theta, equal, total := 0.0, 0.0, 0.0, 0.0
				for w := range x[j] {
					v := throughput[j][w]
					if blind {
						v = 1
					}
					all += x[j][w]
					used[w] += x[j][w] * float64(scales[j])
					theta += x[j][w] * v
					equal += v * float64(workers[w])
					total += float64(workers[w])
				}
				if all > 1+1e-6 {
					t.Fatalf("%s: job %d has %g of its time", name, j, all)
				}
				level = min(level, theta*float64(scales[j])*total/equal)
			}
			for w, n := range workers {
				if used[w] > float64(n)+1e-6 {
					t.Fatalf("%s: %g of %d workers of type %d are given", name, used[w], n, w)
				}
			}
			if math.Abs(level-exact.Objective) > 1e-6*exact.Objective {
				t.Fatalf("%s: level %.9f, best %.9f", name, level, exact.Objective)
			}
		}
	})
}
