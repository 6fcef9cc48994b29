package block

import "math"

// corner is the best point of one job at given prices.
type corner struct {
	value float64 // gain less rent
	slope float64 // what one unit of floor less would add
	mu    float64 // what one unit of time more would add
	short bool    // no point reaches the floor; value is at the fastest
}

// chain is the upper hull of one job's (speed, gain − rent) and the origin, from its top
// to the right.
type chain struct{ speed, earn []float64 }

// hulls builds chains at given prices.
type hulls struct {
	p      *Program
	prices []float64
	earn   []float64 // of the columns of the present job
	at     chain
}

func (p *Program) hulls(prices []float64) *hulls { return &hulls{p: p, prices: prices} }

// earnings are gain − rent of job j's columns, -Inf where a column is not usable.
func (h *hulls) earnings(j int) []float64 {
	p := h.p
	lo, hi := p.First[j], p.First[j+1]
	earn := h.earn[:0]
	if p.flat && p.open {
		row, use := p.Row[lo:hi], p.Use[lo:hi]
		for c, r := range row {
			earn = append(earn, -h.prices[r]*use[c])
		}
		if !p.Level {
			for c, g := range p.Gain[lo:hi] {
				earn[c] += g
			}
		}
		h.earn = earn
		return earn
	}
	for i := lo; i < hi; i++ {
		if !p.usable(i) {
			earn = append(earn, math.Inf(-1))
			continue
		}
		sum := 0.0
		if !p.Level {
			sum = p.Gain[i]
		}
		for k := p.Entry[i]; k < p.Entry[i+1]; k++ {
			sum -= h.prices[p.Row[k]] * p.Use[k]
		}
		earn = append(earn, sum)
	}
	h.earn = earn
	return earn
}

// to is job j's chain as far as the first point that reaches the floor. It is overwritten
// by the next.
func (h *hulls) to(j int, floor float64) chain {
	earn := h.earnings(j)
	h.at.speed, h.at.earn = h.at.speed[:0], h.at.earn[:0]
	h.at = h.at.extend(earn, h.p, j, floor)
	return h.at
}

// extend appends the chain of the job to c.
func (c chain) extend(earn []float64, p *Program, j int, floor float64) chain {
	var speed []float64
	if p.Speed != nil {
		speed = p.Speed[p.First[j]:p.First[j+1]][:len(earn)]
	}
	v, e := 0.0, 0.0
	for i, g := range earn {
		if g > e || g >= e && speed != nil && speed[i] > v {
			e = g
			v = 0
			if speed != nil {
				v = speed[i]
			}
		}
	}
	c.speed, c.earn = append(c.speed, v), append(c.earn, e)
	for v < floor {
		// The steepest way to a faster column: the largest (earn − e)/(speed − v).
		next, rise, run := -1, 0.0, 0.0
		for i, s := range speed {
			if s <= v || earn[i] == math.Inf(-1) {
				continue
			}
			up, far := earn[i]-e, s-v
			if next < 0 || up*run > rise*far || up*run == rise*far && far > run {
				next, rise, run = i, up, far
			}
		}
		if next < 0 {
			break
		}
		v, e = speed[next], earn[next]
		c.speed, c.earn = append(c.speed, v), append(c.earn, e)
	}
	return c
}

// corner is the most that a job can earn at a speed of at least floor.
func (c chain) corner(floor float64) corner {
	last := len(c.speed) - 1
	if floor <= c.speed[0] {
		return corner{value: c.earn[0], mu: c.earn[0]}
	}
	at := 1
	for at < last && c.speed[at] < floor {
		at++
	}
	if last == 0 {
		return corner{value: c.earn[0], mu: c.earn[0], short: true}
	}
	slope := (c.earn[at] - c.earn[at-1]) / (c.speed[at] - c.speed[at-1])
	if c.speed[at] < floor {
		value := c.earn[at] + slope*(floor-c.speed[at])
		return corner{value: value, slope: -slope, mu: c.earn[at] - slope*c.speed[at], short: floor-c.speed[at] > 1e-12*floor}
	}
	value := c.earn[at-1] + slope*(floor-c.speed[at-1])
	return corner{value: value, slope: -slope, mu: value - slope*floor}
}

// all are the whole chains of the jobs that follow the level, or have a floor, one after
// the other: job j's from first[j] to first[j+1]. What a job asks for at a level is then
// read off them.
func (h *hulls) all() (first []int32, list chain) {
	p := h.p
	first = make([]int32, 1, p.Jobs()+1)
	list.speed, list.earn = make([]float64, 0, 6*p.Jobs()), make([]float64, 0, 6*p.Jobs())
	for j := range p.Jobs() {
		floor := 0.0
		if p.floor(j) > 0 || p.follow(j) > 0 {
			floor = math.Inf(1)
		}
		list = list.extend(h.earnings(j), p, j, floor)
		first = append(first, int32(len(list.speed)))
	}
	return first, list
}
