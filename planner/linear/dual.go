package linear

import (
	"math"
	"slices"
)

// Dual restores feasibility from a basis whose reduced costs are those of an
// optimum, as after Fix or a changed bound, and keeps them so. It takes at most
// limit iterations.
func (s *Simplex) Dual(limit int) Status {
	s.grow()
	if !s.factored && !s.refactor() {
		return Stuck
	}
	end := s.Iteration + limit
	fresh := false
	for {
		r, out := s.worst()
		if r < 0 {
			if fresh || len(s.f.updates) == 0 {
				return s.finish(end)
			}
			fresh = true
			if !s.refactor() {
				return Stuck
			}
			continue
		}
		if s.Iteration >= end {
			return Limit
		}
		if s.Objective() <= s.cutoff { // the prices stay those of an optimum, so that it only falls
			s.ray = nil
			return Infeasible
		}
		s.row(r)
		v, ratio := s.enterDual(out)
		if v == none {
			if len(s.f.updates) > 0 && !fresh {
				fresh = true
				if !s.refactor() {
					return Stuck
				}
				continue
			}
			s.ray = slices.Clone(s.rho)
			if out > 0 {
				for i := range s.ray {
					s.ray[i] = -s.ray[i]
				}
			}
			return Infeasible
		}
		fresh = false
		s.Iteration++
		s.image(v)
		if math.Abs(s.alpha[r]) < ratioLeast {
			if len(s.f.updates) == 0 {
				return Stuck
			}
			if !s.refactor() {
				return Stuck
			}
			continue
		}
		step := s.xB[r] / s.alpha[r]
		s.move(1, step)
		s.price(ratio)
		if !s.pivot(r, v, step) || !s.finite() {
			return Stuck
		}
	}
}

// finish makes sure that the duals are still optimal after rounding.
func (s *Simplex) finish(end int) Status {
	for j := range s.at {
		if s.at[j] < 0 && !s.fixed[j] && s.reduced(int32(j)) > 1e-7 {
			s.list = s.list[:0]
			return s.climb(end)
		}
	}
	return Optimal
}

// worst is the basic position farthest out of its bounds, and by how much; -1 if none is.
func (s *Simplex) worst() (int, float64) {
	best, most := -1, 0.0
	for i, v := range s.head {
		if x := s.infeasibility(v, s.xB[i]); math.Abs(x) > math.Abs(most) {
			best, most = i, x
		}
	}
	return best, most
}

// enterDual picks the variable whose reduced cost reaches zero first when the row
// in rho is relaxed, and the change of prices that this makes; among near ties the
// largest pivot.
func (s *Simplex) enterDual(out float64) (int32, float64) {
	sign := 1.0 // entries of this sign can bring the value back
	if out < 0 {
		sign = -1
	}
	type option struct {
		v    int32
		a, d float64
	}
	var options []option
	most := math.Inf(1)
	consider := func(v int32, a, d float64) {
		if a *= sign; a > ratioLeast {
			options = append(options, option{v, a, d})
			most = min(most, (max(-d, 0)+dualTol)/a)
		}
	}
	for j := range s.at {
		if s.at[j] < 0 && !s.fixed[j] {
			if a := s.dot(s.rho, int32(j)); a != 0 {
				consider(int32(j), a, s.reduced(int32(j)))
			}
		}
	}
	for r, a := range s.rho {
		if a != 0 && s.slackAt[r] < 0 && !s.slackFix[r] {
			consider(^int32(r), a, -s.pi[r])
		}
	}
	best, size, ratio := int32(none), 0.0, 0.0
	for _, o := range options {
		if max(-o.d, 0)/o.a <= most && o.a > size {
			best, size, ratio = o.v, o.a, o.d/(sign*o.a)
		}
	}
	return best, ratio
}
