package whole

import (
	"cmp"
	"slices"
)

// round makes a choice of the relaxation: options that are nearly whole, then, by the
// value lost for each unit, whatever still fits, then single moves.
func (p *Problem) round(r *relaxation, keep [][]bool) []int {
	choice := make([]int, len(p.Options))
	left := slices.Clone(p.Capacity)
	var open []int
	for j := range choice {
		choice[j] = -1
		for i, x := range r.x[j] {
			if o := p.Options[j][i]; x > 0.999 && o.Units <= left[o.Row]+roomTol {
				choice[j] = i
				left[o.Row] -= o.Units
			}
		}
		if choice[j] < 0 {
			open = append(open, j)
		}
	}
	slices.SortStableFunc(open, func(a, b int) int { return cmp.Compare(r.worth[b], r.worth[a]) })
	for _, j := range open {
		if i := p.bestFit(r, keep, j, left); i >= 0 {
			choice[j] = i
			left[p.Options[j][i].Row] -= p.Options[j][i].Units
		}
	}
	for range polishRounds {
		if !p.moveOne(keep, choice, left) {
			break
		}
	}
	return choice
}

// bestFit is the option of least loss that fits into what is left; -1: none does.
func (p *Problem) bestFit(r *relaxation, keep [][]bool, j int, left []float64) int {
	best, least := -1, r.loss(p, j, -1)
	for i, o := range p.Options[j] {
		if keep[j][i] && o.Units <= left[o.Row]+roomTol {
			if l := r.loss(p, j, i); l < least {
				best, least = i, l
			}
		}
	}
	return best
}

// polishRounds limits the passes of single moves; each pass raises the value.
const polishRounds = 20

// at is option i of job j; -1 is nothing.
func (p *Problem) at(j, i int) Option {
	if i < 0 {
		return Option{}
	}
	return p.Options[j][i]
}

// moveOne gives single jobs options of more value that fit.
func (p *Problem) moveOne(keep [][]bool, choice []int, left []float64) bool {
	moved := false
	for j, list := range p.Options {
		now := p.at(j, choice[j])
		best := choice[j]
		for i, o := range list {
			room := left[o.Row]
			if choice[j] >= 0 && now.Row == o.Row {
				room += now.Units
			}
			if keep[j][i] && o.Value > p.at(j, best).Value+gainLeast && o.Units <= room+roomTol {
				best = i
			}
		}
		if best != choice[j] {
			if choice[j] >= 0 {
				left[now.Row] += now.Units
			}
			left[list[best].Row] -= list[best].Units
			choice[j] = best
			moved = true
		}
	}
	return moved
}

// gainLeast is the least gain of an exchange, so that rounding makes no endless loop.
const gainLeast = 1e-12
