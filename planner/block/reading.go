package block

import "math"

// reading is what capacity prices say of each job at a level: the best point of its own, how
// clearly it is that, and what all of them together prove.
type reading struct {
	worth
	level  float64
	bound  float64 // no point does better; +Inf: at this level the prices do not say
	choice []choice
	clear  []float64 // by how much the next column misses, as a part of what the job is worth
	tied   int       // jobs with less than tieTol of that
}

// choice is the best point of one job: x of column i and the rest of what it takes of k.
type choice struct {
	i, k   int32 // -1: none
	xi, xk float64
}

// read finds each job's best point at the prices and the level, or its floor. At a level, the
// sum of values lies under its tangent there, whose root is the bound.
func (p *Program) read(prices []float64, level float64) *reading {
	m := p.Jobs()
	r := &reading{worth: worth{make([]float64, m), make([]float64, m), 1, prices}, level: level, choice: make([]choice, m), clear: make([]float64, m)}
	rent := 0.0
	for k, price := range prices {
		rent += price * p.Capacity[k]
	}
	mean := rent / float64(m) // of what jobs pay: what one of them decides counts little far below that
	total, slope, short := rent, 0.0, false
	h := p.hulls(prices)
	for j := range m {
		follow := p.follow(j)
		need := p.floor(j) + follow*level
		earn := h.earnings(j)
		var c corner
		r.choice[j], c = p.best(earn, j, need)
		r.nu[j], r.mu[j] = c.slope, c.mu
		total += c.value
		slope += follow * c.slope
		short = short || c.short
		least := p.least(earn, j, r.choice[j], c)
		r.clear[j] = max(0, least) / max(math.Abs(c.mu), c.slope*need, mean, 1e-300)
		if r.clear[j] < tieTol {
			r.tied++
		}
	}
	switch {
	case short:
		r.bound = math.Inf(1)
	case !p.Level:
		r.bound = total
	case slope <= 0:
		r.bound = math.Inf(1)
	default:
		r.bound = level + total/slope
		r.scale = 1 / slope // prices are worth the level only up to scale
		for j := range m {
			r.nu[j] /= slope
			r.mu[j] /= slope
		}
	}
	return r
}

// best is the corner of job j's hull at a speed of at least need: of two neighbours on it.
func (p *Program) best(earn []float64, j int, need float64) (choice, corner) {
	lo := p.First[j]
	c := choice{i: -1, k: -1}
	var speed []float64
	if p.Speed != nil {
		speed = p.Speed[lo:p.First[j+1]][:len(earn)]
	}
	v, e := 0.0, 0.0
	for n, g := range earn {
		if g > e {
			e, c.i, v = g, lo+int32(n), 0
			if speed != nil {
				v = speed[n]
			}
		} else if g == e && speed != nil && speed[n] > v {
			v, c.i = speed[n], lo+int32(n)
		}
	}
	if c.i >= 0 {
		c.xi = 1
	}
	if v >= need {
		return c, corner{value: e, mu: e}
	}
	for {
		// The steepest way to a faster column.
		next, rise, run := -1, 0.0, 0.0
		for n, u := range speed {
			if u <= v || math.IsInf(earn[n], -1) {
				continue
			}
			if up, far := earn[n]-e, u-v; next < 0 || up*run > rise*far || up*run == rise*far && far > run {
				next, rise, run = n, up, far
			}
		}
		if next < 0 {
			c.k = -1
			return c, corner{value: e, mu: e, short: need-v > 1e-12*need}
		}
		c.k, c.i, c.xi = c.i, lo+int32(next), 1
		if u := v + run; u < need {
			v, e = u, e+rise
			continue
		}
		c.xi = (need - v) / run
		if c.xk = 1 - c.xi; c.xk == 0 {
			c.k = -1
		}
		slope := rise / run
		value := e + slope*(need-v)
		return c, corner{value: value, slope: -slope, mu: value - slope*need}
	}
}

// least is by how much the best column that job j's choice leaves out misses.
func (p *Program) least(earn []float64, j int, c choice, w corner) float64 {
	lo := p.First[j]
	most := math.Inf(-1)
	var speed []float64
	if p.Speed != nil {
		speed = p.Speed[lo:p.First[j+1]][:len(earn)]
	}
	for n, e := range earn {
		if speed != nil {
			e += speed[n] * w.slope
		}
		if i := lo + int32(n); e > most && i != c.i && i != c.k {
			most = e
		}
	}
	return w.mu - most
}

// lift moves the choices to another level, as far as the same neighbours on the hull lead.
func (r *reading) lift(p *Program, level float64) {
	if !p.Level || level == r.level {
		return
	}
	var h *hulls
	for j := range r.choice {
		n := p.follow(j)
		c := &r.choice[j]
		if n == 0 {
			continue
		}
		need := p.floor(j) + n*level
		v, u := 0.0, 0.0
		if c.k >= 0 {
			v = p.speed(c.k)
		}
		if c.i >= 0 {
			u = p.speed(c.i)
		}
		if c.xi < 1 && need > v && need < u {
			c.xi = (need - v) / (u - v)
			c.xk = 1 - c.xi
			continue
		}
		if h == nil {
			h = p.hulls(r.prices)
		}
		*c, _ = p.best(h.earnings(j), j, need)
	}
	r.level = level
}
