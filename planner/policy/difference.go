package policy

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/provider"
)

// Difference is what one machine of an offering more or less is worth to a plan,
// in USD per hour, beside its rate. With V(z) the most that the jobs are worth on
// a fleet of machines z whose rates are not counted, and e one machine of the
// offering:
//
//	More = V(z + e) − V(z),   Less = V(z) − V(z − e).
//
// The best plan has More ≤ rate ≤ Less where no cap stands in the way: nothing
// happens while the rate lies between the two. Both hold for one machine; a gang
// of several nodes may gain by two machines what it does not gain by one.
type Difference struct {
	Offering provider.Offering
	Rate     pricing.Rate // of one machine more, as the plan counts it: times 1 + mu of the budgets over all
	Held     int          // machines of it in the plan
	More     float64      // USD/h
	Less     float64      // USD/h; 0 when Held is 0
}

// fixedFor is how long the machines of a fixed fleet are held: longer than any plan.
const fixedFor = 100 * 365 * 24 * time.Hour

// fixed is the problem on the machines of the plan as they are: all are held, cost
// nothing more, and nothing else can be bought.
func (r *Reasons) fixed() planner.Problem {
	p := r.problem
	p.BurnCap, p.Quotas = 1, nil // a nano dollar: whoever searches is told that machines are scarce
	p.Offers = slices.Clone(p.Offers)
	for i := range p.Offers {
		p.Offers[i].Blocked = "the fleet is taken as it is planned"
	}
	p.Machines = nil
	known := map[provider.InstanceID]planner.Machine{}
	for _, m := range r.problem.Machines {
		known[m.ID] = m
	}
	for ref, pm := range r.Plan.Machines {
		m, there := known[pm.Instance]
		if !there {
			m = r.onTheWay(fmt.Sprintf("planned/%d", ref), pm.Offering)
		}
		m.Rate, m.HoldTo = 0, p.Now.Add(fixedFor)
		p.Machines = append(p.Machines, m)
	}
	return p
}

// onTheWay is a machine that was bought this moment.
func (r *Reasons) onTheWay(id string, o provider.Offering) planner.Machine {
	m := planner.Machine{ID: provider.InstanceID(id), Offering: o, HoldTo: r.problem.Now.Add(fixedFor)}
	if at, ok := r.offer(o); ok {
		// Ready after now, whatever its boot takes: a start there is one on a bought machine.
		m.ReadyAt = r.problem.Now.Add(max(r.problem.Offers[at].Boot, time.Nanosecond))
	}
	return m
}

// offer finds the offer of an offering in the problem.
func (r *Reasons) offer(o provider.Offering) (int, bool) {
	i := slices.IndexFunc(r.problem.Offers, func(x planner.Offer) bool { return x.Offering == o })
	return i, i >= 0
}

// asPlanned is V(z) as the plan has it: its value, and the rates that were taken
// off for its machines.
func (r *Reasons) asPlanned() float64 {
	held := map[provider.InstanceID]bool{}
	for _, m := range r.problem.Machines {
		held[m.ID] = m.HoldTo.After(r.problem.Now) || m.Leaving
	}
	v := r.Plan.Value
	for _, m := range r.Plan.Machines {
		if _, there := r.offer(m.Offering); there && !held[m.Instance] {
			v += (1 + r.problem.Mu()) * m.Rate.Dollars()
		}
	}
	return v
}

// Machine tells what one machine of an offering more or less would be worth.
// instance names the machine that would go; "" takes the one that is missed least.
// It fails on an offering that the problem does not have.
func (r *Reasons) Machine(o provider.Offering, instance provider.InstanceID) (Difference, error) {
	at, ok := r.offer(o)
	if !ok {
		return Difference{}, fmt.Errorf("the plan knows no offering %s", o)
	}
	d := Difference{Offering: o, Rate: pricing.RateOf((1 + r.problem.Mu()) * r.problem.Offers[at].Rate.Dollars())}
	p := r.fixed()
	sol, err := r.solve(&p)
	if err != nil {
		return d, err
	}
	now := max(sol.Value, r.asPlanned())

	more := p
	more.Machines = append(slices.Clone(p.Machines), r.onTheWay("one-more", o))
	if sol, err = r.solve(&more); err != nil {
		return d, err
	}
	d.More = max(0, sol.Value-now) // a machine that may stand idle takes nothing away

	least, tried := math.Inf(1), map[string]bool{}
	for m := range p.Machines {
		if p.Machines[m].Offering != o {
			continue
		}
		d.Held++
		if instance != "" && p.Machines[m].ID != instance {
			continue
		}
		// Machines of one offering that carry alike and are as ready are missed alike.
		load := fmt.Sprint(r.Plan.Machines[m].Jobs, p.Machines[m].ReadyAt.After(p.Now))
		if tried[load] {
			continue
		}
		tried[load] = true
		fewer := p
		fewer.Machines = slices.Delete(slices.Clone(p.Machines), m, m+1)
		if sol, err = r.solve(&fewer); err != nil {
			return d, err
		}
		least = min(least, max(0, now-sol.Value))
	}
	switch {
	case !math.IsInf(least, 1):
		d.Less = least
	case instance != "":
		return d, fmt.Errorf("the plan holds no machine %s of %s", instance, o)
	}
	return d, nil
}
