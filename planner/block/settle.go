package block

import (
	"math"
	"slices"
)

// Settings of settling.
const (
	settlePerRow  = 8 // undecided jobs per capacity row that a small program decides together
	settleWiden   = 4 // times more of them in each further try
	settleTries   = 4
	settleColumns = 2     // columns of a job, and its fastest, that a small program has
	exactTol      = 1e-14 // by which rows are missed only for rounding
	settleTighter = 0.3   // share of the gap that the small program may leave
	nearPart      = 0.1   // of the gap, from which prices are looked at anew
	settleGap     = 1e-4  // from which prices decide nearly all jobs
	tieTol        = 1e-4  // of a job's worth, within which prices do not decide
)

// settle gives every job that the prices decide the best point of its own at them, which
// splits few, and the others a vertex of their small program on what is left; the prices of
// that decide anew while the gap is not yet the one asked for. It reports whether it is;
// s is never worse than before.
//
// At a level the decided jobs reach the bound, which no point exceeds, and are scaled down
// together to what all can have.
func (p *Program) settle(s *Solution, o Options) bool {
	if settlePerRow*2*max(1, len(p.Capacity)) > p.Jobs() {
		return false
	}
	return p.settleFrom(s, o, p.read(s.Prices, s.Level), settlePerRow)
}

// settleFrom settles from a reading of the prices of s.
func (p *Program) settleFrom(s *Solution, o Options, r *reading, perRow int) bool {
	n := perRow * max(1, len(p.Capacity))
	for range settleTries {
		if 2*n > p.Jobs() || r.tied > settleWiden*n { // or many jobs are alike
			return false
		}
		if p.Level {
			r.lift(p, s.Bound)
		}
		next := p.settleTry(s, o, r, least(r.clear, n))
		if next != nil && s.Gap <= o.gap() {
			return true
		}
		if next == nil || next == r { // these jobs do no better at these prices
			n *= settleWiden
		} else {
			r = next
		}
	}
	return false
}

// settleTry frees the given jobs, and takes the choices of all others: as complete.
func (p *Program) settleTry(s *Solution, o Options, r *reading, jobs []int32) *reading {
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
	for j, c := range r.choice {
		if !free[j] {
			take(c.i, c.xi)
			take(c.k, c.xk)
		}
	}
	return p.complete(s, o, r, jobs, x, used, r.level)
}

// complete adds the best of the given jobs to the point x of all others, which uses so much
// and reaches the level rest. Unless that is no point, or worse than s and the gap, it becomes
// s, and what its prices make of the jobs is returned if they prove more, else r.
func (p *Program) complete(s *Solution, o Options, r *reading, jobs []int32, x, used []float64, rest float64) *reading {
	q, column := p.smaller(jobs, &r.worth, used, rest)
	if q == nil {
		return nil
	}
	small := q.solve(Options{Gap: o.gap() * settleTighter, Iterations: o.Iterations, Vertex: o.Vertex})
	s.Iterations += small.Iterations
	s.Pivots += small.Pivots
	if small.Status == Infeasible || small.Violation > feasibleTol {
		return nil
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
	t := *s
	t.X, t.Columns = x, q.Columns()
	if t.close(p, o.gap()); t.Violation > exactTol {
		p.repair(x)
		t.close(p, o.gap())
	}
	next := r
	if t.Gap > nearPart*o.gap() { // what was known does not prove it, or may not in the next round
		level := 0.0
		if p.Level {
			level = t.Level
		}
		next = p.read(small.Prices, level)
		if p.Level && !(relative(next.bound, level) <= o.gap()) {
			c, _ := p.certify(small.Prices, level)
			next.bound = c.Bound
		}
		if next.bound < t.Bound {
			t.Bound, t.Prices, t.Worth = next.bound, small.Prices, next.nu
			t.close(p, o.gap())
		} else {
			next = r
		}
	}
	if t.Violation > feasibleTol || t.Gap > max(o.gap(), s.Gap) {
		return nil
	}
	*s = t
	return next
}

// least lists the n jobs of least miss, those of equal miss in their order, ascending.
func least(miss []float64, n int) []int32 {
	sorted := slices.Clone(miss)
	slices.Sort(sorted)
	edge := sorted[n-1]
	equal := n
	for _, m := range sorted[:n] {
		if m < edge {
			equal--
		}
	}
	jobs := make([]int32, 0, n)
	for j, m := range miss {
		if m == edge && equal > 0 {
			equal--
		} else if m >= edge {
			continue
		}
		jobs = append(jobs, int32(j))
	}
	return jobs
}

// smaller is the program of the given jobs alone, over the columns that the prices
// favour. The jobs that stay are one column more of a last job if the objective is a
// level: it uses what they use and reaches their level. Otherwise their use is gone
// from the capacity. nil: they do not even fit.
func (p *Program) smaller(jobs []int32, w *worth, used []float64, rest float64) (*Program, []int32) {
	capacity := slices.Clone(p.Capacity)
	if !p.Level {
		for r, u := range used {
			if capacity[r] -= u; capacity[r] < -1e-9*p.Capacity[r] {
				return nil, nil
			}
			capacity[r] = max(capacity[r], 0)
		}
	}
	keep := p.favoured(w, jobs, settleColumns)
	q := New(capacity)
	q.Level, q.Size = p.Level, p.Size
	var column []int32
	for _, j := range jobs {
		for i := p.First[j]; i < p.First[j+1]; i++ {
			if keep[i] {
				q.Column(p.Gain[i], p.speed(i), p.Row[p.Entry[i]:p.Entry[i+1]], p.Use[p.Entry[i]:p.Entry[i+1]])
				column = append(column, i)
			}
		}
		q.Job(p.floor(int(j)), p.follow(int(j)))
	}
	if p.Level {
		if math.IsInf(rest, 1) || rest <= 0 {
			return nil, nil
		}
		var rows []int32
		var use []float64
		for r, u := range used {
			if u > 0 {
				rows, use = append(rows, int32(r)), append(use, u)
			}
		}
		q.Column(0, rest, rows, use)
		q.Job(0, 1)
	}
	q.open = slices.Min(capacity) > 0
	return q, column
}
