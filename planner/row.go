package planner

import (
	"fmt"
	"math"
	"slices"

	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/provider"
)

// RowKind says what a Row bounds.
type RowKind uint8

const (
	BurnRow      RowKind = iota + 1 // the rates of machines
	SpotRow                         // the part of spot in the rates of machines, at most
	LeastSpotRow                    // and at least
)

// Row bounds what is held at once, beside quotas and the burn cap: the rates of the
// machines that a team's jobs run on, each by the accelerators that they bear of it
// (pricing.Bear), or the part of spot in what a team, or everything, burns. So what nobody
// has of a machine is borne by those who are on it, as the guard and the ledger count: else
// a large machine that is half empty would look cheap to a team. What is held already may be
// over a row, and what runs may come to bear more as others leave: a plan then does not
// add to it.
type Row struct {
	Name string // as people know it
	Word string // what it is; "": a limit of the settings
	Kind RowKind
	Team string       // ""; all that is held, idle machines too
	Most pricing.Rate // of a burn row
	Part float64      // of a spot row, in [0, 1]

	// Swing is by which part of its rate a spot machine counts more in a burn row: its
	// price may rise to that on demand before it could be stopped.
	Swing float64

	// Spare leaves out of a spot row the job that takes most of it. A job is all on spot or
	// not at all, so one alone, or a few, may meet no share between a least and a most.
	Spare bool

	// Over narrows down what counts: machines of an offering or, OfJobs, what a job has
	// of them. Nil: everything. The job is nil where OfJobs is false.
	Over   func(j *Job, o provider.Offering) bool
	OfJobs bool
}

// ofJobs reports whether the parts count that jobs have of machines, and not whole
// machines.
func (r *Row) ofJobs() bool { return r.Team != "" || r.OfJobs }

// counts reports whether the part that a job has of a machine counts.
func (r *Row) counts(j *Job, o *Offer) bool {
	return r.ofJobs() && (r.Team == "" || r.Team == j.Team) && (r.Over == nil || r.Over(j, o.Offering))
}

// bearsIdle reports whether the row counts the parts of jobs with what nobody has of
// their machines.
func (r *Row) bearsIdle() bool { return r.ofJobs() && r.Kind == BurnRow }

// whole reports whether machines of an offering count as a whole.
func (r *Row) whole(o provider.Offering) bool {
	return !r.ofJobs() && (r.Over == nil || r.Over(nil, o))
}

// answer is what a row has said of a part; the zero value: it was not asked.
type answer uint8

const (
	yes answer = iota + 1
	no
)

// counts reports whether what a job has of a machine of an offer counts for row n.
func (pr *Program) counts(n, job, offer int) bool {
	r := &pr.Problem.Rows[n]
	if !r.ofJobs() || r.Over == nil {
		return r.counts(pr.Jobs[job].State.Job, &pr.Problem.Offers[offer])
	}
	a := pr.answer(n, job, offer)
	if *a == 0 {
		*a = no
		if r.counts(pr.Jobs[job].State.Job, &pr.Problem.Offers[offer]) {
			*a = yes
		}
	}
	return *a == yes
}

// whole reports whether machines of an offer count as a whole for row n.
func (pr *Program) whole(n, offer int) bool {
	r := &pr.Problem.Rows[n]
	if r.ofJobs() || r.Over == nil {
		return !r.ofJobs()
	}
	a := pr.answer(n, len(pr.Jobs), offer)
	if *a == 0 {
		*a = no
		if r.whole(pr.Problem.Offers[offer].Offering) {
			*a = yes
		}
	}
	return *a == yes
}

// answer is where the answer of row n is kept: a search asks for it millions of times.
func (pr *Program) answer(n, job, offer int) *answer {
	if pr.counted == nil {
		pr.counted = make([][]answer, len(pr.Problem.Rows))
	}
	if pr.counted[n] == nil {
		pr.counted[n] = make([]answer, (len(pr.Jobs)+1)*len(pr.Problem.Offers))
	}
	return &pr.counted[n][job*len(pr.Problem.Offers)+offer]
}

// ofSpot reports whether the row bounds the part of spot.
func (r *Row) ofSpot() bool { return r.Kind == SpotRow || r.Kind == LeastSpotRow }

// Check reports what is wrong with a row.
func (r *Row) Check() error {
	switch {
	case r.Kind == BurnRow && r.Spare:
		return fmt.Errorf("row %s: it is a burn cap, which leaves nobody out", r.Name)
	case !(r.Swing >= 0) || math.IsInf(r.Swing, 1) || r.Swing > 0 && r.Kind != BurnRow:
		return fmt.Errorf("row %s: a swing of %g is no part from 0 on of the rates of a burn cap", r.Name, r.Swing)
	case r.Kind == BurnRow && r.Most >= 0, r.ofSpot() && r.Part >= 0 && r.Part <= 1:
		return nil
	case r.Kind == BurnRow:
		return fmt.Errorf("row %s: %s USD/h is below 0", r.Name, r.Most)
	case r.ofSpot():
		return fmt.Errorf("row %s: a part of %g is not between 0 and 1", r.Name, r.Part)
	}
	return fmt.Errorf("row %s: it bounds nothing", r.Name)
}

// most is what the takes of a row may sum to, USD/h.
func (r *Row) most() float64 {
	if r.ofSpot() {
		return 0
	}
	return r.Most.Dollars()
}

// take is what a machine of the market at rate USD/h takes of the row: on demand it
// makes room for spot, and spot for it where there must be so much of spot.
func (r *Row) take(market provider.Market, rate float64) float64 {
	switch {
	case r.Kind == BurnRow && market == provider.Spot:
		return rate * (1 + r.Swing)
	case r.Kind == BurnRow:
		return rate
	case (market == provider.Spot) == (r.Kind == SpotRow):
		return r.other() * rate
	}
	return -(1 - r.other()) * rate
}

// other is the part that is left for the other kind of market.
func (r *Row) other() float64 {
	if r.Kind == SpotRow {
		return 1 - r.Part
	}
	return r.Part
}

// idleNow is by how much the jobs that run pass each row now since they bear what nobody
// has of their machines, as others have left: they may stay. USD/h.
func (pr *Program) idleNow() []float64 {
	p := pr.Problem
	if !slices.ContainsFunc(p.Rows, func(r Row) bool { return r.bearsIdle() }) {
		return nil
	}
	machine := make(map[provider.InstanceID]int, len(p.Machines))
	for m := range p.Machines {
		machine[p.Machines[m].ID] = m
	}
	on := make([][]tenant, len(p.Machines))
	for i := range pr.Jobs {
		if d := &pr.Jobs[i]; d.Current >= 0 {
			for _, id := range d.State.Running.Machines {
				on[machine[id]] = pr.with(nil, on[machine[id]], tenant{job: i, perNode: d.Columns[d.Current].PerNode})
			}
		}
	}
	sums, own := make([]float64, len(p.Rows)), make([]float64, len(p.Rows))
	for m, list := range on {
		if len(list) == 0 {
			continue
		}
		o := pr.machineOffer[m]
		for n := range p.Rows {
			if p.Rows[n].bearsIdle() {
				counts := func(job int) bool { return pr.counts(n, job, o) }
				take := p.Rows[n].take(p.Machines[m].Offering.Market, p.Machines[m].Rate.Dollars())
				sums[n] += take * pr.borne(o, list, counts)
				own[n] += take * pr.own(o, list, counts)
			}
		}
	}
	for n := range sums {
		sums[n] = min(sums[n]-own[n], max(sums[n]-p.Rows[n].most(), 0))
	}
	return sums
}

// spared bounds what a row may leave out: the most that any job takes on any column.
func (pr *Program) spared(n int) float64 {
	most := 0.0
	if !pr.Problem.Rows[n].Spare {
		return most
	}
	for i := range pr.Jobs {
		for c := range pr.Jobs[i].Columns {
			col := &pr.Jobs[i].Columns[c]
			if !pr.counts(n, i, col.Offer) && !pr.whole(n, col.Offer) {
				continue
			}
			o := &pr.Problem.Offers[col.Offer]
			rate := o.Rate
			for m, of := range pr.machineOffer {
				if of == col.Offer {
					rate = max(rate, pr.Problem.Machines[m].Rate)
				}
			}
			most = max(most, pr.Problem.Rows[n].take(o.Offering.Market, rate.Dollars())*float64(col.Nodes))
		}
	}
	return most
}
