package block

import (
	"math"
	"slices"
)

// thin takes an interior point to one where few jobs are split, and reports whether it
// did: not if that would cost more than the gap allows.
func (p *Program) thin(s *Solution, o Options) bool {
	if p.Level && p.idle(s, o) {
		return false
	}
	thinned := *s
	thinned.X = p.thinned(s)
	thinned.close(p, o.gap())
	if thinned.Violation > feasibleTol || thinned.Gap > max(o.gap(), s.Gap) {
		return false
	}
	*s = thinned
	return true
}

// idle reports whether one job that cannot go faster caps the level, as far as the gap
// tells: the prices of capacity are then next to nothing, and tell no share from another.
func (p *Program) idle(s *Solution, o Options) bool {
	most := p.alone()
	return s.Bound >= most*(1-capTol) || s.Level >= most*(1-o.gap())
}

// secondInside finds, where prices do not decide, the shares of most gain that keep it: a
// program of gains whose floors are the level, less what is given up of it for an interior.
// What is taken keeps the level within the gap; the gain is within secondGap of the most.
// It reports whether there is such a point.
func (p *Program) secondInside(s *Solution, o Options) bool {
	give := min(0.1*o.gap(), insideSlack)
	q := *p
	q.Level, q.Follow = false, nil
	q.Floor = make([]float64, q.Jobs())
	for j := range q.Floor {
		q.Floor[j] = (p.floor(j) + p.follow(j)*s.Level) * (1 - give)
	}
	second := Solution{X: make([]float64, p.Columns())}
	after := Options{Gap: max(o.gap(), secondGap), Iterations: o.Iterations}
	rough := after
	rough.Gap = max(rough.Gap, settleGap)
	q.sift(&second, rough)
	if !q.settle(&second, after) {
		after.Prices, after.Vertex = second.Prices, true
		q.sift(&second, after)
		if second.Violation > feasibleTol {
			return false
		}
		q.thin(&second, after)
	}
	s.Iterations += second.Iterations
	s.Pivots += second.Pivots
	kept := *s
	kept.X = second.X
	kept.close(p, o.gap())
	if kept.Gap > max(o.gap(), s.Gap) { // the program left its floors by as much as its gap allowed
		p.meet(kept.X, s.Level)
		kept.close(p, o.gap())
	}
	if kept.Violation > feasibleTol || kept.Gap > max(o.gap(), s.Gap) {
		return false
	}
	*s = kept
	return true
}

// thinned drops shares that only the distance from the optimum explains, makes up by a
// job's other shares for what that costs it, and purifies the rest.
func (p *Program) thinned(s *Solution) []float64 {
	x := slices.Clone(s.X)
	_, w := p.certify(s.Prices, s.Level)
	for j := range p.Jobs() {
		before := p.reach(x, j)
		worth := max(math.Abs(w.mu[j]), w.nu[j]*before) // of all that the job does
		for i := p.First[j]; i < p.First[j+1]; i++ {
			if x[i] < thinTol || p.Level && x[i] < -p.reduced(i, j, &w)/worth {
				x[i] = 0
			}
		}
		after := p.reach(x, j)
		if before == 0 {
			continue
		}
		if after < 0.5*before || after == 0 {
			copy(x[p.First[j]:p.First[j+1]], s.X[p.First[j]:p.First[j+1]])
			continue
		}
		for i := p.First[j]; i < p.First[j+1]; i++ {
			x[i] *= before / after
		}
	}
	p.repair(x)
	level := 0.0
	if p.Level {
		level = max(0, p.LevelOf(x))
	}
	p.deal(x, level)
	p.purify(x, level)
	p.repair(x)
	return x
}
