package whole

import (
	"cmp"
	"math"
	"slices"

	"github.com/goodfleet/goodfleet/planner/linear"
)

// Settings of the cuts at the root.
const (
	cutRounds   = 20
	cutsPerPass = 30
	cutLeast    = 0.02 // fractions nearer to whole give weak and shaky cuts
	cutSpread   = 1e-6 // entries smaller than this part of the largest are left out
	cutDepth    = 1e-5 // distance from the present point below which a cut is not worth its row
	cutGain     = 1e-4 // part of the gap that a round must close for another
	cutSafety   = 1e-9 // by which a cut is loosened
)

// strengthen adds Gomory's mixed-integer cuts to the root: inequalities that every
// whole choice meets and the present fractions do not. They are derived only while all
// units and the room are whole numbers, so that slacks are whole as well.
func (t *tree) strengthen(rounds int) {
	for _, c := range t.room {
		if c != math.Trunc(c) {
			return
		}
	}
	for i, n := range t.owner {
		if u := t.p.Options[t.jobs[n]][t.option[i]].Units; u != math.Trunc(u) {
			return
		}
	}
	whole := len(t.lp.Bound) // rows whose slack is whole
	for range rounds {
		before := t.s.Objective()
		if t.beaten(before * t.scale) {
			return
		}
		cuts := t.gomory(whole)
		if len(cuts) == 0 || !t.addRows(cuts) {
			return
		}
		gap := before - t.best/t.scale
		if before-t.s.Objective() < cutGain*max(gap, 1e-9) {
			return
		}
	}
}

// inequality is Σ entry·x ≤ bound.
type inequality struct {
	entries []float64
	bound   float64
	depth   float64 // by how much the present point breaks it, per length
}

// gomory derives cuts from the rows of the most fractional basic columns.
func (t *tree) gomory(whole int) []inequality {
	type source struct {
		v        int32 // column, or ^row for its slack
		value, f float64
	}
	var from []source
	note := func(v int32, value float64) {
		if f := value - math.Floor(value); f > cutLeast && f < 1-cutLeast {
			from = append(from, source{v, value, math.Abs(f - 0.5)})
		}
	}
	for c := range t.owner {
		note(int32(c), t.s.Value(c))
	}
	for r := range whole {
		note(^int32(r), t.s.Slack(r))
	}
	slices.SortStableFunc(from, func(a, b source) int { return cmp.Compare(a.f, b.f) })
	columns, slacks := make([]float64, t.lp.Columns()), make([]float64, len(t.lp.Bound))
	var cuts []inequality
	for _, q := range from[:min(len(from), 2*cutsPerPass)] {
		t.s.Tableau(q.v, columns, slacks)
		if cut, ok := t.derive(q.value, columns, slacks, whole); ok {
			cuts = append(cuts, cut)
		}
	}
	slices.SortStableFunc(cuts, func(a, b inequality) int { return cmp.Compare(b.depth, a.depth) })
	return cuts[:min(len(cuts), cutsPerPass)]
}

// derive makes the cut of one tableau row and writes it in columns alone.
func (t *tree) derive(value float64, columns, slacks []float64, whole int) (inequality, bool) {
	f0 := value - math.Floor(value)
	integer := func(a float64) float64 {
		f := a - math.Floor(a)
		if f < 1e-9 || f > 1-1e-9 {
			return 0
		}
		if f <= f0 {
			return f / f0
		}
		return (1 - f) / (1 - f0)
	}
	cut := inequality{entries: make([]float64, len(columns)), bound: -1}
	for c, a := range columns {
		if a != 0 {
			cut.entries[c] = -integer(a)
		}
	}
	weight := make([]float64, len(slacks))
	for r, a := range slacks {
		switch {
		case math.Abs(a) < 1e-12:
			continue
		case r < whole:
			weight[r] = integer(a)
		case a > 0:
			weight[r] = a / f0
		default:
			weight[r] = -a / (1 - f0)
		}
		cut.bound += weight[r] * t.lp.Bound[r]
	}
	most, length, at := 0.0, 0.0, 0.0
	for c := range cut.entries {
		for k := t.lp.Begin[c]; k < t.lp.Begin[c+1]; k++ {
			cut.entries[c] += weight[t.lp.Row[k]] * t.lp.Value[k]
		}
		most = max(most, math.Abs(cut.entries[c]))
	}
	if most == 0 {
		return cut, false
	}
	for c, v := range cut.entries {
		if math.Abs(v) < cutSpread*most { // rounding: leave it out on the safe side, a share is at most 1
			cut.bound += max(0, -v)
			cut.entries[c] = 0
			continue
		}
		length += v * v
		at += v * t.s.Value(c)
	}
	cut.bound += cutSafety * most
	cut.depth = (at - cut.bound) / math.Sqrt(length)
	for c := range cut.entries {
		cut.entries[c] /= most
	}
	cut.bound /= most
	return cut, cut.depth > cutDepth
}

// addRows restates the program with more rows and solves it from the present basis.
func (t *tree) addRows(cuts []inequality) bool {
	old := t.lp
	lp := linear.NewProgram(slices.Clone(old.Bound))
	for _, c := range cuts {
		lp.Bound = append(lp.Bound, c.bound)
	}
	var rows []int32
	var values []float64
	for c := range old.Cost {
		rows = append(rows[:0], old.Row[old.Begin[c]:old.Begin[c+1]]...)
		values = append(values[:0], old.Value[old.Begin[c]:old.Begin[c+1]]...)
		for i, cut := range cuts {
			if v := cut.entries[c]; v != 0 {
				rows, values = append(rows, int32(len(old.Bound)+i)), append(values, v)
			}
		}
		lp.Add(old.Cost[c], rows, values)
	}
	basis := t.s.Basis()
	for i := range cuts {
		basis = append(basis, ^int32(len(old.Bound)+i))
	}
	s := linear.NewSimplex(lp)
	s.SetBasis(basis)
	if s.Dual(nodePivots) != linear.Optimal {
		return false
	}
	t.lp, t.s = lp, s
	return true
}
