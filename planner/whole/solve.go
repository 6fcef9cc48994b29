package whole

import "math"

// Settings of the search as a whole.
const (
	exactJobs    = 60      // programs of no more jobs are proved without exchanges
	exactColumns = 200_000 // options left after striking up to which others are branched on
	exactNodes   = 6_000   // nodes for a proof unless Limits say otherwise
	defaultGap   = 1e-9    // proof asked for
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
	small := len(p.Options) <= exactJobs
	newExchange(p, &r, keep, res.Choice).groupwise(1, enough)
	res.Value = p.value(res.Choice)
	if !small && gap() > l.Gap {
		p.kernel(&r, keep, &res, l, kernelColumns)
	}
	left := r.strike(p, keep, res.Value)
	if gap() > l.Gap && p.label(&r, keep, &res, l, labelFirst) {
		left = 0
	}
	if gap() > l.Gap && left > 0 && left <= exactColumns {
		p.prove(&r, keep, &res, l)
	}
	if gap() > l.Gap && left > 0 && !small {
		newExchange(p, &r, keep, res.Choice).run(enough)
		res.Value = p.value(res.Choice)
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
	nodes := l.Nodes // a node costs about as the square of the jobs
	if n := float64(exactJobs) / float64(len(jobs)); n < 1 {
		nodes = int(n * n * float64(nodes))
	}
	t := newTree(p, jobs, keep, p.Capacity, r.prices, res.Value, nodes-res.Nodes, within)
	t.cutRounds, t.start = cutRounds, r.x
	bound := t.run()
	res.Nodes += t.nodes
	if t.found {
		res.Choice, res.Value = t.choice, t.best
	}
	res.Bound = min(res.Bound, bound)
}
