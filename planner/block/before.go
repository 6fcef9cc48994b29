package block

import "slices"

// before is the program of the levels up to bend hi from the one before, at which the jobs that
// stop by then have stopped. Its columns are those listed, and its level counts from shift.
func (f *rise) before(c *course, hi int) (q *Program, column []int32, shift float64) {
	p := f.p
	a := c.at(hi - 1)
	floor, follow := slices.Clone(a.reach), make([]float64, p.Jobs())
	room, fixed := f.room(), make([]bool, p.Jobs())
	for j := range floor {
		switch {
		case f.settled[j]:
			fixed[j] = true
		case f.frozen[j]:
			floor[j] *= 1 - riseGive
		case a.frozen[j]:
			if i := f.only(j); i >= 0 {
				fixed[j] = true
				for k := p.Entry[i]; k < p.Entry[i+1]; k++ {
					room[p.Row[k]] -= p.Use[k]
				}
			}
			floor[j] *= 1 - riseGive
		default:
			follow[j] = a.rates[j]
			if floor[j] -= a.rates[j] * c.bends[hi-1]; floor[j] < 0 {
				shift = max(shift, -floor[j]/a.rates[j])
			}
		}
	}
	for r, c := range p.Capacity {
		if room[r] <= emptyTol*c {
			room[r] = 0
		}
	}
	q = New(room)
	q.Level = true
	for j := range floor {
		if !fixed[j] {
			column = append(column, f.write(q, j)...)
			q.Job(max(0, floor[j]+follow[j]*shift), follow[j])
		}
	}
	q.look()
	return q, column, shift
}

// write writes the columns open to job j into q, and lists them.
func (f *rise) write(q *Program, j int) (column []int32) {
	p := f.p
	for i := p.First[j]; i < p.First[j+1]; i++ {
		if f.open[i] {
			q.Column(p.Gain[i], p.Speed[i], p.Row[p.Entry[i]:p.Entry[i+1]], p.Use[p.Entry[i]:p.Entry[i+1]])
			column = append(column, i)
		}
	}
	return column
}

// part is the part of what they have at a bend that all jobs can have, and sets the prices that
// show it.
func (f *rise) part(c *course, bend int) float64 {
	q := New(f.room())
	q.Level = true
	a := c.at(bend)
	for j, v := range a.reach {
		if v > 0 && !f.settled[j] {
			f.write(q, j)
			q.Job(0, v)
		}
	}
	if q.Jobs() == 0 {
		return 1
	}
	q.look()
	s := q.solve(Options{Gap: roughGap, Prices: f.prices})
	if s.Bound < 1 {
		f.prices = f.outpriced(s.Prices, q)
	}
	return s.Bound
}
