package block

import (
	"cmp"
	"math"
	"slices"
)

// Settings of settling.
const (
	settlePerRow = 8 // undecided jobs per capacity row that a small program decides together
	settleWiden  = 4 // times more of them in each further try
	settleTries  = 4
	settleGap    = 1e-4 // from which prices decide nearly all jobs
	tieTol       = 1e-4 // of a job's worth, within which prices do not decide
)

// settle gives every job that the prices decide the best point of its own at them, which
// splits few, and the others a vertex of their small program on what is left; the prices of
// that decide anew while the gap is not yet the one asked for. It reports whether it is;
// s is never worse than before.
//
// At a level the decided jobs reach the bound, which no point exceeds, and are scaled down
// together to what all can have.
func (p *Program) settle(s *Solution, o Options) bool {
	n := settlePerRow * max(1, len(p.Capacity))
	for range settleTries {
		if 2*n > p.Jobs() {
			return false
		}
		_, w := p.certify(s.Prices, s.Level)
		level := 0.0
		if p.Level {
			level = s.Bound
		}
		d := p.decide(&w, level)
		if d.tied > settleWiden*n { // many jobs are alike
			return false
		}
		if !p.settleTry(s, o, &w, d, d.order[:n], level) {
			n *= settleWiden
		} else if s.Gap <= o.gap() {
			return true
		}
	}
	return false
}

// decided is what prices say of each job.
type decided struct {
	choice []choice
	order  []int32 // jobs, the least decided first
	tied   int     // jobs that are not
}

// choice is the best point of one job: x of column i and the rest of what it takes of k.
type choice struct {
	i, k   int32 // -1: none
	xi, xk float64
}

// decide finds each job's best point at the prices, and how clearly it is that: by how much
// the next column misses, as a part of what the job is worth.
func (p *Program) decide(w *worth, level float64) decided {
	d := decided{choice: make([]choice, p.Jobs()), order: p.everyone()}
	clear := make([]float64, p.Jobs())
	mean := 0.0 // of what jobs pay: what one of them decides counts little far below that
	for r, price := range w.prices {
		mean += w.scale * price * p.Capacity[r] / float64(p.Jobs())
	}
	h := p.hulls(w.prices)
	for j := range p.Jobs() {
		need := p.floor(j) + p.follow(j)*level
		c := p.best(h.earnings(j), j, need)
		d.choice[j] = c
		least := math.Inf(1)
		for i := p.First[j]; i < p.First[j+1]; i++ {
			if i != c.i && i != c.k && p.usable(i) {
				least = min(least, -p.reduced(i, j, w))
			}
		}
		clear[j] = max(0, least) / max(math.Abs(w.mu[j]), w.nu[j]*need, mean, 1e-300)
		if clear[j] < tieTol {
			d.tied++
		}
	}
	slices.SortStableFunc(d.order, func(a, b int32) int { return cmp.Compare(clear[a], clear[b]) })
	return d
}

// best is the corner of job j's hull at a speed of at least need: of two neighbours on it.
func (p *Program) best(earn []float64, j int, need float64) choice {
	lo := p.First[j]
	c := choice{i: -1, k: -1}
	v, e := 0.0, 0.0
	for n, g := range earn {
		if u := p.speed(lo + int32(n)); g > e || g >= e && u > v {
			v, e, c.i, c.xi = u, g, lo+int32(n), 1
		}
	}
	for v < need {
		next, rise, run := -1, 0.0, 0.0
		for n, g := range earn {
			u := p.speed(lo + int32(n))
			if u <= v || math.IsInf(g, -1) {
				continue
			}
			if up, far := g-e, u-v; next < 0 || up*run > rise*far || up*run == rise*far && far > run {
				next, rise, run = n, up, far
			}
		}
		if next < 0 {
			break
		}
		c.k, c.xi = c.i, 1
		c.i = lo + int32(next)
		if u := p.speed(c.i); u > need {
			c.xi = (need - v) / (u - v)
		}
		c.xk = 1 - c.xi
		v, e = p.speed(c.i), earn[next]
	}
	if c.xk == 0 {
		c.k = -1
	}
	return c
}

// settleTry frees the given jobs, takes the choices of all others, and reports whether that is
// a point, and no worse than s or the gap.
func (p *Program) settleTry(s *Solution, o Options, w *worth, d decided, jobs []int32, level float64) bool {
	free := make([]bool, p.Jobs())
	for _, j := range jobs {
		free[j] = true
	}
	used, x := make([]float64, len(p.Capacity)), make([]float64, p.Columns())
	take := func(i int32, v float64) {
		if i < 0 || v == 0 {
			return
		}
		x[i] = v
		for k := p.Entry[i]; k < p.Entry[i+1]; k++ {
			used[p.Row[k]] += p.Use[k] * v
		}
	}
	for j, c := range d.choice {
		if !free[j] {
			take(c.i, c.xi)
			take(c.k, c.xk)
		}
	}
	q, column := p.smaller(jobs, w, used, level)
	if q == nil {
		return false
	}
	small := q.solve(Options{Gap: o.gap() * warmTighter, Iterations: o.Iterations, Vertex: true})
	s.Iterations += small.Iterations
	s.Pivots += small.Pivots
	if small.Status == Infeasible || small.Violation > feasibleTol {
		return false
	}
	if p.Level {
		scale := small.X[q.Columns()-1]
		for i := range x {
			x[i] *= scale
		}
	}
	for n, i := range column {
		x[i] = small.X[n]
	}
	p.repair(x)
	c, _ := p.certify(small.Prices, p.LevelOf(x))
	t := *s
	t.X = x
	if c.Bound < t.Bound {
		t.Bound, t.Prices = c.Bound, small.Prices
	}
	t.close(p, o.gap())
	if t.Violation > feasibleTol || t.Gap > max(o.gap(), s.Gap) {
		return false
	}
	*s = t
	return true
}
