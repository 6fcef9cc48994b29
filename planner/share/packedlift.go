package share

import (
	"math"

	"github.com/goodfleet/goodfleet/planner/block"
)

const (
	liftTol = 1e-10 // relative miss of a need that is rounding
	rowMiss = 1e-8  // relative miss of a time or workers row that is the simplex method's tolerance
	lostTol = 1e-9  // relative loss of the objective that is rounding
)

// lift fits the point to what jobs need; the objective is then what the point has.
func (f *pairing) lift(r *plan, s settings) {
	if r.need == nil {
		return
	}
	f.fit(r)
	if r.level {
		level := math.Inf(1)
		for j, rate := range f.d.follow {
			if rate > 0 {
				level = min(level, (r.theta[j]-at(f.d.floor, j))/rate)
			}
		}
		if level < r.objective*(1-lostTol) {
			r.objective = max(level, 0)
			r.need = f.d.needs(r.objective)
		}
	}
	within := max(s.gap, lostTol)
	if len(f.p.Jobs) > packedPatient {
		within = max(within, packedEnough)
	}
	if r.gap = distance(r.objective, r.bound); r.status == block.Optimal && r.gap > within {
		r.status = block.Feasible
	}
}

// fit gives jobs what they need and the simplex method cannot see: a need far below that of
// others is within its tolerance, and so is a share of zero, which would hold a level there.
// Rows that this fills beyond the tolerance are scaled down, all alike.
func (f *pairing) fit(r *plan) {
	for j, need := range r.need {
		if r.theta[j] >= need*(1-liftTol) {
			continue
		}
		if w := f.lightest(j); w >= 0 {
			v := f.d.throughput(j, w)
			more := (need - r.theta[j]) / v
			r.x[j][w] += more
			r.theta[j] = need
			if !r.level {
				r.objective += more * f.p.value(f.d, j, w, v)
			}
		}
	}
	if over := f.p.over(r); over > 1+rowMiss {
		for j := range r.x {
			for w := range r.x[j] {
				r.x[j][w] /= over
			}
			r.theta[j] /= over
		}
		for i := range r.pairs {
			r.pairs[i] /= over
		}
		if !r.level {
			r.objective /= over
		}
	}
}

// lightest is the type on which job j alone takes the least time and workers for its
// throughput; -1 if it runs on none.
func (f *pairing) lightest(j int) int {
	best, least := -1, math.Inf(1)
	for w, t := range f.p.Types {
		v := f.d.throughput(j, w)
		if v <= 0 || t.Workers == 0 {
			continue
		}
		if use := (1 + float64(f.p.Jobs[j].Scale)/float64(t.Workers)) / v; use < least {
			best, least = w, use
		}
	}
	return best
}

// over is the fullest row of a plan: the time of a job or the workers of a type.
func (p *Problem) over(r *plan) float64 {
	a := &Answer{Share: r.x, PairShare: r.pairs}
	used, time := p.used(a), p.time(a)
	most := 0.0
	for _, v := range time {
		most = max(most, v)
	}
	for w, t := range p.Types {
		if t.Workers > 0 {
			most = max(most, used[w]/float64(t.Workers))
		}
	}
	return most
}
