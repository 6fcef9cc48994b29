package block

import "math"

// Settings of the centred start.
const (
	centreSteps = 30   // of Newton's method on a job's two prices; ten are usual
	centreTol   = 1e-3 // decrement at which a job counts as centred
	centreNear  = 0.02 // distance of bound and point, relative, at which known prices begin
	centreRound = 15   // of Newton's method on the capacity prices; five are usual
	centreDone  = 0.01 // square of their decrement, over mu, at which the interior point method goes on
	centreHalve = 8    // times that a step is cut until the function falls
)

// start takes the point near the central path that fits prices of another round or of a
// sample: within centreNear of what all jobs could gain at most. It reports whether there is
// one to be found from there: far from the optimum, as prices are of a sample whose floors
// its share of the capacity cannot meet, there is not.
func (it *interior) start(lambda []float64) bool {
	sum := 0.0
	for _, l := range lambda {
		sum += l
	}
	for j := range it.m {
		best := 0.0
		for i := it.p.First[j]; i < it.p.First[j+1]; i++ {
			best = max(best, math.Abs(it.p.Gain[i]))
		}
		sum += best
	}
	copy(it.lambda, lambda)
	it.t, it.zt = 0, 0
	return it.centre(centreNear * sum / float64(it.pairs()))
}

// centre moves the iterate of a program of gains near the point of the central path where
// all complementarity products are mu: it minimises the smooth dual function of the
// capacity prices, in which each job's own prices are at their minimum, by Newton's method
// with steps that decrease it. At the end only the capacity rows are missed, and no column
// holds the first steps of the interior point method back. It reports whether it came there:
// it ends where the function falls no more, or hardly.
func (it *interior) centre(mu float64) bool {
	for r, l := range it.lambda {
		it.lambda[r] = max(l, mu)
	}
	value := it.settle(mu)
	from, by := make([]float64, it.k), make([]float64, it.k)
	for range centreRound {
		copy(from, it.lambda)
		it.shortage(by)
		if !it.factor() {
			return false
		}
		cholSolve(it.chol, it.k, by)
		decrement := 0.0
		step := 1.0
		for r, d := range by {
			if d > 0 && d*step > 0.9*from[r] {
				step = 0.9 * from[r] / d
			}
		}
		it.shortage(it.q)
		for r, d := range by {
			decrement += it.q[r] * d
		}
		it.iterations++
		if !(decrement > centreDone*mu) {
			return true
		}
		fell := false
		for range centreHalve {
			for r := range from {
				it.lambda[r] = from[r] - step*by[r]
			}
			next := it.settle(mu)
			if fell = next <= value-0.1*step*decrement; fell {
				value = next
				break
			}
			step *= 0.4
		}
		if !fell {
			return false
		}
	}
	return true
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

// settle minimises over the jobs' own prices at the prices lambda, sets all that depends on
// them, and returns the value.
func (it *interior) settle(mu float64) float64 {
	p := it.p
	value := 0.0
	for r, l := range it.lambda {
		it.v[r] = mu / l
		value += l - mu*math.Log(l)
	}
	for j := range it.m {
		value += it.centreJob(j, mu)
		it.s[j] = mu / it.mu[j]
		if it.w[j] = 1; p.has[j] {
			it.w[j] = mu / it.nu[j]
		}
		for i := p.First[j]; i < p.First[j+1]; i++ {
			it.x[i] = mu / it.z[i]
		}
	}
	return value
}

// centreJob minimises m − floor·n − mu·(Σ log z + log m + log n) over the job's prices m of
// time and n of speed, by damped steps of Newton's method, which this self-concordant
// function (over mu) always takes to its minimum. It leaves both prices and the slacks.
func (it *interior) centreJob(j int, mu float64) float64 {
	p := it.p
	lo, hi := p.First[j], p.First[j+1]
	earn := it.e[lo:hi]
	z := it.z[lo:hi]
	speed := p.Speed[lo:hi]
	best := 0.0
	for c := range earn {
		earn[c] = p.Gain[lo+int32(c)] - it.rent(it.lambda, lo+int32(c))
		best = max(best, earn[c])
	}
	floor, has := p.floor(j), p.has[j]
	n := 0.0
	if has {
		n = mu * float64(len(z))
	}
	for c := range earn {
		best = max(best, earn[c]+n*speed[c])
	}
	m := best + mu*float64(len(z)+1)
	for range centreSteps {
		g1, g2 := 1-mu/m, 0.0
		h11, h12, h22 := mu/(m*m), 0.0, 0.0
		if has {
			g2 = -floor - mu/n
			h22 = mu / (n * n)
		}
		for c := range z {
			v := 1 / (m - earn[c] - n*speed[c])
			x := mu * v
			g1 -= x
			h := x * v
			h11 += h
			if has {
				g2 += speed[c] * x
				h12 -= h * speed[c]
				h22 += h * speed[c] * speed[c]
			}
		}
		var dm, dn float64
		if has {
			det := h11*h22 - h12*h12
			if !(det > 1e-14*h11*h22) {
				dm, dn = -g1/h11, -g2/h22
				if h12 != 0 { // nearly dependent: along the steeper of the two
					dm, dn = 0.5*dm, 0.5*dn
				}
			} else {
				dm, dn = (-g1*h22+g2*h12)/det, (g1*h12-g2*h11)/det
			}
		} else {
			dm = -g1 / h11
		}
		decrement := math.Sqrt(max(0, -(g1*dm+g2*dn)) / mu)
		step := 1.0
		if decrement > 0.25 {
			step = 1 / (1 + decrement)
		}
		m += step * dm
		n += step * dn
		if decrement < centreTol || math.IsNaN(decrement) {
			break
		}
	}
	it.mu[j], it.nu[j] = m, n
	value, logs := m, m
	if has {
		value -= floor * n
		logs *= n
	}
	for c := range z {
		z[c] = m - earn[c] - n*speed[c]
		logs *= z[c]
		if logs < 1e-200 {
			value -= mu * math.Log(logs)
			logs = 1
		}
	}
	return value - mu*math.Log(logs)
}
