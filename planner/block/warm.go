package block

import "math"

// Settings of a start from the last round.
const (
	warmPerRow = 15   // undecided jobs per capacity row that are decided anew
	keepPerRow = 2    // the same where all others keep their shares
	warmFar    = 0.05 // by how much a bound may exceed the last level for the prices to count
)

// warm begins with the last round's prices: settled from them, or where a job alone caps the
// level, so that prices decide nothing, from the last round's point. It reports whether that
// is close enough; otherwise s is as it was.
func (p *Program) warm(s *Solution, o Options) bool {
	if len(o.Prices) != len(p.Capacity) || 2*warmPerRow*max(1, len(p.Capacity)) > p.Jobs() {
		return false
	}
	level := 0.0
	if p.Level {
		if level = o.Level; level <= 0 {
			c, _ := p.certify(o.Prices, 0)
			level = c.Bound
		}
	}
	r := p.read(o.Prices, level)
	alone := p.Level && r.bound > level*(1+warmFar)
	if alone {
		r.bound = min(r.bound, p.alone())
	}
	if math.IsInf(r.bound, 0) {
		return false
	}
	t := *s
	t.Bound, t.Prices, t.Worth, t.Gap = r.bound, o.Prices, r.nu, math.Inf(1)
	if alone {
		t.Warm = p.keep(&t, o, r)
	} else {
		t.Warm = p.settleFrom(&t, o, r, warmPerRow)
	}
	if t.Warm {
		*s = t
	}
	return t.Warm
}

// keep leaves the jobs their shares of the last round, scaled together at a level, but for
// those that changed and those that their own choice at the prices leaves nearly undecided.
func (p *Program) keep(s *Solution, o Options, r *reading) bool {
	if len(o.Point) != p.Columns() || len(o.Fresh) != p.Jobs() {
		return false
	}
	n := keepPerRow * max(1, len(p.Capacity))
	for j, f := range o.Fresh {
		if f {
			r.clear[j] = -1
			n++
		}
	}
	if 2*n > p.Jobs() {
		return false
	}
	jobs := least(r.clear, n)
	free := make([]bool, p.Jobs())
	for _, j := range jobs {
		free[j] = true
	}
	used, x := make([]float64, len(p.Capacity)), make([]float64, p.Columns())
	rest := math.Inf(1)
	for j := range p.Jobs() {
		if free[j] {
			continue
		}
		reach := 0.0
		for n, v := range o.Point[p.First[j]:p.First[j+1]] {
			if v == 0 {
				continue
			}
			i := p.First[j] + int32(n)
			x[i] = v
			reach += p.speed(i) * v
			for k := p.Entry[i]; k < p.Entry[i+1]; k++ {
				used[p.Row[k]] += p.Use[k] * v
			}
		}
		if n := p.follow(j); n > 0 {
			rest = min(rest, (reach-p.floor(j))/n)
		} else if reach < p.floor(j)*(1-1e-9) {
			return false
		}
	}
	return p.complete(s, o, r, jobs, x, used, rest) != nil && s.Gap <= o.gap()
}
