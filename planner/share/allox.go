package share

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// allox matches one-worker jobs to places in the workers' queues, so that the sum of
// completion times is least: the k-th place from the end of a queue delays k jobs by
// the job's own time. The first job of each queue runs all the time.
//
// Workers of one type are alike, so a place is (type, k) with as many seats as workers. Of the
// matching only the types are taken: on each, the queues of least sum are those that the longest
// jobs end. It is exact, whatever gap is asked for, unless the work reaches its limit.
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
	total, x, bound := q.match(alloxWork)
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

// queues are the queues on a fleet, of the jobs that can run there.
type queues struct {
	p    *Problem
	jobs []int
}

// place is the k-th from the end of the queues of type w, from 0.
type place struct{ w, k int }

// alone is how long job j takes on type w, +Inf if it cannot run there.
func (q *queues) alone(j, w int) float64 {
	if v := q.p.Jobs[j].Throughput[w]; v > 0 {
		return q.p.Jobs[j].Steps / v
	}
	return math.Inf(1)
}

// delay is what job j adds to the sum of completion times at a place.
func (q *queues) delay(j int, at place) float64 { return float64(at.k+1) * q.alone(j, at.w) }

// match gives each job a type, and returns the sum of completion times, the shares of those
// that run, and a bound that no queues are below.
func (q *queues) match(work int) (total float64, x [][]float64, bound float64) {
	kind, prices := q.paths(work)
	total, x = q.order(kind)
	return total, x, q.bound(prices)
}

// bound is what no queues are below, at any prices of places, which are 0 from the last on: each
// job takes the place that costs it least, and pays for places what they are worth.
func (q *queues) bound(prices [][]float64) float64 {
	sum := 0.0
	for _, j := range q.jobs {
		least := math.Inf(1)
		for w, list := range prices {
			for i, v := range list {
				least = min(least, q.delay(j, place{w, i})+v)
			}
		}
		sum += least
	}
	for w, list := range prices {
		for _, v := range list {
			sum -= v * float64(q.p.Types[w].Workers)
		}
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
			total += q.delay(j, place{w, i / max(1, t.Workers)})
			if i >= len(list)-t.Workers {
				x[j][w] = 1
			}
		}
	}
	return total, x
}
