package whole

import (
	"container/heap"
	"math"
	"slices"

	"github.com/goodfleet/goodfleet/planner/linear"
)

// packed is a node: what is open there, the bound of its parent and the prices that
// proved it.
type packed struct {
	open  [][]bool
	count []span // of jobs served: by all rows, then by each
	bound float64
	price []float64
	order int
}

// span is from low to high.
type span struct{ low, high float64 }

func (n *packed) rank() (float64, int) { return n.bound, n.order }

// pack branches over patterns. It reports whether they could be used at all.
func (p *Problem) pack(r *relaxation, keep [][]bool, res *Result, l Limits) bool {
	t := newPatterns(p, keep, res.Value, l.within(p, res))
	if t == nil {
		return false
	}
	t.start(res.Choice)
	equal := newAlike(len(p.Options),
		func(n int) []Option { return p.Options[n] },
		func(n, i int) bool { return keep[n][i] },
		func(n, i int) float64 { return r.prices[p.Options[n][i].Row] * p.Options[n][i].Units })
	root := &packed{open: t.open, bound: res.Bound, price: make([]float64, t.prices())}
	copy(root.price, r.worth)
	for range 1 + len(t.room) {
		root.count = append(root.count, span{0, float64(len(p.Options))})
	}
	waiting := queue[*packed]{root}
	order := 0
	for len(waiting) > 0 {
		n := heap.Pop(&waiting).(*packed)
		for n != nil {
			if t.beaten(n.bound) {
				t.leave(n.bound)
				break
			}
			if res.Nodes >= l.Nodes {
				heap.Push(&waiting, n)
				t.leave(waiting[0].bound)
				waiting = nil
				break
			}
			res.Nodes++
			x, ok := t.solve(n)
			if !ok {
				break
			}
			share := func(n, i int) float64 { return x[n][i] }
			first, second := n.divide(t.counts(x))
			if first == nil {
				first, second = n.split(&equal, share)
			}
			if first == nil {
				t.take(equal.whole(len(x), share))
				t.leave(n.bound)
				break
			}
			for _, c := range []*packed{first, second} {
				c.order = order
				order++
			}
			n = first
			heap.Push(&waiting, second)
		}
	}
	if t.found {
		if !p.fits(t.choice) {
			return false // values too near to each other to be told apart: nothing was proved
		}
		res.Choice, res.Value = t.choice, p.value(t.choice)
	}
	res.Bound = min(res.Bound, max(t.best, t.lost, r.struck)+p.rounding(res.Bound))
	return true
}

// counts are how many jobs all rows serve, then each.
func (t *patterns) counts(x [][]float64) []float64 {
	list := make([]float64, 1+len(t.room))
	for j := range x {
		for i, v := range x[j] {
			list[0] += v
			list[1+t.p.Options[j][i].Row] += v
		}
	}
	return list
}

// child is a copy of a node.
func (n *packed) child() *packed {
	c := &packed{bound: n.bound, price: n.price, count: slices.Clone(n.count)}
	for _, list := range n.open {
		c.open = append(c.open, slices.Clone(list))
	}
	return c
}

// divide parts a node in two by how many jobs are served; nil if the counts are whole. Where
// all options are worth much the same, as at small powers, that decides most.
func (n *packed) divide(counts []float64) (first, second *packed) {
	at, nearest := -1, 0.5-countTol
	for k, v := range counts {
		if d := math.Abs(v - math.Floor(v) - 0.5); d < nearest {
			at, nearest = k, d
		}
		if at == 0 {
			break // that of all rows comes first
		}
	}
	if at < 0 {
		return nil, nil
	}
	low, high := n.child(), n.child()
	low.count[at].high = math.Floor(counts[at])
	high.count[at].low = math.Floor(counts[at]) + 1
	return high, low
}

// countTol is how near to whole a sum of shares must be to count as whole.
const countTol = 1e-5

// split parts a node in two; nil if the shares are whole.
func (n *packed) split(equal *alike, share func(n, i int) float64) (first, second *packed) {
	class, k, at, below := equal.part(share)
	if class < 0 {
		return nil, nil
	}
	jobs, order := equal.classes[class], equal.order[class]
	low, high := n.child(), n.child()
	for _, j := range jobs[k:] {
		for _, i := range order[at:] {
			low.open[j][i+1] = false
		}
	}
	for _, j := range jobs[:k+1] {
		for _, i := range order[:at] {
			high.open[j][i+1] = false
		}
	}
	if below {
		return low, high
	}
	return high, low
}

// solve makes patterns for a node until its relaxation is solved or proves that there is
// no better choice. It leaves its bound, prices and what is still open at the node, and
// returns the shares of options.
func (t *patterns) solve(n *packed) (x [][]float64, ok bool) {
	t.open, t.count = n.open, n.count
	t.hold()
	jobs := len(t.open)
	here, trial := make([]float64, len(n.price)), make([]float64, len(n.price))
	best := slices.Clone(n.price)
	t.clip(best)
	bound := math.Inf(1)
	smooth := 1.0 // the first prices are those of the parent
	for round := range patternRounds {
		if smooth < 1 || round > 0 {
			if status := t.s.Primal(nodePivots); status != linear.Optimal {
				break
			}
			t.dual(here)
		}
		for j := range trial {
			trial[j] = smooth*best[j] + (1-smooth)*here[j]
		}
		added := false
		earned := 0.0
		sum := t.bound(trial, func(row int, earn float64) {
			q := t.taken(row)
			if round > 0 {
				earned = -t.s.Price(jobs+row) * t.scale
				for _, k := range q.pick {
					earned += t.earn(k.j, k.i, here)
				}
				if earned <= patternEarn*t.most {
					return
				}
			}
			added = t.add(q) || added
		})
		if sum < bound {
			bound = sum
			copy(best, trial)
		}
		if t.beaten(bound) {
			t.leave(bound)
			return nil, false
		}
		if round > 0 && !added && smooth == 0 {
			break
		}
		if round == 0 || (round+1)%patternFix == 0 {
			if t.strike(best) > 0 {
				if !t.hold() {
					return nil, false
				}
			}
		}
		switch {
		case round == 0 || added:
			smooth = patternSmooth
		default:
			smooth = 0
		}
	}
	n.bound, n.price = min(n.bound, bound), best
	if t.strike(best) > 0 {
		if !t.hold() {
			return nil, false
		}
		if t.s.Primal(nodePivots) != linear.Optimal {
			return t.evenly(), true
		}
	}
	x = t.shares()
	t.take(t.rounded(x, best))
	if t.beaten(n.bound) {
		t.leave(n.bound)
		return nil, false
	}
	return x, true
}

// dual reads the prices of the program.
func (t *patterns) dual(price []float64) {
	jobs := len(t.open)
	for j := range jobs {
		price[j] = t.s.Price(j) * t.scale
	}
	for k := range t.count {
		at := jobs + len(t.room) + 2*k
		price[jobs+k] = (t.s.Price(at) - t.s.Price(at+1)) * t.scale
	}
	t.clip(price)
}

// clip makes prices of jobs that may go unserved at least 0.
func (t *patterns) clip(price []float64) {
	for j := range t.served {
		if !t.served[j] {
			price[j] = max(price[j], 0)
		}
	}
}

// hold keeps patterns of closed options out of the program, and jobs in that must be
// served. It reports whether every job has something open.
func (t *patterns) hold() bool {
	for j, list := range t.open {
		if !slices.Contains(list, true) {
			return false
		}
		t.served[j] = !list[0]
		t.s.HoldRow(j, t.served[j])
	}
	for k, c := range t.count {
		at := len(t.open) + len(t.room) + 2*k
		t.s.SetBound(at, c.high)
		t.s.SetBound(at+1, -c.low)
	}
	for c, q := range t.list {
		held := false
		for _, k := range q.pick {
			held = held || !t.open[k.j][k.i+1]
		}
		t.s.Fix(t.extra+c, held)
	}
	return true
}

// shares adds up the patterns of the present point.
func (t *patterns) shares() [][]float64 {
	x := make([][]float64, len(t.open))
	for j, list := range t.open {
		x[j] = make([]float64, len(list)-1)
	}
	for c, q := range t.list {
		if v := t.s.Value(t.extra + c); v > 0 {
			for _, k := range q.pick {
				x[k.j][k.i] += v
			}
		}
	}
	return x
}

// evenly is a point from which to branch where there is no other.
func (t *patterns) evenly() [][]float64 {
	x := make([][]float64, len(t.open))
	for j, list := range t.open {
		x[j] = make([]float64, len(list)-1)
		count := 0
		for _, open := range list {
			if open {
				count++
			}
		}
		for i, open := range list[1:] {
			if open {
				x[j][i] = 1 / float64(count)
			}
		}
	}
	return x
}

// rounded makes a choice of shares.
func (t *patterns) rounded(x [][]float64, price []float64) []int {
	r := relaxation{worth: price, x: x, losses: make([][]float64, len(x))}
	keep := make([][]bool, len(x))
	for j, list := range t.p.Options {
		r.losses[j], keep[j] = make([]float64, len(list)), make([]bool, len(list))
		for i := range list {
			keep[j][i] = t.open[j][i+1]
			r.losses[j][i] = -x[j][i]*t.most - 1e-3*list[i].Value
		}
	}
	return t.p.round(&r, keep)
}

// take keeps a choice that fits and is better.
func (t *patterns) take(choice []int) {
	if v := t.p.value(choice); v > t.best && t.p.fits(choice) {
		t.best, t.choice, t.found = v, choice, true
	}
}
