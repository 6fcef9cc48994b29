package planner

import "slices"

// proposal is a way to seat a job: the bins, the worth there and what is spent more.
type proposal struct {
	seat
	spend, burn float64
	buys        int
}

// gain is what a proposal adds to the value.
func (p *proposal) gain() float64 { return p.worth - p.spend }

// propose finds the cheapest seat of job i in column c. scratch holds the bins of
// the answer until the next call.
func (k *packing) propose(i, c int, scratch []int) (proposal, bool) {
	if c == k.pr.Jobs[i].Current {
		if p, ok := k.proposeStay(i, c, scratch); ok {
			return p, true
		}
	}
	return k.proposeNew(i, c, scratch)
}

// proposeStay seats job i on the machines that it holds.
func (k *packing) proposeStay(i, c int, scratch []int) (proposal, bool) {
	d := &k.pr.Jobs[i]
	col := &d.Columns[c]
	p := proposal{seat: seat{column: c, stays: true, worth: col.Stay, bins: scratch[:0]}}
	for _, id := range d.State.Running.Machines {
		at := slices.IndexFunc(k.binsOf(col.Offer), func(b int) bool {
			m := k.bins[b].machine
			return m >= 0 && k.pr.Problem.Machines[m].ID == id
		})
		if at < 0 {
			return proposal{}, false
		}
		b := k.binsOf(col.Offer)[at]
		if !k.fits(&k.bins[b], d.State.Job, col) {
			return proposal{}, false
		}
		k.use(&p, b)
	}
	p.spend += k.tollOf(i, col, p.bins)
	return p, k.allows(i, &p)
}

// proposeNew seats job i on any machines: the fullest that still have room, then
// idle ones that we hold, then bought ones.
func (k *packing) proposeNew(i, c int, scratch []int) (proposal, bool) {
	d := &k.pr.Jobs[i]
	if d.stays() {
		return proposal{}, false
	}
	col := &d.Columns[c]
	p := proposal{seat: seat{column: c, worth: col.Here, bins: scratch[:0]}}
	for range col.Nodes {
		best, bestRank, bestFree := -1, 0, 0
		for _, b := range k.binsOf(col.Offer) {
			if slices.Contains(p.bins, b) {
				continue
			}
			bin := &k.bins[b]
			if !k.fits(bin, d.State.Job, col) {
				continue
			}
			rank := k.rankOf(bin)
			if rank == 0 || k.bars(d, b) {
				continue
			}
			if best < 0 || rank < bestRank || rank == bestRank && bin.free < bestFree {
				best, bestRank, bestFree = b, rank, bin.free
			}
		}
		if best < 0 {
			if k.bars(d, -1) || !k.mayBuy(col.Offer, p.buys+1) {
				return proposal{}, false
			}
			k.buy(&p, col)
			continue
		}
		if !k.ready(&k.bins[best]) {
			p.worth = col.Bought
		}
		k.use(&p, best)
	}
	p.spend += k.tollOf(i, col, p.bins)
	return p, k.allows(i, &p)
}

// ready reports whether a bin is a machine that is up, rather than one on its way.
func (k *packing) ready(b *bin) bool {
	return b.machine >= 0 && !k.pr.Problem.Machines[b.machine].ReadyAt.After(k.pr.Problem.Now)
}

// rankOf orders bins by what using them costs: 1 shared, 2 held idle, 3 idle;
// 0 is a bought bin that nobody needs any more.
func (k *packing) rankOf(b *bin) int {
	switch {
	case b.jobs > 0:
		return 1
	case b.machine < 0:
		return 0
	case b.held:
		return 2
	}
	return 3
}

// use adds bin b to a proposal.
func (k *packing) use(p *proposal, b int) {
	bin := &k.bins[b]
	if bin.jobs == 0 && !bin.held {
		p.spend += k.pr.times * k.binRate(bin)
		p.burn += k.binRate(bin)
	}
	p.bins = append(p.bins, b)
}

// best is the seat of job i that adds most. Equal seats go to the one that it
// holds, then to the earlier column.
func (k *packing) best(i int) (proposal, bool) {
	d := &k.pr.Jobs[i]
	var best proposal
	found := false
	var buffer, keep [8]int
	scratch, kept := buffer[:0], keep[:0]
	for c := range d.Columns {
		if found && k.atMost(&d.Columns[c]) <= best.gain()-tieSlack {
			continue
		}
		p, ok := k.propose(i, c, scratch)
		if !ok {
			continue
		}
		if !found || p.gain() > best.gain()+tieSlack || p.stays && p.gain() > best.gain()-tieSlack {
			kept = append(kept[:0], p.bins...)
			best, found = p, true
			best.bins = kept
		}
	}
	best.bins = slices.Clone(best.bins)
	return best, found
}

// atMost is what no seat in column c adds more than: its worth, less the rates of its machines
// where there are none that they could be.
func (k *packing) atMost(c *Column) float64 {
	if len(k.binsOf(c.Offer)) == 0 {
		return c.Bought - k.pr.times*k.rate[c.Offer]*float64(c.Nodes) + tieSlack/2 // of rounding
	}
	return max(c.Stay, c.Here, c.Bought)
}

// tieSlack is the difference, USD per hour, below which two seats are equal.
const tieSlack = 1e-9

// buy adds a machine to be bought for column col to a proposal.
func (k *packing) buy(p *proposal, col *Column) {
	p.bins = append(p.bins, -1)
	p.buys++
	p.spend += k.pr.times * k.rate[col.Offer]
	p.burn += k.rate[col.Offer]
	p.worth = col.Bought
}

// bars reports whether a job may not be seated anew on bin b, −1 for one to be bought.
func (k *packing) bars(d *Demand, b int) bool {
	return d.stays() || d.State.Shares && (b < 0 || k.bins[b].machine < 0)
}
