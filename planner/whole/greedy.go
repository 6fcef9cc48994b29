package whole

import (
	"cmp"
	"slices"
)

// round makes a choice of the relaxation: options that are nearly whole, then, by the
// value lost for each unit, whatever still fits, then single and double exchanges.
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
	p.polish(r, keep, choice, left)
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

// polishRounds limits the passes of exchanges; each pass raises the value.
const polishRounds = 20

// polish moves single jobs to options of more value that fit, then pairs: one job down
// to make room for another. It changes choice and left.
func (p *Problem) polish(r *relaxation, keep [][]bool, choice []int, left []float64) {
	for range polishRounds {
		if !p.moveOne(keep, choice, left) && !p.moveTwo(r, keep, choice, left) {
			return
		}
	}
}

// at is option i of job j; -1 is nothing.
func (p *Problem) at(j, i int) Option {
	if i < 0 {
		return Option{}
	}
	return p.Options[j][i]
}

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

// moveTwo looks for two jobs that gain together: one takes an option that needs more
// than is left of a row, another gives up that much there. Only moves of small loss
// are tried.
func (p *Problem) moveTwo(r *relaxation, keep [][]bool, choice []int, left []float64) bool {
	type move struct {
		j, to int
		gain  float64
	}
	const most = 40 // moves kept per row and direction
	// A move that alone loses more than the whole gap is part of no better choice.
	limit := r.bound - p.value(choice)
	up := make([][]move, len(left))
	down := make([][]move, len(left))
	for j, list := range p.Options {
		now := p.at(j, choice[j])
		for i := -1; i < len(list); i++ {
			if i == choice[j] || i >= 0 && !keep[j][i] || r.loss(p, j, i) > limit {
				continue
			}
			to := p.at(j, i)
			m := move{j, i, to.Value - now.Value}
			if m.gain > 0 && i >= 0 {
				up[to.Row] = append(up[to.Row], m)
			}
			if choice[j] >= 0 && (i < 0 || to.Row != now.Row || to.Units < now.Units) {
				down[now.Row] = append(down[now.Row], m)
			}
		}
	}
	for row := range left {
		byGain := func(a, b move) int { return cmp.Or(cmp.Compare(b.gain, a.gain), cmp.Compare(a.j, b.j)) }
		byLoss := func(a, b move) int {
			return cmp.Or(cmp.Compare(r.loss(p, a.j, a.to), r.loss(p, b.j, b.to)), cmp.Compare(a.j, b.j))
		}
		slices.SortStableFunc(up[row], byLoss)
		slices.SortStableFunc(down[row], byLoss)
		ups, downs := up[row][:min(most, len(up[row]))], down[row][:min(most, len(down[row]))]
		slices.SortStableFunc(ups, byGain)
		for _, u := range ups {
			for _, d := range downs {
				if u.j == d.j || u.gain+d.gain <= gainLeast {
					continue
				}
				if p.tryBoth(choice, left, u.j, u.to, d.j, d.to) {
					return true
				}
			}
		}
	}
	return false
}

// tryBoth makes two moves if they fit together.
func (p *Problem) tryBoth(choice []int, left []float64, j, to, k, tk int) bool {
	shift := func(job, option int, sign float64) {
		if option >= 0 {
			o := p.Options[job][option]
			left[o.Row] += sign * o.Units
		}
	}
	a, b := choice[j], choice[k]
	shift(j, a, 1)
	shift(k, b, 1)
	shift(j, to, -1)
	shift(k, tk, -1)
	for _, job := range [][2]int{{j, to}, {k, tk}} {
		if job[1] >= 0 && left[p.Options[job[0]][job[1]].Row] < -roomTol {
			shift(j, to, 1)
			shift(k, tk, 1)
			shift(j, a, -1)
			shift(k, b, -1)
			return false
		}
	}
	choice[j], choice[k] = to, tk
	return true
}
