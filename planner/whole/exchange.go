package whole

import (
	"cmp"
	"math"
	"slices"
)

// Settings of exchanges.
const (
	exchangeJobs = 60        // jobs in one exchange, those of most promise
	exchangeMost = 3_000_000 // states × options tried in one exchange
	exchangeWork = 100_000_000
	exchangePass = 4   // passes over all groups of one size
	exchangeTrio = 8   // rows up to which they are taken in threes
	shortJobs    = 500 // jobs up to which every option that could gain is looked at
)

// exchangeReach is how far the use of a row may move on the way, in units, by the
// number of rows that an exchange looks at together.
var exchangeReach = []int{0, 160, 40, 12}

// exchange improves a choice by looking at few rows together. All jobs that are in them,
// or idle, may change options at once, and others may come in; a dynamic program
// over the units by which the rows' use moves finds the best of all such changes. What
// the bound exceeds the value by is the sum of losses of what is chosen and of rents
// that nobody pays, so that only options that lose less than their rows do now come into
// question: the nearer the bound, the fewer. Rows are taken one by one, then, after chains
// over all of them, in pairs and in threes, the most wasteful first.
type exchange struct {
	p      *Problem
	r      *relaxation
	keep   [][]bool
	choice []int
	left   []float64
	unit   float64 // of all units; 0: they have none
	work   int

	best     []float64 // state → least loss, +Inf
	node     []int32   // state → its last change
	states   []int32   // states reached
	trail    []change
	wasted   []float64 // row → loss of its jobs, as the last list of groups found it
	idle     float64   // loss of the jobs without an option, likewise
	short    [][]option
	shifts   []shift
	position []int // row → its place in the present exchange; -1: not in it
}

// change is one job's new option, after that of node before.
type change struct {
	before int32
	j, i   int32
}

// candidate is one job's options in an exchange; the first is what it has.
type candidate struct {
	j    int
	list []shift
	most float64 // by how much the best of list loses less than the first
}

// shift is one option: what it loses and how far it moves each row.
type shift struct {
	i    int
	by   [3]int32
	loss float64
}

// newExchange starts from a choice, which it changes.
func newExchange(p *Problem, r *relaxation, keep [][]bool, choice []int) *exchange {
	x := &exchange{p: p, r: r, keep: keep, choice: choice, left: p.left(choice), unit: p.unit()}
	states := 1
	for g, reach := range exchangeReach {
		n := 1
		for range g {
			n *= 2*reach + 1
		}
		states = max(states, n)
	}
	x.best, x.node = make([]float64, states), make([]int32, states)
	for i := range x.best {
		x.best[i] = math.Inf(1)
	}
	x.wasted, x.position = make([]float64, len(x.left)), make([]int, len(x.left))
	for row := range x.position {
		x.position[row] = -1
	}
	return x
}

// unit is the largest of which all units are multiples: of whole numbers their greatest
// common divisor, else by trying few parts of the least; 0: none was found.
func (p *Problem) unit() float64 {
	least, common, integral := math.Inf(1), 0.0, true
	for _, list := range p.Options {
		for _, o := range list {
			least = min(least, o.Units)
			for a := o.Units; a >= 1; { // Euclid's, by remainders that are exact
				common, a = a, math.Mod(common, a)
			}
			integral = integral && o.Units == math.Trunc(o.Units)
		}
	}
	if integral && common >= 1 {
		return common
	}
	for _, part := range []float64{1, 2, 3, 4} {
		whole := true
		for _, list := range p.Options {
			for _, o := range list {
				n := o.Units / least * part
				whole = whole && math.Abs(n-math.Round(n)) < roomTol
			}
		}
		if whole {
			return least / part
		}
	}
	return 0
}

// run exchanges until the loss is at most enough or nothing helps.
func (x *exchange) run(enough float64) {
	if x.unit == 0 {
		return
	}
	x.groupwise(1, enough)
	x.sweep(enough)
	if len(x.left) > 1 {
		x.groupwise(2, enough)
	}
	if len(x.left) > 2 && len(x.left) <= exchangeTrio {
		x.groupwise(3, enough)
	}
}

// groupwise tries all groups of so many rows until none of them gains. Without a unit
// there are no states to count in.
func (x *exchange) groupwise(size int, enough float64) {
	if x.unit == 0 {
		return
	}
	for range exchangePass {
		x.shorten()
		improved := false
		for _, rows := range x.groups(size) {
			if x.work >= exchangeWork || x.loss() <= enough {
				return
			}
			if x.try(rows) {
				improved = true
			}
		}
		if !improved {
			return
		}
	}
}

// loss is by how much the bound exceeds the present value.
func (x *exchange) loss() float64 {
	sum := 0.0
	for row, room := range x.left {
		sum += room * x.r.prices[row]
	}
	for j, c := range x.choice {
		sum += x.r.loss(x.p, j, c)
	}
	return sum
}

// groups lists sets of rows, those that waste most together first.
func (x *exchange) groups(size int) [][]int {
	clear(x.wasted)
	x.idle = 0
	for j, c := range x.choice {
		if c >= 0 {
			x.wasted[x.p.Options[j][c].Row] += x.r.loss(x.p, j, c)
		} else {
			x.idle += x.r.worth[j]
		}
	}
	var list [][]int
	pick := make([]int, 0, size)
	var grow func(from int)
	grow = func(from int) {
		if len(pick) == size {
			list = append(list, slices.Clone(pick))
			return
		}
		for row := from; row < len(x.left); row++ {
			if x.p.Capacity[row] > 0 {
				pick = append(pick, row)
				grow(row + 1)
				pick = pick[:len(pick)-1]
			}
		}
	}
	grow(0)
	waste := func(rows []int) float64 {
		sum := 0.0
		for _, row := range rows {
			sum += x.wasted[row] + x.left[row]*x.r.prices[row]
		}
		return sum
	}
	slices.SortStableFunc(list, func(a, b []int) int { return cmp.Compare(waste(b), waste(a)) })
	return list
}

// try makes the best exchange of the rows, and reports whether it gains.
func (x *exchange) try(rows []int) bool {
	room := 0.0 // what the rows lose in room at present
	for n, row := range rows {
		x.position[row] = n
		room += x.left[row] * x.r.prices[row]
	}
	x.shifts = x.shifts[:0]
	jobs, loss := x.candidates(rows, room)
	for _, row := range rows {
		x.position[row] = -1
	}
	least := gainLeast * (1 + math.Abs(x.r.bound))
	now := room + loss
	if now <= least || len(jobs) == 0 {
		return false
	}
	// Least loss first: what is left to try then never helps much, and states stay few.
	reach := exchangeReach[len(rows)]
	width := 2*reach + 1
	start := 0
	scale := [3]int{}
	for n, f := len(rows)-1, 1; n >= 0; n, f = n-1, f*width {
		scale[n] = f
		start += reach * f
	}
	rest := 0.0 // least losses of the jobs still to come
	for _, c := range jobs {
		rest += c.list[0].loss - c.most
	}
	x.states, x.trail = append(x.states[:0], int32(start)), x.trail[:0]
	x.best[start], x.node[start] = 0, -1
	spent := 0
	limit := now - least
	tail := loss // of the jobs not yet looked at
	var here []state
	for _, c := range jobs {
		rest -= c.list[0].loss - c.most
		tail -= c.list[0].loss
		here = here[:0]
		for _, s := range x.states {
			here = append(here, state{s, x.node[s], x.best[s]})
			x.best[s] = math.Inf(1)
		}
		x.states = x.states[:0]
		for _, h := range here {
			var by [3]int
			for n, f := range scale[:len(rows)] {
				by[n] = int(h.at)/f%width - reach
			}
			for k, o := range c.list {
				loss := h.loss + o.loss
				if loss+rest >= limit {
					continue
				}
				to, ok := 0, true
				for n, f := range scale[:len(rows)] {
					d := by[n] + int(o.by[n])
					ok = ok && d >= -reach && d <= reach
					to += (d + reach) * f
				}
				if !ok || loss >= x.best[to] {
					continue
				}
				if math.IsInf(x.best[to], 1) {
					x.states = append(x.states, int32(to))
				}
				x.best[to], x.node[to] = loss, h.node
				if k > 0 {
					x.node[to] = int32(len(x.trail))
					x.trail = append(x.trail, change{h.node, int32(c.j), int32(o.i)})
				}
			}
		}
		spent += len(here) * len(c.list)
		if spent > exchangeMost {
			break // the jobs left keep what they have
		}
		if len(x.states) == 0 {
			break
		}
	}
	x.work += spent + len(x.choice)/4
	return x.take(rows, scale[:len(rows)], tail, limit)
}

// state is a sum of moves on the way, and what it loses.
type state struct {
	at, node int32
	loss     float64
}

// take makes the changes of the best state that fits, if it is worth them.
func (x *exchange) take(rows []int, scale []int, tail, limit float64) bool {
	reach := exchangeReach[len(rows)]
	width := 2*reach + 1
	best, least := int32(-1), limit
	for _, s := range x.states {
		loss := x.best[s] + tail
		x.best[s] = math.Inf(1)
		for n, row := range rows {
			room := x.left[row] - float64(int(s)/scale[n]%width-reach)*x.unit
			if room < -roomTol {
				loss = math.Inf(1)
				break
			}
			loss += room * x.r.prices[row]
		}
		if loss < least {
			best, least = s, loss
		}
	}
	x.states = x.states[:0]
	if best < 0 {
		return false
	}
	for n := x.node[best]; n >= 0; n = x.trail[n].before {
		x.move(int(x.trail[n].j), int(x.trail[n].i))
	}
	return true
}

// move gives job j option i.
func (x *exchange) move(j, i int) {
	if c := x.choice[j]; c >= 0 {
		o := x.p.Options[j][c]
		x.left[o.Row] += o.Units
	}
	if x.choice[j] = i; i >= 0 {
		o := x.p.Options[j][i]
		x.left[o.Row] -= o.Units
	}
}

// candidates lists the jobs that could take part in an exchange of the rows that lose
// now in room, those first that lose most by what they have, and adds up what these lose.
func (x *exchange) candidates(rows []int, now float64) ([]candidate, float64) {
	total := now
	for _, row := range rows {
		total += x.wasted[row]
	}
	total += x.idle
	var jobs []candidate
	losses := 0.0
	for j, c := range x.choice {
		list := x.short[j]
		if len(list) == 0 {
			continue
		}
		first := shift{i: c}
		out := 0.0 // rent that a job from another row would leave unpaid there
		var from [3]int32
		in := true
		if c < 0 {
			first.loss = x.r.worth[j]
		} else {
			o := x.p.Options[j][c]
			if n := x.position[o.Row]; n >= 0 {
				first.loss = x.r.loss(x.p, j, c)
				from[n] = int32(math.Round(o.Units / x.unit))
			} else {
				in = false
				out = o.Units*x.r.prices[o.Row] - x.r.loss(x.p, j, c)
			}
		}
		start := len(x.shifts)
		x.shifts = append(x.shifts, first)
		for _, o := range list {
			if o.loss+out >= total {
				break
			}
			if o.i == c || o.i < 0 && !in {
				continue
			}
			s := shift{i: o.i, loss: o.loss + out}
			for n := range from {
				s.by[n] = -from[n]
			}
			if o.i >= 0 {
				n := x.position[o.row]
				if n < 0 {
					continue
				}
				s.by[n] += o.units
			}
			x.shifts = append(x.shifts, s)
		}
		if len(x.shifts) == start+1 {
			x.shifts = x.shifts[:start]
			continue
		}
		losses += first.loss
		jobs = append(jobs, candidate{j, x.shifts[start:len(x.shifts):len(x.shifts)], max(0, first.loss-x.shifts[start+1].loss)})
	}
	slices.SortStableFunc(jobs, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.most, a.most), cmp.Compare(a.list[1].loss, b.list[1].loss))
	})
	for _, c := range jobs[min(len(jobs), exchangeJobs):] {
		losses -= c.list[0].loss
	}
	return jobs[:min(len(jobs), exchangeJobs)], losses
}

// option is one that might be chosen.
type option struct {
	i, row int
	units  int32
	loss   float64
}

// shorten lists each job's options that lose less than all that is lost at present; in
// large programs, where no change that gains loses so much by one option, than a part.
func (x *exchange) shorten() {
	total := x.loss()
	if part := float64(shortJobs) / float64(len(x.choice)); part < 1 {
		total *= part
	}
	x.short = make([][]option, len(x.choice))
	var all []option
	for j, list := range x.p.Options {
		start := len(all)
		for i := -1; i < len(list); i++ {
			if i >= 0 && !x.keep[j][i] {
				continue
			}
			if loss := x.r.loss(x.p, j, i); loss < total {
				o := option{i: i, row: -1, loss: loss}
				if i >= 0 {
					o.row, o.units = list[i].Row, int32(math.Round(list[i].Units/x.unit))
				}
				all = append(all, o)
			}
		}
		x.short[j] = all[start:len(all):len(all)]
		slices.SortStableFunc(x.short[j], func(a, b option) int { return cmp.Compare(a.loss, b.loss) })
	}
}
