package whole

import "math"

// Settings of the search as a whole.
const (
	exactJobs    = 60      // programs of no more jobs are proved without exchanges
	exactColumns = 200_000 // options left after striking up to which others are branched on
	exactNodes   = 6_000   // nodes for a proof unless Limits say otherwise
	defaultGap   = 1e-9    // proof asked for
	gapPart      = 0.9     // of the gap asked for that a proof leaves; the rest is for rounding
	rootTries    = 6       // searches for a better choice at the root
	kernelJobs   = 2000    // jobs up to which a kernel finds more than it costs
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
	if p.Scale > 0 {
		enough = l.Gap * p.Scale
	}
	gap := func() float64 { return p.gap(res.Bound, res.Value) }
	small := len(p.Options) <= exactJobs
	newExchange(p, &r, keep, res.Choice).groupwise(1, enough)
	res.Value = p.value(res.Choice)
	if !small && gap() > l.Gap {
		if len(p.Options) <= kernelJobs {
			p.kernel(&r, keep, &res, l, kernelColumns)
		} else {
			p.exchange(&r, keep, &res, enough)
		}
	}
	within := l.within(p, &res)
	left := r.strike(p, keep, res.Value+within)
	if left == 0 {
		res.Bound = min(res.Bound, max(res.Value, r.struck)+p.rounding(r.bound))
	}
	if gap() > l.Gap {
		p.label(&r, keep, &res, l, labelFirst)
	}
	if gap() > l.Gap && small {
		p.pack(&r, keep, &res, l)
	}
	if gap() > l.Gap && left <= exactColumns {
		p.prove(&r, keep, &res, l)
	}
	if gap() > l.Gap && !small {
		p.exchange(&r, keep, &res, enough)
	}
	if gap() > l.Gap {
		p.label(&r, keep, &res, l, labelWork)
	}
	res.Bound = max(res.Bound, res.Value)
	res.Gap = gap()
	res.Proved = res.Gap <= l.Gap
	return res
}

// exchange betters the choice by exchanges of all kinds.
func (p *Problem) exchange(r *relaxation, keep [][]bool, res *Result, enough float64) {
	newExchange(p, r, keep, res.Choice).run(enough)
	res.Value = p.value(res.Choice)
}

// within is by how much a better choice must exceed the present one to be looked for: a part
// of the gap asked for, wherever between value and bound the best choice lies.
func (l Limits) within(p *Problem, res *Result) float64 {
	if p.Scale > 0 {
		return gapPart * l.Gap * p.Scale
	}
	low, high := res.Value+p.Offset, max(res.Bound, res.Value)+p.Offset
	if low < 0 && high > 0 {
		return 0
	}
	return gapPart * l.Gap * min(math.Abs(low), math.Abs(high))
}

// prove branches on the whole program.
func (p *Problem) prove(r *relaxation, keep [][]bool, res *Result, l Limits) {
	jobs := p.all()
	within := l.within(p, res)
	nodes := l.Nodes // a node costs about as the square of the jobs
	if n := float64(exactJobs) / float64(len(jobs)); n < 1 {
		nodes = int(n * n * float64(nodes))
	}
	t := newTree(p, jobs, keep, p.Capacity, r.prices, res.Value, nodes-res.Nodes, within)
	t.cutRounds, t.tries, t.start = cutRounds, rootTries, r.x
	bound := t.run()
	res.Nodes += t.nodes
	if t.found {
		if !p.fits(t.choice) {
			return // values too near to each other to be told apart: nothing was proved
		}
		res.Choice, res.Value = t.choice, p.value(t.choice)
	}
	res.Bound = min(res.Bound, max(bound, r.struck)+p.rounding(bound))
}
