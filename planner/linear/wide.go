package linear

import (
	"math"
	"math/big"
)

// wideBits is the precision of Wide: entries may be a hundred orders of magnitude apart.
const wideBits = 512

// wideTol is what rounding at that precision leaves of a zero, of numbers that double precision
// holds.
var wideTol = new(big.Float).SetMantExp(big.NewFloat(1), -360)

// Point is where Wide ended.
type Point struct {
	Status Status    // Optimal, Infeasible, Unbounded or Limit
	X      []float64 // by column
	Bound  float64   // no point is worth more, by the prices before they are rounded; +Inf: they prove none
	Price  []float64 // by row: what one more unit of its bound is worth; Infeasible: weights of the rows that no point can satisfy together
}

// Wide solves a small program without equalities by the simplex method in 512 bits, where entries
// lie so far apart that the tolerances of double precision hide some of them. Of the best points it
// takes one of most second·x (nil: any). A pivot touches each row and column: it is for
// dozens of rows. Ties go to the first by number (Bland), so that it does not cycle.
func Wide(p *Program, second []float64, pivots int) Point {
	t := newTableau(p, second)
	if status := t.feasible(&pivots); status != Optimal {
		return Point{Status: status, X: make([]float64, p.Columns()), Price: t.prices(t.first)}
	}
	status := t.climb(t.cost, nil, &pivots)
	if status == Optimal && second != nil {
		status = t.climb(t.second, t.cost, &pivots)
	}
	return Point{Status: status, X: t.values(), Bound: t.bound(p), Price: t.prices(t.cost)}
}

// tableau is a program solved for its basic variables: columns 0 to n-1, the slack of row r as n+r,
// and the artificial variable n+m, which all rows have while some bound is missed. Row i
// says: basic[i] = entry[i][k] − Σ_j entry[i][j]·loose[j], k the last.
type tableau struct {
	n, m   int
	basic  []int
	loose  []int
	entry  [][]*big.Float
	cost   []*big.Float // of what is loose
	second []*big.Float
	first  []*big.Float // of making the artificial variable 0
	spare  big.Float
}

func wide(v float64) *big.Float { return new(big.Float).SetPrec(wideBits).SetFloat64(v) }

func newTableau(p *Program, second []float64) *tableau {
	n, m := p.Columns(), len(p.Bound)
	t := &tableau{n: n, m: m, basic: make([]int, m), loose: make([]int, n+1), entry: make([][]*big.Float, m)}
	t.spare.SetPrec(wideBits)
	zeros := func() []*big.Float {
		row := make([]*big.Float, n+2)
		for j := range row {
			row[j] = wide(0)
		}
		return row
	}
	t.cost, t.second, t.first = zeros(), zeros(), zeros()
	for i := range t.entry {
		t.basic[i], t.entry[i] = n+i, zeros()
		t.entry[i][n].SetFloat64(-1)
		t.entry[i][n+1].SetFloat64(p.Bound[i])
	}
	t.loose[n] = n + m
	t.first[n].SetFloat64(-1)
	for j := range n {
		t.loose[j] = j
		t.cost[j].SetFloat64(p.Cost[j])
		if second != nil {
			t.second[j].SetFloat64(second[j])
		}
		rows, values := p.column(j)
		for k, r := range rows {
			t.entry[r][j].SetFloat64(values[k])
		}
	}
	return t
}

// feasible finds a first basis: the artificial variable takes the place of the row that misses its
// bound most, and is then brought to 0.
func (t *tableau) feasible(pivots *int) Status {
	worst := -1
	for i := range t.entry {
		if b := t.entry[i][t.n+1]; b.Sign() < 0 && (worst < 0 || b.Cmp(t.entry[worst][t.n+1]) < 0) {
			worst = i
		}
	}
	if worst >= 0 {
		t.pivot(worst, t.n)
		if status := t.climb(t.first, nil, pivots); status != Optimal {
			return status
		}
		for i, v := range t.basic {
			if v != t.n+t.m {
				continue
			}
			if t.entry[i][t.n+1].Cmp(wideTol) > 0 {
				return Infeasible
			}
			for j := range t.loose { // it is 0: any other can take its place
				if t.large(t.entry[i][j]) {
					t.pivot(i, j)
					break
				}
			}
		}
	}
	for j, v := range t.loose {
		if v == t.n+t.m { // no more of it
			for i := range t.entry {
				t.entry[i][j].SetFloat64(0)
			}
			t.cost[j].SetFloat64(0)
			t.second[j].SetFloat64(0)
		}
	}
	return Optimal
}

// large reports whether v is not the rounding of a zero.
func (t *tableau) large(v *big.Float) bool { return t.spare.Abs(v).Cmp(wideTol) > 0 }

// climb pivots until nothing loose adds to an objective without taking from the one before it.
func (t *tableau) climb(objective, before []*big.Float, pivots *int) Status {
	for {
		enter := -1
		for j, v := range t.loose {
			if objective[j].Cmp(wideTol) > 0 && (before == nil || !t.large(before[j])) && (enter < 0 || v < t.loose[enter]) {
				enter = j
			}
		}
		if enter < 0 {
			return Optimal
		}
		leave := t.leaves(enter)
		if leave < 0 {
			return Unbounded
		}
		if *pivots--; *pivots < 0 {
			return Limit
		}
		t.pivot(leave, enter)
	}
}

// leaves is the row whose basic variable is 0 first as the loose one at j grows; -1 if none is.
func (t *tableau) leaves(j int) int {
	best := -1
	least, at := wide(0), wide(0)
	for i, row := range t.entry {
		if row[j].Cmp(wideTol) <= 0 {
			continue
		}
		at.Quo(row[t.n+1], row[j])
		if c := at.Cmp(least); best < 0 || c < 0 || c == 0 && t.basic[i] < t.basic[best] {
			best = i
			least.Set(at)
		}
	}
	return best
}

// pivot exchanges the basic variable of row r with the loose one at s.
func (t *tableau) pivot(r, s int) {
	row := t.entry[r]
	inverse := wide(1)
	inverse.Quo(inverse, row[s])
	row[s].SetFloat64(1)
	for _, v := range row {
		v.Mul(v, inverse)
	}
	for i, other := range t.entry {
		if i != r {
			t.eliminate(other, row, s)
		}
	}
	t.eliminate(t.cost, row, s)
	t.eliminate(t.second, row, s)
	t.eliminate(t.first, row, s)
	t.basic[r], t.loose[s] = t.loose[s], t.basic[r]
}

// eliminate takes from a row as much of the pivot's as it has of the one at s.
func (t *tableau) eliminate(other, row []*big.Float, s int) {
	if other[s].Sign() == 0 {
		return
	}
	factor := wide(0).Set(other[s])
	other[s].SetFloat64(0)
	for j, v := range row {
		if v.Sign() != 0 {
			other[j].Sub(other[j], t.spare.Mul(factor, v))
		}
	}
}

func (t *tableau) values() []float64 {
	x := make([]float64, t.n)
	for i, v := range t.basic {
		if value := t.entry[i][t.n+1]; v < t.n && value.Cmp(wideTol) > 0 {
			x[v], _ = value.Float64()
		}
	}
	return x
}

// widePrices are those of the rows at an objective: what their slacks do not add.
func (t *tableau) widePrices(objective []*big.Float) []*big.Float {
	y := make([]*big.Float, t.m)
	for i := range y {
		y[i] = wide(0)
	}
	for j, v := range t.loose {
		if v >= t.n && v < t.n+t.m && objective[j].Sign() < 0 {
			y[v-t.n].Neg(objective[j])
		}
	}
	return y
}

func (t *tableau) prices(objective []*big.Float) []float64 {
	y := make([]float64, t.m)
	for i, v := range t.widePrices(objective) {
		y[i], _ = v.Float64()
	}
	return y
}

// bound is what the rows are worth at the prices, which pay for every column as the program
// states it.
func (t *tableau) bound(p *Program) float64 {
	y := t.widePrices(t.cost)
	term := wide(0)
	for j, c := range p.Cost {
		left := wide(c)
		rows, values := p.column(j)
		for k, r := range rows {
			left.Sub(left, term.Mul(y[r], wide(values[k])))
		}
		if left.Cmp(wideTol) > 0 {
			return math.Inf(1)
		}
	}
	sum := wide(0)
	for i, b := range p.Bound {
		sum.Add(sum, term.Mul(y[i], wide(b)))
	}
	bound, _ := sum.Float64()
	return bound
}
