package whole

import (
	"container/heap"
	"math"
	"slices"

	"github.com/goodfleet/goodfleet/planner/linear"
)

// Settings of branch and bound.
const (
	wholeTol      = 1e-7    // a share this near 0 or 1 is whole
	nodePivots    = 20_000  // pivots for one node
	pivotsPerNode = 10      // on average, or the search ends
	dualStart     = 100_000 // and for the root
	countsMost    = 300     // counts, above which none gets a row
)

// tree is a branch and bound over some jobs and the options kept.
type tree struct {
	p      *Problem
	jobs   []int
	column [][]int32 // per job of jobs, per option: column, -1
	owner  []int     // column → index into jobs
	option []int     // column → option
	rent   []float64 // column → rent at the root prices
	lp     *linear.Program
	s      *linear.Simplex
	scale  float64 // value of one unit of the program's objective
	room   []float64
	best   float64
	choice []int // per job of jobs; -1: none
	found  bool
	gap    float64 // by which a better choice must exceed best
	nodes  int
	pivots int // of programs before, since the root
	limit  int // of nodes, and a multiple of it of pivots
	open   queue[*node]
	here   []int32 // basis of the node that the program stands at; nil: none
	lost   float64 // most that anything left behind may be worth

	alike     alike
	countAt   int // first row of the counts, for the most of each
	leastAt   int // and for the least
	countRows int // how many there are
	cutRounds int
	tries     int         // searches for a better choice between the rounds of cuts
	start     [][]float64 // shares from which the root begins; nil: none
	solid     int         // rows that are not cuts; their slacks are whole if units and room are
	applied   []cut
}

// cut holds one column at zero, or, with column < 0, makes job ^column be served.
type cut int32

// node is a set of cuts, with the bound and basis of its parent.
type node struct {
	cuts  []cut
	count []span // of jobs, where that parts nodes; nil: any
	bound float64
	basis []int32
	order int
}

func (n *node) rank() (float64, int) { return n.bound, n.order }

// newTree states the program of the given jobs in the given room. A choice must be
// worth more than best to count.
func newTree(p *Problem, jobs []int, keep [][]bool, room, prices []float64, best float64, limit int, gap float64) *tree {
	t := &tree{p: p, jobs: jobs, room: room, best: best, limit: limit, gap: gap, scale: 1, lost: math.Inf(-1)}
	bound := make([]float64, 0, len(jobs)+len(room))
	for range jobs {
		bound = append(bound, 1)
	}
	bound = append(bound, room...)
	rounded := t.divide(keep)
	for _, d := range rounded {
		bound = append(bound, d.bound)
	}
	counts := t.counts(keep)
	t.countAt, t.countRows = len(bound), len(counts)
	for range counts {
		bound = append(bound, float64(len(jobs)))
	}
	t.lp = linear.NewProgram(bound)
	t.solid = len(bound)
	for _, j := range jobs {
		for i, o := range p.Options[j] {
			if keep[j][i] {
				t.scale = max(t.scale, o.Value)
			}
		}
	}
	for n, j := range jobs {
		t.column = append(t.column, make([]int32, len(p.Options[j])))
		for i, o := range p.Options[j] {
			t.column[n][i] = -1
			if !keep[j][i] || o.Units > room[o.Row]+roomTol {
				continue
			}
			rows, entries := []int32{int32(n), int32(len(jobs) + o.Row)}, []float64{1, o.Units}
			for k, d := range rounded {
				if u := math.Floor(o.Units / d.by); d.row == o.Row && u > 0 {
					rows, entries = append(rows, int32(len(jobs)+len(room)+k)), append(entries, u)
				}
			}
			for _, c := range []count{{row: -1}, {row: o.Row}, {o.Row, o.Units}} {
				if k, ok := counts[c]; ok {
					rows, entries = append(rows, int32(t.countAt)+k), append(entries, 1)
				}
			}
			t.column[n][i] = int32(t.lp.Add(o.Value/t.scale, rows, entries))
			t.owner, t.option = append(t.owner, n), append(t.option, i)
			t.rent = append(t.rent, prices[o.Row]*o.Units)
		}
	}
	t.classify()
	return t
}

// count is how many jobs have options of a row, of so many units; units 0: of any, row -1:
// of any row. Where there are many jobs, shares of single ones say nothing, for others take
// their places; a count is whole whoever they are. A row for each, which says nothing at
// the root, lets cuts be derived from it; nodes are parted by it and by one for the least.
type count struct {
	row   int
	units float64
}

// counts numbers the counts; none if there are few jobs, jobs of ever other sizes, or so many
// options that the rows cost more than they tell.
func (t *tree) counts(keep [][]bool) map[count]int32 {
	if len(t.jobs) <= exactJobs {
		return nil
	}
	list, columns := make(map[count]int32), 0
	for _, j := range t.jobs {
		for i, o := range t.p.Options[j] {
			if !keep[j][i] || o.Units > t.room[o.Row]+roomTol {
				continue
			}
			columns++
			for _, c := range []count{{row: -1}, {row: o.Row}, {o.Row, o.Units}} {
				if _, seen := list[c]; !seen {
					list[c] = int32(len(list))
				}
			}
		}
	}
	if len(list) > countsMost || columns > cutColumns {
		return nil
	}
	return list
}

// rounded is a capacity row divided by the units of an option and rounded down, which
// holds for whole choices (Chvátal and Gomory): Σ ⌊units/by⌋·x ≤ bound.
type rounded struct {
	row       int
	by, bound float64
}

// divide lists the rounded rows that say more than the rows they come from. With units
// that divide each other, as 1, 2, 4 and 8 do, they are all that a row has to say by itself.
func (t *tree) divide(keep [][]bool) []rounded {
	var list []rounded
	for row, room := range t.room {
		var units []float64
		for _, j := range t.jobs {
			for i, o := range t.p.Options[j] {
				if keep[j][i] && o.Row == row && o.Units <= room+roomTol {
					units = append(units, o.Units)
				}
			}
		}
		slices.Sort(units)
		for _, u := range slices.Compact(units) {
			times := (room + roomTol) / u
			if bound := math.Floor(times + roomTol); times-bound > 1e-6 {
				list = append(list, rounded{row, u, bound})
			}
		}
	}
	return list
}

// run searches until the tree is exhausted, the gap closed or the nodes used up. It
// returns the bound that is proved.
func (t *tree) run() float64 {
	t.s = linear.NewSimplex(t.lp)
	if t.start != nil {
		x := make([]float64, t.lp.Columns())
		for c, n := range t.owner {
			x[c] = t.start[t.jobs[n]][t.option[c]]
		}
		t.s.Start(x)
	}
	if t.s.Primal(dualStart) != linear.Optimal {
		return math.Inf(1)
	}
	t.strengthen(t.cutRounds)
	proved := t.prove()
	if !t.beaten(proved.bound) && t.finish(&proved, labelFirst) {
		return max(t.best, t.lost)
	}
	return t.search(proved.bound)
}

// search branches on the program as it stands, of which bound is one.
func (t *tree) search(bound float64) float64 {
	if !t.restate(t.least(), t.struck()) {
		return max(t.best, t.lost, bound)
	}
	t.leastAt = len(t.lp.Bound) - t.countRows
	t.pivots = -t.s.Iteration // the root's do not count
	t.open = queue[*node]{&node{bound: bound, basis: t.s.Basis()}}
	order := 0
	for len(t.open) > 0 {
		n := heap.Pop(&t.open).(*node)
		if t.beaten(n.bound) {
			return max(t.best, n.bound, t.lost)
		}
		// Dive from the best node; what is not taken waits.
		for n != nil {
			if t.nodes >= t.limit || t.pivots+t.s.Iteration >= pivotsPerNode*t.limit {
				heap.Push(&t.open, n)
				return max(t.best, t.open[0].bound, t.lost)
			}
			left, right := t.expand(n)
			n = nil
			for _, child := range []*node{left, right} {
				if child == nil {
					continue
				}
				child.order = order
				order++
				if n == nil {
					n = child
				} else {
					heap.Push(&t.open, child)
				}
			}
		}
	}
	return max(t.best, t.lost)
}

// finish looks by labels for a better choice under the program as it stands, at the
// losses that its prices tell, and reports whether that came to an end within the work.
func (t *tree) finish(q *proof, work int) bool {
	own := &Problem{Options: make([][]Option, len(t.jobs)), Capacity: t.room}
	r := relaxation{bound: q.bound, prices: make([]float64, len(t.room)), worth: q.worth}
	keep := make([][]bool, len(t.jobs))
	r.losses = make([][]float64, len(t.jobs))
	for row := range r.prices {
		r.prices[row] = max(0, t.s.Price(len(t.jobs)+row)) * t.scale
	}
	for n, j := range t.jobs {
		own.Options[n] = t.p.Options[j]
		keep[n], r.losses[n] = make([]bool, len(own.Options[n])), make([]float64, len(own.Options[n]))
		for i, c := range t.column[n] {
			if c >= 0 && !t.s.Fixed(int(c)) {
				keep[n][i], r.losses[n][i] = true, q.worth[n]-q.earn[c]
			}
		}
	}
	limit := r.bound - t.best - t.gap
	l := newLabels(own, &r, keep, limit)
	if l == nil {
		return false
	}
	done, choice := l.run(limit, t.best, work)
	if choice != nil {
		t.take(choice)
	}
	if done {
		t.leave(r.bound - l.least)
	}
	return done
}

// beaten reports whether a bound cannot lead to a better choice.
func (t *tree) beaten(bound float64) bool {
	return bound <= t.best+t.gap
}

// apply sets the bounds of a node.
func (t *tree) apply(cuts []cut, counts []span) {
	for k := range t.countRows {
		most, least := t.countAt+k, t.leastAt+k
		s := span{0, float64(len(t.jobs))}
		if counts != nil {
			s = counts[k]
		}
		if t.lp.Bound[most] != s.high || t.lp.Bound[least] != -s.low {
			t.s.SetBound(most, s.high)
			t.s.SetBound(least, -s.low)
		}
	}
	for _, c := range t.applied {
		t.hold(c, false)
	}
	for _, c := range cuts {
		t.hold(c, true)
	}
	t.applied = cuts
}

func (t *tree) hold(c cut, held bool) {
	if c >= 0 {
		t.s.Fix(int(c), held)
	} else {
		t.s.HoldRow(int(^c), held)
	}
}

// expand solves a node and returns its children, the one to dive into first.
func (t *tree) expand(n *node) (first, second *node) {
	t.nodes++
	t.apply(n.cuts, n.count)
	if len(t.here) == 0 || &t.here[0] != &n.basis[0] { // a child that is dived into is there already
		t.s.SetBasis(n.basis)
	}
	t.here = nil
	t.s.Cutoff((t.best + t.gap) / t.scale)
	status := t.s.Dual(nodePivots)
	if status != linear.Optimal && status != linear.Infeasible {
		status = t.s.Primal(nodePivots) // rounding: solve it from where it stands
	}
	proved := t.prove()
	bound := min(n.bound, proved.bound)
	switch {
	case status == linear.Infeasible && !t.s.CutOff():
		return nil, nil
	case status != linear.Optimal || t.beaten(bound):
		t.leave(bound)
		return nil, nil
	}
	first, second, whole := t.split(n, bound)
	if whole {
		t.take(t.alike.whole(len(t.jobs), t.share))
		t.leave(bound)
		return nil, nil
	}
	t.take(t.fill())
	if t.beaten(bound) {
		t.leave(bound)
		return nil, nil
	}
	if t.finish(&proved, labelNode) {
		return nil, nil
	}
	return first, second
}

// leave takes note of the bound of a node that is not looked at further.
func (t *tree) leave(bound float64) { t.lost = max(t.lost, bound) }

// split parts in two the ways in which the jobs of one class can be served. It is nil if
// all counts of classes are whole.
func (t *tree) split(n *node, bound float64) (first, second *node, whole bool) {
	if first, second = t.divideCounts(n, bound); first != nil {
		return first, second, false
	}
	class, k, at, below := t.alike.part(t.share)
	if class < 0 {
		return nil, nil, true
	}
	jobs, order := t.alike.classes[class], t.alike.order[class]
	low, high := slices.Clone(n.cuts), slices.Clone(n.cuts)
	for _, j := range jobs[k:] {
		for _, i := range order[at:] {
			low = append(low, cut(t.column[j][i]))
		}
	}
	for _, j := range jobs[:k+1] {
		high = append(high, cut(^int32(j)))
		for _, i := range order[1:at] {
			high = append(high, cut(t.column[j][i]))
		}
	}
	basis := t.s.Basis()
	t.here = basis
	a := &node{cuts: unique(low), count: n.count, bound: bound, basis: basis}
	b := &node{cuts: unique(high), count: n.count, bound: bound, basis: basis}
	if below {
		return a, b, false
	}
	return b, a, false
}

// divideCounts parts a node by the count that is nearest to half; nil if all are whole.
func (t *tree) divideCounts(n *node, bound float64) (first, second *node) {
	at, nearest, value := -1, 0.5-countTol, 0.0
	for k := range t.countRows {
		v := t.lp.Bound[t.countAt+k] - t.s.Slack(t.countAt+k)
		if d := math.Abs(v - math.Floor(v) - 0.5); d < nearest {
			at, nearest, value = k, d, v
		}
	}
	if at < 0 {
		return nil, nil
	}
	basis := t.s.Basis()
	t.here = basis
	low, high := &node{cuts: n.cuts, bound: bound, basis: basis}, &node{cuts: n.cuts, bound: bound, basis: basis}
	for _, child := range []*node{low, high} {
		if child.count = slices.Clone(n.count); child.count == nil {
			for range t.countRows {
				child.count = append(child.count, span{0, float64(len(t.jobs))})
			}
		}
	}
	low.count[at].high, high.count[at].low = math.Floor(value), math.Floor(value)+1
	if value-math.Floor(value) <= 0.5 {
		return low, high
	}
	return high, low
}

// share is that of option i of job n at the present point.
func (t *tree) share(n, i int) float64 { return t.s.Value(int(t.column[n][i])) }

// classify finds the jobs whose columns are alike.
func (t *tree) classify() {
	t.alike = newAlike(len(t.jobs),
		func(n int) []Option { return t.p.Options[t.jobs[n]] },
		func(n, i int) bool { return t.column[n][i] >= 0 },
		func(n, i int) float64 { return t.rent[t.column[n][i]] })
}

// unique drops cuts that are there already.
func unique(cuts []cut) []cut {
	seen := make(map[cut]bool, len(cuts))
	return slices.DeleteFunc(cuts, func(c cut) bool {
		was := seen[c]
		seen[c] = true
		return was
	})
}
