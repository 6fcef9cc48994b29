package share

import (
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/goodfleet/goodfleet/planner/linear"
)

// drawQueues makes one-worker jobs, some equal, some without work, some that run on few types.
func drawQueues(t *rapid.T, most int) *queues {
	q := &queues{p: &Problem{}}
	for w := range rapid.IntRange(1, 4).Draw(t, "types") {
		q.p.Types = append(q.p.Types, Type{Name: fmt.Sprint(w), Workers: rapid.SampledFrom([]int{0, 1, 1, 2, 3, 50}).Draw(t, "workers")})
	}
	orders := rapid.SampledFrom([]float64{0.5, 1, 12}).Draw(t, "orders of magnitude")
	for j := range rapid.IntRange(0, most).Draw(t, "jobs") {
		job := Job{ID: fmt.Sprint(j), Scale: 1, Weight: 1, Deadline: math.NaN()}
		job.Steps = rapid.SampledFrom([]float64{0, 1, 1, 2, 60}).Draw(t, "steps")
		for range q.p.Types {
			v := math.Pow(10, rapid.Float64Range(-orders, orders).Draw(t, "speed"))
			job.Throughput = append(job.Throughput, v*rapid.SampledFrom([]float64{0, 1, 1, 1}).Draw(t, "runs"))
		}
		if j > 0 && rapid.IntRange(0, 3).Draw(t, "twin") == 0 {
			job.Steps, job.Throughput = q.p.Jobs[j-1].Steps, q.p.Jobs[j-1].Throughput
		}
		q.p.Jobs = append(q.p.Jobs, job)
	}
	for j := range q.p.Jobs {
		if q.p.fastest(j) > 0 {
			q.jobs = append(q.jobs, j)
		}
	}
	return q
}

// tried is the least sum of completion times of all choices of types.
func (q *queues) tried(kind []int, i int) float64 {
	if i == len(q.jobs) {
		total, _ := q.order(kind)
		return total
	}
	least := math.Inf(1)
	for w, t := range q.p.Types {
		if kind[q.jobs[i]] = w; t.Workers > 0 && !math.IsInf(q.alone(q.jobs[i], w), 1) {
			least = min(least, q.tried(kind, i+1))
		}
	}
	return least
}

func TestAlloXIsTheLeastOfAllChoices(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := drawQueues(t, 6)
		y, _ := Find("allox")
		a, err := y.Share(q.p, Options{})
		if err != nil || a.Status != "optimal" {
			t.Fatalf("%v, %s with a gap of %g", err, a.Status, a.Gap)
		}
		if want := q.tried(make([]int, len(q.p.Jobs)), 0); distance(a.Objective, want) > 1e-12 {
			t.Fatalf("%.15g, the best of all choices has %.15g", a.Objective, want)
		}
		if len(a.Left) != len(q.p.Jobs)-len(q.jobs) {
			t.Fatalf("left out: %v of %d jobs, of which %d can run", a.Left, len(q.p.Jobs), len(q.jobs))
		}
	})
}

// transported is the sum of completion times by the transportation program of jobs and places, and the
// most that one job could add to it, of which tolerances are parts.
func (q *queues) transported(t *rapid.T) (total, worst float64) {
	n := len(q.jobs)
	bound := make([]float64, n)
	worst = 1
	for i, j := range q.jobs {
		bound[i] = 1
		for w := range q.p.Types {
			if v := q.alone(j, w); !math.IsInf(v, 1) {
				worst = max(worst, v*float64(n))
			}
		}
	}
	lp := linear.NewProgram(nil)
	for w, y := range q.p.Types {
		for k := 0; y.Workers > 0 && k*y.Workers < n; k++ {
			for i, j := range q.jobs {
				if !math.IsInf(q.alone(j, w), 1) {
					lp.Add(2-q.delay(j, place{w, k})/worst, []int32{int32(i), int32(len(bound))}, []float64{1, 1})
				}
			}
			bound = append(bound, float64(y.Workers))
		}
	}
	lp.Bound = bound
	s := linear.NewSimplex(lp)
	if status := s.Primal(100_000); status != linear.Optimal {
		t.Fatal(status)
	}
	return (2*float64(n) - s.Objective()) * worst, worst
}

func TestAlloXIsTheTransportationProgram(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := drawQueues(t, 40)
		total, _, bound := q.match(alloxWork)
		if distance(total, bound) > 1e-12 {
			t.Fatalf("%.15g, and nothing is below %.15g", total, bound)
		}
		if want, worst := q.transported(t); math.Abs(total-want) > 1e-8*worst {
			t.Fatalf("%.15g, by the program %.15g", total, want)
		}
	})
}

// TestAlloXSaysWhereItsWorkEnded: whatever part of the work is done, all jobs have a queue, and the
// bound is one.
func TestAlloXSaysWhereItsWorkEnded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := drawQueues(t, 30)
		best, _, _ := q.match(alloxWork)
		total, x, bound := q.match(rapid.IntRange(0, 3_000).Draw(t, "work"))
		if total < best*(1-1e-12) || bound > best*(1+1e-12) {
			t.Fatalf("%.15g, bound %.15g; the best is %.15g", total, bound, best)
		}
		a := exact(q.p, x, total)
		checkShares(t, q.p, &a)
	})
}

// TestAlloXEndsInTime counts looks at jobs on types: two thousand jobs on one worker of each of
// three types, the longest queues there are, take a thirtieth of the limit.
func TestAlloXEndsInTime(t *testing.T) {
	p := gavelFleet(2000, false)
	q := &queues{p: p, jobs: index(len(p.Jobs))}
	for w := range p.Types {
		p.Types[w].Workers = 1
	}
	total, _, bound := q.match(alloxWork / 30)
	if distance(total, bound) > 1e-12 {
		t.Errorf("%.15g, bound %.15g", total, bound)
	}
}
