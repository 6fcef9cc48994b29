package block

import "math"

// Settings of centring.
const (
	centreNear   = 0.02  // distance of bound and point, relative, at which known prices begin
	centreRound  = 40    // of Newton's method on the capacity prices; five are usual
	centreDone   = 0.01  // square of their decrement, over mu, at which the interior point method goes on
	centreSteady = 1     // the same, where rounding lets the function fall no more
	centreHalve  = 12    // times that a step is cut until the function falls
	centreHold   = 0.9   // share of the way to the boundary that a step may go
	levelSteady  = 1e-10 // by how much the jobs' worth of the level may miss one
	levelRounds  = 60    // of Newton's method on the level; three are usual
)

// path is the central path of a scaled program. Where capacity has its prices and the level is
// given, each job's own two prices are at their best, so that only as many unknowns are left as
// there are rows, and one. Steps of these follow the path also where it bends for each job at
// another place, as where many jobs can go little beyond the level, and steps of all unknowns
// together would have to be as short as the nearest bend.
type path struct {
	*interior
	most  float64   // the level that some job cannot exceed alone; +Inf: there is none
	below float64   // most − level
	fast  []float64 // per job, its fastest column
	least []float64 // per job, what its floor at the level most leaves of that
	short []float64 // per column, by how much it is slower than the fastest
	earn  []float64 // per column, gain − rent
	own   []float64 // per job, mu − nu·speed of the column ref
	ref   []int     // per job, one of its columns, counted from its first
	rise  []float64 // per job, by how much nu grows with its floor
	left  []float64 // per row
}

func newPath(it *interior) *path {
	p := it.p
	f := &path{interior: it, most: math.Inf(1)}
	for _, list := range []*[]float64{&f.fast, &f.least, &f.own, &f.rise} {
		*list = make([]float64, it.m)
	}
	f.short, f.earn = make([]float64, it.n), make([]float64, it.n)
	f.left, f.ref = make([]float64, it.k), make([]int, it.m)
	for j := range it.m {
		f.fast[j] = p.fastest(j)
		for i := p.First[j]; i < p.First[j+1]; i++ {
			f.short[i] = f.fast[j] - p.Speed[i]
		}
		if rate := p.follow(j); rate > 0 {
			f.most = min(f.most, (f.fast[j]-p.floor(j))/rate)
		}
	}
	for j := range it.m {
		f.least[j] = f.fast[j] - p.floor(j)
		if rate := p.follow(j); rate > 0 {
			f.least[j] = max(0, f.least[j]-rate*f.most)
		}
	}
	clear(it.nu)
	f.below = 0.5 * f.most
	return f
}

// start takes the point near the central path that fits prices of another round or of a
// sample: within centreNear of what all jobs could gain at most. It reports whether there is
// one to be found from there: far from the optimum, as prices are of a sample whose floors
// its share of the capacity cannot meet, there is not.
func (it *interior) start(lambda []float64) bool {
	copy(it.lambda, lambda)
	it.t, it.zt = 0, 0
	return newPath(it).centre(centreNear * it.scope() / float64(it.pairs()))
}

// scope is the rent of all capacity, and the most that jobs could gain without it.
func (it *interior) scope() float64 {
	sum := 0.0
	for _, l := range it.lambda {
		sum += l
	}
	for j := range it.m {
		best := 0.0
		for i := it.p.First[j]; i < it.p.First[j+1]; i++ {
			best = max(best, math.Abs(it.pay(i, j)))
		}
		sum += best
	}
	return sum
}

// centre moves the iterate near the point of the central path where all complementarity
// products are mu: it minimises the smooth dual function of the capacity prices, in which the
// level and each job's own prices are at their best, by Newton's method with steps that
// decrease it. At the end only the capacity rows are missed, and no column holds the first
// steps of the interior point method back. It reports whether it came there: it ends where the
// function falls no more, or hardly.
func (f *path) centre(mu float64) bool {
	for r, l := range f.lambda {
		f.lambda[r] = max(l, mu)
	}
	value, ok := f.settle(mu)
	if !ok {
		return false
	}
	from, by := make([]float64, f.k), make([]float64, f.k)
	for range centreRound {
		copy(from, f.lambda)
		below := f.below
		decrement, ok := f.descent(by)
		if !ok {
			return false
		}
		step := 1.0
		for r, d := range by {
			if d > 0 && d*step > centreHold*from[r] {
				step = centreHold * from[r] / d
			}
		}
		f.iterations++
		if !(decrement > centreDone*mu) {
			return true
		}
		fell := false
		for range centreHalve {
			for r := range from {
				f.lambda[r] = from[r] - step*by[r]
			}
			f.below = f.lower(below, step, by)
			next, ok := f.settle(mu)
			if !ok {
				return false
			}
			if fell = next <= value-0.1*step*decrement; fell {
				value = next
				break
			}
			step *= 0.4
		}
		if !fell {
			return decrement < centreSteady*mu
		}
	}
	return false
}

// lower is where the level is to be looked for after a step of the prices: by how much it then
// is below the most.
func (f *path) lower(below, step float64, by []float64) float64 {
	if !f.p.levels() {
		return below
	}
	rise := 0.0
	for r, d := range by {
		rise += f.border[r] * d
	}
	below = max(below-step*rise/f.corner, 0.1*below)
	return min(below, 0.5*(below+f.most))
}

// descent is Newton's step of the capacity prices, and the square of its decrement.
func (f *path) descent(by []float64) (decrement float64, ok bool) {
	if !f.factor() {
		return 0, false
	}
	f.shortage(f.left)
	copy(by, f.left)
	cholSolve(f.chol, f.k, by)
	for r, d := range by {
		decrement += f.left[r] * d
	}
	return decrement, true
}

// shortage is the gradient: what is left of each capacity row beyond v.
func (it *interior) shortage(left []float64) {
	p := it.p
	for r := range left {
		left[r] = 1 - it.v[r]
	}
	for i := range it.n {
		for e := p.Entry[i]; e < p.Entry[i+1]; e++ {
			left[p.Row[e]] -= p.Use[e] * it.x[i]
		}
	}
}

// settle finds the level and the jobs' own prices at the prices lambda, sets all that depends
// on them, and returns the value of the dual function.
func (f *path) settle(mu float64) (value float64, ok bool) {
	for i := range f.earn {
		f.earn[i] = -f.rent(f.lambda, int32(i))
		if !f.p.levels() {
			f.earn[i] += f.p.Gain[i]
		}
	}
	if value, ok = f.settleJobs(mu); ok && f.p.levels() {
		value, ok = f.settleLevel(mu, value)
	}
	for r, l := range f.lambda {
		f.v[r] = mu / l
		value += l - mu*math.Log(l)
	}
	return value, ok && !math.IsNaN(value)
}

// settleJobs finds the jobs' own prices at the level.
func (f *path) settleJobs(mu float64) (value float64, ok bool) {
	for j := range f.m {
		v, ok := f.settleJob(j, mu)
		if !ok {
			return 0, false
		}
		value += v
	}
	if f.p.levels() {
		f.t = f.most - f.below
		f.zt = mu / f.t
		value += f.t + mu*math.Log(f.t)
	}
	return value, true
}

// settleLevel finds the level at which the jobs' worths of it add up to one, from that at which
// they are settled. The sum grows ever faster on the way to the level most, which it cannot
// reach.
func (f *path) settleLevel(mu, value float64) (at float64, ok bool) {
	lo, hi := 0.0, f.most // of below
	for range levelRounds {
		lack, bend := 1+f.zt, f.zt/f.t
		for j, nu := range f.nu {
			rate := f.p.follow(j)
			lack -= rate * nu
			bend += rate * rate * f.rise[j]
		}
		if lack*lack < levelSteady*mu*bend {
			return value, true
		}
		if lack > 0 {
			hi = f.below
		} else {
			lo = f.below
		}
		next := f.below - lack/bend
		if !(next > lo && next < hi) {
			next = max(math.Sqrt(lo*hi), 0.1*hi)
		}
		if next == f.below || next <= 0 || next >= f.most {
			return value, true
		}
		f.below = next
		if value, ok = f.settleJobs(mu); !ok {
			return 0, false
		}
	}
	return value, true
}
