package planner

import (
	"fmt"
	"slices"

	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/provider"
)

// RowKind says what a Row bounds.
type RowKind uint8

const (
	BurnRow RowKind = iota + 1 // the rates of machines
	SpotRow                    // the part of spot in the rates of machines
)

// Row bounds what is held at once, beside quotas and the burn cap: the rates of the
// machines that a team's jobs run on, each by the accelerators that they have of it,
// or the part of spot in what a team, or everything, burns. What is held already may
// be over a row: a plan then does not add to it.
type Row struct {
	Name string // as people know it
	Kind RowKind
	Team string       // ""; all that is held, idle machines too
	Most pricing.Rate // of a burn row
	Part float64      // of a spot row, in [0, 1]
}

// Check reports what is wrong with a row.
func (r *Row) Check() error {
	switch {
	case r.Kind == BurnRow && r.Most >= 0, r.Kind == SpotRow && r.Part >= 0 && r.Part <= 1:
		return nil
	case r.Kind == BurnRow:
		return fmt.Errorf("row %s: %s USD/h is below 0", r.Name, r.Most)
	case r.Kind == SpotRow:
		return fmt.Errorf("row %s: a part of %g is not between 0 and 1", r.Name, r.Part)
	}
	return fmt.Errorf("row %s: it bounds nothing", r.Name)
}

// most is what the takes of a row may sum to, USD/h.
func (r *Row) most() float64 {
	if r.Kind == SpotRow {
		return 0
	}
	return r.Most.Dollars()
}

// take is what a machine of the market at rate USD/h takes of the row: on demand it
// makes room for spot.
func (r *Row) take(market provider.Market, rate float64) float64 {
	switch {
	case r.Kind != SpotRow:
		return rate
	case market == provider.Spot:
		return (1 - r.Part) * rate
	}
	return -r.Part * rate
}

// takeOf is what a bin takes of row n, all of it.
func (k *packing) takeOf(n, b int) float64 {
	bin := &k.bins[b]
	return k.pr.Problem.Rows[n].take(k.pr.Problem.Offers[bin.offer].Offering.Market, k.binRate(bin))
}

// takes calls visit with what job i in column col takes of each row on the given bins,
// −1 for each to be bought.
func (k *packing) takes(i int, col *Column, bins []int, visit func(row int, take float64)) {
	pr := k.pr
	d := &pr.Jobs[i]
	o := &pr.Problem.Offers[col.Offer]
	share := float64(col.PerNode) / float64(o.Type.Count)
	for n := range pr.Problem.Rows {
		r := &pr.Problem.Rows[n]
		if r.Team != "" && r.Team != d.State.Job.Team {
			continue
		}
		sum := 0.0
		for _, b := range bins {
			switch {
			case b < 0 && r.Team == "":
				sum += r.take(o.Offering.Market, k.rate[col.Offer])
			case b < 0:
				sum += share * r.take(o.Offering.Market, k.rate[col.Offer])
			case r.Team != "":
				sum += share * k.takeOf(n, b)
			case k.bins[b].jobs == 0 && !k.bins[b].held:
				sum += k.takeOf(n, b)
			}
		}
		visit(n, sum)
	}
}

// allows reports whether the cap and the rows have room for a proposal.
func (k *packing) allows(i int, p *proposal) bool {
	if !k.withinCap(p.burn) {
		return false
	}
	if len(k.used) == 0 {
		return true
	}
	ok := true
	k.takes(i, &k.pr.Jobs[i].Columns[p.column], p.bins, func(n int, take float64) {
		later := k.lax && k.pr.Problem.Rows[n].Kind == SpotRow
		ok = ok && (later || take <= 0 || k.used[n]+take <= k.most[n]+capSlack)
	})
	return ok
}

// rowsHold reports whether no row is passed.
func (k *packing) rowsHold() bool {
	for n, v := range k.used {
		if v > k.most[n]+capSlack {
			return false
		}
	}
	return true
}

// fillRows sums what a bin takes of the rows over all that is held when it begins
// (sign 1) or ends (−1) to be used.
func (k *packing) fillRows(b int, sign float64) {
	for n := range k.used {
		if k.pr.Problem.Rows[n].Team == "" {
			k.used[n] += sign * k.takeOf(n, b)
		}
	}
}

// fillTeams sums what the seat of job i takes of the rows of its team.
func (k *packing) fillTeams(i int, s *seat, sign float64) {
	if len(k.used) == 0 {
		return
	}
	d := &k.pr.Jobs[i]
	col := &d.Columns[s.column]
	share := float64(col.PerNode) / float64(k.pr.Problem.Offers[col.Offer].Type.Count)
	for n := range k.used {
		if r := &k.pr.Problem.Rows[n]; r.Team != "" && r.Team == d.State.Job.Team {
			for _, b := range s.bins {
				k.used[n] += sign * share * k.takeOf(n, b)
			}
		}
	}
}

// rowInTheWay names the row that has no room for column col of job i on machines that
// would be bought; "" if all have.
func (k *packing) rowInTheWay(i int, col *Column, kinds ...RowKind) string {
	name := ""
	k.takes(i, col, bought(col.Nodes), func(n int, take float64) {
		r := &k.pr.Problem.Rows[n]
		if name == "" && take > 0 && k.used[n]+take > k.most[n]+capSlack && (len(kinds) == 0 || slices.Contains(kinds, r.Kind)) {
			name = r.Name
		}
	})
	return name
}

// tooMuchSpot reports whether a row of spot has no room for column col of job i.
func (k *packing) tooMuchSpot(i int, col *Column) bool {
	return k.rowInTheWay(i, col, SpotRow) != ""
}

// bought is the bins of a gang on nodes machines that would be bought.
func bought(nodes int) []int { return slices.Repeat([]int{-1}, nodes) }
