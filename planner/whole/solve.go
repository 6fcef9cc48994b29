package whole

import "math"

// Settings of the search as a whole.
const (
	exactJobs    = 60    // programs of no more jobs are proved
	exactColumns = 1500  // as are those with no more options left after striking
	exactNodes   = 6_000 // nodes for a proof unless Limits say otherwise
	defaultGap   = 1e-9  // proof asked for
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
	enough := l.Gap * max(math.Abs(r.bound+p.Offset), 1e-300)
	gap := func() float64 { return distance(res.Bound+p.Offset, res.Value+p.Offset) }
	x := newExchange(p, &r, keep, res.Choice)
	small := len(p.Options) <= exactJobs
	if small {
		x.groupwise(1, enough)
	} else {
		x.run(enough)
	}
	res.Value = p.value(res.Choice)
	left := r.strike(p, keep, res.Value)
	if gap() > l.Gap && p.label(&r, keep, &res, l, labelFirst) {
		left = 0
	}
	if gap() > l.Gap && left > 0 && (small || left <= exactColumns) {
		p.prove(&r, keep, &res, l)
	}
	if gap() > l.Gap && left > 0 {
		p.label(&r, keep, &res, l, labelWork)
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
	within := l.Gap / 2 * math.Abs(res.Value+p.Offset)
	t := newTree(p, jobs, keep, p.Capacity, r.prices, res.Value, l.Nodes-res.Nodes, within)
	t.cutRounds = cutRounds
	bound := t.run()
	res.Nodes += t.nodes
	if t.found {
		res.Choice, res.Value = t.choice, t.best
	}
	res.Bound = min(res.Bound, bound)
}
