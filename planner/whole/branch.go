package whole

import (
	"cmp"
	"container/heap"
	"math"
	"slices"

	"github.com/goodfleet/goodfleet/planner/linear"
)

// Settings of branch and bound.
const (
	wholeTol   = 1e-7    // a share this near 0 or 1 is whole
	nodePivots = 20_000  // pivots for one node
	dualStart  = 100_000 // and for the root
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
	gap    float64
	nodes  int
	limit  int
	open   nodes

	cutRounds int
	applied   []cut
}

// cut holds one column at zero, or, with column < 0, makes job ^column be served.
type cut int32

// node is a set of cuts, with the bound and basis of its parent.
type node struct {
	cuts  []cut
	bound float64
	basis []int32
	order int
}

// nodes is a heap of open nodes: largest bound first, then the oldest.
type nodes []*node

func (h nodes) Len() int { return len(h) }
func (h nodes) Less(a, b int) bool {
	if h[a].bound != h[b].bound {
		return h[a].bound > h[b].bound
	}
	return h[a].order < h[b].order
}
func (h nodes) Swap(a, b int) { h[a], h[b] = h[b], h[a] }

// Push and Pop serve container/heap.
func (h *nodes) Push(x any) { *h = append(*h, x.(*node)) }

// Pop removes the last entry.
func (h *nodes) Pop() any {
	old := *h
	last := old[len(old)-1]
	*h = old[:len(old)-1]
	return last
}

// newTree states the program of the given jobs in the given room. A choice must be
// worth more than best to count.
func newTree(p *Problem, jobs []int, keep [][]bool, room, prices []float64, best float64, limit int, gap float64) *tree {
	t := &tree{p: p, jobs: jobs, room: room, best: best, limit: limit, gap: gap, scale: 1}
	bound := make([]float64, 0, len(jobs)+len(room))
	for range jobs {
		bound = append(bound, 1)
	}
	bound = append(bound, room...)
	t.lp = linear.NewProgram(bound)
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
			t.column[n][i] = int32(t.lp.Add(o.Value/t.scale, []int32{int32(n), int32(len(jobs) + o.Row)}, []float64{1, o.Units}))
			t.owner, t.option = append(t.owner, n), append(t.option, i)
			t.rent = append(t.rent, prices[o.Row]*o.Units)
		}
	}
	return t
}

// run searches until the tree is exhausted, the gap closed or the nodes used up. It
// returns the bound that is proved.
func (t *tree) run() float64 {
	t.s = linear.NewSimplex(t.lp)
	if t.s.Primal(dualStart) != linear.Optimal {
		return math.Inf(1)
	}
	t.strengthen(t.cutRounds)
	root := &node{bound: t.s.Objective() * t.scale, basis: t.s.Basis()}
	t.open = nodes{root}
	order := 0
	for len(t.open) > 0 {
		n := heap.Pop(&t.open).(*node)
		if t.beaten(n.bound) {
			return max(t.best, n.bound)
		}
		// Dive from the best node; what is not taken waits.
		for n != nil {
			if t.nodes >= t.limit {
				heap.Push(&t.open, n)
				return max(t.best, t.open[0].bound)
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
	return t.best + t.gap*math.Abs(t.best)
}

// beaten reports whether a bound cannot lead to a better choice.
func (t *tree) beaten(bound float64) bool {
	return bound <= t.best+t.gap*math.Abs(t.best)
}

// apply sets the bounds of a node.
func (t *tree) apply(cuts []cut) {
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
	t.apply(n.cuts)
	t.s.SetBasis(n.basis)
	switch t.s.Dual(nodePivots) {
	case linear.Optimal:
	case linear.Infeasible:
		return nil, nil
	default: // rounding: solve it from where it stands
		if s := t.s.Primal(nodePivots); s == linear.Infeasible {
			return nil, nil
		} else if s != linear.Optimal {
			return t.split(n, n.bound, 0)
		}
	}
	bound := min(n.bound, t.s.Objective()*t.scale)
	if t.beaten(bound) {
		return nil, nil
	}
	job := t.fractional()
	if job < 0 {
		t.take(t.whole())
		return nil, nil
	}
	t.take(t.fill())
	if t.beaten(bound) {
		return nil, nil
	}
	return t.split(n, bound, job)
}

// fractional is the job whose shares are farthest from whole; -1 if all are whole.
func (t *tree) fractional() int {
	best, most := -1, wholeTol
	for n := range t.jobs {
		sum := 0.0
		total := 0.0
		for _, c := range t.column[n] {
			if c >= 0 {
				x := t.s.Value(int(c))
				sum += x * (1 - x)
				total += x
			}
		}
		if sum > most {
			best, most = n, sum
		}
	}
	return best
}

// split parts the options of a job in two by rent, none first, where half the share
// lies on either side.
func (t *tree) split(n *node, bound float64, job int) (first, second *node) {
	held := make(map[cut]bool, len(n.cuts))
	for _, c := range n.cuts {
		held[c] = true
	}
	type part struct {
		c int32
		x float64
	}
	total := 0.0
	var parts []part
	for _, c := range t.column[job] {
		if c >= 0 && !held[cut(c)] {
			x := t.s.Value(int(c))
			parts = append(parts, part{c, x})
			total += x
		}
	}
	slices.SortStableFunc(parts, func(a, b part) int { return cmp.Compare(t.rent[a.c], t.rent[b.c]) })
	served := held[cut(^int32(job))]
	if !served {
		parts = slices.Insert(parts, 0, part{-1, max(0, 1-total)})
	}
	if len(parts) < 2 {
		return nil, nil
	}
	// The cut leaves a share of more than nothing on either side, as near half as can be.
	at, nearest, sum := 1, math.Inf(1), 0.0
	lowMass := 0.0
	for i := 1; i < len(parts); i++ {
		sum += parts[i-1].x
		if d := math.Abs(sum - 0.5); d < nearest {
			at, nearest, lowMass = i, d, sum
		}
	}
	low, high := slices.Clone(n.cuts), slices.Clone(n.cuts)
	for i, q := range parts {
		switch {
		case i >= at:
			low = append(low, cut(q.c))
		case q.c >= 0:
			high = append(high, cut(q.c))
		default:
			high = append(high, cut(^int32(job)))
		}
	}
	basis := t.s.Basis()
	a := &node{cuts: low, bound: bound, basis: basis}
	b := &node{cuts: high, bound: bound, basis: basis}
	if lowMass >= 0.5 {
		return a, b
	}
	return b, a
}

// whole reads a point without fractions.
func (t *tree) whole() []int {
	choice := make([]int, len(t.jobs))
	for n := range choice {
		choice[n] = -1
		for i, c := range t.column[n] {
			if c >= 0 && t.s.Value(int(c)) > 0.5 {
				choice[n] = i
			}
		}
	}
	return choice
}

// fill rounds the present point: what is nearly whole, then, in order of share, what fits.
func (t *tree) fill() []int {
	type part struct {
		n, i int
		x, v float64
	}
	var parts []part
	for n, list := range t.column {
		for i, c := range list {
			if c >= 0 {
				if x := t.s.Value(int(c)); x > wholeTol {
					parts = append(parts, part{n, i, x, t.p.Options[t.jobs[n]][i].Value})
				}
			}
		}
	}
	slices.SortStableFunc(parts, func(a, b part) int { return cmp.Or(cmp.Compare(b.x, a.x), cmp.Compare(b.v, a.v)) })
	choice := make([]int, len(t.jobs))
	for n := range choice {
		choice[n] = -1
	}
	left := slices.Clone(t.room)
	place := func(n, i int) {
		if o := t.p.Options[t.jobs[n]][i]; choice[n] < 0 && o.Units <= left[o.Row]+roomTol {
			choice[n] = i
			left[o.Row] -= o.Units
		}
	}
	for _, q := range parts {
		place(q.n, q.i)
	}
	for n, list := range t.column {
		if choice[n] >= 0 {
			continue
		}
		best := -1
		for i, c := range list {
			o := t.p.Options[t.jobs[n]][i]
			if c >= 0 && o.Units <= left[o.Row]+roomTol && (best < 0 || o.Value > t.p.Options[t.jobs[n]][best].Value) {
				best = i
			}
		}
		if best >= 0 {
			place(n, best)
		}
	}
	for n := range choice { // a larger option where room is left
		for i, c := range t.column[n] {
			now := t.p.at(t.jobs[n], choice[n])
			o := t.p.Options[t.jobs[n]][i]
			room := left[o.Row]
			if choice[n] >= 0 && now.Row == o.Row {
				room += now.Units
			}
			if c >= 0 && o.Value > now.Value && o.Units <= room+roomTol {
				if choice[n] >= 0 {
					left[now.Row] += now.Units
				}
				left[o.Row] -= o.Units
				choice[n] = i
			}
		}
	}
	return choice
}

// take keeps a choice that fits and is better.
func (t *tree) take(choice []int) {
	left := slices.Clone(t.room)
	value := 0.0
	for n, i := range choice {
		if i >= 0 {
			o := t.p.Options[t.jobs[n]][i]
			left[o.Row] -= o.Units
			value += o.Value
		}
	}
	for _, l := range left {
		if l < -roomTol {
			return
		}
	}
	if value > t.best {
		t.best, t.choice, t.found = value, choice, true
	}
}
