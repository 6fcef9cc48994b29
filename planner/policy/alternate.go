package policy

import (
	"slices"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/provider"
)

// alternates are the other zones of a seat's offering where job i would be worth as
// much but for planner.AlternateSlack, without its prize and the rates of whole machines taken off, and where
// the rows hold too; none when it holds one of its machines already.
func alternates(p *planner.Problem, rows *planner.Elsewhere, i int, prize float64, seat *planner.Seat, full []planner.Column, machines []planner.PlannedMachine) []provider.Offering {
	c := seat.Column
	planned := &p.Offers[c.Offer]
	if seat.Stays || planned.Offering.Reservation != "" || slices.ContainsFunc(seat.Machine, func(ref planner.MachineRef) bool { return machines[ref].Instance != "" }) {
		return nil
	}
	net := func(x *planner.Column) float64 { return x.Bought - (1+p.Mu())*x.Alone }
	least := net(c) - planner.AlternateSlack*(c.Bought-prize)
	var near []*planner.Column
	for n := range full {
		x := &full[n]
		o := &p.Offers[x.Offer]
		elsewhere := o.Offering
		elsewhere.Zone = planned.Offering.Zone
		if x.Offer == c.Offer || elsewhere != planned.Offering || x.Nodes != c.Nodes || x.PerNode != c.PerNode {
			continue
		}
		if o.Blocked == "" && (o.Cap < 0 || o.Cap >= c.Nodes) && net(x) >= least {
			near = append(near, x)
		}
	}
	slices.SortFunc(near, func(a, b *planner.Column) int {
		return p.Offers[a.Offer].Offering.Compare(p.Offers[b.Offer].Offering)
	})
	var list []provider.Offering
	for _, x := range rows.Admits(i, c, near) {
		list = append(list, p.Offers[x.Offer].Offering)
	}
	return list
}
