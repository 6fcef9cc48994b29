package block

import "math"

// Settings of the interior point method.
const (
	stepBack   = 0.9995 // share of the way to the boundary that a step may go
	stepStart  = 0.99   // and at least this in the first iterations
	muLeast    = 1e-14  // complementarity below which rounding rules
	stallLimit = 8      // iterations without a better point after which it needs another start
	patience   = 40     // iterations after which the path of a level is followed more closely
	recentres  = 2      // times that a program of gains returns to the central path then
	cancelled  = 1e-6   // part of the terms of an objective from which their sum counts as none
	rowsTol    = 2e-9   // by how much rows may be missed at the end, whatever the gap
)

// interior is the iterate of a scaled program: columns x with dual slacks z, per job
// the time slack s with price mu and the speed surplus w with price nu, per
// capacity row the slack v with price lambda, and the level t with dual slack zt.
type interior struct {
	p         *scaled
	m, n, k   int
	x, z      []float64
	s, mu     []float64
	w, nu     []float64
	v, lambda []float64
	t, zt     float64

	iterations int

	d, e, dx, dz   []float64 // scaling, constant part of dx, steps
	ds, dmu        []float64
	dw, dnu        []float64
	dv, dlambda    []float64
	dt, dzt        float64
	d0, mean, d2   []float64 // the jobs' eliminated 2×2 systems
	g0, h2         []float64
	schur, chol    []float64
	border         []float64 // the level's column after elimination
	corner         float64
	q              []float64
	rs, rw, rv     []float64 // complementarity targets
	rx             []float64
	rt             float64
	acc0, acc2     []float64 // a job's capacity rows, dense
	touched        []int32
	one0, one2     []float64 // the same where columns are single, by column
	rowsHit        []bool
	primal, dualIn float64 // residuals of the last iterate
	primalObj      float64
	dualObj        float64
	terms          float64 // sum of the sizes of what primalObj adds up
}

func newInterior(p *scaled) *interior {
	m, n, k := p.Jobs(), p.Columns(), len(p.Capacity)
	it := &interior{p: p, m: m, n: n, k: k}
	for _, f := range []*[]float64{&it.x, &it.z, &it.d, &it.e, &it.dx, &it.dz, &it.rx} {
		*f = make([]float64, n)
	}
	for _, f := range []*[]float64{&it.s, &it.mu, &it.w, &it.nu, &it.ds, &it.dmu, &it.dw, &it.dnu, &it.d0, &it.mean, &it.d2, &it.g0, &it.h2, &it.rs, &it.rw} {
		*f = make([]float64, m)
	}
	for _, f := range []*[]float64{&it.v, &it.lambda, &it.dv, &it.dlambda, &it.border, &it.q, &it.rv, &it.acc0, &it.acc2} {
		*f = make([]float64, k)
	}
	it.schur, it.chol = make([]float64, k*k), make([]float64, k*k)
	it.rowsHit = make([]bool, k)
	it.one0, it.one2 = make([]float64, k), make([]float64, k)
	return it
}

// begin takes the point where all jobs share alike, inside all capacities, and
// prices at which no column pays.
func (it *interior) begin() {
	p := it.p
	demand := make([]float64, it.k)
	for j := range it.m {
		c := float64(p.First[j+1] - p.First[j])
		for i := p.First[j]; i < p.First[j+1]; i++ {
			for e := p.Entry[i]; e < p.Entry[i+1]; e++ {
				demand[p.Row[e]] += p.Use[e] / c
			}
		}
	}
	for i := range it.n {
		fit := 0.5
		for e := p.Entry[i]; e < p.Entry[i+1]; e++ {
			fit = min(fit, 0.7/demand[p.Row[e]])
		}
		it.x[i] = fit
	}
	for r := range it.k {
		it.v[r] = 1
	}
	level := math.Inf(1)
	for j := range it.m {
		c := float64(p.First[j+1] - p.First[j])
		it.s[j] = 1
		for i := p.First[j]; i < p.First[j+1]; i++ {
			it.x[i] /= c
			it.s[j] -= it.x[i]
			for e := p.Entry[i]; e < p.Entry[i+1]; e++ {
				it.v[p.Row[e]] -= p.Use[e] * it.x[i]
			}
		}
		if f := p.follow(j); f > 0 {
			level = min(level, max(p.reach(it.x, j)-p.floor(j), 0.1*p.reach(it.x, j))/f)
		}
	}
	it.t, it.zt = 0, 0
	followers := 0
	if p.levels() {
		it.t, it.zt = 0.5*level, 1
		for j := range it.m {
			if p.Follow[j] > 0 {
				followers++
			}
		}
	}
	worth := 0.0 // of all that could be had: the sum of prices times capacities starts there
	for j := range it.m {
		if !p.has[j] {
			it.w[j], it.nu[j] = 1, 0
		} else {
			reach := p.reach(it.x, j)
			it.w[j] = max(reach-p.floor(j)-p.follow(j)*it.t, 0.1*max(reach, 1e-8))
			if f := p.follow(j); f > 0 {
				it.nu[j] = 2 / (f * float64(followers))
			} else {
				it.nu[j] = 0.1
			}
		}
		best := 0.0
		for i := p.First[j]; i < p.First[j+1]; i++ {
			best = max(best, it.pay(int32(i), j))
		}
		worth += best
	}
	for r := range it.k {
		it.lambda[r] = max(0.5*worth, 1e-3) / float64(it.k)
	}
	// What all columns miss at least: far from the boundary where jobs have no rows but their
	// time, as a poorly centred start takes short steps for long.
	margin := max(worth, 1e-3) / float64(max(it.m, 1))
	if p.levels() {
		margin *= 0.1
	}
	for j := range it.m {
		best := 0.0
		for i := p.First[j]; i < p.First[j+1]; i++ {
			best = max(best, it.pay(i, j)-it.rent(it.lambda, i))
		}
		it.mu[j] = best + margin
		for i := p.First[j]; i < p.First[j+1]; i++ {
			it.z[i] = it.mu[j] + it.rent(it.lambda, i) - it.pay(i, j)
		}
	}
}

// pay is what a unit of column i of job j earns before it pays rent.
func (it *interior) pay(i int32, j int) float64 {
	if it.p.levels() {
		return it.p.Speed[i] * it.nu[j]
	}
	return it.p.Gain[i] + it.p.Speed[i]*it.nu[j]
}

// rent is what column i pays at the prices.
func (it *interior) rent(prices []float64, i int32) float64 {
	p := it.p
	sum := 0.0
	for e := p.Entry[i]; e < p.Entry[i+1]; e++ {
		sum += p.Use[e] * prices[p.Row[e]]
	}
	return sum
}

// measure computes objectives and residuals of the iterate.
func (it *interior) measure() (mu float64) {
	p := it.p
	it.primal, it.dualIn = 0, 0
	pairs := it.n + it.k
	sum := 0.0
	it.primalObj, it.dualObj, it.terms = 0, 0, 0
	used := it.acc0
	clear(used)
	flow := 0.0
	for j := range it.m {
		time, reach := 0.0, 0.0
		for i := p.First[j]; i < p.First[j+1]; i++ {
			x := it.x[i]
			sum += x * it.z[i]
			time += x
			reach += p.Speed[i] * x
			if !p.levels() {
				worth := p.Gain[i] * x
				it.primalObj += worth
				it.terms += math.Abs(worth)
			}
			for e := p.Entry[i]; e < p.Entry[i+1]; e++ {
				used[p.Row[e]] += p.Use[e] * x
			}
		}
		sum += it.s[j] * it.mu[j]
		pairs++
		it.primal = max(it.primal, math.Abs(1-time-it.s[j]))
		it.dualObj += it.mu[j]
		if p.has[j] {
			sum += it.w[j] * it.nu[j]
			pairs++
			it.primal = max(it.primal, math.Abs(p.floor(j)+p.follow(j)*it.t+it.w[j]-reach))
			it.dualObj -= p.floor(j) * it.nu[j]
			flow += p.follow(j) * it.nu[j]
		}
	}
	for r := range it.k {
		it.primal = max(it.primal, math.Abs(1-used[r]-it.v[r]))
		it.dualObj += it.lambda[r]
		sum += it.v[r] * it.lambda[r]
	}
	clear(used)
	if p.levels() {
		it.primalObj = it.t
		sum += it.t * it.zt
		pairs++
		it.dualIn = math.Abs(flow - 1 - it.zt)
	}
	return sum / float64(pairs)
}

// gap is the distance of the iterate's objectives, relative to them or, where large gains
// and losses cancel, as at the end of Dinkelbach's method, to what can be told of those.
func (it *interior) gap() float64 {
	return math.Abs(it.dualObj-it.primalObj) / max(math.Abs(it.primalObj), math.Abs(it.dualObj)*1e-3, it.terms*cancelled, it.p.Size, 1e-12)
}

// run iterates until the objectives agree within tol and the rows hold, or no
// iteration helps any more, and reports whether they agree.
func (it *interior) run(tol float64, limit int) bool {
	best, since, help := math.Inf(1), 0, recovery{}
	keep := it.snapshot()
	for range limit {
		mu := it.measure()
		score := max(it.gap(), it.primal, it.dualIn)
		if math.IsNaN(score) {
			break
		}
		// Below the gap asked for, only the rows still count.
		if score = max(score, min(tol, 1)*it.primal/rowsTol); score < 0.9*best {
			best, since = score, 0
			it.save(keep)
			keep.mu = mu
		} else {
			since++
		}
		if score <= tol || mu < muLeast && score < 100*tol {
			it.save(keep)
			break
		}
		if since >= stallLimit || it.p.levels() && !help.followed && it.iterations >= patience {
			stalls := since >= stallLimit
			if it.recover(&help, keep, best) {
				since = 0
				continue
			}
			if stalls {
				break
			}
		}
		it.iterations++
		if !it.iterate(mu) {
			break
		}
	}
	it.load(keep)
	return best <= 10*tol
}

// recovery is what was done for an iterate whose steps were short.
type recovery struct {
	recentred int
	followed  bool
}

// recover takes an iterate that gets no further to another from which it may: a program of gains
// back to the path, which a few columns far from it may have left, then any along the path.
func (it *interior) recover(help *recovery, keep *point, best float64) bool {
	if !it.p.levels() && help.recentred < recentres {
		help.recentred++
		it.load(keep)
		if newPath(it).centre(keep.mu) {
			return true
		}
	}
	if help.followed {
		return false
	}
	help.followed = true
	return it.follow(min(followGap, max(followLess*best, followMost)))
}

// point holds what a snapshot must restore.
type point struct {
	x, nu, lambda []float64
	t, mu         float64 // mu: the mean complementarity product
}

func (it *interior) snapshot() *point {
	return &point{x: make([]float64, it.n), nu: make([]float64, it.m), lambda: make([]float64, it.k)}
}

func (it *interior) save(p *point) {
	copy(p.x, it.x)
	copy(p.nu, it.nu)
	copy(p.lambda, it.lambda)
	p.t = it.t
}

func (it *interior) load(p *point) {
	copy(it.x, p.x)
	copy(it.nu, p.nu)
	copy(it.lambda, p.lambda)
	it.t = p.t
}
