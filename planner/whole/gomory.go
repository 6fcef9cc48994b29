package whole

import (
	"cmp"
	"math"
	"slices"

	"github.com/goodfleet/goodfleet/planner/linear"
)

// Settings of the cuts at the root.
const (
	cutRounds   = 60
	cutsPerPass = 30
	cutColumns  = 20_000 // columns above which few rows are tried, for a cut costs as many entries
	cutSources  = 30     // rows tried then
	cutLeast    = 0.02   // fractions nearer to whole give weak and shaky cuts
	cutSpread   = 1e-6   // entries smaller than this part of the largest are left out
	cutDepth    = 1e-5   // distance from the present point below which a cut is not worth its row
	cutGain     = 0.01   // part of the gap that a round closes if it is not slow
	cutSlow     = 3      // slow rounds in a row that end the cuts
	cutSlack    = 1e-7   // room above which a cut is left out
	cutSafety   = 1e-9   // by which a cut is loosened
)

// strengthen adds Gomory's mixed-integer cuts to the root: inequalities that every
// whole choice meets and the present fractions do not. They are derived only while all
// units and the room are whole numbers, so that slacks are whole as well. After each round
// the columns that no better choice can use are struck.
func (t *tree) strengthen(rounds int) {
	if q := t.prove(); t.beaten(q.bound) || !t.restate(nil) || !t.isWhole() {
		return
	}
	slow := 0
	for range rounds {
		before := t.s.Objective()
		if t.beaten(before * t.scale) {
			return
		}
		t.take(t.fill())
		cuts := t.gomory()
		if len(cuts) == 0 || !t.restate(cuts) {
			return
		}
		gap := before - t.best/t.scale
		if slow++; before-t.s.Objective() >= cutGain*max(gap, 1e-9) {
			slow = 0
		}
		if slow == cutSlow {
			return
		}
	}
}

// isWhole reports whether all units and the room are whole numbers.
func (t *tree) isWhole() bool {
	for _, c := range t.room {
		if c != math.Trunc(c) {
			return false
		}
	}
	for c, n := range t.owner {
		if u := t.p.Options[t.jobs[n]][t.option[c]].Units; u != math.Trunc(u) {
			return false
		}
	}
	return true
}

// inequality is Σ entry·x ≤ bound.
type inequality struct {
	entries []float64
	bound   float64
	depth   float64 // by how much the present point breaks it, per length
}

// gomory derives cuts from the rows of the most fractional basic columns.
func (t *tree) gomory() []inequality {
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
	for r := range t.solid {
		note(^int32(r), t.s.Slack(r))
	}
	slices.SortStableFunc(from, func(a, b source) int { return cmp.Compare(a.f, b.f) })
	columns, slacks := make([]float64, t.lp.Columns()), make([]float64, len(t.lp.Bound))
	var cuts []inequality
	sources := 2 * cutsPerPass
	if t.lp.Columns() > cutColumns {
		sources = cutSources
	}
	for _, q := range from[:min(len(from), sources)] {
		t.s.Tableau(q.v, columns, slacks)
		if cut, ok := t.derive(q.value, columns, slacks); ok {
			cuts = append(cuts, cut)
		}
	}
	slices.SortStableFunc(cuts, func(a, b inequality) int { return cmp.Compare(b.depth, a.depth) })
	return cuts[:min(len(cuts), cutsPerPass)]
}

// derive makes the cut of one tableau row and writes it in columns alone.
func (t *tree) derive(value float64, columns, slacks []float64) (inequality, bool) {
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
		case r < t.solid:
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

// restate writes the program with more rows, without cuts that do not bind and without
// columns that no better choice uses, and solves it from the present basis.
func (t *tree) restate(cuts []inequality) bool {
	old, basis := t.lp, t.s.Basis()
	struck := t.struck()
	row := make([]int32, len(old.Bound)) // old row → new, -1
	var bound []float64
	for r, b := range old.Bound {
		row[r] = -1
		if r < t.solid || t.s.Slack(r) < cutSlack {
			row[r] = int32(len(bound))
			bound = append(bound, b)
		}
	}
	first := len(bound)
	for _, c := range cuts {
		bound = append(bound, c.bound)
	}
	lp := linear.NewProgram(bound)
	entries := len(old.Row) + len(cuts)*old.Columns()
	lp.Row, lp.Value = make([]int32, 0, entries), make([]float64, 0, entries)
	column := make([]int32, old.Columns())
	var owner, option []int
	var rent []float64
	var rows []int32
	var values []float64
	for c := range column {
		n, i := t.owner[c], t.option[c]
		if column[c] = -1; struck[c] {
			t.column[n][i] = -1
			continue
		}
		rows, values = rows[:0], values[:0]
		for k := old.Begin[c]; k < old.Begin[c+1]; k++ {
			if r := row[old.Row[k]]; r >= 0 {
				rows, values = append(rows, r), append(values, old.Value[k])
			}
		}
		for k, cut := range cuts {
			if v := cut.entries[c]; v != 0 {
				rows, values = append(rows, int32(first+k)), append(values, v)
			}
		}
		column[c] = int32(lp.Add(old.Cost[c], rows, values))
		t.column[n][i] = column[c]
		owner, option, rent = append(owner, n), append(option, i), append(rent, t.rent[c])
	}
	head := make([]int32, 0, len(bound))
	for _, v := range basis {
		if v >= 0 {
			head = append(head, column[v])
		} else if r := row[^v]; r >= 0 {
			head = append(head, ^r)
		}
	}
	for k := range cuts {
		head = append(head, ^int32(first+k))
	}
	t.lp, t.owner, t.option, t.rent = lp, owner, option, rent
	t.classify()
	t.pivots += t.s.Iteration
	t.s = linear.NewSimplex(lp)
	t.s.SetBasis(head)
	return t.s.Dual(nodePivots) == linear.Optimal
}

// struck marks the columns whose use would leave no more than the best choice: theirs
// and those of equal jobs, so that these stay equal.
func (t *tree) struck() []bool {
	list := make([]bool, t.lp.Columns())
	basic := make(map[int32]bool)
	for _, v := range t.s.Basis() {
		basic[v] = true
	}
	q := t.prove()
	for c, jobs := range t.alike.classes {
		for _, i := range t.alike.order[c][1:] {
			most, used := math.Inf(1), false
			for _, n := range jobs {
				k := t.column[n][i]
				used = used || basic[k]
				most = min(most, q.bound-q.worth[n]+q.earn[k])
			}
			if !t.beaten(most) || used {
				continue
			}
			t.leave(most)
			for _, n := range jobs {
				list[t.column[n][i]] = true
			}
		}
	}
	return list
}
