package share

import "github.com/goodfleet/goodfleet/planner/block"

// waterFilling lifts u_j = theta_j/E_j of all jobs at the rates weight/scale until some
// can grow no more, then the others, and so on. With entities an entity's weight is
// split over its jobs that still grow, by their weights, or goes to the first of them.
func waterFilling(p *Problem, o Options) (Answer, error) {
	d := demand{throughput: p.throughput, follow: make([]float64, len(p.Jobs)), gain: make([]float64, len(p.Jobs))}
	equal := make([]float64, len(p.Jobs))
	var left []int
	for j := range p.Jobs {
		if equal[j] = p.equal(j); equal[j] > 0 {
			d.gain[j] = 1 / equal[j]
		} else {
			left = append(left, j)
		}
	}
	f := block.Fill(p.blocks(&d), func(frozen []bool) []float64 {
		rates := p.rates(frozen)
		for j := range rates {
			rates[j] *= equal[j]
		}
		return rates
	})
	r := plan{status: f.Status, x: p.nothing(), theta: make([]float64, len(p.Jobs)), pivots: f.Pivots}
	i := 0
	for j := range p.Jobs {
		part := p.part(j)
		for w := range p.Types {
			if v := p.throughput(j, w); v > 0 {
				r.x[j][w] = part * f.X[i]
				r.theta[j] += v * r.x[j][w]
				i++
			}
		}
	}
	vector, sum, most := make([]float64, len(p.Jobs)), 0.0, 0.0
	for j := range vector {
		if equal[j] > 0 {
			vector[j] = r.theta[j] / equal[j]
		}
		sum += vector[j]
	}
	for _, rate := range p.rates(make([]bool, len(p.Jobs))) {
		most += rate
	}
	bound := sum + f.Excess*most
	if f.Status != block.Optimal { // a level is not found: all that is sure is each job alone
		bound = 0
		for j, e := range equal {
			if e > 0 {
				bound += p.fastest(j) / e
			}
		}
	}
	a := answerOf(r, sum, bound)
	a.Vector, a.Left, a.Rounds = vector, left, f.Rounds
	return a, nil
}

// rates are how fast each job's u may grow while the others do.
func (p *Problem) rates(frozen []bool) []float64 {
	rates := make([]float64, len(p.Jobs))
	if len(p.Entities) == 0 {
		for j, job := range p.Jobs {
			if !frozen[j] {
				rates[j] = job.Weight / float64(job.Scale)
			}
		}
		return rates
	}
	for _, e := range p.Entities {
		total := 0.0
		for _, j := range e.Jobs {
			if !frozen[j] {
				total += p.Jobs[j].Weight
			}
		}
		for _, j := range e.Jobs {
			if frozen[j] {
				continue
			}
			if e.FIFO {
				rates[j] = e.Weight / float64(p.Jobs[j].Scale)
				break
			}
			rates[j] = e.Weight * p.Jobs[j].Weight / total / float64(p.Jobs[j].Scale)
		}
	}
	return rates
}
