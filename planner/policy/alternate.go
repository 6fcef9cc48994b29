package policy

import (
	"slices"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/provider"
)

// alternates are the other zones of a seat's offering where the job would be worth as
// much but for planner.AlternateSlack, the rates of whole machines taken off; none when
// it holds one of its machines already.
func alternates(p *planner.Problem, seat *planner.Seat, full []planner.Column, machines []planner.PlannedMachine) []provider.Offering {
	c := seat.Column
	planned := &p.Offers[c.Offer]
	if seat.Stays || planned.Offering.Reservation != "" || slices.ContainsFunc(seat.Machine, func(ref planner.MachineRef) bool { return machines[ref].Instance != "" }) {
		return nil
	}
	net := func(x *planner.Column) float64 { return x.Bought - (1+p.Mu())*x.Alone }
	least := net(c) - planner.AlternateSlack*c.Bought
	var list []provider.Offering
	for i := range full {
		x := &full[i]
		o := &p.Offers[x.Offer]
		elsewhere := o.Offering
		elsewhere.Zone = planned.Offering.Zone
		if x.Offer == c.Offer || elsewhere != planned.Offering || x.Nodes != c.Nodes || x.PerNode != c.PerNode {
			continue
		}
		if o.Blocked == "" && (o.Cap < 0 || o.Cap >= c.Nodes) && net(x) >= least {
			list = append(list, o.Offering)
		}
	}
	slices.SortFunc(list, provider.Offering.Compare)
	return list
}
