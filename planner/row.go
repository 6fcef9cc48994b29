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

// takeOf is what a bin takes of row n, all of it.
func (k *packing) takeOf(n, b int) float64 {
	bin := &k.bins[b]
	return k.pr.Problem.Rows[n].take(k.pr.Problem.Offers[bin.offer].Offering.Market, k.binRate(bin))
}

// takeOfNew is what a machine to be bought for a column takes of row n, all of it.
func (k *packing) takeOfNew(n int, col *Column) float64 {
	return k.pr.Problem.Rows[n].take(k.pr.Problem.Offers[col.Offer].Offering.Market, k.rate[col.Offer])
}

// takes calls visit with what job i in column col takes of each row on the given bins,
// −1 for each to be bought.
func (k *packing) takes(i int, col *Column, bins []int, visit func(row int, take float64)) {
	pr := k.pr
	o := &pr.Problem.Offers[col.Offer]
	share := float64(col.PerNode) / float64(o.Type.Count)
	for n := range pr.Problem.Rows {
		r := &pr.Problem.Rows[n]
		if r.bearsIdle() {
			if sum, some := k.takesBy(n, i, col, bins); some {
				visit(n, sum)
			}
			continue
		}
		if !pr.counts(n, i, col.Offer) && !pr.whole(n, col.Offer) {
			continue
		}
		sum := 0.0
		for _, b := range bins {
			switch {
			case b < 0 && !r.ofJobs():
				sum += k.takeOfNew(n, col)
			case b < 0:
				sum += share * k.takeOfNew(n, col)
			case r.ofJobs():
				sum += share * k.takeOf(n, b)
			case k.bins[b].jobs == 0 && !k.bins[b].held:
				sum += k.takeOf(n, b)
			}
		}
		visit(n, sum)
	}
}

// takesBy is what job i in column col changes of a row that bears what is idle. One of
// those who do not count may take of it too: he shares what is idle. some is false when
// nobody on the bins counts.
func (k *packing) takesBy(n, i int, col *Column, bins []int) (sum float64, some bool) {
	counts := func(job int) bool { return k.pr.counts(n, job, col.Offer) }
	mine := counts(i)
	for _, b := range bins {
		if b < 0 {
			if mine {
				sum, some = sum+k.takeOfNew(n, col), true
			}
			continue
		}
		before := k.pr.borne(col.Offer, k.bins[b].tenants, counts)
		if mine || before > 0 {
			sum += k.takeOf(n, b) * (k.pr.borneWith(col.Offer, k.bins[b].tenants, tenant{job: i, perNode: col.PerNode}, counts) - before)
			some = true
		}
	}
	return sum, some
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
		r := &k.pr.Problem.Rows[n]
		later := k.lax && (r.ofSpot() || r.bearsIdle()) // who comes yet may make room
		ok = ok && (later || p.stays && k.keepsRoom(n, take) || k.hasRoom(n, take))
	})
	return ok
}

// rowsHold reports whether no row is passed.
func (k *packing) rowsHold() bool {
	for n := range k.used {
		if !k.holds(n, 0) && !k.keepsRoom(n, 0) {
			return false
		}
	}
	return true
}

// keepsRoom reports whether row n holds with what may stay although it passes the row,
// for a job that stays where it is. No machine is entered as long as the row is passed.
func (k *packing) keepsRoom(n int, take float64) bool {
	return k.entered[n] == 0 && k.used[n]+take-k.mayStay(n) <= capSlack
}

// mayStay is what row n may come to as long as no machine is entered, USD/h.
func (k *packing) mayStay(n int) float64 {
	if k.pr.idleOf == nil || k.pr.room.kept {
		return k.most[n]
	}
	return k.most[n] + k.pr.idleOf[n]
}

// hasRoom reports whether a job may take so much more of row n.
func (k *packing) hasRoom(n int, take float64) bool { return take <= 0 || k.holds(n, take) }

// holds reports whether row n holds with a job more that takes so much of it.
func (k *packing) holds(n int, take float64) bool {
	over := k.used[n] + take - k.most[n]
	return over <= capSlack || k.pr.Problem.Rows[n].Spare && over <= max(take, k.largest(n))+capSlack
}

// largest is the most that the machines of one job take of row n, shared ones as a whole
// where the row is about machines.
func (k *packing) largest(n int) float64 {
	most := 0.0
	for i := range k.seats {
		if k.seats[i].column < 0 {
			continue
		}
		col := k.column(i)
		share := 1.0
		switch {
		case k.pr.counts(n, i, col.Offer):
			share = float64(col.PerNode) / float64(k.pr.Problem.Offers[col.Offer].Type.Count)
		case !k.pr.whole(n, col.Offer):
			continue
		}
		take := 0.0
		for _, b := range k.seats[i].bins {
			take += share * k.takeOf(n, b)
		}
		most = max(most, take)
	}
	return most
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

// fillRows sums what a bin takes of the rows over all that is held when it begins
// (sign 1) or ends (−1) to be used.
func (k *packing) fillRows(b int, sign float64) {
	for n := range k.used {
		if k.pr.whole(n, k.bins[b].offer) {
			k.used[n] += sign * k.takeOf(n, b)
			k.parts[n] += sign * k.takeOf(n, b)
		}
	}
}

// fillTeams sums what the seat of job i takes of the rows of jobs and of the budgets of
// teams, as it begins (sign 1) or ends (−1) to sit there.
func (k *packing) fillTeams(i int, s *seat, sign float64) {
	pr := k.pr
	if len(k.used) == 0 && !pr.bears {
		return
	}
	col := &pr.Jobs[i].Columns[s.column]
	share := float64(col.PerNode) / float64(pr.Problem.Offers[col.Offer].Type.Count)
	for _, b := range s.bins {
		bin := &k.bins[b]
		next := bin.tenants
		switch {
		case pr.bears && sign > 0:
			next = pr.with(nil, bin.tenants, tenant{i, col.PerNode, s.stays}) // copies of the packing share the old one
		case pr.bears:
			next = without(bin.tenants, i)
		}
		for n := range k.used {
			counts, idle := pr.counts(n, i, col.Offer), pr.Problem.Rows[n].bearsIdle()
			if !counts && !idle {
				continue
			}
			take := share * k.takeOf(n, b)
			if counts {
				k.parts[n] += sign * take
			}
			switch {
			case idle:
				of := func(job int) bool { return pr.counts(n, job, col.Offer) }
				k.used[n] += k.takeOf(n, b) * (pr.borne(col.Offer, next, of) - pr.borne(col.Offer, bin.tenants, of))
				if k.takeOf(n, b) > 0 {
					k.entered[n] += entered(next, of) - entered(bin.tenants, of)
				}
			case counts:
				k.used[n] += sign * take
			}
		}
		k.toll += pr.tollsOf(col.Offer, k.binRate(bin), next) - pr.tollsOf(col.Offer, k.binRate(bin), bin.tenants)
		bin.tenants = next
	}
}

// rowInTheWay is the row that has no room for column col of job i on machines that would
// be bought; nil if all have.
func (k *packing) rowInTheWay(i int, col *Column, kinds ...RowKind) (first *Row) {
	k.takes(i, col, bought(col.Nodes), func(n int, take float64) {
		r := &k.pr.Problem.Rows[n]
		if first == nil && !k.hasRoom(n, take) && (len(kinds) == 0 || slices.Contains(kinds, r.Kind)) {
			first = r
		}
	})
	return first
}

// tooMuchSpot reports whether a row of the part of spot has no room for column col of job i.
func (k *packing) tooMuchSpot(i int, col *Column) bool {
	return k.rowInTheWay(i, col, SpotRow, LeastSpotRow) != nil
}

// bought is the bins of a gang on nodes machines that would be bought.
func bought(nodes int) []int { return slices.Repeat([]int{-1}, nodes) }
