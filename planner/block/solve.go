package block

import (
	"math"
)

// Sizes at which a program is sifted, as found by trying: below, all columns are quicker.
const (
	siftColumns = 20_000 // programs with fewer columns are solved whole
	siftPerJob  = 8      // as are those whose jobs have fewer columns each
	sampleJobs  = 600    // jobs in the sample that gives first prices
	keepPerJob  = 5      // columns that each job keeps, and its fastest
	siftWide    = 0.1    // gap from which all columns are taken: few were the right ones
	siftRounds  = 8      // times that missed columns are added
	vertexJobs  = 4000   // jobs above which a point is thinned instead: pivots cost seconds there
	vertexTol   = 1e-9   // gap of the interior point from which a vertex is sought
)

// Solve maximises p, which must pass Check.
func Solve(p *Program, o Options) Solution {
	if err := p.Check(); err != nil {
		panic(err)
	}
	q := *p
	q.look()
	return q.solve(o)
}

func (p *Program) solve(o Options) Solution {
	s := p.seek(o)
	if o.Vertex && (s.Status == Optimal || s.Status == Feasible) {
		p.tidy(&s, o)
	}
	return s
}

// seek finds a point, and where o asks for a vertex one of few split jobs if it can.
func (p *Program) seek(o Options) Solution {
	s := Solution{Prices: make([]float64, len(p.Capacity)), Bound: math.Inf(1)}
	if o.Prices != nil && !(o.Second && p.Level) && p.warm(&s, o) {
		return s
	}
	s.X = make([]float64, p.Columns())
	if alone := p.impossible(); len(alone) > 0 {
		s.Status, s.Conflict, s.Bound = Infeasible, alone, math.Inf(-1)
		return s
	}
	if p.Level && p.unfollowed() {
		s.Status, s.Bound, s.Objective, s.Level = Unbounded, math.Inf(1), math.Inf(1), math.Inf(1)
		return s
	}
	if p.Level && p.stuckAtZero() {
		s.Bound = 0
		s.close(p, o.gap())
		return s
	}
	if p.Level { // whose prices favour few columns where most are nothing
		o.Prices = nil
	}
	if o.Vertex && p.many() {
		rough := Options{Gap: max(o.gap(), settleGap), Iterations: o.Iterations, Prices: o.Prices}
		p.sift(&s, rough)
		if !(o.Second && p.Level && p.idle(&s, o)) && p.settle(&s, o) {
			return s
		}
		if !p.Level {
			o.Prices = s.Prices
		}
	}
	if !o.Vertex || !p.many() || !p.Level || s.Gap > o.gap() {
		settled := s
		p.sift(&s, o)
		s.better(p, &settled, o.gap())
	}
	if s.Gap > o.gap() || s.Violation > feasibleTol {
		if conflict := p.conflict(o); len(conflict) > 0 {
			return Solution{Status: Infeasible, X: make([]float64, p.Columns()), Bound: math.Inf(-1), Conflict: conflict, Prices: s.Prices, Iterations: s.Iterations}
		}
	}
	switch {
	case s.Status != Optimal || o.Vertex && !p.many():
		p.vertex(&s, o)
	case o.Vertex:
		second := o.Second && p.Level
		idle := second && p.idle(&s, o)
		switch {
		case idle && p.secondInside(&s, o):
		case p.thin(&s, o):
		case second && !idle && p.secondInside(&s, o):
		case !p.Level:
			p.vertex(&s, o)
		}
	}
	return s
}

// many reports whether p is too large for pivots.
func (p *Program) many() bool { return p.Jobs() > vertexJobs && p.Speed != nil }

// better takes the point, or the bound, of an earlier solution where that is the better.
func (s *Solution) better(p *Program, t *Solution, want float64) {
	if t.Bound < s.Bound {
		s.Bound, s.Prices, s.Worth = t.Bound, t.Prices, t.Worth
	}
	if !math.IsInf(t.Bound, 1) && t.Violation <= feasibleTol && t.Objective > s.Objective {
		s.X = t.X
	}
	s.close(p, want)
}

// unscalePrices turns prices of the scaled rows into those of p's.
func (sc *scaled) unscalePrices(lambda []float64, p *Program) []float64 {
	unit := sc.gain
	if p.Level {
		unit = sc.level
	}
	prices := make([]float64, len(lambda))
	for r, l := range lambda {
		if p.Capacity[r] > 0 {
			prices[r] = max(l, 0) * unit / p.Capacity[r]
		}
	}
	return prices
}

// scalePrices turns prices of p's rows into those of the scaled rows.
func (sc *scaled) scalePrices(prices []float64, p *Program) []float64 {
	unit := sc.gain
	if p.Level {
		unit = sc.level
	}
	lambda := make([]float64, len(prices))
	for r, price := range prices {
		lambda[r] = price * p.Capacity[r] / unit
	}
	return lambda
}

// unscaleWorth turns the scaled worth of job j's speed into that of the source.
func (sc *scaled) unscaleWorth(nu float64, j int) float64 {
	unit := sc.gain
	if sc.Level {
		unit = sc.level
	}
	return max(nu, 0) * unit / sc.speed[j]
}

// repair makes x keep time and capacity exactly, by scaling jobs and rows down.
func (p *Program) repair(x []float64) {
	used := make([]float64, len(p.Capacity))
	for j := range p.Jobs() {
		time := 0.0
		for i := p.First[j]; i < p.First[j+1]; i++ {
			if v := x[i]; v < 0 {
				x[i] = 0
			} else {
				time += v
			}
		}
		time = max(time, 1)
		for i := p.First[j]; i < p.First[j+1]; i++ {
			if x[i] == 0 {
				continue
			}
			x[i] /= time
			for k := p.Entry[i]; k < p.Entry[i+1]; k++ {
				used[p.Row[k]] += p.Use[k] * x[i]
			}
		}
	}
	over := false
	for r, u := range used {
		over = over || u > p.Capacity[r]
	}
	if !over {
		return
	}
	for i := range x {
		if x[i] == 0 {
			continue
		}
		for k := p.Entry[i]; k < p.Entry[i+1]; k++ {
			if r := p.Row[k]; used[r] > p.Capacity[r] && p.Use[k] > 0 {
				x[i] *= p.Capacity[r] / used[r]
			}
		}
	}
}
