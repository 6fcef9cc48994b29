package planner

import (
	"cmp"
	"slices"
)

// proof searches the whole program: it seats one job after the other in every way
// that the bound does not rule out.
type proof struct {
	pr    *Program
	r     *relaxation
	order []int // jobs in turn
	turn  []int // of each job

	columns [][]int       // of each job, those that are not ruled out
	tail    [][][]float64 // of each class: what the jobs from a turn on earn on free accelerators
	rest    []float64     // of each turn: the prices of the jobs from there on
	best    *packing
	slack   float64 // a plan must be better by this
	nodes   int     // left
	open    float64 // the largest bound of what was not looked at
}

// prove improves best until it is the optimum of the program, or nodes run out. It
// returns the best plan and a value that none passes. slack is what a plan must be
// better by to be taken, and enough the gap at which it ends.
func (pr *Program) prove(best *packing, slack, enough float64, nodes int, lim Limits) (*packing, Bound) {
	r := pr.relax()
	bound := r.solve(best, best.value()+enough)
	pr.short = pr.short || r.pressed()
	if bound <= best.value()+enough {
		return best, Bound{Value: max(bound, best.value()), Kind: "proved"}
	}
	best = r.recall(best)
	near := r.dive(newPacking(pr), lim.Exchanges)
	least := near.leastOver(best, slack)
	if near.value() > best.value()+least/2 {
		near = near.kick(lim.Kicks)
		near.improve(lim.Passes)
	}
	if near.value() > best.value()+near.leastOver(best, slack) {
		best = near
	}
	best = r.reopen(best, slack, enough, lim.Exchanges)
	if nodes <= 0 {
		return best, Bound{Value: max(bound, best.value()), Kind: "lp"}
	}
	if newPacking(pr).leastOver(best, slack) < slack {
		slack = tieSlack // nobody could be moved
	}
	best = r.rule(best, slack)
	p := &proof{pr: pr, r: r, best: best, slack: slack, nodes: nodes}
	p.prepare()
	start := newPacking(pr)
	start.lax = true
	p.open = p.best.value()
	p.seat(start, 0)
	proved := Bound{Value: min(bound, max(p.open, p.best.value()+slack)), Kind: "proved"}
	if p.nodes <= 0 {
		proved.Kind = "lp"
	} else if slack <= tieSlack {
		proved.Value = p.best.value()
	}
	proved.Value = max(proved.Value, p.best.value())
	return p.best, proved
}

// prepare orders the jobs, those with the largest gangs first, and takes stock of
// what the bounds of parts of plans need.
func (p *proof) prepare() {
	pr, r := p.pr, p.r
	p.turn = make([]int, len(pr.Jobs))
	for i := range pr.Jobs {
		p.order = append(p.order, i)
	}
	large := func(i int) int {
		most := 0
		for c := range pr.Jobs[i].Columns {
			most = max(most, pr.Jobs[i].Columns[c].Replicas())
		}
		return most
	}
	slices.SortStableFunc(p.order, func(a, b int) int {
		return cmp.Or(cmp.Compare(large(b), large(a)), cmp.Compare(r.price[b], r.price[a]))
	})
	for t, i := range p.order {
		p.turn[i] = t
	}
	p.rest = make([]float64, len(p.order)+1)
	for t := len(p.order) - 1; t >= 0; t-- {
		p.rest[t] = p.rest[t+1] + r.price[p.order[t]]
	}
	p.columns = make([][]int, len(pr.Jobs))
	p.tail = make([][][]float64, len(r.classes))
	for c := range r.classes {
		k := &r.classes[c]
		for _, o := range k.options {
			if !slices.Contains(p.columns[o.job], o.column) {
				p.columns[o.job] = append(p.columns[o.job], o.column)
			}
		}
		p.tail[c] = k.tail(p.order, p.turn, r.price)
	}
	for i := range p.columns {
		slices.Sort(p.columns[i])
	}
}

// limit is what no way of seating the jobs from turn t on beside those of k passes.
func (p *proof) limit(k *packing, t int) float64 {
	r := p.r
	v := k.value() + k.toll + p.rest[t] // who comes yet may take what is idle
	for b := range k.bins {
		if bin := &k.bins[b]; bin.jobs > 0 {
			if c := r.classOf(bin); c >= 0 {
				v += p.tail[c][t][bin.free]
			}
		}
	}
	r.couplings(k, r.duals, func(row int, left float64) { v += r.duals[row] * left })
	return v
}

func (r *relaxation) classOf(b *bin) int {
	if b.machine >= 0 {
		return r.ofMachine[b.machine]
	}
	return r.ofOffer[b.offer]
}

// seat tries every way of seating the jobs from turn t on.
func (p *proof) seat(k *packing, t int) {
	if t == len(p.order) {
		if k.value() > p.best.value()+p.slack && k.rowsHold() {
			p.best = k.clone()
			p.best.lax = false
		}
		return
	}
	i := p.order[t]
	type way struct {
		proposal
		limit float64
	}
	var ways []way
	look := func(prop proposal, some bool) {
		if some {
			k.seatAt(i, prop)
		}
		if l := p.limit(k, t+1); l > p.best.value()+p.slack {
			ways = append(ways, way{prop, l})
		}
		if some {
			k.unseat(i)
		}
	}
	look(proposal{}, false)
	ways = slices.Grow(ways, 8)
	for _, c := range p.columns[i] {
		p.ways(k, i, c, func(prop proposal) { look(prop, true) })
	}
	// The likeliest first; ties in the order of the columns.
	slices.SortStableFunc(ways, func(a, b way) int { return cmp.Compare(b.limit, a.limit) })
	for n := range ways {
		w := &ways[n]
		if w.limit <= p.best.value()+p.slack {
			return
		}
		p.nodes--
		if p.nodes <= 0 {
			p.open = max(p.open, w.limit)
			return
		}
		if w.bins == nil {
			p.seat(k, t+1)
			continue
		}
		k.seatAt(i, w.proposal)
		p.seat(k, t+1)
		k.unseat(i)
	}
}

// ways calls visit with every set of machines that column c of job i could run on,
// machines that are alike but for their name once.
func (p *proof) ways(k *packing, i, c int, visit func(proposal)) {
	d := &p.pr.Jobs[i]
	col := &d.Columns[c]
	var room []int
	for _, b := range k.binsOf(col.Offer) {
		if bin := &k.bins[b]; (bin.machine >= 0 || bin.jobs > 0) && k.fits(bin, d.State.Job, col) {
			room = append(room, b)
		}
	}
	sold := k.mayBuy(col.Offer, 1)
	var pick func(from int, bins []int)
	pick = func(from int, bins []int) {
		lacks := col.Nodes - len(bins)
		if !sold && len(room)-from < lacks {
			return
		}
		if lacks == 0 {
			if prop, ok := k.proposeAt(i, c, slices.Clone(bins)); ok {
				visit(prop)
			}
			return
		}
		var few [4]int
		seen := few[:0] // classes of empty machines that were tried here
		for at := from; at < len(room); at++ {
			b := room[at]
			if bin := &k.bins[b]; bin.jobs == 0 {
				class := p.r.classOf(bin)
				if slices.Contains(seen, class) {
					continue
				}
				seen = append(seen, class)
			}
			pick(at+1, append(bins[:len(bins):len(bins)], b))
		}
		if !sold || !k.mayBuy(col.Offer, lacks) {
			return
		}
		more := slices.Clone(bins)
		for len(more) < col.Nodes {
			more = append(more, -1)
		}
		if prop, ok := k.proposeAt(i, c, more); ok {
			visit(prop)
		}
	}
	pick(0, nil)
}

// proposeAt seats job i in column c on the given bins, −1 for each to be bought.
func (k *packing) proposeAt(i, c int, bins []int) (proposal, bool) {
	d := &k.pr.Jobs[i]
	col := &d.Columns[c]
	p := proposal{seat: seat{column: c, worth: col.Here}}
	p.bins = make([]int, 0, len(bins))
	own := 0
	for _, b := range bins {
		if d.State.Shares && k.bars(d, b) {
			return proposal{}, false
		}
		if b < 0 {
			k.buy(&p, col)
			continue
		}
		bin := &k.bins[b]
		if !k.ready(bin) {
			p.worth = col.Bought
		}
		if c == d.Current && bin.machine >= 0 && slices.Contains(d.State.Running.Machines, k.pr.Problem.Machines[bin.machine].ID) {
			own++
		}
		k.use(&p, b)
	}
	if c == d.Current && own == col.Nodes {
		p.worth, p.stays = col.Stay, true
	} else if d.stays() {
		return proposal{}, false
	}
	p.spend += k.tollOf(i, col, p.bins)
	if p.buys > 0 && !k.mayBuy(col.Offer, p.buys) || !k.allows(i, &p) {
		return proposal{}, false
	}
	return p, true
}
