package whole

import (
	"math"
)

// proof is what prices of the capacity rows, of their rounded forms and of cuts say by
// themselves: any that are not negative bound every choice by their rent and by what
// each job earns at most beyond it. Whatever rounding did to the pivots that led to the
// prices, this is a bound.
type proof struct {
	bound float64
	worth []float64 // per job of the tree, the most it earns
	earn  []float64 // column → what it is worth beyond its rent
}

// prove reads the prices of the program as it stands.
func (t *tree) prove() proof {
	jobs := len(t.jobs)
	q := proof{worth: make([]float64, jobs), earn: make([]float64, t.lp.Columns())}
	price := make([]float64, len(t.lp.Bound))
	for r := jobs; r < len(price); r++ {
		price[r] = max(0, t.s.Price(r))
		q.bound += price[r] * t.lp.Bound[r] * t.scale
	}
	for n := range q.worth {
		if t.s.Held(n) { // must be served
			q.worth[n] = math.Inf(-1)
		}
	}
	for c, n := range t.owner {
		rent := 0.0
		for k := t.lp.Begin[c]; k < t.lp.Begin[c+1]; k++ {
			rent += price[t.lp.Row[k]] * t.lp.Value[k]
		}
		q.earn[c] = (t.lp.Cost[c] - rent) * t.scale
		if !t.s.Fixed(c) {
			q.worth[n] = max(q.worth[n], q.earn[c])
		}
	}
	for _, w := range q.worth {
		q.bound += w
	}
	return q
}
