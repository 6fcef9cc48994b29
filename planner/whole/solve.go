package whole

import (
	"cmp"
	"math"
	"slices"
)

// Settings of the search as a whole.
const (
	exactJobs    = 60     // programs of no more jobs are proved
	exactColumns = 1500   // as are those with no more options left after striking
	exactNodes   = 20_000 // nodes for a proof unless Limits say otherwise
	areaNodes    = 60     // nodes for a neighbourhood
	areaCuts     = 3      // rounds of cuts there
	areaJobs     = 40     // jobs in one, beside those that the relaxation splits
	areaRounds   = 12     // neighbourhoods without gain before it ends
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
// that the relaxation splits, and of the others those that lose least by a change,
// a different slice of them each time.
func (p *Problem) neighbourhoods(r *relaxation, keep [][]bool, res *Result, l Limits) {
	order := p.restless(r, keep, res.Choice)
	idle := 0
	for start := 0; idle < areaRounds && res.Nodes < l.Nodes && distance(res.Bound, res.Value) > l.Gap; start++ {
		jobs := p.area(r, order, start, res.Choice)
		if len(jobs) == 0 {
			return
		}
		if p.improve(r, keep, res, jobs, l) {
			idle = 0
			order = p.restless(r, keep, res.Choice)
		} else {
			idle++
		}
	}
}

// restless orders the jobs by what the choice loses against the prices, then by how
// little another option would lose.
func (p *Problem) restless(r *relaxation, keep [][]bool, choice []int) []int {
	second := make([]float64, len(p.Options))
	order := make([]int, len(p.Options))
	for j := range order {
		order[j] = j
		second[j] = math.Inf(1)
		for i := -1; i < len(p.Options[j]); i++ {
			if i != choice[j] && (i < 0 || keep[j][i]) {
				second[j] = min(second[j], r.loss(p, j, i))
			}
		}
		second[j] -= r.loss(p, j, choice[j])
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(second[a], second[b]) })
	return order
}

// area picks the jobs of one neighbourhood: the most restless ones always, and a slice
// of the rest.
func (p *Problem) area(r *relaxation, order []int, start int, choice []int) []int {
	core := min(areaJobs, len(order))
	jobs := slices.Clone(order[:core])
	if start > 0 {
		jobs = jobs[:core/2]
		from := core/2 + (start-1)*(areaJobs/2)
		if from >= len(order) {
			return nil
		}
		jobs = append(jobs, order[from:min(from+areaJobs/2, len(order))]...)
	}
	for j := range p.Options {
		if len(jobs) < 2*areaJobs && r.loss(p, j, choice[j]) > 1e-9*max(1, r.worth[j]) && !slices.Contains(jobs, j) {
			jobs = append(jobs, j)
		}
	}
	slices.Sort(jobs)
	return slices.Compact(jobs)
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
	t := newTree(p, jobs, keep, room, r.prices, before, min(areaNodes, l.Nodes-res.Nodes), l.Gap*0.1)
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
