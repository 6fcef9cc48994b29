package block

import "math"

// sumTol is the part of the rent of all capacity that rounding may add to what is left of it.
const sumTol = 1e-15

// tops writes into most how far the listed jobs can be lifted, alone, while all jobs keep reach:
// at capacity prices, what is left of the rent when each job pays the least for its own is all that
// one of them can add. It holds for any prices; the less is known, the higher it is.
func (p *Program) tops(prices, reach []float64, jobs []int32, most []float64) {
	q := *p
	q.Level = true // without gains
	own, rent := make([]float64, len(prices)), 0.0
	for r, v := range prices {
		own[r] = max(0, v)
		rent += own[r] * p.Capacity[r]
	}
	h := q.hulls(own)
	left := rent
	for j, v := range reach {
		left += h.to(j, v).corner(v).value
	}
	left = max(0, left) + sumTol*rent
	for _, j := range jobs {
		most[j] = min(most[j], max(reach[j], h.to(int(j), math.Inf(1)).atCost(reach[j], left)))
	}
}

// atCost is the speed that earns so much less than a speed of from does.
func (c chain) atCost(from, cost float64) float64 {
	last := len(c.speed) - 1
	earn := c.corner(from).value - cost
	if earn >= c.earn[0] {
		return c.speed[0]
	}
	for at := 1; at <= last; at++ {
		if c.earn[at] <= earn {
			run := (c.speed[at] - c.speed[at-1]) / (c.earn[at-1] - c.earn[at])
			return c.speed[at-1] + run*(c.earn[at-1]-earn)
		}
	}
	return c.speed[last]
}
