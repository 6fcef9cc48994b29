package whole

import (
	"math"

	"github.com/goodfleet/goodfleet/planner/block"
)

// relaxation is what the linear program says.
type relaxation struct {
	bound  float64
	prices []float64
	worth  []float64   // per job, the most it earns after rent, at least 0
	x      [][]float64 // share of each option
}

// relax solves the linear relaxation over the options kept, to a vertex.
func (p *Problem) relax(keep [][]bool) relaxation {
	b := block.New(p.Capacity)
	for j, list := range p.Options {
		for i, o := range list {
			if keep[j][i] {
				b.Column(o.Value, 0, []int32{int32(o.Row)}, []float64{o.Units})
			}
		}
		b.Job(0, 0)
	}
	s := block.Solve(b, block.Options{Gap: 1e-7, Vertex: true})
	r := relaxation{prices: s.Prices, x: make([][]float64, len(p.Options))}
	at := 0
	for j, list := range p.Options {
		r.x[j] = make([]float64, len(list))
		for i := range list {
			if keep[j][i] {
				r.x[j][i] = s.X[at]
				at++
			}
		}
	}
	r.reprice(p, keep)
	return r
}

// reprice computes bound and worths from the prices.
func (r *relaxation) reprice(p *Problem, keep [][]bool) {
	r.worth = make([]float64, len(p.Options))
	r.bound = 0
	for row, price := range r.prices {
		r.bound += price * p.Capacity[row]
	}
	for j, list := range p.Options {
		for i, o := range list {
			if keep[j][i] {
				r.worth[j] = max(r.worth[j], o.Value-r.prices[o.Row]*o.Units)
			}
		}
		r.bound += r.worth[j]
	}
}

// loss is by how much the bound falls if job j takes option i (-1: none).
func (r *relaxation) loss(p *Problem, j, i int) float64 {
	if i < 0 {
		return r.worth[j]
	}
	o := p.Options[j][i]
	return r.worth[j] - o.Value + r.prices[o.Row]*o.Units
}

// strike drops the options whose loss leaves less than the best value known, and
// counts what is left.
func (r *relaxation) strike(p *Problem, keep [][]bool, best float64) int {
	left := 0
	for j, list := range p.Options {
		for i := range list {
			if keep[j][i] {
				if r.bound-r.loss(p, j, i) < best-math.Abs(best)*1e-12 {
					keep[j][i] = false
				} else {
					left++
				}
			}
		}
	}
	return left
}
