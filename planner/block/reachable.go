package block

import (
	"math"
	"slices"
)

// reachable is the first bend that the prices show to be too high, or the last: the rent of
// what all have there is more than that of all capacity.
func (f *rise) reachable(c *course) int {
	room, rent := f.room(), 0.0
	for r, v := range f.prices {
		rent += v * room[r]
	}
	first, list := f.chains(f.prices)
	only := make([]int32, f.p.Jobs())
	for j := range only {
		if only[j] = -1; !f.frozen[j] {
			only[j] = f.only(j)
		}
	}
	high := func(a *state) bool {
		if !f.fits(a, only, room) {
			return true
		}
		sum := rent
		for j, v := range a.reach {
			if f.settled[j] {
				continue
			}
			sum += chain{list.speed[first[j]:first[j+1]], list.earn[first[j]:first[j+1]]}.corner(v).value
		}
		return sum < 0
	}
	n := 1
	for n < len(c.marks) || c.extend() {
		if high(&c.marks[n]) {
			break
		}
		n++
	}
	if n == len(c.marks) {
		return c.last()
	}
	below, above := c.marks[n-1].bend, c.marks[n].bend
	for above-below > 1 {
		mid := (below + above) / 2
		if a := c.at(mid); high(&a) {
			above = mid
		} else {
			below = mid
		}
	}
	return above
}

// room is what the settled jobs leave of each row.
func (f *rise) room() []float64 {
	p := f.p
	room := slices.Clone(p.Capacity)
	for j, s := range f.settled {
		for i := p.First[j]; s && i < p.First[j+1]; i++ {
			for k := p.Entry[i]; k < p.Entry[i+1]; k++ {
				room[p.Row[k]] -= p.Use[k] * f.x[i]
			}
		}
	}
	for r, c := range p.Capacity {
		if room[r] <= emptyTol*c {
			room[r] = 0
		}
	}
	return room
}

// fits reports whether there is room for the jobs that have stopped, and use all the time of one
// column.
func (f *rise) fits(a *state, only []int32, room []float64) bool {
	p := f.p
	used := make([]float64, len(room))
	for j, i := range only {
		if i >= 0 && a.frozen[j] {
			for k := p.Entry[i]; k < p.Entry[i+1]; k++ {
				used[p.Row[k]] += p.Use[k]
			}
		}
	}
	for r, u := range used {
		if u > room[r]+levelGap*p.Capacity[r] {
			return false
		}
	}
	return true
}

// chains are the hulls of what is open to each job, at prices.
func (f *rise) chains(prices []float64) (first []int32, list chain) {
	p := *f.p
	p.Level = true // without gains
	h := p.hulls(prices)
	first = make([]int32, 1, p.Jobs()+1)
	for j := range p.Jobs() {
		earn := h.earnings(j)
		for n := range earn {
			if !f.open[int(p.First[j])+n] {
				earn[n] = math.Inf(-1)
			}
		}
		list = list.extend(earn, &p, j, math.Inf(1))
		first = append(first, int32(len(list.speed)))
	}
	return first, list
}
