package planner

import (
	"slices"
	"strings"

	"github.com/goodfleet/goodfleet/pricing"
)

// tenant is a job on a machine, and the accelerators that it has of it.
type tenant struct {
	job, perNode int
	stays        bool // where it is
}

// toll is the price of the budgets of one team, which counts the rates that its jobs
// bear. What they bear of their own accelerators is taken off the worth of columns; what
// they bear of idle ones depends on who else is there, and is counted where jobs sit.
type toll struct {
	team string
	mu   float64
}

// count prepares the counting of what is borne: by whom a row or a budget asks.
func (pr *Program) count() {
	p := pr.Problem
	pr.tolls = pr.tolls[:0:0]
	for i := range p.Jobs {
		team := p.Jobs[i].Job.Team
		if mu := p.MuOf(team); mu > 0 && !slices.ContainsFunc(pr.tolls, func(t toll) bool { return t.team == team }) {
			pr.tolls = append(pr.tolls, toll{team, mu})
		}
	}
	pr.bears = len(pr.tolls) > 0 || slices.ContainsFunc(p.Rows, func(r Row) bool { return r.bearsIdle() })
}

// with appends to dst the tenants on a machine and one more, by the names of their jobs.
func (pr *Program) with(dst, on []tenant, more tenant) []tenant {
	at := len(on)
	for at > 0 && strings.Compare(string(pr.Jobs[on[at-1].job].State.Job.ID), string(pr.Jobs[more.job].State.Job.ID)) > 0 {
		at--
	}
	return append(append(append(dst, on[:at]...), more), on[at:]...)
}

// without are the tenants on a machine but one job.
func without(on []tenant, job int) []tenant {
	rest := make([]tenant, 0, len(on))
	for _, t := range on {
		if t.job != job {
			rest = append(rest, t)
		}
	}
	return rest
}

// borne is the part of a machine of an offer that is borne by those of its tenants who
// count: of their own accelerators and of those that nobody has.
func (pr *Program) borne(offer int, on []tenant, counts func(job int) bool) float64 {
	some := 0
	for _, t := range on {
		if counts(t.job) {
			some++
		}
	}
	switch some {
	case 0:
		return 0
	case len(on):
		return 1
	}
	var room [2][16]int
	held, count, sum := room[0][:0], pr.Problem.Offers[offer].Type.Count, 0
	for _, t := range on {
		held = append(held, t.perNode)
	}
	for n, b := range pricing.Bear(room[1][:0], count, held) {
		if counts(on[n].job) {
			sum += b
		}
	}
	return float64(sum) / float64(count)
}

// entered is 1 if some tenants of a machine count and none of them was there before,
// else 0.
func entered(on []tenant, counts func(job int) bool) int {
	some := 0
	for _, t := range on {
		if counts(t.job) {
			if t.stays {
				return 0
			}
			some = 1
		}
	}
	return some
}

// borneWith is borne with one tenant more.
func (pr *Program) borneWith(offer int, on []tenant, more tenant, counts func(job int) bool) float64 {
	var room [16]tenant
	return pr.borne(offer, pr.with(room[:0], on, more), counts)
}

// own is the part of a machine that those who count have of it themselves.
func (pr *Program) own(offer int, on []tenant, counts func(job int) bool) float64 {
	sum := 0
	for _, t := range on {
		if counts(t.job) {
			sum += t.perNode
		}
	}
	return float64(sum) / float64(pr.Problem.Offers[offer].Type.Count)
}

// tollsOf is what the idle part of a machine of an offer at rate USD/h counts by the
// budgets of the teams on it, beside its rate.
func (pr *Program) tollsOf(offer int, rate float64, on []tenant) float64 {
	sum := 0.0
	if len(on) == 0 {
		return sum
	}
	for _, t := range pr.tolls {
		ours := func(job int) bool { return pr.Jobs[job].State.Job.Team == t.team }
		sum += t.mu * rate * (pr.borne(offer, on, ours) - pr.own(offer, on, ours))
	}
	return sum
}

// tollOf is by how much job i in column col on the given bins, −1 for each to be bought,
// makes the tolls larger, or smaller where it takes what was idle.
func (k *packing) tollOf(i int, col *Column, bins []int) float64 {
	pr := k.pr
	sum := 0.0
	if len(pr.tolls) == 0 {
		return sum
	}
	var room [16]tenant
	for _, b := range bins {
		if b < 0 {
			sum += pr.tollsOf(col.Offer, k.rate[col.Offer], append(room[:0], tenant{job: i, perNode: col.PerNode}))
			continue
		}
		bin := &k.bins[b]
		sum += pr.tollsOf(col.Offer, k.binRate(bin), pr.with(room[:0], bin.tenants, tenant{job: i, perNode: col.PerNode}))
		sum -= pr.tollsOf(col.Offer, k.binRate(bin), bin.tenants)
	}
	return sum
}
