package share

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/goodfleet/goodfleet/planner/linear"
)

// allox matches one-worker jobs to places in the workers' queues, so that the sum of
// completion times is least: the k-th place from the end of a queue delays k jobs by
// the job's own time. The first job of each queue runs all the time.
//
// Workers of one type are alike, so a place is (type, k) with as many seats as workers;
// the transportation program over jobs and places has whole vertices. Of its answer only
// the types are taken: on each, the queues of least sum are those that the longest jobs end.
func allox(p *Problem, _ Options) (Answer, error) {
	q := queues{p: p}
	for j, job := range p.Jobs {
		if job.Scale != 1 {
			return Answer{}, fieldErr(fmt.Sprintf("%d: AlloX places one-worker jobs only", job.Scale), "jobs[%d].scale_factor", j)
		}
		if p.fastest(j) > 0 {
			q.jobs = append(q.jobs, j)
		}
	}
	for w, t := range p.Types {
		if t.Workers > 0 {
			for k := 1; k <= (len(p.Jobs)+t.Workers-1)/t.Workers; k++ { // none is longer
				q.places = append(q.places, place{w, k})
			}
		}
	}
	total, x, bound := q.match()
	a := exact(p, x, total)
	a.Bound = min(total, bound)
	a.Gap = distance(a.Objective, a.Bound)
	for j := range p.Jobs {
		if p.fastest(j) <= 0 {
			a.Left = append(a.Left, j)
		}
	}
	return a, nil
}

// queues are the places on a fleet for the jobs that can run there.
type queues struct {
	p      *Problem
	jobs   []int
	places []place
}

// place is the k-th from the end of the queues of type w.
type place struct{ w, k int }

// alone is how long job j takes on type w, +Inf if it cannot run there.
func (q *queues) alone(j, w int) float64 {
	if v := q.p.Jobs[j].Throughput[w]; v > 0 {
		return q.p.Jobs[j].Steps / v
	}
	return math.Inf(1)
}

// delay is what job j adds to the sum of completion times at a place.
func (q *queues) delay(j int, at place) float64 { return float64(at.k) * q.alone(j, at.w) }

// match gives each job a type, and returns the sum of completion times, the shares of those
// that run, and a bound that no queues are below.
func (q *queues) match() (total float64, x [][]float64, bound float64) {
	kind := make([]int, len(q.p.Jobs)) // the start, and an upper bound: each on its fastest type
	for _, j := range q.jobs {
		for w, t := range q.p.Types {
			if t.Workers > 0 && (q.p.Types[kind[j]].Workers == 0 || q.alone(j, w) < q.alone(j, kind[j])) {
				kind[j] = w
			}
		}
	}
	total, x = q.order(kind)
	if total == 0 {
		return total, x, 0
	}
	prices, better := q.transport(total, kind)
	if sum, shares := q.order(better); sum < total {
		total, x = sum, shares
	}
	return total, x, q.bound(prices)
}

// transport solves the program of jobs and places, but for places that alone delay more than
// twice what the queues of kind do, and returns the prices of places and each job's type.
func (q *queues) transport(most float64, kind []int) (prices []float64, types []int) {
	n := len(q.jobs)
	bound := make([]float64, n, n+len(q.places))
	for i := range bound {
		bound[i] = 1
	}
	for _, at := range q.places {
		bound = append(bound, float64(q.p.Types[at.w].Workers))
	}
	lp := linear.NewProgram(bound)
	var owner, where []int
	for i, j := range q.jobs {
		for k, at := range q.places {
			if d := q.delay(j, at); d <= 2*most {
				// The best queues delay by most at the most, and 2 more than pays for a place in
				// them; what costs more than that is held off by no price.
				lp.Add(2-d/most, []int32{int32(i), int32(n + k)}, []float64{1, 1})
				owner, where = append(owner, j), append(where, at.w)
			}
		}
	}
	s := linear.NewSimplex(lp)
	s.Primal(100*n + 10_000)
	types = slices.Clone(kind)
	for c, j := range owner {
		if s.Value(c) > 0.5 {
			types[j] = where[c]
		}
	}
	prices = make([]float64, len(q.places))
	for k := range prices {
		prices[k] = max(0, s.Price(n+k)) * most
	}
	return prices, types
}

// bound is what no queues are below, at any prices of places: each job takes the place that
// costs it least, and pays for places what they are worth.
func (q *queues) bound(prices []float64) float64 {
	sum := 0.0
	for _, j := range q.jobs {
		least := math.Inf(1)
		for k, at := range q.places {
			least = min(least, q.delay(j, at)+prices[k])
		}
		sum += least
	}
	for k, at := range q.places {
		sum -= prices[k] * float64(q.p.Types[at.w].Workers)
	}
	return max(0, sum)
}

// order queues the jobs of each type, the longest at the ends, and runs the first of each
// queue: the shortest, as many as there are workers.
func (q *queues) order(kind []int) (total float64, x [][]float64) {
	x = q.p.nothing()
	for w, t := range q.p.Types {
		var list []int
		for _, j := range q.jobs {
			if kind[j] == w {
				list = append(list, j)
			}
		}
		slices.Reverse(list) // of equal jobs the first to arrive runs first
		slices.SortStableFunc(list, func(a, b int) int { return cmp.Compare(q.alone(b, w), q.alone(a, w)) })
		for i, j := range list {
			total += q.delay(j, place{w, 1 + i/max(1, t.Workers)})
			if i >= len(list)-t.Workers {
				x[j][w] = 1
			}
		}
	}
	return total, x
}
