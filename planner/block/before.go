package block

import "slices"

// before is the program of the levels up to bend hi from the one before, at which the jobs that
// stop by then have stopped. Its columns are those listed, and its level counts from shift.
func (f *rise) before(c *course, hi int) (q *Program, column []int32, shift float64) {
	p := f.p
	a := c.at(hi - 1)
	floor, follow := slices.Clone(a.reach), make([]float64, p.Jobs())
	used, fixed := make([]float64, len(p.Capacity)), make([]bool, p.Jobs())
	use := func(i int32, x float64) {
		for k := p.Entry[i]; k < p.Entry[i+1]; k++ {
			used[p.Row[k]] += p.Use[k] * x
		}
	}
	for j := range floor {
		switch {
		case f.settled[j]:
			fixed[j] = true
			for i := p.First[j]; i < p.First[j+1]; i++ {
				use(i, f.x[i])
			}
		case f.frozen[j]:
			floor[j] *= 1 - riseGive
		case a.frozen[j]:
			if i := f.only(j); i >= 0 {
				fixed[j] = true
				use(i, 1)
			}
			floor[j] *= 1 - riseGive
		default:
			follow[j] = a.rates[j]
			if floor[j] -= a.rates[j] * c.bends[hi-1]; floor[j] < 0 {
				shift = max(shift, -floor[j]/a.rates[j])
			}
		}
	}
	q = New(slices.Clone(p.Capacity))
	q.Level = true
	for r, u := range used {
		if q.Capacity[r] -= u; q.Capacity[r] <= emptyTol*p.Capacity[r] {
			q.Capacity[r] = 0
		}
	}
	for j := range floor {
		if !fixed[j] {
			column = append(column, f.write(q, j)...)
			q.Job(max(0, floor[j]+follow[j]*shift), follow[j])
		}
	}
	q.open = len(q.Capacity) == 0 || slices.Min(q.Capacity) > 0
	q.flat = q.isFlat()
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
	q := New(f.p.Capacity)
	q.Level = true
	a := c.at(bend)
	for j, v := range a.reach {
		if v > 0 {
			f.write(q, j)
			q.Job(0, v)
		}
	}
	if q.Jobs() == 0 {
		return 1
	}
	q.open = len(q.Capacity) == 0 || slices.Min(q.Capacity) > 0
	q.flat = q.isFlat()
	s := q.solve(Options{Gap: roughGap, Iterations: f.o.Iterations, Prices: f.prices})
	f.out.Iterations += s.Iterations
	if s.Bound < 1 {
		f.prices = s.Prices
	}
	return s.Bound
}
