package whole

import (
	"cmp"
	"maps"
	"math"
	"slices"
)

// Settings of the search as a whole.
const (
	exactJobs    = 60     // programs of no more jobs are proved
	exactColumns = 1500   // as are those with no more options left after striking
	exactNodes   = 20_000 // nodes for a proof unless Limits say otherwise
	areaNodes    = 60     // nodes for a neighbourhood
	areaLoss     = 0.15   // part of the gap that one option of a neighbourhood may lose
	areaCuts     = 3      // rounds of cuts there
	areaVictims  = 10     // jobs in one that lose most
	areaSlice    = 40     // and that are near a change, from each of three rows
	areaRows     = 2      // rows in turn beside the one that wastes most
	areaDeep     = 200    // jobs of a row that are ever tried
	areaRounds   = 16     // neighbourhoods without gain before it ends
	defaultGap   = 1e-9   // proof asked for
)

// Solve maximises p, which must pass Check.
func Solve(p *Problem, l Limits) Result {
	if err := p.Check(); err != nil {
		panic(err)
	}
	if l.Gap <= 0 {
		l.Gap = defaultGap
	}
	if l.Nodes <= 0 {
		l.Nodes = exactNodes
	}
	keep := p.useful()
	r := p.relax(keep)
	res := Result{Choice: p.round(&r, keep), Bound: r.bound, Prices: r.prices}
	res.Value = p.value(res.Choice)
	gap := func() float64 { return distance(res.Bound, res.Value) }
	left := r.strike(p, keep, res.Value)
	if gap() > l.Gap && (len(p.Options) > exactJobs && left > exactColumns) {
		p.neighbourhoods(&r, keep, &res, l)
		left = r.strike(p, keep, res.Value)
	}
	if gap() > l.Gap && (len(p.Options) <= exactJobs || left <= exactColumns) {
		p.prove(&r, keep, &res, l)
	}
	res.Bound = max(res.Bound, res.Value)
	res.Gap = gap()
	res.Proved = res.Gap <= l.Gap
	return res
}

// distance is the relative distance of bound and value.
func distance(bound, value float64) float64 {
	if bound <= value {
		return 0
	}
	return (bound - value) / max(math.Abs(bound), math.Abs(value))
}

// prove branches on the whole program.
func (p *Problem) prove(r *relaxation, keep [][]bool, res *Result, l Limits) {
	jobs := make([]int, len(p.Options))
	for j := range jobs {
		jobs[j] = j
	}
	t := newTree(p, jobs, keep, p.Capacity, r.prices, res.Value, l.Nodes-res.Nodes, l.Gap/2)
	t.cutRounds = cutRounds
	bound := t.run()
	res.Nodes += t.nodes
	if t.found {
		res.Choice, res.Value = t.choice, t.best
	}
	res.Bound = min(res.Bound, bound)
}

// neighbourhoods improves the choice by branching over a few jobs at a time: those
// that lose most by the choice, and those that could fill or leave, at little loss, the
// rows whose unused room loses most; a different slice of them each time.
func (p *Problem) neighbourhoods(r *relaxation, keep [][]bool, res *Result, l Limits) {
	idle := 0
	var near [][]int
	for start := 0; idle < areaRounds && res.Nodes < l.Nodes && distance(res.Bound, res.Value) > l.Gap; {
		if near == nil {
			near = p.near(r, keep, res.Choice)
		}
		if p.improve(r, keep, res, p.area(r, near, start, res.Choice), l) {
			idle, near = 0, nil
			continue // the same slice again: what was found may open more
		}
		idle++
		start++
	}
}

// near lists for each row the jobs that could change to another option of it, or from
// one, in order of the loss that this adds.
func (p *Problem) near(r *relaxation, keep [][]bool, choice []int) [][]int {
	type change struct {
		j    int
		loss float64
	}
	rows := make([][]change, len(p.Capacity))
	least := make([]float64, len(p.Capacity))
	for j, list := range p.Options {
		for row := range least {
			least[row] = math.Inf(1)
		}
		now := r.loss(p, j, choice[j])
		away := r.worth[j] - now // to nothing
		for i, o := range list {
			if !keep[j][i] || i == choice[j] {
				continue
			}
			d := r.loss(p, j, i) - now
			least[o.Row] = min(least[o.Row], d)
			away = min(away, d)
		}
		if c := choice[j]; c >= 0 {
			least[list[c].Row] = min(least[list[c].Row], away)
		}
		for row, d := range least {
			if !math.IsInf(d, 1) {
				rows[row] = append(rows[row], change{j, d})
			}
		}
	}
	near := make([][]int, len(rows))
	for row, list := range rows {
		slices.SortFunc(list, func(a, b change) int { return cmp.Or(cmp.Compare(a.loss, b.loss), cmp.Compare(a.j, b.j)) })
		for _, c := range list[:min(len(list), areaDeep)] {
			near[row] = append(near[row], c.j)
		}
	}
	return near
}

// area picks the jobs of one neighbourhood.
func (p *Problem) area(r *relaxation, near [][]int, start int, choice []int) []int {
	left := p.left(choice)
	rows := make([]int, len(left))
	victims := make([]int, len(choice))
	for row := range rows {
		rows[row] = row
	}
	for j := range victims {
		victims[j] = j
	}
	waste := func(row int) float64 { return left[row] * r.prices[row] }
	slices.SortStableFunc(rows, func(a, b int) int { return cmp.Compare(waste(b), waste(a)) })
	loss := make([]float64, len(choice))
	for j := range loss {
		loss[j] = r.loss(p, j, choice[j])
	}
	slices.SortStableFunc(victims, func(a, b int) int { return cmp.Compare(loss[b], loss[a]) })
	in := make(map[int]bool)
	for _, j := range victims[:min(areaVictims, len(victims))] {
		in[j] = true
	}
	// The dearest waste always, two other rows in turn.
	pick := []int{rows[0]}
	for i := range areaRows {
		pick = append(pick, rows[(1+2*start+i)%len(rows)])
	}
	for n, row := range pick {
		from := 0
		if len(near[row]) > areaSlice {
			from = (start / max(1, len(rows)/2) * areaSlice / 2) % (len(near[row]) - areaSlice)
		}
		if n == 0 && len(near[row]) > areaSlice {
			from = (start * areaSlice / 2) % (len(near[row]) - areaSlice)
		}
		for _, j := range near[row][from:min(from+areaSlice, len(near[row]))] {
			in[j] = true
		}
	}
	return slices.Sorted(maps.Keys(in))
}

// improve branches over the given jobs in the room that the others leave.
func (p *Problem) improve(r *relaxation, keep [][]bool, res *Result, jobs []int, l Limits) bool {
	room := p.left(res.Choice)
	before := 0.0
	for _, j := range jobs {
		if c := res.Choice[j]; c >= 0 {
			o := p.Options[j][c]
			room[o.Row] += o.Units
			before += o.Value
		}
	}
	for i := range room {
		room[i] = max(0, room[i])
	}
	// A choice near the bound is made of options that lose little each: the few of these
	// leave the search room for more jobs.
	most := areaLoss * (res.Bound - res.Value)
	part := make([][]bool, len(p.Options))
	for _, j := range jobs {
		part[j] = make([]bool, len(keep[j]))
		for i, k := range keep[j] {
			part[j][i] = k && (i == res.Choice[j] || r.loss(p, j, i) <= most)
		}
	}
	t := newTree(p, jobs, part, room, r.prices, before, min(areaNodes, l.Nodes-res.Nodes), l.Gap*0.1)
	t.cutRounds = areaCuts
	t.run()
	res.Nodes += t.nodes
	if !t.found {
		return false
	}
	for n, j := range jobs {
		res.Choice[j] = t.choice[n]
	}
	value := p.value(res.Choice)
	better := value > res.Value
	res.Value = value
	return better
}
