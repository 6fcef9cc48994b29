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
// nothing must beat the improved present one if it moves anything: less is not worth
// the moves.
const Hysteresis = 1e-3

// Solve searches for the best plan. It improves what is held, and a plan made
// from nothing under prices on the burn cap. Where the second moves what stands on
// machines that are there, it is taken only if it is better by Hysteresis of scale (USD
// per hour: what the plan decides on), else if it is better at all. Both are improved
// until no insertion, move, exchange, closing or sharing of a machine helps, or the limit
// of passes. Then a relaxation bounds what any plan is worth, brings back columns that
// are good only under the prices of caps and quotas, and leads to further plans. The
// result does not depend on anything but the program.
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
	pr.short = pr.short || mu > 0
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
		if fresh.value() > present.value()+fresh.leastOver(present, least) {
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
		sol.packing, sol.Bound = pr.prove(best, least, near, nodes, lim)
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
	pr.idleOf = pr.idleNow()
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
