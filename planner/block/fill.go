package block

import (
	"math"

	"github.com/goodfleet/goodfleet/planner/linear"
)

// Filled is the end of a water filling.
type Filled struct {
	Status Status
	X      []float64
	Reach  []float64 // per job, Σ speed·x
	Most   []float64 // per job, what it cannot exceed by the prices of the level at which it stopped, where those below have theirs
	Rounds int
	Pivots int
}

// holdTol is the share of a level's price from which a job certainly holds it down.
const holdTol = 1e-8

// levelPivots, and 50 for each job, limit the simplex method at one level: among numbers far
// apart it may cycle.
const levelPivots = 20_000

// risingColumns is the size from which whole levels are quicker than pivots from one to the next.
const risingColumns = 600

// Fill lifts all jobs' reach at the rates that next gives, until some can grow no
// more, freezes those, asks for new rates, and so on until none is lifted: the
// lexicographic max-min for fixed rates. next is told who is frozen and returns a
// rate ≥ 0 per job; frozen jobs' rates are ignored. Floors and follow rates of p are
// not used, gains only to choose among the points of the last level.
//
// A job is frozen when the price of its row shows that the level falls if it rises,
// so each round is one linear program and no integer one. At least one job is frozen
// a round. Of large programs, rounds in which jobs stop only because they can have no more
// alone are none: the levels between are known without a program.
func Fill(p *Program, next func(frozen []bool) []float64) Filled {
	q := *p
	q.open = false
	q.Level = true
	q.Floor = nil
	if p.Columns() >= risingColumns {
		if r := q.fillRising(next); r.Status == Optimal {
			return r
		}
	}
	q.Follow = make([]float64, p.Jobs())
	frozen := make([]bool, p.Jobs())
	for j := range frozen {
		if frozen[j] = q.fastest(j) <= 0; !frozen[j] {
			q.Follow[j] = 1
		}
	}
	f := &filler{p: &q, frozen: frozen, base: make([]float64, p.Jobs())}
	return f.run(next)
}

type filler struct {
	p      *Program
	v      *polish
	frozen []bool
	base   []float64
	out    Filled
	t      int // column of the present level
	unit   float64
}

func (f *filler) run(next func([]bool) []float64) Filled {
	p := f.p
	f.out = Filled{Status: Optimal, X: make([]float64, p.Columns()), Reach: make([]float64, p.Jobs()), Most: p.eachAlone()}
	for f.out.Rounds <= 2*p.Jobs() {
		rates := next(f.frozen)
		if !f.live(rates) {
			f.finish()
			return f.out
		}
		if f.v == nil {
			f.begin(rates)
		} else {
			f.lift(rates)
		}
		f.out.Rounds++
		f.v.limit = f.v.s.Iteration + levelPivots + 50*p.Jobs()
		if f.v.climb() != linear.Optimal {
			f.out.Status = Feasible
			f.finish()
			return f.out
		}
		f.settle(rates)
	}
	f.out.Status = Feasible
	f.finish()
	return f.out
}

// eachAlone is what each job can reach at most.
func (p *Program) eachAlone() []float64 {
	most := make([]float64, p.Jobs())
	for j := range most {
		most[j] = p.fastest(j)
	}
	return most
}

func (f *filler) live(rates []float64) bool {
	for j, r := range rates {
		if r > 0 && !f.frozen[j] {
			return true
		}
	}
	return false
}

// begin solves the first level from an interior point.
func (f *filler) begin(rates []float64) {
	first := *f.p
	first.Follow = make([]float64, len(rates))
	for j, r := range rates {
		if !f.frozen[j] {
			first.Follow[j] = r
		}
	}
	var s Solution
	s.X = make([]float64, first.Columns())
	first.sift(&s, Options{Gap: 1e-6, Vertex: true})
	f.v = newPolish(f.p, Options{Pivots: math.MaxInt32})
	f.v.choose(&s)
	f.t = f.v.level
	f.replaceLevel(rates)
	f.v.start(s.X, 0)
}

// replaceLevel adds the column of the level at new rates.
func (f *filler) replaceLevel(rates []float64) {
	v := f.v
	var rows []int32
	var values []float64
	most := 0.0
	for j, r := range rates {
		if r > 0 && !f.frozen[j] {
			most = max(most, r/v.sc.speed[j])
		}
	}
	f.unit = 1 / most // one unit of the column is this much of the level
	v.unit = 1
	for j, r := range rates {
		if r > 0 && !f.frozen[j] {
			rows, values = append(rows, v.row[j]), append(values, r/v.sc.speed[j]*f.unit)
			v.unit++
		}
	}
	old := f.t
	v.lp.Cost[old] = 0
	f.t = v.lp.Add(v.unit, rows, values)
	v.level = f.t
	if v.s != nil {
		v.s.Exchange(old, f.t)
	}
}

// lift moves what was reached into the floors and begins a level above.
func (f *filler) lift(rates []float64) {
	for j, r := range f.v.row {
		if r >= 0 {
			f.v.s.SetBound(int(r), -f.base[j]/f.v.sc.speed[j])
		}
	}
	f.replaceLevel(rates)
}

// settle notes the level and freezes the jobs that hold it down.
func (f *filler) settle(rates []float64) {
	v := f.v
	c := max(0, v.s.Value(f.t)) * f.unit
	most, heaviest := 0.0, -1
	var stopped []int32
	for j, r := range rates {
		if r <= 0 || f.frozen[j] {
			continue
		}
		f.base[j] += c * r
		hold := v.s.Price(int(v.row[j])) * r / v.sc.speed[j] * f.unit / v.unit
		if hold > most {
			most, heaviest = hold, j
		}
		if hold > holdTol || f.base[j] >= f.p.fastest(j)*(1-1e-12) {
			f.frozen[j] = true
			stopped = append(stopped, int32(j))
		}
	}
	if heaviest >= 0 && !f.frozen[heaviest] {
		f.frozen[heaviest] = true
		stopped = append(stopped, int32(heaviest))
	}
	f.p.tops(v.prices(), f.base, stopped, f.out.Most)
}

func (f *filler) finish() {
	if f.v == nil {
		return
	}
	f.out.Pivots = f.v.s.Iteration
	f.out.X = f.v.point()
	for j := range f.out.Reach {
		f.out.Reach[j] = f.p.reach(f.out.X, j)
	}
}
