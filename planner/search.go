package planner

import (
	"cmp"
	"slices"

	"github.com/goodfleet/goodfleet/provider"
)

// Limits bounds a search by counts, never by time.
type Limits struct {
	Passes    int  // sweeps of the local search; 0: 40
	Kicks     int  // tries at taking some jobs out and seating them anew; 0: 40, fewer for many jobs; < 0: none
	NoBound   bool // leave the bound out: for rules, that claim no optimum
	Exchanges int  // pairs of jobs tried for an exchange of room; 0: 300, < 0: none
	Nodes     int  // seats tried by the exact search; 0: 1,000, < 0: none
	Quick     bool // no bound, and no exact search, where the plan stays as it is: for a loop that plans each minute
	Any       bool // take a better plan however little it is better
}

// Solution is a point of a program that can be placed, with the bound that says
// how good it is.
type Solution struct {
	packing *packing
	Value   float64 // USD per hour
	Bound   Bound
	Passes  int
}

// Hysteresis is the share of what a plan decides on by which a plan made from
// nothing must beat the improved present one: less is not worth the moves.
const Hysteresis = 1e-3

// Solve searches for the best plan. It improves what is held, and a plan made
// from nothing under prices on the burn cap, and takes the second only where it
// is better by Hysteresis of scale (USD per hour: what the plan decides on). Both
// are improved until no insertion, move, exchange, closing or sharing of a machine
// helps, or the limit of passes. The result does not depend on anything but the
// program.
func Solve(pr *Program, scale float64, lim Limits) Solution {
	if lim.Passes == 0 {
		lim.Passes = 40
	}
	if lim.Kicks == 0 {
		lim.Kicks = max(8, min(40, 1200/max(1, len(pr.Jobs))))
	}
	if lim.Exchanges == 0 {
		lim.Exchanges = 300
	}
	if lim.Nodes == 0 {
		lim.Nodes = 1000
	}
	pr.index()
	mu := pr.capPrice()
	present := newPacking(pr)
	present.exchanges = lim.Exchanges
	for i := range pr.Jobs {
		if c := pr.Jobs[i].Current; c >= 0 {
			if p, ok := present.proposeStay(i, c, nil); ok {
				present.seatAt(i, p)
			}
		}
	}
	passes, changed := present.improve(lim.Passes)
	best := present
	least := max(Hysteresis*scale, tieSlack)
	if lim.Any {
		least = tieSlack
	}
	if pr.Problem.BurnCap > 0 || len(pr.Problem.Quotas) > 0 || len(pr.Problem.Rows) > 0 || pr.scarce() {
		fresh := newPacking(pr)
		fresh.exchanges = lim.Exchanges
		fresh.fill(mu)
		more, _ := fresh.improve(lim.Passes)
		passes += more
		if fresh.value() > present.value()+least {
			best, changed = fresh, true
		}
	}
	// What is held and cannot be improved step by step stays: only a plan that
	// changes anyway is worth a wider search.
	if changed {
		best = best.kick(lim.Kicks)
		more, _ := best.improve(lim.Passes)
		passes += more
	}
	sol := Solution{packing: best, Passes: passes}
	if !lim.NoBound && (changed || !lim.Quick) {
		near := enough * scale
		if lim.Any {
			near = 0
		}
		nodes := lim.Nodes
		if !pr.small() {
			nodes = 0
		}
		if sol.Bound = pr.bound(mu); sol.Bound.Value <= best.value()+near {
			sol.Bound.Kind = "proved"
		} else {
			var bound Bound
			sol.packing, bound = pr.prove(best, least, near, nodes, lim)
			if bound.Value < sol.Bound.Value {
				sol.Bound = bound
			}
		}
	}
	sol.Value = sol.packing.value()
	sol.Bound.Value = max(sol.Bound.Value, sol.Value)
	return sol
}

// The exact search is for small plans, and ends at this gap.
const (
	exactJobs     = 50
	exactMachines = 40
	enough        = 1e-4
)

// small reports whether the program is one for the exact search.
func (pr *Program) small() bool {
	return len(pr.Jobs) <= exactJobs || len(pr.Problem.Machines) <= exactMachines && len(pr.Jobs) <= 4*exactJobs
}

// index prepares the search, once the columns are final: a slot for each offer
// that a column or a machine is of, and which jobs could share a machine of each.
func (pr *Program) index() {
	p := pr.Problem
	pr.slot, pr.slots = make([]int, len(p.Offers)), 0
	pr.rates = make([]float64, len(p.Offers))
	for i := range pr.slot {
		pr.slot[i] = -1
		pr.rates[i] = p.Offers[i].Rate.Dollars()
	}
	give := func(offer int) {
		if offer >= 0 && pr.slot[offer] < 0 {
			pr.slot[offer] = pr.slots
			pr.slots++
		}
	}
	for _, o := range pr.machineOffer {
		give(o)
	}
	pr.onOffer = make([][]wish, len(p.Offers))
	pr.shared = pr.shared[:0]
	for i := range pr.Jobs {
		for c := range pr.Jobs[i].Columns {
			col := &pr.Jobs[i].Columns[c]
			give(col.Offer)
			if col.Nodes == 1 {
				pr.onOffer[col.Offer] = append(pr.onOffer[col.Offer], wish{job: i, column: c})
			}
		}
	}
	for o, list := range pr.onOffer {
		if len(list) > 1 && p.Offers[o].Type.Count > 1 && p.Offers[o].Type.Kind != provider.TPU {
			pr.shared = append(pr.shared, o)
		}
	}
}

// scarce reports whether some offer has a known limit.
func (pr *Program) scarce() bool {
	return slices.ContainsFunc(pr.Problem.Offers, func(o Offer) bool { return o.Cap > 0 })
}

// fill seats jobs by the best gain per dollar of burn at a price mu on the burn
// cap, best first.
func (k *packing) fill(mu float64) {
	type candidate struct {
		job   int
		score float64
	}
	var order []candidate
	for i := range k.pr.Jobs {
		p, ok := k.best(i)
		if !ok {
			continue
		}
		order = append(order, candidate{i, (p.gain() - mu*p.burn) / max(p.burn, 1e-3)})
	}
	slices.SortStableFunc(order, func(a, b candidate) int { return cmp.Compare(b.score, a.score) })
	for _, c := range order {
		if p, ok := k.bestAt(c.job, mu); ok && p.gain() > tieSlack {
			k.seatAt(c.job, p)
		}
	}
}

// bestAt is best under a price mu on burn.
func (k *packing) bestAt(i int, mu float64) (proposal, bool) {
	d := &k.pr.Jobs[i]
	var best proposal
	found := false
	for c := range d.Columns {
		p, ok := k.propose(i, c, nil)
		if ok && (!found || p.gain()-mu*p.burn > best.gain()-mu*best.burn+tieSlack) {
			best, found = p, true
			best.bins = slices.Clone(p.bins)
		}
	}
	return best, found
}

// improve sweeps until nothing helps. It returns the number of sweeps, and whether
// any changed something.
func (k *packing) improve(most int) (passes int, changed bool) {
	for pass := range most {
		better := k.insertAll()
		better = k.moveAll() || better
		better = k.closeAll() || better
		better = k.shareAll() || better
		if !better { // the dearest step only where the others are at an end
			better = k.exchangeAll()
		}
		if !better {
			return pass + 1, changed
		}
		changed = true
	}
	return most, changed
}

// insertAll seats waiting jobs, those that gain most first. A job's gain is looked
// at again when its turn comes, and all of them once more while any was seated.
func (k *packing) insertAll() bool {
	better := false
	for {
		var order []wish
		for i := range k.seats {
			if k.seats[i].column >= 0 {
				continue
			}
			if p, ok := k.best(i); ok && p.gain() > tieSlack {
				order = append(order, wish{job: i, gain: p.gain()})
			}
		}
		slices.SortStableFunc(order, func(a, b wish) int { return cmp.Compare(b.gain, a.gain) })
		seated := false
		for _, w := range order {
			if p, ok := k.best(w.job); ok && p.gain() > tieSlack {
				k.seatAt(w.job, p)
				seated = true
			}
		}
		if !seated {
			return better
		}
		better = true
	}
}

// moveAll takes each job out and seats it where it adds most.
func (k *packing) moveAll() bool {
	better := false
	for i := range k.seats {
		if k.seats[i].column < 0 {
			continue
		}
		before := k.value()
		back := k.unseat(i)
		p, ok := k.best(i)
		moved := ok && k.value()+p.gain() > before+tieSlack
		if moved {
			k.seatAt(i, p)
		}
		// Left out, it was worth less than its machines. Either may leave too little on
		// demand beside the spot of others.
		if k.value() > before+tieSlack && k.rowsHold() {
			better = true
			continue
		}
		if moved {
			k.unseat(i)
		}
		k.seatAt(i, back)
	}
	return better
}

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

// closeAll empties each shared machine that costs something, if its jobs do better
// elsewhere.
func (k *packing) closeAll() bool {
	better := false
	for b := 0; b < len(k.bins); b++ {
		if k.bins[b].jobs < 2 || k.bins[b].held {
			continue
		}
		trial := k.clone()
		var jobs []int
		for i := range trial.seats {
			if trial.seats[i].column >= 0 && slices.Contains(trial.seats[i].bins, b) {
				jobs = append(jobs, i)
			}
		}
		for _, i := range jobs {
			trial.unseat(i)
		}
		for _, i := range jobs {
			if p, ok := trial.best(i); ok && p.gain() > tieSlack {
				trial.seatAt(i, p)
			}
		}
		if trial.value() > k.value()+tieSlack && trial.rowsHold() {
			*k = *trial
			better = true
		}
	}
	return better
}

// shareAll opens one machine of each offer, or takes an idle one that is held, and
// lets in the jobs that gain by it; it stays if together they gain more than its
// rate.
func (k *packing) shareAll() bool {
	better := false
	for _, o := range k.pr.shared {
		if !k.withinCap(k.rate[o]) {
			continue
		}
		idle := slices.IndexFunc(k.binsOf(o), func(b int) bool {
			return k.bins[b].machine >= 0 && k.bins[b].jobs == 0 && !k.bins[b].held
		})
		if idle < 0 && !k.mayBuy(o, 1) {
			continue
		}
		better = k.shareOn(o, idle) || better
	}
	return better
}

// wish is a job that would rather sit on the machine that is tried.
type wish struct {
	job, column int
	gain        float64 // per accelerator, USD/h
}

// shareOn tries one machine of offer o: the idle-th that is held, or a bought one
// if idle < 0.
func (k *packing) shareOn(o, idle int) bool {
	worth := func(c *Column) float64 {
		if idle >= 0 {
			return c.Here
		}
		return c.Bought
	}
	wishes := k.wishes(o, worth)
	if len(wishes) < 2 {
		return false
	}
	trial := k.clone()
	machine := 0
	if idle >= 0 {
		machine = trial.binsOf(o)[idle]
	} else {
		machine = trial.empty(o)
	}
	trial.occupy(machine) // it stands even before its first job
	moved := make([]bool, len(k.seats))
	count := 0
	for _, w := range wishes {
		d := &trial.pr.Jobs[w.job]
		col := &d.Columns[w.column]
		if moved[w.job] || !trial.fits(&trial.bins[machine], d.State.Job, col) {
			continue
		}
		before := trial.value()
		back := trial.unseat(w.job)
		there := proposal{seat: seat{column: w.column, bins: []int{machine}, worth: worth(col)}}
		if trial.value()+worth(col) > before+tieSlack && trial.allows(w.job, &there) {
			trial.seatAt(w.job, there)
			moved[w.job] = true
			count++
		} else {
			trial.putBack(w.job, back)
		}
	}
	trial.vacate(machine)
	if count == 0 || trial.value() <= k.value()+tieSlack || !trial.rowsHold() && k.rowsHold() {
		return false
	}
	*k = *trial
	return true
}

// wishes lists the jobs that would add more on a machine of offer o than they add
// now, when the machine itself costs nothing, the most per accelerator first.
func (k *packing) wishes(o int, worth func(*Column) float64) []wish {
	var list []wish
	for _, w := range k.pr.onOffer[o] {
		col := &k.pr.Jobs[w.job].Columns[w.column]
		if gain := worth(col) - k.adds(w.job); gain > tieSlack {
			list = append(list, wish{w.job, w.column, gain / float64(col.PerNode)})
		}
	}
	slices.SortStableFunc(list, func(a, b wish) int { return cmp.Compare(b.gain, a.gain) })
	return list
}

// adds is what the value would fall by without job i.
func (k *packing) adds(i int) float64 {
	s := &k.seats[i]
	if s.column < 0 {
		return 0
	}
	v := s.worth
	for _, b := range s.bins {
		if k.bins[b].jobs == 1 && !k.bins[b].held {
			v -= k.pr.times * k.binRate(&k.bins[b])
		}
	}
	return v
}
