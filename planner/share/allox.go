package share

import (
	"fmt"
	"math"

	"github.com/goodfleet/goodfleet/planner/linear"
)

// allox matches one-worker jobs to places in the workers' queues, so that the sum of
// completion times is least: the k-th place from the end of a queue delays k jobs by
// the job's own time. The first job of each queue runs all the time.
//
// Workers of one type are alike, so a place is (type, k) with as many seats as workers;
// the transportation program over jobs and places has whole vertices. No queue of type
// w is longer than jobs/workers, rounded up.
func allox(p *Problem, _ Options) (Answer, error) {
	for j, job := range p.Jobs {
		if job.Scale != 1 {
			return Answer{}, fieldErr(fmt.Sprintf("%d: AlloX places one-worker jobs only", job.Scale), "jobs[%d].scale_factor", j)
		}
	}
	type place struct{ w, k int }
	var places []place
	bound := make([]float64, len(p.Jobs))
	for j := range bound {
		bound[j] = 1
	}
	for w, t := range p.Types {
		if t.Workers == 0 {
			continue
		}
		for k := 1; k <= (len(p.Jobs)+t.Workers-1)/t.Workers; k++ {
			places = append(places, place{w, k})
			bound = append(bound, float64(t.Workers))
		}
	}
	seconds := func(j int, q place) float64 {
		return float64(q.k) * p.Jobs[j].Steps / p.Jobs[j].Throughput[q.w]
	}
	most := 0.0
	for j := range p.Jobs {
		for _, q := range places {
			if p.Jobs[j].Throughput[q.w] > 0 {
				most = max(most, seconds(j, q))
			}
		}
	}
	if most == 0 {
		most = 1
	}
	lp := linear.NewProgram(bound)
	var owner, where []int
	for j := range p.Jobs {
		for i, q := range places {
			if p.Jobs[j].Throughput[q.w] > 0 {
				lp.Add(2-seconds(j, q)/most, []int32{int32(j), int32(len(p.Jobs) + i)}, []float64{1, 1})
				owner, where = append(owner, j), append(where, i)
			}
		}
	}
	s := linear.NewSimplex(lp)
	status := s.Primal(100*len(p.Jobs) + 10_000)
	queue := make([][]int, len(places)) // jobs at each place, in order of arrival
	total := 0.0
	for i, j := range owner {
		if s.Value(i) > 0.5 {
			queue[where[i]] = append(queue[where[i]], j)
			total += seconds(j, places[where[i]])
		}
	}
	x := p.nothing()
	for i, q := range places {
		behind := 0 // queues that are longer than k
		if i+1 < len(places) && places[i+1].w == q.w {
			behind = len(queue[i+1])
		}
		for _, j := range queue[i][:max(0, len(queue[i])-behind)] {
			x[j][q.w] = 1
		}
	}
	a := exact(p, x, total)
	if status != linear.Optimal {
		a.Status, a.Bound = "feasible", 0
		a.Gap = distance(a.Objective, a.Bound)
	}
	for j := range p.Jobs {
		if p.fastest(j) <= 0 {
			a.Left = append(a.Left, j)
		}
	}
	if math.IsNaN(a.Objective) {
		a.Objective = 0
	}
	return a, nil
}
