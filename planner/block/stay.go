package block

import "math"

// Settings of the end of a level.
const (
	closedTol = 1e-6  // share of all rent from which a row is used up
	stayTol   = 1e-8  // part of what a job can have that it may lack when it stays
	emptyTol  = 1e-12 // part of a row that counts as nothing
	choiceTol = 1e-4  // of a job's worth, by which the columns that it keeps may miss
	riseGive  = 1e-10 // part of what a job has that it gives where its shares are not settled
)

// stay ends a level before bend hi, where the program of the last levels has its best: the rows
// that its prices show to be used up are closed, and the jobs that can have no more without them
// stay. It reports whether some job does, or stops.
func (f *rise) stay(c *course, hi int, q *Program, s *Solution, shift float64) bool {
	p := f.p
	a := c.at(hi - 1)
	t := min(max(s.Level+shift, c.bends[hi-1]), c.bends[hi])
	end := s.Level+shift >= c.bends[hi]*(1-stopTol)
	if end {
		t = c.bends[hi]
	}
	reach, highest := c.after(&a, t), c.after(&a, t+f.excess(q, s, min(s.Bound+shift, c.bends[hi])-t))
	if end {
		a = c.at(hi)
	}
	f.from = t
	closed, rent := make([]bool, len(p.Capacity)), 0.0
	done := end && hi == c.last() && c.ended
	if !done {
		f.prices = s.Prices
		for r, v := range s.Prices {
			rent += v * p.Capacity[r]
		}
		for r, v := range s.Prices {
			closed[r] = v*p.Capacity[r] > closedTol*rent
		}
	}
	f.shut(&a, q.Capacity)
	first, list := f.chains(s.Prices)
	stops := false
	for j, v := range reach {
		if f.settled[j] {
			continue
		}
		f.base[j] = v
		if !f.frozen[j] {
			f.out.Most[j] = min(highest[j], p.fastest(j))
		}
		if i := f.only(j); a.frozen[j] && !f.frozen[j] && i >= 0 { // it needs all the time of one column
			f.settle(j, i)
		}
		if a.frozen[j] && !f.frozen[j] {
			f.frozen[j], stops = true, true
		}
		free := f.fastest(j, closed)
		if f.settled[j] || done {
			continue
		}
		if v >= free*(1-stayTol) {
			stops = stops || !f.frozen[j]
			f.frozen[j] = true
			f.settled[j] = f.narrow(j, s.Prices, chain{list.speed[first[j]:first[j+1]], list.earn[first[j]:first[j+1]]}.corner(v))
			continue
		}
		f.most[j] = free
		for i := p.First[j]; i < p.First[j+1]; i++ {
			f.open[i] = f.open[i] && !f.touches(i, closed)
		}
	}
	return stops || done
}

// excess is how much higher a level might be than it is, at most: what is known of its own program,
// and what the jobs that had stopped gave, which counts at the prices.
func (f *rise) excess(q *Program, s *Solution, known float64) float64 {
	excess := max(0, known)
	for n, worth := range s.Worth {
		if q.follow(n) == 0 {
			excess += worth * q.floor(n) * riseGive
		}
	}
	return excess
}

// shut closes rows that those who use one column all the time have used up to all others.
func (f *rise) shut(a *state, room []float64) {
	empty, some := make([]bool, len(room)), false
	for r, v := range room {
		empty[r] = v == 0 && f.p.Capacity[r] > 0
		some = some || empty[r]
	}
	for j := range f.settled {
		if !some || f.settled[j] || a.frozen[j] && !f.frozen[j] && f.only(j) >= 0 {
			continue
		}
		for i := f.p.First[j]; i < f.p.First[j+1]; i++ {
			f.open[i] = f.open[i] && !f.touches(i, empty)
		}
	}
}

// only is the fastest column of job j, if just one is; -1: there are several.
func (f *rise) only(j int) int32 {
	best := int32(-1)
	for i := f.p.First[j]; i < f.p.First[j+1]; i++ {
		if f.open[i] && f.p.Speed[i] >= f.most[j]*(1-stayTol) {
			if best >= 0 {
				return -1
			}
			best = i
		}
	}
	return best
}

// settle gives job j all its time on one column.
func (f *rise) settle(j int, i int32) {
	clear(f.x[f.p.First[j]:f.p.First[j+1]])
	f.x[i], f.settled[j] = 1, true
}

// narrow leaves job j the columns that are best for what it has at the prices, or nearly so, and
// reports whether these leave it no choice: it then has just the shares that it needs.
func (f *rise) narrow(j int, prices []float64, at corner) bool {
	p := f.p
	worth := max(math.Abs(at.mu), at.slope*f.base[j])
	kept, slow, fast := 0, int32(-1), int32(-1)
	for i := p.First[j]; i < p.First[j+1]; i++ {
		if !f.open[i] {
			continue
		}
		d := p.Speed[i]*at.slope - at.mu
		for k := p.Entry[i]; k < p.Entry[i+1]; k++ {
			d -= prices[p.Row[k]] * p.Use[k]
		}
		if d < -choiceTol*worth {
			f.open[i] = false
			continue
		}
		kept++
		if slow < 0 || p.Speed[i] < p.Speed[slow] {
			slow = i
		}
		if fast < 0 || p.Speed[i] > p.Speed[fast] {
			fast = i
		}
	}
	if kept < 1 || kept > 2 {
		return false
	}
	low, high, need := p.Speed[slow], p.Speed[fast], f.base[j]
	if kept == 2 && (at.mu <= choiceTol*worth || high-low <= choiceTol*high || need < low) {
		return false
	}
	clear(f.x[p.First[j]:p.First[j+1]])
	if kept == 1 {
		f.x[fast] = min(1, need/high)
		return true
	}
	f.x[fast] = min(1, (need-low)/(high-low))
	f.x[slow] = 1 - f.x[fast]
	return true
}
