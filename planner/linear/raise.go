package linear

import "math/big"

// Raising is a small program in wide numbers in which rows are raised together, level after
// level: each level takes from the bounds of its rows, at a rate for each, as much as can be, and
// what it took is gone from the levels above it. Rows that held a level down can give nothing
// more, whatever is raised after it.
type Raising struct {
	p      *Program
	t      *tableau
	slot   int          // of the loose level, variable n+m
	bound  []*big.Float // by row, what is left of it
	pivots int          // that may still be made
}

// NewRaising starts from the point at 0, which must keep all bounds of p, with so many pivots.
// Costs of p are not used.
func NewRaising(p *Program, pivots int) *Raising {
	r := &Raising{p: p, t: newTableau(p, nil), slot: p.Columns(), pivots: pivots}
	for _, b := range p.Bound {
		r.bound = append(r.bound, wide(b))
	}
	return r
}

// Level finds the largest level that takes rates[i] times itself from the bound of each row i
// (nil: nothing), and reports which rows hold it down. status is Optimal if its prices prove it.
func (r *Raising) Level(rates []*big.Float) (level *big.Float, held []bool, status Status) {
	t := r.t
	for j := range t.cost {
		t.cost[j].SetFloat64(0)
	}
	t.cost[r.slot].SetFloat64(1)
	r.enter(rates)
	if status = t.climb(t.cost, nil, &r.pivots); status != Optimal {
		return nil, nil, status
	}
	level, held = wide(0), make([]bool, t.m)
	price := t.widePrices(t.cost)
	for i, v := range rates {
		held[i] = v != nil && t.spare.Mul(price[i], v).Cmp(wideTol) > 0
	}
	at := -1
	for i, v := range t.basic {
		if v == t.n+t.m {
			at = i
			if c := t.entry[i][t.n+1]; c.Cmp(wideTol) > 0 {
				level.Set(c)
			}
		}
	}
	if !r.proved(level, rates, price) {
		return nil, nil, Stuck
	}
	term := wide(0)
	for i, v := range rates {
		if v != nil {
			r.bound[i].Sub(r.bound[i], term.Mul(v, level))
		}
	}
	if at >= 0 {
		t.entry[at][t.n+1].SetFloat64(0)
		r.leave(at)
	}
	return level, held, Optimal
}

// enter writes the column of the level, in terms of what is basic: the slacks' columns are there.
func (r *Raising) enter(rates []*big.Float) {
	t := r.t
	for i := range t.entry {
		t.entry[i][r.slot].SetFloat64(0)
	}
	term := wide(0)
	for i, v := range t.basic {
		if v >= t.n && v < t.n+t.m && rates[v-t.n] != nil {
			t.entry[i][r.slot].Add(t.entry[i][r.slot], rates[v-t.n])
		}
	}
	for j, v := range t.loose {
		if j == r.slot || v < t.n || rates[v-t.n] == nil {
			continue
		}
		for i, row := range t.entry {
			t.entry[i][r.slot].Add(t.entry[i][r.slot], term.Mul(rates[v-t.n], row[j]))
		}
	}
}

// leave makes the level, which is basic in a row at 0, loose: the largest entry takes its place.
func (r *Raising) leave(row int) {
	t := r.t
	best, most := -1, wide(0)
	for j, v := range t.entry[row][:t.n+1] {
		if t.spare.Abs(v).Cmp(most) > 0 {
			best = j
			most.Abs(v)
		}
	}
	t.pivot(row, best)
	r.slot = best
}

// proved reports whether prices show that no level is higher: they pay for every column, and for
// the level's rates, and are worth no more than it.
func (r *Raising) proved(level *big.Float, rates, price []*big.Float) bool {
	term, left, worth := wide(0), wide(1), wide(0)
	for i, v := range rates {
		if v != nil {
			left.Sub(left, term.Mul(price[i], v))
		}
		worth.Add(worth, term.Mul(price[i], r.bound[i]))
	}
	if left.Cmp(wideTol) > 0 {
		return false
	}
	for j := range r.p.Columns() {
		left.SetFloat64(0)
		rows, values := r.p.column(j)
		for k, i := range rows {
			left.Sub(left, term.Mul(price[i], wide(values[k])))
		}
		if left.Cmp(wideTol) > 0 {
			return false
		}
	}
	slack := wide(0).Mul(worth, wide(raiseTol))
	if slack.Cmp(wideTol) < 0 {
		slack.Set(wideTol)
	}
	return worth.Sub(worth, level).Cmp(slack) <= 0
}

// raiseTol is the part of a level that rounding may leave unproved: far below what double
// precision tells of it.
const raiseTol = 1e-30

// Point is the value of each column after the last level.
func (r *Raising) Point() []float64 { return r.t.values() }
