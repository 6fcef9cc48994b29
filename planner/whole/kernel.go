package whole

import (
	"math"
	"slices"
)

// Settings of the kernel.
const (
	kernelColumns = 1500 // options besides each job's best
	kernelNodes   = 60   // of branching; more find little more
	kernelCuts    = 6    // rounds of cuts
)

// kernel branches over so many of the options that lose least at the prices, while jobs without a
// second one among them take their best. Where many jobs nearly tie, as in large
// programs, those are all that a choice next to the bound needs. It also bounds: a choice
// with another option loses at least what that option does.
func (p *Problem) kernel(r *relaxation, keep [][]bool, res *Result, l Limits, columns int) {
	most, least := p.secondLosses(r, keep, columns)
	near := make([][]bool, len(p.Options))
	room := slices.Clone(p.Capacity)
	choice := make([]int, len(p.Options))
	fixed := 0.0
	var jobs []int
	for j, list := range p.Options {
		near[j] = make([]bool, len(list))
		first, n := -1, 0
		if r.worth[j] <= most {
			n = 1
		}
		for i := range list {
			if keep[j][i] && r.loss(p, j, i) <= most {
				near[j][i] = true
				n++
				if first < 0 || r.loss(p, j, i) < r.loss(p, j, first) {
					first = i
				}
			}
		}
		choice[j] = first
		switch {
		case n > 1:
			jobs = append(jobs, j)
		case first >= 0:
			room[list[first].Row] -= list[first].Units
			fixed += list[first].Value
		}
	}
	for row, c := range room {
		if c < -roomTol {
			return
		}
		room[row] = max(c, 0)
	}
	within := l.within(p, res)
	t := newTree(p, jobs, near, room, r.prices, res.Value-fixed, kernelNodes, within)
	t.cutRounds = kernelCuts
	bound := t.run() + fixed
	res.Nodes += t.nodes
	if t.found {
		for n, j := range jobs {
			choice[j] = t.choice[n]
		}
		if v := p.value(choice); v > res.Value && p.fits(choice) {
			res.Choice, res.Value = choice, v
		}
	}
	res.Bound = min(res.Bound, max(bound, r.bound-least, res.Value))
}

// secondLosses is the loss up to which there are about so many options besides each job's
// best, none counted as one, and the least loss above it.
func (p *Problem) secondLosses(r *relaxation, keep [][]bool, columns int) (most, above float64) {
	var losses []float64
	for j, list := range p.Options {
		from := len(losses)
		losses = append(losses, r.worth[j])
		for i := range list {
			if keep[j][i] {
				losses = append(losses, r.loss(p, j, i))
			}
		}
		best := slices.Index(losses[from:], slices.Min(losses[from:]))
		losses = slices.Delete(losses, from+best, from+best+1)
	}
	slices.Sort(losses)
	if len(losses) <= columns {
		return math.Inf(1), math.Inf(1)
	}
	most = losses[columns]
	for _, v := range losses[columns:] {
		if v > most {
			return most, v
		}
	}
	return most, math.Inf(1)
}
