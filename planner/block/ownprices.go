package block

import "math"

// Settings of a job's own prices.
const (
	ownSteps = 200  // of Newton's method on a job's two prices; three are usual
	ownTol   = 1e-4 // decrement at which the next step leaves nothing
	ownRound = 1e-2 // decrement from which rounding rules if it does not halve any more
	ownFar   = 0.25 // decrement beyond which a step is damped
	ownTurn  = 10   // times that another column must bind more to be the one that others are held against
)

// settleJob minimises m − need·n − mu·(Σ log z + log m + log n) over job j's prices m of time
// and n of speed, and sets both, and the job's slacks and shares. It returns the value.
func (f *path) settleJob(j int, mu float64) (value float64, ok bool) {
	if value, ok = f.settleJobFrom(j, mu); !ok { // from where it was that is too far
		f.nu[j] = 0
		value, ok = f.settleJobFrom(j, mu)
	}
	return value, ok
}

// settleJobFrom takes damped steps of Newton's method, which this self-concordant function (over
// mu) always takes to its minimum. Instead of m it has what m exceeds n times the speed of a
// column by, of that which binds most: z of another is then that, its rent and n times what the
// column is slower by, and nothing cancels where a job needs nearly all its time on one column.
func (f *path) settleJobFrom(j int, mu float64) (value float64, ok bool) {
	p := f.p
	lo, hi := p.First[j], p.First[j+1]
	earn, short, z := f.earn[lo:hi], f.short[lo:hi], f.z[lo:hi]
	has := p.has[j]
	spare := f.least[j] // of the fastest column, beyond what is needed
	if rate := p.follow(j); rate > 0 {
		spare += rate * f.below
	}
	n, own, ref := 0.0, f.own[j], f.ref[j]
	cold := has && !(f.nu[j] > 0)
	switch {
	case cold:
		n = mu * float64(len(z)) / max(spare, 1e-3)
	case has:
		n = f.nu[j]
	}
	best := 0
	for c, e := range earn {
		if e-n*short[c] > earn[best]-n*short[best] {
			best = c
		}
	}
	if len(earn) == 0 {
		return f.settleIdle(j, mu), true
	}
	if least := earn[ref] + mu; cold {
		ref, own = best, earn[best]+mu*float64(len(z)+1)
	} else if best != ref {
		own += n * (short[best] - short[ref])
		ref = best
		own = max(own, earn[ref]+mu)
	} else {
		own = max(own, least) // no share is more than all time
	}
	own = max(own, mu-n*(f.fast[j]-short[ref]))
	last := math.Inf(1)
	for range ownSteps {
		base := short[ref]
		speed := f.fast[j] - base
		m := own + n*speed
		share := mu / m
		h := share / m
		g1, g2, h11, h12, h22 := 1-share, 0.0, h, 0.0, 0.0
		if has {
			g2 = spare - base - mu/n - share*speed
			h12, h22 = h*speed, h*speed*speed+mu/(n*n)
		}
		bind, most := ref, 0.0
		for c, e := range earn {
			s := short[c] - base
			v := 1 / (own - e + n*s)
			x := mu * v
			h := x * v
			if h > most {
				bind, most = c, h
			}
			g1 -= x
			g2 -= s * x
			h11 += h
			h12 += h * s
			h22 += h * s * s
		}
		var dm, dn float64
		if has {
			bend := h22 - h12*h12/h11
			f.rise[j] = 1 / bend
			dn = (g1*h12/h11 - g2) / bend
		} else {
			g2 = 0
		}
		dm = -(g1 + h12*dn) / h11
		decrement := math.Sqrt(max(0, -(g1*dm+g2*dn)) / mu)
		step := 1.0
		if decrement > ownFar {
			step = 1 / (1 + decrement)
		}
		own += step * dm
		if has {
			n += step * dn
		}
		if !(decrement >= ownTol && (decrement >= ownRound || decrement < 0.5*last)) { // or is no number
			ok = !math.IsNaN(decrement) && n >= 0
			break
		}
		last = decrement
		if z := own - earn[ref]; most > ownTurn*mu/(z*z) {
			own += n * (short[bind] - short[ref])
			ref = bind
		}
	}
	base := short[ref]
	m := own + n*(f.fast[j]-base)
	f.own[j], f.ref[j], f.nu[j], f.mu[j] = own, ref, n, m
	f.s[j], f.w[j] = mu/m, 1
	value, logs := own+n*(spare-base), m
	if has {
		f.w[j] = mu / n
		logs *= n
	} else {
		value = m
	}
	for c, e := range earn {
		z[c] = own - e + n*(short[c]-base)
		f.x[lo+int32(c)] = mu / z[c]
		logs *= z[c]
		if logs < 1e-200 {
			value -= mu * math.Log(logs)
			logs = 1
		}
	}
	return value - mu*math.Log(logs), ok
}

// settleIdle sets the prices of a job without columns.
func (f *path) settleIdle(j int, mu float64) float64 {
	f.mu[j], f.s[j], f.w[j] = mu, 1, 1
	if f.p.has[j] {
		f.nu[j], f.w[j] = mu, 1
	}
	return mu - mu*math.Log(mu)
}
