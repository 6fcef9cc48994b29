package block

import (
	"math"
	"slices"
)

// Settings of following the central path.
const (
	followFrom   = 0.1  // of the scope: distance of bound and point at which it begins
	followGap    = 1e-5 // gap at which few steps of the interior point method end the work
	followMost   = 1e-9 // gap to which the path can be followed
	followLess   = 0.1  // part of the gap it has that it must come to at least
	followRatio  = 0.1  // of mu to the next, at first
	followLeast  = 0.01 // the same, at least
	followSlow   = 0.98 // ratio from which it is given up
	followNear   = 30   // square of the decrement, over mu, up to which a tangent led near
	followFar    = 300  // and from which it led too far
	followRounds = 200
)

// mark is what a path needs to go back to a point.
type mark struct {
	lambda, nu, own []float64
	ref             []int
	below           float64
}

func (f *path) mark() mark {
	return mark{slices.Clone(f.lambda), slices.Clone(f.nu), slices.Clone(f.own), slices.Clone(f.ref), f.below}
}

func (f *path) back(to mark) {
	copy(f.lambda, to.lambda)
	copy(f.nu, to.nu)
	copy(f.own, to.own)
	copy(f.ref, to.ref)
	f.below = to.below
}

// follow goes along the central path to a gap of at most the one asked for, by tangents and
// Newton's method, each as far as tangents lead near it. It reports whether it came there, and
// leaves the iterate as it was if not.
func (it *interior) follow(gap float64) bool {
	g := newInterior(it.p)
	for r := range g.lambda {
		g.lambda[r] = 1 / float64(g.k)
	}
	mu := followFrom / float64(g.pairs())
	if !g.p.levels() {
		mu *= g.scope()
	}
	f := newPath(g)
	if !f.centre(mu) || !f.along(mu, gap) {
		it.iterations += g.iterations
		return false
	}
	g.iterations += it.iterations
	*it = *g
	return true
}

// along goes along the path from the point at mu.
func (f *path) along(mu, gap float64) bool {
	ratio := followRatio
	for range followRounds {
		f.measure()
		if f.gap() <= gap {
			return true
		}
		at, next := f.mark(), mu*ratio
		if !f.tangent(next - mu) {
			return false
		}
		off := f.off(next)
		if off <= followFar && f.centre(next) {
			if mu = next; off < followNear {
				ratio = max(followLeast, math.Pow(ratio, 1.5))
			}
			continue
		}
		f.back(at)
		if ratio = math.Sqrt(ratio); ratio > followSlow {
			return false
		}
		if _, ok := f.settle(mu); !ok {
			return false
		}
	}
	return false
}

// off is how far the prices are from the path at mu: the square of the decrement, over mu.
func (f *path) off(mu float64) float64 {
	if _, ok := f.settle(mu); ok {
		if decrement, ok := f.descent(make([]float64, f.k)); ok {
			return decrement / mu
		}
	}
	return math.Inf(1)
}

// tangent moves prices and level, and the jobs' own prices, as they change at first when mu
// changes by so much.
func (f *path) tangent(by float64) bool {
	if !f.factor() {
		return false
	}
	for _, list := range [][]float64{f.rx, f.rs, f.rw, f.rv} {
		for i := range list {
			list[i] = by
		}
	}
	f.rt = by
	f.direction()
	const back = 0.05 // of what it was that anything keeps
	for r, d := range f.dlambda {
		f.lambda[r] = max(f.lambda[r]+d, back*f.lambda[r])
	}
	if f.p.levels() {
		f.below = min(max(f.below-f.dt, back*f.below), f.most*(1-back))
	}
	for j, d := range f.dnu {
		f.nu[j] = max(f.nu[j]+d, back*f.nu[j])
		if lo := f.p.First[j]; lo < f.p.First[j+1] {
			f.own[j] += f.dmu[j] - (f.fast[j]-f.short[int(lo)+f.ref[j]])*d
		}
	}
	return true
}
