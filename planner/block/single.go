package block

// What follows are the inner loops of the interior point method where each column uses
// one capacity row and no two columns of a job the same: a job's columns on types. They
// do what the general loops do, in a third of the time.

// isSingle reports whether each column has one entry, in ascending rows within each job.
func (s *scaled) isSingle() bool {
	if len(s.Row) != len(s.column) {
		return false
	}
	for j := range s.Jobs() {
		for i := s.First[j]; i < s.First[j+1]; i++ {
			if s.Entry[i+1] != i+1 || i > s.First[j] && s.Row[i] <= s.Row[i-1] {
				return false
			}
		}
	}
	return true
}

// eliminateSingle adds job j to the upper triangle of the Schur complement and to the
// border, and returns its part of the corner.
func (it *interior) eliminateSingle(j int) float64 {
	p := it.p
	lo, hi := p.First[j], p.First[j+1]
	n := int(hi - lo)
	d, speed := it.d[lo:hi][:n], p.Speed[lo:hi][:n]
	row, use := p.Row[lo:hi][:n], p.Use[lo:hi][:n]
	slack := it.s[j] / it.mu[j]
	d0, sum := slack, 0.0
	for c, v := range d {
		d0 += v
		sum += v * speed[c]
	}
	mean := sum / d0
	a0, a2 := it.one0[:n], it.one2[:n]
	d2 := 0.0
	if p.has[j] {
		d2 = mean*mean*slack + it.w[j]/it.nu[j]
	}
	for c, v := range d {
		off := speed[c] - mean
		w := v * use[c]
		a0[c], a2[c] = w, w*off
		d2 += v * off * off
	}
	it.d0[j], it.mean[j], it.d2[j] = d0, mean, d2
	inv0, inv2 := 1/d0, 0.0
	if p.has[j] {
		inv2 = 1 / d2
	}
	follow := p.follow(j)
	k := it.k
	for a := range n {
		c0, c2 := a0[a]*inv0, a2[a]*inv2
		r := int(row[a])
		to := it.schur[r*k : r*k+k]
		to[r] += a0[a] * use[a]
		for b := a; b < n; b++ {
			to[row[b]] -= c0*a0[b] + c2*a2[b]
		}
		it.border[r] += c2 * follow
	}
	return follow * follow * inv2
}

// targetSingle computes what direction needs of job j: the columns' e, the job's right-hand
// sides, and their part of the capacity rows'. It returns the sums for the level.
func (it *interior) targetSingle(j int) (border, flow float64) {
	p := it.p
	lo, hi := p.First[j], p.First[j+1]
	n := int(hi - lo)
	d, speed := it.d[lo:hi][:n], p.Speed[lo:hi][:n]
	row, use := p.Row[lo:hi][:n], p.Use[lo:hi][:n]
	x, z, rx, e, gain := it.x[lo:hi][:n], it.z[lo:hi][:n], it.rx[lo:hi][:n], it.e[lo:hi][:n], p.Gain[lo:hi][:n]
	worth := 1.0
	if p.Level {
		worth = 0 // of gains
	}
	mu, nu := it.mu[j], it.nu[j]
	sumE, sumAE, time, reach := 0.0, 0.0, 0.0, 0.0
	for c := range n {
		rd := z[c] - (mu + use[c]*it.lambda[row[c]] - worth*gain[c] - speed[c]*nu)
		v := rx[c]/z[c] + d[c]*rd
		e[c] = v
		sumE += v
		sumAE += speed[c] * v
		time += x[c]
		reach += speed[c] * x[c]
	}
	follow := p.follow(j)
	g0 := sumE + it.rs[j]/mu - (1 - time - it.s[j])
	it.g0[j], it.h2[j] = g0, 0
	h := 0.0
	if p.has[j] {
		it.h2[j] = sumAE - it.rw[j]/nu - (p.floor(j) + follow*it.t + it.w[j] - reach) - it.mean[j]*g0
		h = it.h2[j] / it.d2[j]
		border = follow * h
		flow = follow * nu
	}
	g := g0 / it.d0[j]
	mean := it.mean[j]
	for c := range n {
		it.q[row[c]] += use[c] * (e[c] + x[c] - d[c]*(g+(speed[c]-mean)*h))
	}
	return border, flow
}

// spreadSingle computes the steps of job j's columns, and returns those of its prices:
// mu's, and the negative of nu's.
func (it *interior) spreadSingle(j int) (dmu, dnu float64) {
	p := it.p
	lo, hi := p.First[j], p.First[j+1]
	n := int(hi - lo)
	d, speed := it.d[lo:hi][:n], p.Speed[lo:hi][:n]
	row, use := p.Row[lo:hi][:n], p.Use[lo:hi][:n]
	x, z, rx, e, dx, dz := it.x[lo:hi][:n], it.z[lo:hi][:n], it.rx[lo:hi][:n], it.e[lo:hi][:n], it.dx[lo:hi][:n], it.dz[lo:hi][:n]
	a0, a2, mean := it.g0[j], it.h2[j], it.mean[j]
	for c := range n {
		rent := use[c] * it.dlambda[row[c]]
		dz[c] = rent
		rent *= d[c]
		a0 -= rent
		a2 -= (speed[c] - mean) * rent
	}
	if p.has[j] {
		dnu = (a2 - p.follow(j)*it.dt) / it.d2[j]
	}
	dmu = a0/it.d0[j] - mean*dnu
	for c := range n {
		dx[c] = e[c] - d[c]*(dmu+dz[c]+speed[c]*dnu)
		dz[c] = (rx[c] - z[c]*dx[c]) / x[c]
	}
	return dmu, dnu
}
