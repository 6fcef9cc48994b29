package block

import "math"

// iterate makes one predictor-corrector step; false if the system cannot be solved.
func (it *interior) iterate(mu float64) bool {
	if !it.factor() {
		return false
	}
	// Predictor: straight at complementarity zero.
	for i := range it.x {
		it.rx[i] = -it.x[i] * it.z[i]
	}
	for j := range it.s {
		it.rs[j], it.rw[j] = -it.s[j]*it.mu[j], -it.w[j]*it.nu[j]
	}
	for r := range it.v {
		it.rv[r] = -it.v[r] * it.lambda[r]
	}
	it.rt = -it.t * it.zt
	it.direction()
	primal, dual := it.steps(1)
	ahead := it.complementarity(primal, dual)
	now := mu * float64(it.pairs())
	sigma := math.Pow(ahead/now, 3)
	sigma = min(max(sigma, 1e-8), 1)
	target := sigma * mu
	// Corrector: towards the path, with the predictor's second-order terms.
	for i := range it.x {
		it.rx[i] += target - it.dx[i]*it.dz[i]
	}
	for j := range it.s {
		it.rs[j] += target - it.ds[j]*it.dmu[j]
		if it.p.has[j] {
			it.rw[j] += target - it.dw[j]*it.dnu[j]
		}
	}
	for r := range it.v {
		it.rv[r] += target - it.dv[r]*it.dlambda[r]
	}
	it.rt += target - it.dt*it.dzt
	it.direction()
	back := stepBack
	if it.iterations < 4 {
		back = stepStart
	}
	primal, dual = it.steps(back)
	it.advance(primal, dual)
	return primal > 1e-10 || dual > 1e-10
}

func (it *interior) pairs() int {
	n := it.n + it.m + it.k
	for _, h := range it.p.has {
		if h {
			n++
		}
	}
	if it.p.levels() {
		n++
	}
	return n
}

// factor eliminates the jobs and factors what is left on the capacity rows.
func (it *interior) factor() bool {
	p := it.p
	for i := range it.x {
		it.d[i] = it.x[i] / it.z[i]
	}
	clear(it.schur)
	clear(it.border)
	corner := 0.0
	k := it.k
	for j := range it.m {
		if p.single {
			corner += it.eliminateSingle(j)
			continue
		}
		lo, hi := p.First[j], p.First[j+1]
		slack := it.s[j] / it.mu[j]
		d0, sum := slack, 0.0
		for i := lo; i < hi; i++ {
			d0 += it.d[i]
			sum += it.d[i] * p.Speed[i]
		}
		mean := sum / d0
		// Shifting speeds by their mean makes the two rows orthogonal; without it
		// the differences of large numbers destroy the last digits.
		d2 := 0.0
		if p.has[j] {
			d2 = mean*mean*slack + it.w[j]/it.nu[j]
		}
		touched := it.touched[:0]
		for i := lo; i < hi; i++ {
			d := it.d[i]
			off := p.Speed[i] - mean
			if p.has[j] {
				d2 += d * off * off
			}
			for e := p.Entry[i]; e < p.Entry[i+1]; e++ {
				r, use := p.Row[e], p.Use[e]
				if !it.rowsHit[r] {
					it.rowsHit[r] = true
					touched = append(touched, r)
				}
				it.acc0[r] += d * use
				it.acc2[r] += d * off * use
				for f := p.Entry[i]; f < p.Entry[i+1]; f++ {
					it.schur[int(r)*k+int(p.Row[f])] += d * use * p.Use[f]
				}
			}
		}
		it.d0[j], it.mean[j], it.d2[j] = d0, mean, d2
		inv0, inv2 := 1/d0, 0.0
		if p.has[j] {
			inv2 = 1 / d2
		}
		follow := p.follow(j)
		for _, a := range touched {
			row := it.schur[int(a)*k : int(a)*k+k]
			c0, c2 := it.acc0[a]*inv0, it.acc2[a]*inv2
			for _, b := range touched {
				row[b] -= c0*it.acc0[b] + c2*it.acc2[b]
			}
			it.border[a] += c2 * follow
		}
		corner += follow * follow * inv2
		for _, a := range touched {
			it.acc0[a], it.acc2[a], it.rowsHit[a] = 0, 0, false
		}
		it.touched = touched
	}
	for r := range k {
		it.schur[r*k+r] += it.v[r] / it.lambda[r]
		for q := range r {
			if p.single { // of which only the upper triangle is there
				it.schur[r*k+q] = it.schur[q*k+r]
			}
		}
	}
	copy(it.chol, it.schur)
	if p.levels() {
		it.corner = corner + it.zt/it.t
		for a := range k {
			for b := range k {
				it.chol[a*k+b] += it.border[a] * it.border[b] / it.corner
			}
		}
	}
	return cholesky(it.chol, k)
}

// direction solves for the step whose complementarity products meet the targets.
func (it *interior) direction() {
	p := it.p
	// Right-hand sides: columns give e, jobs g0 and h2, rows q.
	for r := range it.k {
		it.q[r] = it.rv[r]/it.lambda[r] - (1 - it.v[r])
	}
	border := 0.0
	flow := 0.0
	for j := range it.m {
		if p.single {
			b, f := it.targetSingle(j)
			border += b
			flow += f
			continue
		}
		lo, hi := p.First[j], p.First[j+1]
		sumE, sumAE, time, reach := 0.0, 0.0, 0.0, 0.0
		follow := p.follow(j)
		for i := lo; i < hi; i++ {
			rd := it.z[i] - (it.mu[j] + it.rent(it.lambda, i) - it.pay(i, j))
			e := it.rx[i]/it.z[i] + it.d[i]*rd
			it.e[i] = e
			sumE += e
			sumAE += p.Speed[i] * e
			time += it.x[i]
			reach += p.Speed[i] * it.x[i]
			for k := p.Entry[i]; k < p.Entry[i+1]; k++ {
				it.q[p.Row[k]] += p.Use[k] * (e + it.x[i])
			}
		}
		g0 := sumE + it.rs[j]/it.mu[j] - (1 - time - it.s[j])
		it.g0[j], it.h2[j] = g0, 0
		inv2 := 0.0
		if p.has[j] {
			h := sumAE - it.rw[j]/it.nu[j] - (p.floor(j) + follow*it.t + it.w[j] - reach)
			it.h2[j] = h - it.mean[j]*g0
			inv2 = 1 / it.d2[j]
			border += follow * it.h2[j] * inv2
			flow += follow * it.nu[j]
		}
		for i := lo; i < hi; i++ {
			c := it.d[i] * (g0/it.d0[j] + (p.Speed[i]-it.mean[j])*it.h2[j]*inv2)
			for k := p.Entry[i]; k < p.Entry[i+1]; k++ {
				it.q[p.Row[k]] -= p.Use[k] * c
			}
		}
	}
	rhs := 0.0
	copy(it.dlambda, it.q)
	if p.levels() {
		rd := it.zt - (flow - 1)
		rhs = it.rt/it.t + rd + border // rt/(z·d) with d = t/z
		for r := range it.k {
			it.dlambda[r] += it.border[r] * rhs / it.corner
		}
	}
	cholSolve(it.chol, it.k, it.dlambda)
	it.refine(rhs)
	it.spread(rhs)
}

// refine improves dlambda once against the unfactored system.
func (it *interior) refine(rhs float64) {
	k := it.k
	res := it.acc0
	dot := 0.0
	for r := range k {
		dot += it.border[r] * it.dlambda[r]
	}
	for a := range k {
		sum := it.q[a]
		for b := range k {
			sum -= it.schur[a*k+b] * it.dlambda[b]
		}
		if it.p.levels() {
			sum += it.border[a] * (rhs - dot) / it.corner
		}
		res[a] = sum
	}
	cholSolve(it.chol, k, res)
	for r := range k {
		it.dlambda[r] += res[r]
		res[r] = 0
	}
}

// spread computes all other steps from dlambda.
func (it *interior) spread(rhs float64) {
	p := it.p
	it.dt, it.dzt = 0, 0
	if p.levels() {
		dot := 0.0
		for r := range it.k {
			dot += it.border[r] * it.dlambda[r]
		}
		it.dt = (rhs - dot) / it.corner
		it.dzt = (it.rt - it.zt*it.dt) / it.t
	}
	for j := range it.m {
		var dmu, dnu float64 // dnu of −nu
		if p.single {
			dmu, dnu = it.spreadSingle(j)
		} else {
			dmu, dnu = it.spreadJob(j)
		}
		it.dmu[j], it.dnu[j] = dmu, -dnu
		it.ds[j] = (it.rs[j] - it.s[j]*dmu) / it.mu[j]
		it.dw[j] = 0
		if p.has[j] {
			it.dw[j] = (it.rw[j] + it.w[j]*dnu) / it.nu[j]
		}
	}
	for r := range it.k {
		it.dv[r] = (it.rv[r] - it.v[r]*it.dlambda[r]) / it.lambda[r]
	}
}

// spreadJob computes the steps of job j's columns, and returns those of its prices: mu's,
// and the negative of nu's.
func (it *interior) spreadJob(j int) (dmu, dnu float64) {
	p := it.p
	lo, hi := p.First[j], p.First[j+1]
	a0, a2 := it.g0[j], it.h2[j]
	for i := lo; i < hi; i++ {
		rent := it.d[i] * it.rent(it.dlambda, i)
		a0 -= rent
		a2 -= (p.Speed[i] - it.mean[j]) * rent
	}
	if p.has[j] {
		dnu = (a2 - p.follow(j)*it.dt) / it.d2[j]
	}
	dmu = a0/it.d0[j] - it.mean[j]*dnu
	for i := lo; i < hi; i++ {
		move := dmu + it.rent(it.dlambda, i) + p.Speed[i]*dnu
		it.dx[i] = it.e[i] - it.d[i]*move
		it.dz[i] = (it.rx[i] - it.z[i]*it.dx[i]) / it.x[i]
	}
	return dmu, dnu
}

// steps are the longest primal and dual steps that keep everything positive.
func (it *interior) steps(back float64) (primal, dual float64) {
	primal, dual = 1, 1
	limit := func(at, by []float64, most float64) float64 {
		for i, d := range by {
			if d < 0 && -at[i]*back > d*most {
				most = -at[i] * back / d
			}
		}
		return most
	}
	primal = limit(it.x, it.dx, primal)
	primal = limit(it.s, it.ds, primal)
	primal = limit(it.w, it.dw, primal)
	primal = limit(it.v, it.dv, primal)
	dual = limit(it.z, it.dz, dual)
	dual = limit(it.mu, it.dmu, dual)
	dual = limit(it.nu, it.dnu, dual)
	dual = limit(it.lambda, it.dlambda, dual)
	if it.p.levels() {
		primal = limit([]float64{it.t}, []float64{it.dt}, primal)
		dual = limit([]float64{it.zt}, []float64{it.dzt}, dual)
	}
	return primal, dual
}

// complementarity is the sum of products after steps of these lengths.
func (it *interior) complementarity(primal, dual float64) float64 {
	sum := 0.0
	add := func(a, da, b, db []float64) {
		for i := range a {
			sum += (a[i] + primal*da[i]) * (b[i] + dual*db[i])
		}
	}
	add(it.x, it.dx, it.z, it.dz)
	add(it.s, it.ds, it.mu, it.dmu)
	for j, h := range it.p.has {
		if h {
			sum += (it.w[j] + primal*it.dw[j]) * (it.nu[j] + dual*it.dnu[j])
		}
	}
	add(it.v, it.dv, it.lambda, it.dlambda)
	if it.p.levels() {
		sum += (it.t + primal*it.dt) * (it.zt + dual*it.dzt)
	}
	return max(sum, 0)
}

func (it *interior) advance(primal, dual float64) {
	add := func(at, by []float64, step float64) {
		for i, d := range by {
			at[i] += step * d
		}
	}
	add(it.x, it.dx, primal)
	add(it.s, it.ds, primal)
	add(it.w, it.dw, primal)
	add(it.v, it.dv, primal)
	add(it.z, it.dz, dual)
	add(it.mu, it.dmu, dual)
	add(it.nu, it.dnu, dual)
	add(it.lambda, it.dlambda, dual)
	it.t += primal * it.dt
	it.zt += dual * it.dzt
}

// cholesky factors the symmetric a (k×k, rows) in place into its lower triangle.
func cholesky(a []float64, k int) bool {
	for i := range k {
		for j := 0; j <= i; j++ {
			sum := a[i*k+j]
			for l := range j {
				sum -= a[i*k+l] * a[j*k+l]
			}
			if i != j {
				a[i*k+j] = sum / a[j*k+j]
				continue
			}
			if !(sum > 0) {
				// Rounding ate the pivot: the row is (nearly) a combination of others.
				if math.IsNaN(sum) {
					return false
				}
				sum = math.MaxFloat64 / 1e100
			}
			a[i*k+i] = math.Sqrt(sum)
		}
	}
	return true
}

func cholSolve(l []float64, k int, b []float64) {
	for i := range k {
		sum := b[i]
		for j := range i {
			sum -= l[i*k+j] * b[j]
		}
		b[i] = sum / l[i*k+i]
	}
	for i := k - 1; i >= 0; i-- {
		sum := b[i]
		for j := i + 1; j < k; j++ {
			sum -= l[j*k+i] * b[j]
		}
		b[i] = sum / l[i*k+i]
	}
}
