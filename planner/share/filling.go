package share

import "github.com/goodfleet/goodfleet/planner/block"

// waterFilling lifts u_j = theta_j/E_j of all jobs at the rates weight/scale until some
// can grow no more, then the others, and so on. With entities an entity's weight is
// split over its jobs that still grow, by their weights, or goes to the first of them.
func waterFilling(pack bool) func(*Problem, Options) (Answer, error) {
	return func(p *Problem, o Options) (Answer, error) {
		d := demand{throughput: p.throughput, follow: make([]float64, len(p.Jobs)), gain: make([]float64, len(p.Jobs)), packed: pack && len(p.Pairs) > 0}
		equal := make([]float64, len(p.Jobs))
		var left []int
		for j := range p.Jobs {
			if equal[j] = p.equal(j); equal[j] > 0 {
				d.gain[j] = 1 / equal[j]
			} else {
				left = append(left, j)
			}
		}
		inDoubles := p.fillVertices
		if d.packed {
			inDoubles = p.fillPacked
		}
		a, ok, small := Answer{}, false, p.widely(&d)
		if small && p.far(&d) {
			a, ok = p.fillWide(&d)
		}
		if !ok {
			a = inDoubles(&d, equal)
			if small && a.Gap > max(o.settings().gap, roundingGap) {
				if b, ok := p.fillWide(&d); ok {
					a = b
				}
			}
		}
		a.Left = left
		return a, nil
	}
}

// fillVertices fills in double precision: by whole levels, or, of few jobs or where a level is not
// found, by one simplex method that goes from job to job.
func (p *Problem) fillVertices(d *demand, equal []float64) Answer {
	f := block.Fill(p.blocks(d), func(frozen []bool) []float64 {
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
	a := p.filled(d, r, equal, f.Most)
	a.Rounds = f.Rounds
	return a
}

// nothing is the part of what a job could have alone that it may lack of its most: double precision
// rounds shares of a hundredth of that to 0.
const nothing = 1e-10

// filled is the answer of a filled point. most is what no job can exceed while all others have what
// they had where it stopped; the gap is the largest part of it that a job lacks.
func (p *Problem) filled(d *demand, r plan, equal, most []float64) Answer {
	vector, gap, alone := make([]float64, len(p.Jobs)), 0.0, 0.0
	for j, peak := range p.peaks(d) {
		if equal[j] == 0 {
			continue
		}
		vector[j] = r.theta[j] / equal[j]
		alone += peak / equal[j]
		if short := most[j] - r.theta[j] - nothing*peak; short > 0 {
			gap = max(gap, short/most[j])
		}
	}
	total := sum(vector)
	a := answerOf(r, total, min(alone, total/(1-gap))) // all that is sure is each job's peak
	a.Need, a.Level, a.Vector, a.Gap = nil, false, vector, gap
	return a
}

// peaks are the most that each job can have if all others give way, alone or in a pair.
func (p *Problem) peaks(d *demand) []float64 {
	most := make([]float64, len(p.Jobs))
	for j := range most {
		most[j] = p.fastest(j)
	}
	for _, q := range p.pairsOf(d) {
		for w, v := range q.Throughput {
			if p.Types[w].Workers > 0 {
				most[q.A], most[q.B] = max(most[q.A], v[0]), max(most[q.B], v[1])
			}
		}
	}
	return most
}

// pairsOf are the pairs that d may use.
func (p *Problem) pairsOf(d *demand) []Pair {
	if d.packed {
		return p.Pairs
	}
	return nil
}

// widely reports whether wide numbers can solve d.
func (p *Problem) widely(d *demand) bool {
	rows := 2*len(p.Jobs) + len(p.Types)
	return rows*(rows+(len(p.Jobs)+len(p.pairsOf(d)))*len(p.Types)) <= finerSize
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
