package block

// Settings of rising.
const (
	roughGap = 1e-5 // of a program on the way to a level
	levelGap = 1e-9 // of the program that decides it
	outPrice = 1e4  // rent of a row that is used up, of that of all others
)

// rise fills by programs of whole levels. The jobs' course says what each would have at a level,
// and the prices of capacity up to which bend of it that can be. Where rows are used up, no job
// that is lifted further can use them in any best point: they are closed to it, and the jobs that
// cannot do without them stay.
type rise struct {
	p       *Program
	next    func(frozen []bool) []float64
	frozen  []bool    // jobs that stay
	settled []bool    // jobs whose shares are x
	base    []float64 // per job, what it has
	from    float64   // the level up to which it is
	most    []float64 // per job, what it can have alone of the columns open to it
	open    []bool    // per column
	x       []float64
	prices  []float64 // that showed the last bend to be too high
	out     Filled
}

// fillRising is Fill for many jobs.
func (p *Program) fillRising(next func([]bool) []float64) Filled {
	m := p.Jobs()
	f := &rise{p: p, next: next, frozen: make([]bool, m), settled: make([]bool, m), base: make([]float64, m),
		most: make([]float64, m), open: make([]bool, p.Columns()), x: make([]float64, p.Columns())}
	for i := range f.open {
		f.open[i] = p.usable(int32(i))
	}
	f.prices = make([]float64, len(p.Capacity))
	for r, c := range p.Capacity {
		if c > 0 {
			f.prices[r] = 1 / c
		}
	}
	for j := range m {
		f.most[j] = f.fastest(j, nil)
		f.frozen[j] = f.most[j] <= 0
	}
	f.out = Filled{Status: Optimal, Reach: make([]float64, m), Most: p.eachAlone()}
	for f.out.Rounds <= 2*m {
		c := newCourse(f.next, f.from, f.base, f.most, f.frozen)
		if c.extend(); c.last() == 0 {
			break
		}
		f.out.Rounds++
		if !f.level(c) {
			f.out.Status = Feasible
			break
		}
	}
	p.repair(f.x)
	f.out.X = f.x
	for j := range f.out.Reach {
		f.out.Reach[j] = p.reach(f.x, j)
	}
	return f.out
}

// fastest is the most that job j can have of the columns that are open to it and use no closed
// row.
func (f *rise) fastest(j int, closed []bool) float64 {
	most := 0.0
	for i := f.p.First[j]; i < f.p.First[j+1]; i++ {
		if f.open[i] && !f.touches(i, closed) {
			most = max(most, f.p.Speed[i])
		}
	}
	return most
}

func (f *rise) touches(i int32, closed []bool) bool {
	for k := f.p.Entry[i]; closed != nil && k < f.p.Entry[i+1]; k++ {
		if closed[f.p.Row[k]] && f.p.Use[k] > 0 {
			return true
		}
	}
	return false
}

// level rises along the course until rows are used up or all jobs stop, and reports whether it
// found where. It comes from above, as Newton's method does: the program between the first bend
// known to be too high and the one before either decides the level or gives prices at which that
// one is too high as well.
func (f *rise) level(c *course) bool {
	for hi := f.reachable(c); hi > 0; {
		lo := c.bends[hi-1]
		q, column, shift := f.before(c, hi)
		s := q.solve(Options{Gap: roughGap})
		sound := s.Violation <= feasibleTol && s.Status != Infeasible
		if q.Jobs() == 0 || sound && s.Bound+shift >= lo {
			s = f.exactly(q, s)
			f.out.Pivots += s.Pivots
			sound = s.Violation <= feasibleTol && s.Status != Infeasible
			if q.Jobs() == 0 || sound && s.Level+shift >= lo*(1-10*levelGap) {
				for n, i := range column {
					f.x[i] = s.X[n]
				}
				return f.stay(c, hi, q, &s, shift)
			}
		}
		top := hi
		if sound {
			f.prices = f.outpriced(s.Prices, q)
			top = min(hi, f.reachable(c))
		}
		if top == hi && f.part(c, hi-1) < 1 {
			top = min(f.reachable(c), hi-1)
		}
		if top == hi {
			return false
		}
		hi = top
	}
	return false
}

// outpriced are the prices of q with such on the rows that jobs who have no choice use up that
// no other job would take them, as it cannot: rent and cost of these rows are the same.
func (f *rise) outpriced(prices []float64, q *Program) []float64 {
	rent := 0.0
	for r, v := range prices {
		rent += v * f.p.Capacity[r]
	}
	for r, c := range f.p.Capacity {
		if q.Capacity[r] == 0 && c > 0 {
			prices[r] = outPrice * rent / c
		}
	}
	return prices
}

// exactly solves a program as nearly as it can be, with few jobs split, from a solution with
// more.
func (f *rise) exactly(q *Program, s Solution) Solution {
	o := Options{Gap: levelGap, Vertex: true}
	switch {
	case s.Gap > levelGap:
		return q.solve(o)
	case !q.many():
		q.vertex(&s, o)
	case !q.settle(&s, o):
		q.thin(&s, o)
	}
	return s
}
