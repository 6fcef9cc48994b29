package planner

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/provider"
)

// Seat is where a solution puts one job.
type Seat struct {
	Column  *Column
	Stays   bool
	Bought  bool // on at least one machine that is not up yet
	Gain    float64
	Machine []MachineRef
}

// Layout is a solution in the terms of a plan: machines in their order, and the
// seat of every job (Column nil: it waits).
type Layout struct {
	Machines []PlannedMachine
	Seats    []Seat
	Releases []Release
	Burn     pricing.Rate
}

// Layout lists the machines of the solution, kept ones in the order of the
// problem, then bought ones by offering and by the first job on them.
func (s Solution) Layout() Layout {
	k, p := s.packing, s.packing.pr.Problem
	onBin := make([][]int, len(k.bins))
	for i := range k.seats {
		if k.seats[i].column >= 0 {
			for _, b := range k.seats[i].bins {
				onBin[b] = append(onBin[b], i)
			}
		}
	}
	var l Layout
	refs := make([]MachineRef, len(k.bins))
	add := func(b int, id provider.InstanceID, o provider.Offering, rate pricing.Rate) {
		m := PlannedMachine{Instance: id, Offering: o, Rate: rate}
		for _, i := range onBin[b] {
			m.Jobs = append(m.Jobs, Share{Job: k.pr.Jobs[i].State.Job.ID, Accelerators: k.column(i).PerNode})
		}
		refs[b] = MachineRef(len(l.Machines))
		l.Machines = append(l.Machines, m)
		l.Burn += rate
	}
	binOf := make([]int, len(p.Machines))
	for i := range binOf {
		binOf[i] = -1
	}
	var bought []int
	for b := range k.bins {
		if m := k.bins[b].machine; m >= 0 {
			binOf[m] = b
		} else if k.bins[b].jobs > 0 {
			bought = append(bought, b)
		}
	}
	for i := range p.Machines {
		m := &p.Machines[i]
		b := binOf[i]
		switch {
		case m.Leaving:
			l.Burn += m.Rate
		case b < 0: // not in the problem's offers: left as it is
			l.Machines = append(l.Machines, PlannedMachine{Instance: m.ID, Offering: m.Offering, Rate: m.Rate, Reason: "its offering is not known: left alone"})
			l.Burn += m.Rate
		case k.bins[b].jobs > 0:
			add(b, m.ID, m.Offering, m.Rate)
		case k.bins[b].held:
			add(b, m.ID, m.Offering, m.Rate)
			last := &l.Machines[len(l.Machines)-1]
			last.Reason = "idle, kept to the end of its minimum run time at " + m.HoldTo.UTC().Format(time.TimeOnly)
		default:
			r := Release{Instance: m.ID, Offering: m.Offering, Reason: "no job gains as much on it as its " + m.Rate.String() + " USD/h"}
			if !m.HoldTo.IsZero() {
				r.Clock = HoldClock
			}
			l.Releases = append(l.Releases, r)
		}
	}
	slices.SortFunc(bought, func(a, b int) int {
		return cmp.Or(p.Offers[k.bins[a].offer].Offering.Compare(p.Offers[k.bins[b].offer].Offering), cmp.Compare(onBin[a][0], onBin[b][0]), cmp.Compare(a, b))
	})
	for _, b := range bought {
		o := &p.Offers[k.bins[b].offer]
		add(b, "", o.Offering, o.Rate)
	}
	l.Seats = make([]Seat, len(k.seats))
	for i := range k.seats {
		s := &k.seats[i]
		if s.column < 0 {
			continue
		}
		seat := Seat{Column: k.column(i), Stays: s.stays}
		for _, b := range s.bins {
			seat.Machine = append(seat.Machine, refs[b])
			seat.Bought = seat.Bought || !k.ready(&k.bins[b])
		}
		l.Seats[i] = seat
	}
	return l
}

// column is the column of a seated job.
func (k *packing) column(i int) *Column { return &k.pr.Jobs[i].Columns[k.seats[i].column] }

// Waits reports whether the solution leaves job i without machines.
func (s Solution) Waits(i int) bool { return s.packing.seats[i].column < 0 }

// Column is what the solution gives job i; nil: it waits.
func (s Solution) Column(i int) *Column {
	if s.Waits(i) {
		return nil
	}
	return s.packing.column(i)
}

// UsedUp reports whether the solution leaves no machines for column c of job i: those
// of its offer are all taken, or the quota that they count against is, or there is
// too little on demand beside them.
func (s Solution) UsedUp(i int, c *Column) bool {
	k := s.packing
	if k.tooMuchSpot(i, c) {
		return true
	}
	o := &k.pr.Problem.Offers[c.Offer]
	bought := 0
	if slot := k.pr.slot[c.Offer]; slot >= 0 {
		bought = k.bought[slot]
	}
	row := k.pr.quotaOf[c.Offer]
	used := o.Cap >= 0 && bought+c.Nodes > o.Cap || row >= 0 && c.Nodes*k.pr.Problem.Quotas[row].Unit.Use(o.Type) > k.quota[row]
	k.pr.short = k.pr.short || used
	return used
}

// Roomy reports whether nothing that was looked at, from the columns of the program to this
// solution and what was asked of it, lacked room in a cap, a quota, a row or a supply: with
// more of it all would have gone the same way.
func (s Solution) Roomy() bool { return !s.packing.pr.short }

// CouldStart says what keeps a waiting job of the solution from its best column:
// the row that binds. It is "" when nothing binds and its worth is too small.
func (s Solution) CouldStart(i int) string {
	binds, _ := s.binds(i)
	return binds
}

// LacksShare is the row on the part of spot that keeps a waiting job of the solution from
// its best column; nil: another binds, or none.
func (s Solution) LacksShare(i int) *Row {
	_, row := s.binds(i)
	return row
}

// binds names what keeps a job from its best column, and the row when it is one of spot.
func (s Solution) binds(i int) (binds string, spot *Row) {
	k := s.packing
	d := &k.pr.Jobs[i]
	most := tieSlack
	for c := range d.Columns {
		col := &d.Columns[c]
		gain := col.Bought - k.pr.times*col.Alone - k.tollOf(i, col, bought(col.Nodes))
		if gain <= most {
			continue
		}
		o := &k.pr.Problem.Offers[col.Offer]
		need := k.rate[col.Offer] * float64(col.Nodes)
		var share *Row
		switch row := k.pr.quotaOf[col.Offer]; {
		case o.Blocked != "":
			continue
		case o.Cap >= 0 && k.bought[k.pr.slot[col.Offer]]+col.Nodes > o.Cap:
			binds = "supply of " + o.Offering.String()
		case row >= 0 && col.Nodes*k.pr.Problem.Quotas[row].Unit.Use(o.Type) > k.quota[row]:
			binds = quotaName(k.pr.Problem.Quotas[row])
		case k.rowInTheWay(i, col) != nil:
			r := k.rowInTheWay(i, col)
			if binds = strings.TrimSpace(r.Word + " " + r.Name); r.ofSpot() {
				share = r
			}
		case !k.withinCap(need):
			binds = "burn cap " + k.pr.Problem.BurnCap.String() + " USD/h"
		default:
			binds = ""
		}
		most, spot = gain, share
	}
	return binds, spot
}
