package linear

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
)

// Tolerances, for programs scaled to entries near 1.
const (
	primalTol   = 4e-9  // a basic value may lie this far outside its bounds
	ratioSlack  = 1e-9  // by this it may be moved outside to find a better pivot; less than primalTol
	dualTol     = 1e-9  // a reduced cost below this earns nothing
	ratioLeast  = 1e-9  // smaller entries of a column do not block it
	startTol    = 1e-7  // values below this at a start point count as zero
	refactorAt  = 100   // updates after which the factors are made anew
	stallAt     = 60    // steps of length zero after which bounds are shifted apart
	perturbMost = 3     // times that bounds are shifted in one solve; then columns enter at random
	heldFirst   = 100   // preference for pivots on what is held at zero
	shiftLeast  = 1e-7  // by at least this, at most ten times
	candidates  = 64    // columns kept from one pass over all reduced costs
	streamShift = 0x51a // stream of the random shifts; the seed is fixed
)

// Simplex is a program with a basis. Make it with NewSimplex; change the
// program's costs or add columns between solves, never rows.
type Simplex struct {
	p    *Program
	m    int
	f    *factors
	head []int32 // basis position → variable: a column, or ^row for a row's slack

	at        []int32 // column → basis position, -1 if not basic
	slackAt   []int32 // row → basis position of its slack, -1
	fixed     []bool  // columns held at zero
	slackFix  []bool  // rows held with equality
	super     []loose // columns off zero and not in the basis, from a start point
	b         []float64
	shifted   bool
	shifts    *rand.Rand
	xB        []float64 // values by basis position
	pi        []float64 // duals by row, of the true costs
	cost1     []float64 // costs of the phase that removes infeasibility, by position
	factored  bool
	stall     int
	perturbed int
	list      []int32 // candidates to enter
	listBest  float64
	alpha     []float64
	rho       []float64
	spike     []float64
	half      []float64
	unit      []float64
	rhs       []float64
	ray       []float64 // proof of infeasibility, by row
	cutoff    float64   // objective at which Dual has seen enough
	Iteration int       // pivots and bound moves so far
}

type loose struct {
	column int32
	value  float64
}

// NewSimplex begins with the basis of all slacks.
func NewSimplex(p *Program) *Simplex {
	m := len(p.Bound)
	s := &Simplex{p: p, m: m, f: newFactors(m), shifts: rand.New(rand.NewPCG(1, streamShift)), cutoff: math.Inf(-1)}
	s.head, s.slackAt, s.slackFix = make([]int32, m), make([]int32, m), make([]bool, m)
	for r := range m {
		s.head[r], s.slackAt[r] = ^int32(r), int32(r)
		s.slackFix[r] = p.Equal != nil && p.Equal[r]
	}
	s.b = slices.Clone(p.Bound)
	for _, v := range []*[]float64{&s.xB, &s.pi, &s.cost1, &s.alpha, &s.rho, &s.spike, &s.half, &s.unit, &s.rhs} {
		*v = make([]float64, m)
	}
	s.grow()
	return s
}

// grow takes note of columns that the program has gained.
func (s *Simplex) grow() {
	for len(s.at) < s.p.Columns() {
		s.at = append(s.at, -1)
		s.fixed = append(s.fixed, false)
	}
}

// Fix holds column j at zero, or lets it go again.
func (s *Simplex) Fix(j int, held bool) {
	s.grow()
	s.fixed[j] = held
}

// Fixed reports whether column j is held at zero.
func (s *Simplex) Fixed(j int) bool { return j < len(s.fixed) && s.fixed[j] }

// Lock holds at zero every column and slack whose increase would lower the
// objective by more than tol a unit. After an optimal solve, what is left free
// ranges over the optimal points: a second objective chooses among them.
func (s *Simplex) Lock(tol float64) {
	for j := range s.at {
		if s.at[j] < 0 && s.reduced(int32(j)) < -tol {
			s.fixed[j] = true
		}
	}
	for r := range s.m {
		if s.slackAt[r] < 0 && -s.pi[r] < -tol {
			s.slackFix[r] = true
		}
	}
}

// Held reports whether the slack of row r is held at zero, by the program or by Lock.
func (s *Simplex) Held(r int) bool { return s.slackFix[r] }

// Start takes a point as the place to begin: it should satisfy the rows. Basic
// become the slacks of rows with room and then the columns of largest value.
func (s *Simplex) Start(x []float64) {
	s.grow()
	room := slices.Clone(s.p.Bound)
	for j, v := range x {
		if v > startTol {
			rows, values := s.p.column(j)
			for k, r := range rows {
				room[r] -= values[k] * v
			}
		}
	}
	var order []int32
	for r, v := range room {
		if v > startTol && !s.slackFix[r] {
			order = append(order, ^int32(r))
		}
	}
	first := len(order)
	for j, v := range x {
		if v > startTol && !s.fixed[j] {
			order = append(order, int32(j))
		}
	}
	const dense = 8 // columns of more entries wait until the sparse ones have pivots
	slices.SortStableFunc(order[first:], func(a, b int32) int {
		da, db := s.p.Begin[a+1]-s.p.Begin[a] > dense, s.p.Begin[b+1]-s.p.Begin[b] > dense
		if da != db {
			if da {
				return 1
			}
			return -1
		}
		return cmp.Compare(x[b], x[a])
	})
	taken, bare := s.f.factor(len(order), func(i int) ([]int32, []float64) { return s.entries(order[i]) }, crashLeast, true)
	chosen := make([]bool, len(order))
	clearBasis(s.at)
	clearBasis(s.slackAt)
	for i, t := range taken {
		chosen[t] = true
		s.enter(int32(i), order[t])
	}
	for i, r := range bare {
		s.enter(int32(len(taken)+i), ^r)
	}
	s.super = s.super[:0]
	for i, v := range order {
		if !chosen[i] && v >= 0 {
			s.super = append(s.super, loose{v, x[v]})
		}
	}
	copy(s.b, s.p.Bound)
	s.shifted, s.factored, s.list = false, false, s.list[:0]
	if !s.refactor() {
		return
	}
	// A start point misses its rows by rounding: call what it misses zero here.
	for i, v := range s.xB {
		if v < 0 && v > -1e-4 {
			s.shift(i, -v)
		}
	}
}

func clearBasis(at []int32) {
	for i := range at {
		at[i] = -1
	}
}

// enter writes variable v into basis position i.
func (s *Simplex) enter(i, v int32) {
	s.head[i] = v
	if v < 0 {
		s.slackAt[^v] = i
	} else {
		s.at[v] = i
	}
}

var unitValue = []float64{1}

// entries returns the column of a variable.
func (s *Simplex) entries(v int32) ([]int32, []float64) {
	if v >= 0 {
		return s.p.column(int(v))
	}
	return slackRows(s, ^v), unitValue
}

func slackRows(s *Simplex, r int32) []int32 {
	for int32(len(identity)) <= r {
		return []int32{r}
	}
	return identity[r : r+1]
}

// identity spares an allocation for each slack of the first rows.
var identity = func() []int32 {
	list := make([]int32, 1<<16)
	for i := range list {
		list[i] = int32(i)
	}
	return list
}()

func (s *Simplex) costOf(v int32) float64 {
	if v < 0 {
		return 0
	}
	return s.p.Cost[v]
}

func (s *Simplex) held(v int32) bool {
	if v < 0 {
		return s.slackFix[^v]
	}
	return s.fixed[v]
}

// refactor makes new factors of the basis and computes values and duals afresh.
// A singular basis gives up its dependent columns for slacks.
func (s *Simplex) refactor() bool {
	for range 3 {
		taken, bare := s.f.factor(s.m, func(i int) ([]int32, []float64) { return s.entries(s.head[i]) }, pivotLeast, false)
		if len(bare) == 0 {
			for slot, pos := range taken {
				s.f.slotPos[slot], s.f.posSlot[pos] = pos, int32(slot)
			}
			s.factored = true
			s.values()
			s.duals()
			return true
		}
		kept := make([]bool, s.m)
		for _, pos := range taken {
			kept[pos] = true
		}
		for pos := range s.m {
			if kept[pos] {
				continue
			}
			if v := s.head[pos]; v < 0 {
				s.slackAt[^v] = -1
			} else {
				s.at[v] = -1
			}
			s.enter(int32(pos), ^bare[0])
			bare = bare[1:]
		}
	}
	return false
}

// values solves for the basic values.
func (s *Simplex) values() {
	copy(s.rhs, s.b)
	for _, l := range s.super {
		rows, values := s.p.column(int(l.column))
		for k, r := range rows {
			s.rhs[r] -= values[k] * l.value
		}
	}
	s.f.forward(s.rhs, s.xB, nil)
}

// duals solves for the row prices of the true costs.
func (s *Simplex) duals() {
	for i, v := range s.head {
		s.unit[i] = s.costOf(v)
	}
	s.f.backward(s.unit, s.pi, -1, nil)
	clear(s.unit)
}

// reduced is what one unit of column j adds to the objective.
func (s *Simplex) reduced(j int32) float64 {
	return s.p.Cost[j] - s.dot(s.pi, j)
}

func (s *Simplex) dot(y []float64, j int32) float64 {
	lo, hi := s.p.Begin[j], s.p.Begin[j+1]
	sum := 0.0
	for k := lo; k < hi; k++ {
		sum += y[s.p.Row[k]] * s.p.Value[k]
	}
	return sum
}

// image solves for the entering variable's column in terms of the basis.
func (s *Simplex) image(v int32) {
	clear(s.rhs)
	rows, values := s.entries(v)
	for k, r := range rows {
		s.rhs[r] = values[k]
	}
	s.f.forward(s.rhs, s.alpha, s.spike)
}

// shift moves the basic value at position i by d, by moving the rows' bounds.
func (s *Simplex) shift(i int, d float64) {
	s.xB[i] += d
	rows, values := s.entries(s.head[i])
	for k, r := range rows {
		s.b[r] += values[k] * d
	}
	s.shifted = true
}

// unshift puts the true bounds back.
func (s *Simplex) unshift() {
	copy(s.b, s.p.Bound)
	s.shifted = false
	s.values()
}

// pivot exchanges the variable at position r for v, which takes the value x.
// rho and half must hold the row of r. It reports false if no factors exist afterwards.
func (s *Simplex) pivot(r int, v int32, x float64) bool {
	out := s.head[r]
	if out < 0 {
		s.slackAt[^out] = -1
	} else {
		s.at[out] = -1
	}
	s.enter(int32(r), v)
	s.xB[r] = x
	if len(s.f.updates) >= refactorAt || !s.f.replace(int32(r), s.spike, s.half, s.alpha[r]) {
		return s.refactor()
	}
	return true
}

// row computes rho, the row r of B⁻¹.
func (s *Simplex) row(r int) {
	s.unit[r] = 1
	s.f.backward(s.unit, s.rho, s.f.posSlot[r], s.half)
	s.unit[r] = 0
}

// Value is the value of column j.
func (s *Simplex) Value(j int) float64 {
	if j < len(s.at) && s.at[j] >= 0 {
		return s.xB[s.at[j]]
	}
	return 0
}

// Price is the dual of row r: what one more unit of its bound is worth.
func (s *Simplex) Price(r int) float64 { return s.pi[r] }

// Reduced is what one unit of column j adds to the objective at the prices.
func (s *Simplex) Reduced(j int) float64 { return s.reduced(int32(j)) }

// Cutoff makes Dual end as Infeasible once it is clear that no point is worth more than
// v; there is no ray then.
func (s *Simplex) Cutoff(v float64) { s.cutoff = v }

// CutOff reports, after Infeasible, whether that was by Cutoff.
func (s *Simplex) CutOff() bool { return s.ray == nil }

// Ray is, after Infeasible, weights of the rows that no point can satisfy together.
func (s *Simplex) Ray(r int) float64 { return s.ray[r] }

// Objective is c·x.
func (s *Simplex) Objective() float64 {
	sum := 0.0
	for i, v := range s.head {
		sum += s.costOf(v) * s.xB[i]
	}
	for _, l := range s.super {
		sum += s.p.Cost[l.column] * l.value
	}
	return sum
}

// Basis copies the variables of the basis: columns, or ^row.
func (s *Simplex) Basis() []int32 { return slices.Clone(s.head) }

// SetBasis returns to a basis from Basis.
func (s *Simplex) SetBasis(head []int32) {
	s.grow()
	clearBasis(s.at)
	clearBasis(s.slackAt)
	for i, v := range head {
		s.enter(int32(i), v)
	}
	s.super, s.list, s.factored = s.super[:0], s.list[:0], false
	copy(s.b, s.p.Bound)
	s.shifted = false
}

// infeasibility is how far value x of variable v lies outside its bounds, with sign.
func (s *Simplex) infeasibility(v int32, x float64) float64 {
	switch {
	case x < -primalTol:
		return x
	case x > primalTol && s.held(v):
		return x
	}
	return 0
}

// finite reports whether all basic values are numbers.
func (s *Simplex) finite() bool {
	for _, v := range s.xB {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return false
		}
	}
	return true
}

// SetBound changes the bound of row r. The basis stays; its values follow at the
// next solve.
func (s *Simplex) SetBound(r int, b float64) {
	s.p.Bound[r], s.b[r] = b, b
	s.factored = false
}

// Exchange puts column v into the basis in the place of column u, which is then held
// at zero. If u is not basic, v waits to be chosen like any other.
func (s *Simplex) Exchange(u, v int) {
	s.grow()
	s.fixed[u] = true
	if at := s.at[u]; at >= 0 {
		s.at[u] = -1
		s.enter(at, int32(v))
	}
	s.factored, s.list = false, s.list[:0]
}

// Bound is b·pi, which no point exceeds if no column earns at the prices.
func (s *Simplex) Bound() float64 {
	sum := 0.0
	for r, b := range s.p.Bound {
		sum += b * s.pi[r]
	}
	return sum
}

// HoldRow makes row r an equality, or lets it go again.
func (s *Simplex) HoldRow(r int, held bool) { s.slackFix[r] = held }

// Tableau writes a basic variable's row of the simplex tableau, a column or ^row for
// the slack of a row: with the columns x and slacks s outside the basis, the variable
// + Σ columns·x + Σ slacks·s = its value. Entries of what is basic are zero.
func (s *Simplex) Tableau(variable int32, columns, slacks []float64) {
	if variable < 0 {
		s.row(int(s.slackAt[^variable]))
	} else {
		s.row(int(s.at[variable]))
	}
	for c := range columns {
		columns[c] = 0
		if s.at[c] < 0 {
			columns[c] = s.dot(s.rho, int32(c))
		}
	}
	for r := range slacks {
		slacks[r] = 0
		if s.slackAt[r] < 0 {
			slacks[r] = s.rho[r]
		}
	}
}

// Slack is what row r has left below its bound.
func (s *Simplex) Slack(r int) float64 {
	if at := s.slackAt[r]; at >= 0 {
		return s.xB[at]
	}
	return 0
}
