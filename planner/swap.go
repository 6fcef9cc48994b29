package planner

import "slices"

// exchangeAll lets each job, waiting or not, take the room of another, which then
// looks for its own. It tries only pairs that can gain: a job that waits may want
// any room when something is scarce; else the room of the other must be worth more
// than a bought machine, being shared or there already, and such as it can use.
func (k *packing) exchangeAll() bool {
	better := false
	scarce := k.pr.Problem.BurnCap > 0 || len(k.pr.Problem.Quotas) > 0 || len(k.pr.Problem.Rows) > 0 || k.pr.scarce()
	for i := range k.seats {
		if len(k.pr.Jobs[i].Columns) == 0 {
			continue
		}
		for v := range k.seats {
			if v == i || k.seats[v].column < 0 {
				continue
			}
			if !(scarce && k.seats[i].column < 0) && !k.wants(i, v) {
				continue
			}
			if k.exchanges <= 0 {
				return better
			}
			k.exchanges--
			better = k.exchange(i, v) || better
		}
	}
	return better
}

// wants reports whether job v holds room that job i could use and not buy. Of two
// jobs that stay where they are neither gives way: moves are tried for each.
func (k *packing) wants(i, v int) bool {
	s := &k.seats[v]
	if s.stays && k.seats[i].stays {
		return false
	}
	special := slices.ContainsFunc(s.bins, func(b int) bool { return k.bins[b].jobs > 1 || k.bins[b].machine >= 0 })
	if !special {
		return false
	}
	offer := k.column(v).Offer
	return slices.ContainsFunc(k.pr.onOffer[offer], func(w wish) bool { return w.job == i }) || k.seats[v].column >= 0 && k.column(v).Nodes > 1
}

// exchange takes i and v out, seats i where it adds most, or else on v's own
// machine, and then v.
func (k *packing) exchange(i, v int) bool {
	before := k.value()
	room, offer := k.seats[v].bins[0], k.column(v).Offer
	first := k.unseat(i)
	second := k.unseat(v)
	try := func(p proposal, ok bool) bool {
		if !ok || p.gain() <= tieSlack || k.value()+p.gain() <= k.lowest(before, v) {
			return false
		}
		k.seatAt(i, p)
		if q, ok := k.best(v); ok && q.gain() > tieSlack {
			k.seatAt(v, q)
		}
		if k.value() > before+tieSlack && k.rowsHold() {
			return true
		}
		k.unseat(i)
		k.unseat(v)
		return false
	}
	if try(k.best(i)) || try(k.proposeOn(i, offer, room)) {
		return true
	}
	k.putBack(v, second)
	k.putBack(i, first)
	return false
}

// proposeOn is the best seat of job i on bin b alone, a machine of offer.
func (k *packing) proposeOn(i, offer, b int) (proposal, bool) {
	d := &k.pr.Jobs[i]
	var best proposal
	found := false
	if k.bars(d, b) {
		return best, false
	}
	for _, w := range k.pr.onOffer[offer] {
		if w.job != i || !k.fits(&k.bins[b], d.State.Job, &d.Columns[w.column]) {
			continue
		}
		col := &d.Columns[w.column]
		p := proposal{seat: seat{column: w.column, worth: col.Here}}
		if !k.ready(&k.bins[b]) {
			p.worth = col.Bought
		}
		k.use(&p, b)
		p.spend += k.tollOf(i, col, p.bins)
		if k.allows(i, &p) && (!found || p.gain() > best.gain()+tieSlack) {
			best, found = p, true
		}
	}
	return best, found
}

// lowest is the value that an exchange must pass before the seat of v is sought:
// the best that v could still add is the most worth of its columns.
func (k *packing) lowest(before float64, v int) float64 {
	most := 0.0
	for c := range k.pr.Jobs[v].Columns {
		col := &k.pr.Jobs[v].Columns[c]
		most = max(most, col.Stay, col.Here, col.Bought)
	}
	return before - most
}
