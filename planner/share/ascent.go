package share

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// ascent maximises Σ_j powerOf(u_j, power), u_j = tiny + Σ_w rate·x, over the shares of a
// fleet by a primal-dual interior point method. Each job's Newton matrix is a diagonal
// and two outer products (its objective, its time), so that jobs are eliminated in
// closed form and only a matrix of the types is factored. Shares stay within their rows
// throughout.
type ascent struct {
	n        int         // types
	rate     [][]float64 // job × type, in units of u per whole time
	scale    []float64   // workers of a job
	capacity []float64   // per type, > 0 where any rate is
	power    float64

	x, sigma   [][]float64 // shares and their prices of being 0
	y, mu      []float64   // idle time of jobs and its prices
	z, lambda  []float64   // idle workers and their prices
	u          []float64
	dx         [][]float64
	blocks     []*jobBlock // the inverses of this step
	iterations int
}

// Settings of the ascent.
const (
	ascentStart  = 0.9 // of the isolated shares: the first point is well inside
	centreLeast  = 0.1 // part of the way to go that a step aims at
	centreMost   = 0.5
	ascentInner  = 0.995 // of the way to the nearest bound
	ascentRefine = 2     // times that a solution is corrected by what it misses
	ascentSteps  = 150
	ascentShut   = 1e-14 // mean complementarity, relative to worth, below which rounding takes over
)

// newAscent starts from shares that keep all rows strictly.
func newAscent(rate [][]float64, start [][]float64, scale, capacity []float64, power float64) *ascent {
	m, n := len(rate), len(capacity)
	a := &ascent{n: n, rate: rate, scale: scale, capacity: capacity, power: power,
		x: make([][]float64, m), sigma: make([][]float64, m), dx: make([][]float64, m),
		y: make([]float64, m), mu: make([]float64, m), u: make([]float64, m),
		z: make([]float64, n), lambda: make([]float64, n)}
	for j := range m {
		a.x[j], a.sigma[j], a.dx[j] = make([]float64, n), make([]float64, n), make([]float64, n)
		for w, v := range rate[j] {
			if v > 0 {
				a.x[j][w] = ascentStart * start[j][w]
			}
		}
	}
	a.blocks = make([]*jobBlock, m)
	for j := range a.blocks {
		a.blocks[j] = newJobBlock(n)
	}
	a.slacks()
	// Prices with one product of each share and its price: the middle of the path there.
	tau := a.worth()
	for j := range m {
		a.mu[j] = tau / a.y[j]
		for w := range n {
			if rate[j][w] > 0 {
				a.sigma[j][w] = tau / a.x[j][w]
			}
		}
	}
	for w := range n {
		if a.z[w] > 0 {
			a.lambda[w] = tau / a.z[w]
		}
	}
	return a
}

// worth is the mean over all columns of what the jobs' u are worth at their slopes.
func (a *ascent) worth() float64 {
	sum := 0.0
	for j, u := range a.u {
		sum += a.slope(j) * u
	}
	return sum / float64(len(a.u)*(a.n+1))
}

// slacks sets what follows from x: u, idle time and idle workers.
func (a *ascent) slacks() {
	copy(a.z, a.capacity)
	for j, shares := range a.x {
		a.u[j], a.y[j] = tiny, 1
		for w, x := range shares {
			a.u[j] += a.rate[j][w] * x
			a.y[j] -= x
			a.z[w] -= a.scale[j] * x
		}
	}
}

// slope is the derivative of powerOf at u_j.
func (a *ascent) slope(j int) float64 { return math.Pow(a.u[j], a.power-1) }

// complementarity is the mean product of a slack and its price.
func (a *ascent) complementarity() float64 {
	sum, count := 0.0, 0
	for j := range a.x {
		sum += a.y[j] * a.mu[j]
		count++
		for w, x := range a.x[j] {
			if a.rate[j][w] > 0 {
				sum += x * a.sigma[j][w]
				count++
			}
		}
	}
	for w, z := range a.z {
		sum += z * a.lambda[w]
		count++
	}
	return sum / float64(count)
}

// run steps until done says so.
func (a *ascent) run(done func() bool) {
	centre := 0.2
	for a.iterations < ascentSteps {
		a.iterations++
		tau := a.complementarity()
		if tau < ascentShut*a.worth() {
			return
		}
		length, ok := a.step(centre * tau)
		if !ok || done() {
			return
		}
		if length > 0.9 {
			centre = max(centreLeast, centre/4)
		} else { // it ran into a wall: more towards the middle
			centre = min(centreMost, 3*centre)
		}
	}
}

// step moves towards the point of the path at tau and returns how far it came.
func (a *ascent) step(tau float64) (length float64, ok bool) {
	n := a.n
	normal := make([]float64, n*n)
	right, r, v := make([]float64, n), make([]float64, n), make([]float64, n)
	for j, b := range a.blocks {
		a.invert(j, b)
		a.residual(j, tau, r)
		b.solve(r, v)
		b.add(normal, a.scale[j])
		for w := range n {
			right[w] += a.scale[j] * v[w]
		}
	}
	for w := range n {
		if a.z[w] <= 0 { // no column is there
			normal[w*n+w], right[w] = 1, 0
			continue
		}
		normal[w*n+w] += a.z[w] / a.lambda[w]
		right[w] += tau/a.lambda[w] - a.z[w]
	}
	unit := equilibrate(normal, n)
	factor, ok := factorise(normal, n)
	if !ok {
		return 0, false
	}
	dl, change := make([]float64, n), mat.NewVecDense(n, nil)
	dz := make([]float64, n)
	for range 1 + ascentRefine {
		for w := range right {
			right[w] *= unit[w]
		}
		if factor.SolveVecTo(change, mat.NewVecDense(n, right)) != nil {
			return 0, false
		}
		for w := range dl {
			dl[w] += change.AtVec(w) * unit[w]
		}
		a.direction(tau, dl, dz, r)
		for w := range right { // what the types' rows still miss
			if right[w] = 0; a.z[w] > 0 {
				right[w] = tau/a.lambda[w] - a.z[w] - a.z[w]/a.lambda[w]*dl[w] - dz[w]
			}
		}
	}
	return a.move(tau, dl, dz), true
}

// equilibrate scales rows and columns of the types' matrix to a diagonal of 1, by the units
// that it returns: types of few and of a million workers, full and idle, differ by more than
// double precision holds.
func equilibrate(normal []float64, n int) []float64 {
	unit := make([]float64, n)
	for w := range n {
		unit[w] = 1 / math.Sqrt(normal[w*n+w])
	}
	for w := range n {
		for k := range n {
			normal[w*n+k] *= unit[w] * unit[k]
		}
	}
	return unit
}

// factorise factors the types' matrix, with a little more on its diagonal where rounding
// left it indefinite; the corrections make up for that.
func factorise(normal []float64, n int) (*mat.Cholesky, bool) {
	var factor mat.Cholesky
	for _, ridge := range []float64{0, 1e-14, 1e-12, 1e-10} {
		for w := range n {
			normal[w*n+w] *= 1 + ridge
		}
		if factor.Factorize(mat.NewSymDense(n, normal)) {
			return &factor, true
		}
	}
	return nil, false
}

// direction sets the steps of shares and idle workers that belong to the prices' dl.
func (a *ascent) direction(tau float64, dl, dz, r []float64) {
	clear(dz)
	for j, b := range a.blocks {
		a.residual(j, tau, r)
		for w := range r {
			if a.rate[j][w] > 0 {
				r[w] -= a.scale[j] * dl[w]
			}
		}
		b.solve(r, a.dx[j])
		for w, d := range a.dx[j] {
			dz[w] -= a.scale[j] * d
		}
	}
}

// residual is the right side of job j's rows.
func (a *ascent) residual(j int, tau float64, r []float64) {
	slope, time := a.slope(j), tau/a.y[j]
	for w, v := range a.rate[j] {
		r[w] = 0
		if v > 0 {
			r[w] = slope*v - a.scale[j]*a.lambda[w] + tau/a.x[j][w] - time
		}
	}
}

// move goes along the steps as far as everything stays positive.
func (a *ascent) move(tau float64, dl, dz []float64) float64 {
	length := 1.0
	fit := func(value, change float64) {
		if change < 0 {
			length = min(length, -ascentInner*value/change)
		}
	}
	m := len(a.x)
	dmu, dy := make([]float64, m), make([]float64, m)
	for j := range m {
		for w, d := range a.dx[j] {
			if a.rate[j][w] > 0 {
				dy[j] -= d
				fit(a.x[j][w], d)
				fit(a.sigma[j][w], a.priceStep(j, w, tau))
			}
		}
		dmu[j] = tau/a.y[j] - a.mu[j] - a.mu[j]/a.y[j]*dy[j]
		fit(a.y[j], dy[j])
		fit(a.mu[j], dmu[j])
	}
	for w := range a.z {
		if a.z[w] > 0 {
			fit(a.z[w], dz[w])
			fit(a.lambda[w], dl[w])
		}
	}
	for j := range m {
		a.mu[j] += length * dmu[j]
		a.y[j] += length * dy[j]
		a.u[j] = tiny
		for w, d := range a.dx[j] {
			if a.rate[j][w] > 0 {
				a.sigma[j][w] += length * a.priceStep(j, w, tau)
				a.x[j][w] += length * d
				a.u[j] += a.rate[j][w] * a.x[j][w]
			}
		}
	}
	for w := range a.z {
		if a.z[w] > 0 {
			a.lambda[w] += length * dl[w]
			a.z[w] += length * dz[w]
		}
	}
	return length
}

// priceStep is the change of a share's price that belongs to dx.
func (a *ascent) priceStep(j, w int, tau float64) float64 {
	return (tau-a.sigma[j][w]*a.dx[j][w])/a.x[j][w] - a.sigma[j][w]
}
