package block

import (
	"math"
	"slices"

	"github.com/goodfleet/goodfleet/planner/linear"
)

// Settings of the move to a vertex, on the scaled program.
const (
	lockTol    = 1e-9       // a reduced cost below this leaves a column free for the second objective
	activeTol  = 1e-7       // shares below this do not make a column worth keeping
	nearTol    = 1e-2       // columns that miss the job's worth by less than this share are kept
	freshTol   = 1e-9       // reduced cost at which a left-out column joins
	freshMost  = 20         // rounds of joining
	pivotWork  = 40_000_000 // pivots × jobs that are worth the vertex
	secondHelp = 200        // jobs with a choice from which the second objective begins at an interior point

	secondLoss  = 1e-8 // of the level's gap that the second objective may cost
	insideSlack = 1e-7 // room that the level leaves the interior point
)

// polish is the sparse program of the columns that matter, and its vertices.
type polish struct {
	p     *Program
	sc    *scaled
	lp    *linear.Program
	s     *linear.Simplex
	row   []int32 // job → speed row, -1
	caps  int32   // first capacity row
	level int     // column of t
	in    []int32 // scaled column → column of lp, -1 if left out
	owner []int32
	unit  float64 // cost of one unit of the scaled objective
	limit int
}

// vertex moves s.X to an optimal vertex, and proves it with the vertex's own prices.
func (p *Program) vertex(s *Solution, o Options) {
	v := newPolish(p, o)
	v.start(v.choose(s), s.Level)
	status := v.climb()
	s.Pivots = v.s.Iteration
	if status == linear.Infeasible {
		s.Status, s.Bound = Infeasible, math.Inf(-1)
		s.Conflict = v.conflict()
		return
	}
	if status == linear.Unbounded {
		s.Status, s.Bound = Unbounded, math.Inf(1)
		return
	}
	first := *s
	first.X = v.lifted()
	prices := v.prices()
	c, _ := p.certify(prices, s.Level)
	if c.Bound <= s.Bound {
		first.Bound, first.Prices = c.Bound, prices
	}
	first.Worth = v.worth()
	first.close(p, o.gap())
	if first.Violation <= feasibleTol && first.Gap <= max(o.gap(), s.Gap) || s.Violation > feasibleTol && first.Violation < s.Violation {
		*s = first
	}
	if !o.Second || !p.Level || status != linear.Optimal {
		return
	}
	v.second(o)
	second := *s
	second.X = v.lifted()
	second.Pivots = v.s.Iteration
	second.close(p, o.gap())
	if second.Violation <= feasibleTol && second.Gap <= max(o.gap(), s.Gap+secondLoss) {
		*s = second
	}
}

func newPolish(p *Program, o Options) *polish {
	v := &polish{p: p, sc: p.scale(p.everyone(), nil, 1), unit: 1, level: -1, limit: o.Pivots}
	m := p.Jobs()
	if v.limit == 0 {
		v.limit = min(20_000+5*m, pivotWork/max(m, 1))
	}
	v.row = make([]int32, m)
	rows := int32(m)
	bound := make([]float64, m, 2*m+len(p.Capacity))
	for j := range m {
		bound[j] = 1
		v.row[j] = -1
		if v.sc.has[j] {
			v.row[j] = rows
			rows++
			bound = append(bound, -v.sc.Floor[j])
		}
	}
	v.caps = rows
	for range p.Capacity {
		bound = append(bound, 1)
	}
	v.lp = linear.NewProgram(bound)
	v.in = make([]int32, v.sc.Columns())
	v.owner = make([]int32, v.sc.Columns())
	for i := range v.in {
		v.in[i] = -1
	}
	for j := range m {
		for i := v.sc.First[j]; i < v.sc.First[j+1]; i++ {
			v.owner[i] = int32(j)
		}
	}
	if p.Level {
		var list []int32
		var values []float64
		for j := range m {
			if v.sc.Follow[j] > 0 {
				list, values = append(list, v.row[j]), append(values, v.sc.Follow[j])
				v.unit++
			}
		}
		v.level = v.lp.Add(v.unit, list, values)
	}
	return v
}

// add puts scaled column i into the sparse program.
func (v *polish) add(i int32) {
	if v.in[i] >= 0 {
		return
	}
	j := v.owner[i]
	rows := make([]int32, 0, 4)
	values := make([]float64, 0, 4)
	rows, values = append(rows, j), append(values, 1)
	if v.row[j] >= 0 && v.sc.Speed[i] > 0 {
		rows, values = append(rows, v.row[j]), append(values, -v.sc.Speed[i])
	}
	for e := v.sc.Entry[i]; e < v.sc.Entry[i+1]; e++ {
		rows, values = append(rows, v.caps+v.sc.Row[e]), append(values, v.sc.Use[e])
	}
	cost := 0.0
	if !v.p.Level {
		cost = v.sc.Gain[i]
	}
	v.in[i] = int32(v.lp.Add(cost, rows, values))
}

// choose adds the columns in use, those that nearly pay, and each job's fastest. It
// returns the point without the shares that only the distance from the optimum
// explains: those smaller than what their column misses by.
func (v *polish) choose(s *Solution) []float64 {
	x := slices.Clone(s.X)
	_, w := v.p.certify(s.Prices, s.Level)
	for j := range v.p.Jobs() {
		fastest := int32(-1)
		for i := v.sc.First[j]; i < v.sc.First[j+1]; i++ {
			if fastest < 0 || v.sc.Speed[i] > v.sc.Speed[fastest] {
				fastest = i
			}
			c := v.sc.column[i]
			missing := -v.p.reduced(c, j, &w) / math.Abs(w.mu[j])
			if s.X[c] < missing {
				x[c] = 0
			}
			if x[c] > activeTol || missing < nearTol {
				v.add(i)
			}
		}
		if fastest >= 0 {
			v.add(fastest)
		}
	}
	return x
}

func (v *polish) start(x []float64, level float64) {
	v.s = linear.NewSimplex(v.lp)
	at := make([]float64, v.lp.Columns())
	for i, c := range v.in {
		if c >= 0 {
			at[c] = x[v.sc.column[i]]
		}
	}
	if v.level >= 0 {
		at[v.level] = level / v.sc.level
	}
	v.s.Start(at)
}

// climb solves, adding columns that would still earn something.
func (v *polish) climb() linear.Status {
	for range freshMost {
		status := v.s.Primal(v.limit - v.s.Iteration)
		if status == linear.Unbounded || status == linear.Limit || status == linear.Stuck {
			return status
		}
		if added := v.join(freshTol, status == linear.Infeasible); added == 0 {
			return status
		}
	}
	return linear.Limit
}

// join adds the left-out columns that earn more than tol, or that help against
// infeasibility, and counts them.
func (v *polish) join(tol float64, infeasible bool) int {
	price := v.s.Price
	if infeasible {
		price = v.s.Ray
	}
	added := 0
	for i := range v.in {
		if v.in[i] >= 0 {
			continue
		}
		if d := v.earn(int32(i), price, infeasible); d > tol {
			v.add(int32(i))
			added++
		}
	}
	return added
}

// earn is the reduced cost of a scaled column.
func (v *polish) earn(i int32, price func(int) float64, infeasible bool) float64 {
	j := v.owner[i]
	d := -price(int(j))
	if !v.p.Level && !infeasible {
		d += v.sc.Gain[i]
	}
	if v.row[j] >= 0 {
		d += v.sc.Speed[i] * price(int(v.row[j]))
	}
	for e := v.sc.Entry[i]; e < v.sc.Entry[i+1]; e++ {
		d -= price(int(v.caps+v.sc.Row[e])) * v.sc.Use[e]
	}
	return d
}

// point is the vertex in columns of the source, repaired to rounding.
func (v *polish) point() []float64 {
	x := v.values()
	v.p.repair(x)
	return x
}

// lifted is the vertex as point gives it, with what jobs need and the simplex method cannot
// see: a need far below that of others is within its tolerance, and so is a share of zero,
// which would hold the level there.
func (v *polish) lifted() []float64 {
	x := v.values()
	t := 0.0
	if v.level >= 0 {
		t = v.s.Value(v.level) * v.sc.level
	}
	for j := range v.p.Jobs() {
		need := v.p.floor(j) + v.p.follow(j)*t
		if need <= 0 {
			continue
		}
		have := v.p.reach(x, j)
		if have >= need*(1-seenTol) {
			continue
		}
		if have >= need/2 {
			for i := v.p.First[j]; i < v.p.First[j+1]; i++ {
				x[i] *= need / have
			}
		} else if i := v.lightest(j); i >= 0 {
			x[i] += (need - have) / v.p.Speed[i]
		}
	}
	v.p.repair(x)
	return x
}

// lightest is the column of job j that takes the least of all capacity for its speed.
func (v *polish) lightest(j int) int32 {
	best, least := int32(-1), math.Inf(1)
	for i := v.sc.First[j]; i < v.sc.First[j+1]; i++ {
		use := 1.0
		for e := v.sc.Entry[i]; e < v.sc.Entry[i+1]; e++ {
			use += v.sc.Use[e]
		}
		if s := v.sc.Speed[i]; s > 0 && use/s < least {
			best, least = v.sc.column[i], use/s
		}
	}
	return best
}

// values are the shares of the vertex in columns of the source.
func (v *polish) values() []float64 {
	x := make([]float64, v.p.Columns())
	for i, c := range v.in {
		if c >= 0 {
			if value := v.s.Value(int(c)); value > roundTol {
				x[v.sc.column[i]] = value
			}
		}
	}
	return x
}

const (
	roundTol = 1e-12 // a share of time that is rounding
	seenTol  = 1e-10 // relative miss of a need that is rounding
)

// prices are the vertex's capacity prices in units of the source.
func (v *polish) prices() []float64 {
	lambda := make([]float64, len(v.p.Capacity))
	for r := range lambda {
		lambda[r] = v.s.Price(int(v.caps)+r) / v.unit
		if !v.p.Level {
			lambda[r] *= v.unit
		}
	}
	return v.sc.unscalePrices(lambda, v.p)
}

// worth is what a unit of each job's speed is worth, in units of the source.
func (v *polish) worth() []float64 {
	nu := make([]float64, v.p.Jobs())
	for j, r := range v.row {
		if r >= 0 {
			nu[j] = v.sc.unscaleWorth(v.s.Price(int(r))/v.unit, j)
		}
	}
	return nu
}

// conflict lists the jobs whose floors the proof of infeasibility uses.
func (v *polish) conflict() []int {
	var list []int
	for j, r := range v.row {
		if r >= 0 && math.Abs(v.s.Ray(int(r)))*v.sc.Floor[j] > 1e-9 {
			list = append(list, j)
		}
	}
	return list
}
