package linear

import (
	"cmp"
	"math"
	"slices"
)

// Primal solves from the present basis by the primal method: first whatever the
// start point left outside the basis, then infeasible basic values, then the
// objective. It takes at most limit iterations.
func (s *Simplex) Primal(limit int) Status {
	s.grow()
	if !s.factored && !s.refactor() {
		return Stuck
	}
	s.duals()
	s.list = s.list[:0]
	s.stall, s.perturbed = 0, 0
	end := s.Iteration + limit
	if status := s.settle(end); status != Optimal {
		return status
	}
	for round := 0; ; round++ {
		status := s.climb(end)
		if !s.shifted || status == Limit || status == Stuck {
			if s.shifted {
				s.unshift()
			}
			return status
		}
		s.unshift()
		if status == Optimal {
			if status = s.Dual(max(0, end-s.Iteration)); status == Optimal || round >= 3 {
				return status
			}
		}
		if round >= 6 {
			return Stuck
		}
	}
}

// settle moves each loose column in its better direction until it reaches zero or
// something basic does, whose place it takes.
func (s *Simplex) settle(end int) Status {
	for len(s.super) > 0 {
		if s.Iteration >= end {
			return Limit
		}
		s.Iteration++
		last := len(s.super) - 1
		l := s.super[last]
		s.super = s.super[:last]
		direction := -1.0
		if s.reduced(l.column) > dualTol {
			direction = 1
		}
		s.image(l.column)
		r, step := s.ratio(direction)
		if direction < 0 && (r < 0 || step >= l.value) {
			s.move(direction, l.value)
			continue
		}
		if r < 0 {
			return Unbounded
		}
		d := s.reduced(l.column)
		s.row(r)
		s.move(direction, step)
		s.price(d / s.alpha[r])
		if !s.pivot(r, l.column, l.value+direction*step) {
			return Stuck
		}
	}
	return Optimal
}

// move takes the basic values along the entering column's image.
func (s *Simplex) move(direction, step float64) {
	if step == 0 {
		return
	}
	for i, a := range s.alpha {
		if a != 0 {
			s.xB[i] -= direction * step * a
		}
	}
}

// price updates the row prices after a pivot, before the factors change.
func (s *Simplex) price(ratio float64) {
	if ratio == 0 {
		return
	}
	for r, v := range s.rho {
		if v != 0 {
			s.pi[r] += ratio * v
		}
	}
}

// ratio is the first basic position that blocks a move of the entering variable
// and the step it allows; -1 if none does. Among those that block nearly at once
// it takes the largest pivot (Harris).
func (s *Simplex) ratio(direction float64) (int, float64) {
	most := math.Inf(1)
	for i, a := range s.alpha {
		rate := direction * a
		if rate > ratioLeast {
			most = min(most, max(s.xB[i]+ratioSlack, 0)/rate)
		} else if rate < -ratioLeast && s.held(s.head[i]) {
			most = min(most, ratioSlack/-rate)
		}
	}
	if math.IsInf(most, 1) {
		return -1, 0
	}
	best, size, step := -1, 0.0, 0.0
	for i, a := range s.alpha {
		rate := direction * a
		var at float64
		held := s.held(s.head[i])
		switch {
		case rate > ratioLeast:
			at = max(s.xB[i], 0) / rate
		case rate < -ratioLeast && held:
			rate, at = -rate, 0
		default:
			continue
		}
		weight := rate
		if held { // what is held never comes back once it has left
			weight *= heldFirst
		}
		if at <= most && weight > size {
			best, size, step = i, weight, at
		}
	}
	return best, step
}

// climb iterates until no column earns anything, from feasible or infeasible values.
func (s *Simplex) climb(end int) Status {
	retried := false
	for {
		if s.Iteration >= end {
			return Limit
		}
		prices, infeasible := s.phase()
		v, d := s.choose(prices, infeasible)
		if v == none {
			if !retried && len(s.f.updates) > 0 { // judge the end with fresh factors only
				retried = true
				if !s.refactor() {
					return Stuck
				}
				continue
			}
			if infeasible {
				s.ray = slices.Clone(prices)
				return Infeasible
			}
			return Optimal
		}
		retried = false
		s.Iteration++
		s.image(v)
		var r int
		var step float64
		if infeasible {
			r, step = s.ratioInfeasible(d)
		} else {
			r, step = s.ratio(1)
		}
		if r < 0 {
			if infeasible { // rounding: nothing blocks, though it should
				return Stuck
			}
			return Unbounded
		}
		if math.Abs(s.alpha[r]) < 1e-7 && len(s.f.updates) > 0 {
			if !s.refactor() {
				return Stuck
			}
			s.list = s.list[:0]
			continue
		}
		if step*d > 1e-12 {
			s.stall = 0
		} else if s.stall++; s.stall > stallAt && !infeasible && s.perturbed < perturbMost {
			s.perturb()
			s.perturbed++
			s.stall = 0
			continue
		}
		s.row(r)
		ratio := s.reducedOf(v) / s.alpha[r]
		s.move(1, step)
		s.price(ratio)
		if !s.pivot(r, v, step) {
			return Stuck
		}
		if !s.finite() {
			return Stuck
		}
	}
}

// perturb moves basic values at zero a little off it, each by its own amount, so
// that the next steps have a length.
func (s *Simplex) perturb() {
	for i, v := range s.xB {
		if v < shiftLeast && !s.held(s.head[i]) {
			s.shift(i, shiftLeast*(1+9*s.shifts.Float64()))
		}
	}
}

func (s *Simplex) reducedOf(v int32) float64 {
	if v < 0 {
		return -s.pi[^v]
	}
	return s.reduced(v)
}

// phase returns the prices to judge columns by: those of the true costs, or, while
// a basic value is out of bounds, those of the sum of what is out.
func (s *Simplex) phase() (prices []float64, infeasible bool) {
	for i, v := range s.head {
		switch x := s.infeasibility(v, s.xB[i]); {
		case x < 0:
			s.cost1[i], infeasible = 1, true
		case x > 0:
			s.cost1[i], infeasible = -1, true
		default:
			s.cost1[i] = 0
		}
	}
	if !infeasible {
		return s.pi, false
	}
	prices = make([]float64, s.m)
	s.f.backward(s.cost1, prices, -1, nil)
	return prices, true
}

const none = math.MinInt32

// choose returns the variable that earns most at the prices, from a list of the
// best of an earlier pass over all while these still earn enough.
func (s *Simplex) choose(prices []float64, infeasible bool) (int32, float64) {
	earn := func(v int32) float64 {
		if v < 0 {
			if s.slackAt[^v] >= 0 || s.slackFix[^v] {
				return 0
			}
			return -prices[^v]
		}
		if s.at[v] >= 0 || s.fixed[v] {
			return 0
		}
		if infeasible {
			return -s.dot(prices, v)
		}
		return s.p.Cost[v] - s.dot(prices, v)
	}
	if v, d := s.best(earn); d > max(dualTol, 0.3*s.listBest) && s.stall <= stallAt {
		return v, d
	}
	type candidate struct {
		v int32
		d float64
	}
	var found []candidate
	floor := dualTol
	take := func(v int32) {
		if d := earn(v); d > floor {
			found = append(found, candidate{v, d})
			if len(found) >= 8*candidates {
				slices.SortFunc(found, func(a, b candidate) int {
					return cmp.Or(cmp.Compare(b.d, a.d), cmp.Compare(a.v, b.v))
				})
				found = found[:candidates]
				floor = found[candidates-1].d
			}
		}
	}
	for j := range s.at {
		take(int32(j))
	}
	for r := range s.m {
		take(^int32(r))
	}
	slices.SortFunc(found, func(a, b candidate) int { return cmp.Or(cmp.Compare(b.d, a.d), cmp.Compare(a.v, b.v)) })
	s.list, s.listBest = s.list[:0], 0
	for i, c := range found[:min(candidates, len(found))] {
		if i == 0 {
			s.listBest = c.d
		}
		s.list = append(s.list, c.v)
	}
	if len(s.list) == 0 {
		return none, 0
	}
	if s.stall > stallAt { // any choice ends some cycle, none ends all, a random one ends each some day
		c := found[s.shifts.IntN(min(candidates, len(found)))]
		return c.v, c.d
	}
	return found[0].v, found[0].d
}

// best returns the variable of the list that earns most.
func (s *Simplex) best(earn func(int32) float64) (int32, float64) {
	best, most := int32(none), 0.0
	for _, v := range s.list {
		if d := earn(v); d > most {
			best, most = v, d
		}
	}
	return best, most
}

// ratioInfeasible is ratio while basic values are out of bounds: those may pass
// their bound as long as the sum of what is out still falls, at rate d at first.
func (s *Simplex) ratioInfeasible(d float64) (int, float64) {
	type stop struct {
		i  int
		at float64
	}
	most := math.Inf(1)
	block, blockSize := -1, 0.0
	var passes []stop
	for i, a := range s.alpha {
		x := s.xB[i]
		held := s.held(s.head[i])
		switch {
		case math.Abs(a) <= ratioLeast:
		case x < -primalTol:
			if a < 0 {
				passes = append(passes, stop{i, x / a})
			}
		case x > primalTol && held:
			if a > 0 {
				passes = append(passes, stop{i, x / a})
			}
		case a > 0:
			most = min(most, max(x+ratioSlack, 0)/a)
		case held:
			most = min(most, ratioSlack/-a)
		}
	}
	blockAt := math.Inf(1)
	for i, a := range s.alpha {
		x := s.xB[i]
		held := s.held(s.head[i])
		if math.Abs(a) <= ratioLeast || x < -primalTol || x > primalTol && held || a < 0 && !held {
			continue
		}
		at := max(x, 0) / math.Abs(a)
		if a < 0 {
			at = 0
		}
		if at <= most && math.Abs(a) > blockSize {
			block, blockSize, blockAt = i, math.Abs(a), at
		}
	}
	slices.SortFunc(passes, func(p, q stop) int { return cmp.Or(cmp.Compare(p.at, q.at), cmp.Compare(p.i, q.i)) })
	for _, p := range passes {
		if p.at >= blockAt {
			break
		}
		bend := math.Abs(s.alpha[p.i])
		if s.held(s.head[p.i]) {
			bend *= 2 // beyond zero it is out on the other side
		}
		if d -= bend; d <= 0 || math.IsInf(blockAt, 1) && p == passes[len(passes)-1] {
			if math.Abs(s.alpha[p.i]) < 1e-7 && block >= 0 {
				break
			}
			return p.i, p.at
		}
	}
	return block, blockAt
}
