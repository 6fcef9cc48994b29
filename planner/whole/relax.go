package whole

import "math"

// relaxation is what the linear program says.
type relaxation struct {
	bound  float64
	prices []float64
	worth  []float64   // per job, the most it earns after rent, at least 0
	x      [][]float64 // share of each option
	losses [][]float64 // of each option, where more rows than those of capacity count; nil: none do
	struck float64     // most that a choice with a struck option may be worth
}

// relax solves the linear relaxation over the options kept, in its dual: the prices
// that minimise rent and what the jobs earn beyond it. Each job's most is smoothed to
// μ·log(1 + Σ exp(earn/μ)), prices above zero carry −μ·log, and Newton's method follows
// μ to zero; it has one unknown a row, and the exponentials are the shares. Any prices
// give a bound, so that it matters little how near to the end rounding lets it come.
func (p *Problem) relax(keep [][]bool) relaxation {
	s := newSmooth(p, keep)
	s.descend()
	r := relaxation{prices: s.price, x: make([][]float64, len(p.Options)), struck: math.Inf(-1)}
	s.shares(r.x)
	r.bound, r.worth = s.earnings()
	return r
}

// loss is by how much the bound falls if job j takes option i (-1: none).
func (r *relaxation) loss(p *Problem, j, i int) float64 {
	if i < 0 {
		return r.worth[j]
	}
	if r.losses != nil {
		return r.losses[j][i]
	}
	o := p.Options[j][i]
	return r.worth[j] - o.Value + r.prices[o.Row]*o.Units
}

// strike drops the options whose loss leaves no more than best, and counts what is left.
func (r *relaxation) strike(p *Problem, keep [][]bool, best float64) int {
	left := 0
	for j, list := range p.Options {
		for i := range list {
			if !keep[j][i] {
				continue
			}
			if v := r.bound - r.loss(p, j, i); v <= best {
				keep[j][i] = false
				r.struck = max(r.struck, v)
			} else {
				left++
			}
		}
	}
	return left
}
