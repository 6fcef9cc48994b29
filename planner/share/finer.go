package share

import (
	"math"

	"github.com/goodfleet/goodfleet/planner/block"
	"github.com/goodfleet/goodfleet/planner/linear"
)

const (
	finerSize   = 20_000 // rows × (rows + columns) up to which a program is solved in wide numbers
	finerPivots = 2_000
	farApart    = 1e8 // ratio of magnitudes from which a level may hang on the last digits of others
)

// rough reports whether a plan is less than was asked for: a gap, or needs that it misses.
func (r *plan) rough(s settings) bool {
	if r.status == block.Infeasible || r.status == block.Unbounded || r.theta == nil {
		return false
	}
	return r.gap > s.gap || r.misses()
}

// finer solves a small demand again in wide numbers, where numbers lie so far apart that double
// precision left it rough; r stays where that is no better, or the program too large.
func (p *Problem) finer(d *demand, r plan, s settings) plan {
	if s.interior || !r.rough(s) {
		return r
	}
	if !p.widely(d) {
		return r
	}
	better, ok := p.wide(d, s)
	if !ok || !r.misses() && better.status != block.Infeasible && better.gap > r.gap {
		return r
	}
	return better
}

// wide solves a small demand in wide numbers; ok is false if that ended without proof.
func (p *Problem) wide(d *demand, s settings) (r plan, ok bool) {
	q := *p
	q.Pairs = p.pairsOf(d)
	f := newPairing(&q, d)
	if f == nil {
		return r, false
	}
	f.begin(nil, false)
	if r, ok = f.solveWide(s); !d.packed {
		r.pairs = nil
	}
	return r, ok
}

// far reports whether magnitudes of d lie so far apart that double precision may hide what
// decides.
func (p *Problem) far(d *demand) bool {
	least, most := math.Inf(1), 0.0
	see := func(j int, v float64) {
		if job := &p.Jobs[j]; v > 0 {
			least, most = min(least, v/job.Weight), max(most, v*float64(job.Scale)/job.Weight)
		}
	}
	for j, job := range p.Jobs {
		for _, v := range job.Throughput {
			see(j, v)
		}
	}
	for _, q := range p.pairsOf(d) {
		for _, v := range q.Throughput {
			see(q.A, v[0])
			see(q.B, v[1])
		}
	}
	return most > farApart*least
}

// misses reports whether a job has less than it needs.
func (r *plan) misses() bool {
	for j, need := range r.need {
		if r.theta[j] < need*(1-rowTol/2) {
			return true
		}
	}
	return false
}

// solveWide solves the program with all pairs at once in wide numbers; ok is false if that ended
// without proof.
func (f *pairing) solveWide(s settings) (r plan, ok bool) {
	for i, c := range f.pair {
		q := f.p.Pairs[i/f.types]
		if v := q.Throughput[i%f.types]; c < 0 && f.p.Types[i%f.types].Workers > 0 && (v[0] > 0 || v[1] > 0) {
			f.add(i)
		}
	}
	got := linear.Wide(f.lp, f.second(), finerPivots)
	f.wide = &got
	switch got.Status {
	case linear.Infeasible:
		return infeasible(f.conflict()), true
	case linear.Optimal:
	default:
		return plan{}, false
	}
	r.bound = got.Bound * f.gain
	for c, x := range got.X {
		r.objective += f.lp.Cost[c] * x * f.gain
	}
	r.status = block.Optimal
	f.read(&r)
	f.lift(&r, s)
	return r, true
}

// second is what each column adds to the second objective of a level; nil: there is none.
func (f *pairing) second() []float64 {
	if f.d.follow == nil {
		return nil
	}
	list := make([]float64, f.lp.Columns())
	for i, c := range f.single {
		if j, w := i/f.types, i%f.types; c >= 0 {
			list[c] = f.part[j] * f.p.value(f.d, j, w, f.d.throughput(j, w))
		}
	}
	for i, c := range f.pair {
		if c >= 0 {
			k := i / f.types
			list[c] = f.part[f.p.Pairs[k].A] * f.pairValue(k, i%f.types)
		}
	}
	return list
}

// value is that of a column at the point that was found last.
func (f *pairing) value(c int32) float64 {
	if f.wide != nil {
		return f.wide.X[c]
	}
	return f.s.Value(int(c))
}

// dual is the price of a row there.
func (f *pairing) dual(r int) float64 {
	if f.wide != nil {
		return f.wide.Price[r]
	}
	return f.s.Price(r)
}

// ray is the weight of a row that cannot be kept together with others.
func (f *pairing) ray(r int) float64 {
	if f.wide != nil {
		return f.wide.Price[r]
	}
	return f.s.Ray(r)
}
