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
	cutsPerPass = 60
	cutColumns  = 40_000 // columns above which few rows are tried, for a cut costs as many entries
	cutSources  = 30     // rows tried then
	cutLeast    = 0.02   // fractions nearer to whole give weak and shaky cuts
	cutSpread   = 1e-6   // entries smaller than this part of the largest are left out
	cutDepth    = 1e-5   // distance from the present point below which a cut is not worth its row
	cutGain     = 0.01   // part of the gap that a round closes if it is not slow
	cutSlow     = 3      // slow rounds in a row that end the cuts

	nearColumns = 200  // options searched for a better choice between rounds
	nearNodes   = 200  // and nodes
	cutSample   = 2000 // columns that tell which multiple is shortest
	cutTimes    = 4    // a row gives a cut, and its multiples up to so many times it others
	cutSlack    = 1e-7 // room above which a cut is left out
	cutSafety   = 1e-9 // by which a cut is loosened
)

// strengthen adds Gomory's mixed-integer cuts to the root: inequalities that every
// whole choice meets and the present fractions do not. They are derived only while all
// units and the room are whole numbers, so that slacks are whole as well. After each round
// the columns that no better choice can use are struck. When cuts gain little, the options
// that lose least are searched for a better choice, which strikes more.
func (t *tree) strengthen(rounds int) {
	if q := t.prove(); t.beaten(q.bound) || !t.restate(nil, t.struck()) || !t.isWhole() {
		return
	}
	slow, tries := 0, 0
	for range rounds {
		before := t.prove().bound
		if t.beaten(before) {
			return
		}
		t.take(t.fill())
		cuts := t.gomory()
		if len(cuts) > 0 && !t.restate(cuts, t.struck()) {
			return
		}
		after := t.prove().bound
		if slow++; before-after >= cutGain*max(after-t.best, 0) {
			slow = 0
		}
		if slow == cutSlow || len(cuts) == 0 {
			if tries++; tries > t.tries || !t.near(nearColumns, nearNodes) || !t.restate(nil, t.struck()) {
				return
			}
			slow = 0
		}
	}
}

// least states for each count that it is at least zero.
func (t *tree) least() []inequality {
	list := make([]inequality, t.countRows)
	for k := range list {
		list[k].entries = make([]float64, t.lp.Columns())
	}
	for c := range t.owner {
		for k := t.lp.Begin[c]; k < t.lp.Begin[c+1]; k++ {
			if at := int(t.lp.Row[k]) - t.countAt; at >= 0 && at < t.countRows {
				list[at].entries[c] = -1
			}
		}
	}
	return list
}

// near looks for a better choice among the options that lose least under the program as
// it stands, and reports whether there was one.
func (t *tree) near(columns, nodes int) bool {
	losses := t.losses()
	most := math.Inf(1)
	if len(losses) > columns {
		sorted := slices.Clone(losses)
		slices.Sort(sorted)
		most = sorted[columns]
	}
	out := make([]bool, len(losses))
	for c, l := range losses {
		out[c] = l > most
	}
	for _, v := range t.s.Basis() {
		if v >= 0 {
			out[v] = false
		}
	}
	u := *t
	u.column = make([][]int32, len(t.column))
	for n, list := range t.column {
		u.column[n] = slices.Clone(list)
	}
	u.found, u.nodes, u.limit, u.open, u.here, u.applied = false, 0, nodes, nil, nil, nil
	if u.restate(nil, out) {
		u.search(math.Inf(1))
	}
	t.nodes += u.nodes
	if u.found {
		t.take(u.choice)
	}
	return u.found
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
		if cut, ok := t.deepest(q.value, columns, slacks); ok {
			cuts = append(cuts, cut)
		}
	}
	slices.SortStableFunc(cuts, func(a, b inequality) int { return cmp.Compare(b.depth, a.depth) })
	return cuts[:min(len(cuts), cutsPerPass)]
}

// mixed is Gomory's rounding of so many times a tableau row with a fraction.
type mixed struct{ times, f float64 }

// integer is the entry for a whole variable.
func (m mixed) integer(a float64) float64 {
	a *= m.times
	f := a - math.Floor(a)
	switch {
	case f < 1e-9 || f > 1-1e-9:
		return 0
	case f <= m.f:
		return f / m.f
	}
	return (1 - f) / (1 - m.f)
}

// any is the entry for a variable that need not be whole.
func (m mixed) any(a float64) float64 {
	if a > 0 {
		return m.times * a / m.f
	}
	return -m.times * a / (1 - m.f)
}

// weights are those of the rows by which slacks become columns.
func (t *tree) weights(m mixed, slacks, weight []float64) {
	for r, a := range slacks {
		switch {
		case math.Abs(a) < 1e-12:
			weight[r] = 0
		case r < t.solid:
			weight[r] = m.integer(a)
		default:
			weight[r] = m.any(a)
		}
	}
}

// entry is that of a column in the cut that weights make.
func (t *tree) entry(m mixed, c int, a float64, weight []float64) float64 {
	v := 0.0
	if a != 0 {
		v = -m.integer(a)
	}
	for k := t.lp.Begin[c]; k < t.lp.Begin[c+1]; k++ {
		v += weight[t.lp.Row[k]] * t.lp.Value[k]
	}
	return v
}

// deepest makes the cut of a tableau row, or of a small multiple of it. All are broken by as
// much, so that the shortest is the deepest; some columns tell which.
func (t *tree) deepest(value float64, columns, slacks []float64) (inequality, bool) {
	weight := make([]float64, len(slacks))
	var best mixed
	least := math.Inf(1)
	stride := 1 + len(columns)/cutSample
	for times := 1.0; times <= cutTimes; times++ {
		m := mixed{times, times*value - math.Floor(times*value)}
		if m.f < cutLeast || m.f > 1-cutLeast {
			continue
		}
		t.weights(m, slacks, weight)
		length := 0.0
		for c := 0; c < len(columns); c += stride {
			v := t.entry(m, c, columns[c], weight)
			length += v * v
		}
		if length < least {
			best, least = m, length
		}
	}
	if math.IsInf(least, 1) {
		return inequality{}, false
	}
	t.weights(best, slacks, weight)
	return t.derive(best, columns, weight)
}

// derive writes a cut in columns alone.
func (t *tree) derive(m mixed, columns, weight []float64) (inequality, bool) {
	cut := inequality{entries: make([]float64, len(columns)), bound: -1}
	for r, w := range weight {
		cut.bound += w * t.lp.Bound[r]
	}
	most, length, at := 0.0, 0.0, 0.0
	for c, a := range columns {
		cut.entries[c] = t.entry(m, c, a, weight)
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
// what is struck of the columns that are not basic, and solves it from the present basis.
func (t *tree) restate(cuts []inequality, struck []bool) bool {
	old, basis := t.lp, t.s.Basis()
	far := t.far()
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
	hold := func(held bool) {
		for c, k := range column {
			if far != nil && far[c] && k >= 0 {
				t.s.Fix(int(k), held)
			}
		}
	}
	hold(true)
	status := t.s.Dual(nodePivots)
	hold(false)
	return status == linear.Optimal
}

// far marks, in a large program, the columns that lose most at the prices: a few cuts move
// prices little, and what is not optimal for them then is in the bound.
func (t *tree) far() []bool {
	if t.lp.Columns() <= cutColumns {
		return nil
	}
	losses := t.losses()
	sorted := slices.Clone(losses)
	slices.Sort(sorted)
	list := make([]bool, len(losses))
	for c, l := range losses {
		list[c] = l > sorted[cutColumns/2]
	}
	for _, v := range t.s.Basis() {
		if v >= 0 {
			list[v] = false
		}
	}
	return list
}

// losses are by how much a column earns less than its job's best.
func (t *tree) losses() []float64 {
	q := t.prove()
	list := q.earn
	for c, n := range t.owner {
		list[c] = q.worth[n] - list[c]
	}
	return list
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
