package share

import (
	"cmp"
	"slices"
)

// shortestFirst serves the job that could end soonest if it were alone, then the next
// on what is left. The objective is the first job's seconds; 0 if none can run.
func shortestFirst(p *Problem, _ Options) (Answer, error) {
	full := make([]float64, len(p.Types))
	for w, t := range p.Types {
		full[w] = float64(t.Workers)
	}
	type candidate struct {
		j       int
		seconds float64
	}
	var order []candidate
	for j, job := range p.Jobs {
		if _, theta := p.fill(j, full); theta > 0 { // else it can run nowhere
			order = append(order, candidate{j, job.Steps / theta})
		}
	}
	slices.SortStableFunc(order, func(a, b candidate) int { return cmp.Compare(a.seconds, b.seconds) })
	x, left := p.nothing(), slices.Clone(full)
	objective := 0.0
	for i, c := range order {
		if i == 0 {
			objective = c.seconds
		}
		x[c.j], _ = p.fill(c.j, left)
		for w, v := range x[c.j] {
			left[w] = max(0, left[w]-v*float64(p.Jobs[c.j].Scale))
		}
	}
	return exact(p, x, objective), nil
}

// fill gives job j its fastest time on the free workers, and its throughput there.
func (p *Problem) fill(j int, free []float64) ([]float64, float64) {
	job := p.Jobs[j]
	order := make([]int, len(p.Types))
	for w := range order {
		order[w] = w
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(job.Throughput[b], job.Throughput[a]) })
	x, time, theta := make([]float64, len(p.Types)), 1.0, 0.0
	for _, w := range order {
		if job.Throughput[w] <= 0 {
			break
		}
		x[w] = min(time, free[w]/float64(job.Scale))
		time -= x[w]
		theta += x[w] * job.Throughput[w]
	}
	return x, theta
}
