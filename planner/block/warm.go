package block

import (
	"cmp"
	"math"
	"slices"
)

// Settings of a start from the last round.
const (
	warmPerRow  = 8 // undecided jobs per capacity row that are free besides those that changed
	warmWiden   = 6 // times more of them in the second try
	warmTries   = 2
	warmTighter = 0.3 // share of the gap that the small program may leave
)

// warm solves only the jobs that changed and those that the last prices leave nearly
// undecided; all others keep their shares, scaled together at a level. The small
// program's prices then bound the whole. It reports whether that is close enough.
func (p *Program) warm(s *Solution, o Options) bool {
	if len(o.Point) != p.Columns() || len(o.Prices) != len(p.Capacity) || len(o.Fresh) != p.Jobs() {
		return false
	}
	w := p.lastWorth(o)
	order := p.undecided(&w, o)
	fresh := 0
	for _, f := range o.Fresh {
		if f {
			fresh++
		}
	}
	n := warmPerRow*len(p.Capacity) + fresh
	for range warmTries {
		if n+fresh >= p.Jobs() {
			return false
		}
		if p.warmTry(s, o, &w, order[:min(n+fresh, len(order))]) {
			return true
		}
		n *= warmWiden
	}
	return false
}

// lastWorth is what the last round's prices make of each job: of its speed what was found
// then, of its time what its best column earns. Without the worth of then, a bound finds both.
func (p *Program) lastWorth(o Options) worth {
	if len(o.Worth) != p.Jobs() {
		_, w := p.certify(o.Prices, p.LevelOf(o.Point))
		return w
	}
	w := worth{o.Worth, make([]float64, p.Jobs()), 1, o.Prices}
	h := p.hulls(o.Prices)
	for j := range w.mu {
		best := 0.0
		for c, e := range h.earnings(j) {
			best = max(best, e+p.speed(p.First[j]+int32(c))*w.nu[j])
		}
		w.mu[j] = best
	}
	return w
}

// undecided orders the jobs: those that changed, then by how little a column that is
// not in use misses what the job's time is worth.
func (p *Program) undecided(w *worth, o Options) []int32 {
	miss := make([]float64, p.Jobs())
	order := p.everyone()
	for j := range miss {
		if o.Fresh[j] {
			miss[j] = -1
			continue
		}
		miss[j] = math.Inf(1)
		for i := p.First[j]; i < p.First[j+1]; i++ {
			if p.usable(i) && o.Point[i] < activeTol {
				miss[j] = min(miss[j], max(0, -p.reduced(i, j, w)/max(math.Abs(w.mu[j]), 1e-300)))
			}
		}
		if split(o.Point[p.First[j]:p.First[j+1]]) {
			miss[j] = 0
		}
	}
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(miss[a], miss[b]) })
	return order
}

// split reports whether a job runs on more than one column.
func split(x []float64) bool {
	n := 0
	for _, v := range x {
		if v > activeTol {
			n++
		}
	}
	return n > 1
}

// warmTry frees the given jobs.
func (p *Program) warmTry(s *Solution, o Options, w *worth, jobs []int32) bool {
	free := make([]bool, p.Jobs())
	for _, j := range jobs {
		free[j] = true
	}
	used := make([]float64, len(p.Capacity))
	rest := math.Inf(1) // level of the jobs that stay
	for j := range p.Jobs() {
		if free[j] {
			continue
		}
		for i := p.First[j]; i < p.First[j+1]; i++ {
			for k := p.Entry[i]; k < p.Entry[i+1]; k++ {
				used[p.Row[k]] += p.Use[k] * o.Point[i]
			}
		}
		reach := p.reach(o.Point, j)
		if n := p.follow(j); n > 0 {
			rest = min(rest, (reach-p.floor(j))/n)
		} else if reach < p.floor(j)*(1-1e-9) {
			return false
		}
	}
	q, column := p.smaller(jobs, w, used, rest)
	if q == nil {
		return false
	}
	var small Solution
	small.X = make([]float64, q.Columns())
	q.sift(&small, Options{Gap: o.gap() * warmTighter, Iterations: o.Iterations})
	s.Iterations += small.Iterations
	x := slices.Clone(o.Point)
	scale := 1.0
	if p.Level {
		scale = small.X[q.Columns()-1]
	}
	for j := range p.Jobs() {
		for i := p.First[j]; i < p.First[j+1]; i++ {
			if free[j] {
				x[i] = 0
			} else {
				x[i] *= scale
			}
		}
	}
	for n, i := range column {
		x[i] = small.X[n]
	}
	p.repair(x)
	c, _ := p.certify(small.Prices, p.LevelOf(x))
	s.take(x, small.Prices, c.Bound)
	s.Columns = q.Columns()
	s.close(p, o.gap())
	s.Warm = s.Status == Optimal
	return s.Warm
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
	jobs = slices.Clone(jobs)
	slices.Sort(jobs)
	keep := p.favoured(w, jobs)
	q := New(capacity)
	q.Level = p.Level
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
