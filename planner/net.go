package planner

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/goodfleet/goodfleet/planner/deadline"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/provider"
)

// Sure reports whether machines of o surely run once they are there: what is on
// demand, reserved or owned.
func (o *Offer) Sure() bool {
	return o.Offering.Market == provider.OnDemand || o.Offering.Market == provider.Reserved
}

// Fallback is a way to do the rest of a job on what surely runs. Times are in hours.
type Fallback struct {
	Column int     // of the job
	Start  float64 // from the decision to the first step: boot, restore, data
	Work   float64 // wall time of the work left (P80)
	Need   float64 // how long before the deadline it must start at the latest, with all margins
	USD    float64 // from its start to the end
}

// Within is the time to the deadline at which the fallback still meets it.
func (f *Fallback) Within() float64 { return f.Start + f.Work }

// Safety is what a job with a deadline can fall back on.
type Safety struct {
	Ways []Fallback // that meet the deadline if begun now, the cheapest first
	Net  *Fallback  // the one that is reserved for it; nil: none fits beside those of others
	From time.Time  // when the net must start at the latest; that of Ways[0] without a net
	Why  string     // the row that Net lacks, and the jobs whose nets hold it

	Soonest float64 // h to the end on the fastest way that surely runs; 0: there is none
}

// defaultRound is the period of rounds where the problem does not say.
const defaultRound = time.Minute

// Tick is the time between two plans when nothing happens.
func (p *Problem) Tick() time.Duration { return cmp.Or(p.Round, defaultRound) }

// Secure reserves safety nets: for each job with a deadline the cheapest way that
// surely runs, begun as late as it may be. The nets of all jobs together keep within
// quotas, known shortage and the burn cap, with all that is held counted as free:
// whatever runs there gives way to a deadline. The net that must start first is
// reserved first; one that finds no room in its own hours is begun earlier, else
// another way is taken. left is the work left of each job (P80), in samples.
//
// The answer is by job; jobs without a deadline have a zero Safety.
func (pr *Program) Secure(left []float64) []Safety {
	p := pr.Problem
	list := make([]Safety, len(pr.Jobs))
	var order []int
	for i := range pr.Jobs {
		d := &pr.Jobs[i]
		if d.State.Job.Deadline.IsZero() || len(d.Columns) == 0 {
			continue
		}
		s := &list[i]
		until := d.State.Job.Deadline.Sub(p.Now).Hours()
		s.Ways, s.Soonest = pr.fallbacks(d, left[i], until)
		if len(s.Ways) > 0 {
			s.From = p.Now.Add(hoursOf(until - s.Ways[0].Need))
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return list[a].From.Compare(list[b].From) })
	r := pr.reservations()
	for _, i := range order {
		r.reserve(i, &list[i])
	}
	return list
}

// fallbacks lists the ways of a job that surely run and meet a deadline in until
// hours, the cheapest first, and how long the fastest of all takes.
func (pr *Program) fallbacks(d *Demand, left, until float64) (ways []Fallback, soonest float64) {
	p := pr.Problem
	lost := pr.exposed(d)
	for c := range d.Columns {
		col := &d.Columns[c]
		o := &p.Offers[col.Offer]
		if !o.Sure() {
			continue
		}
		f := Fallback{Column: c, Start: col.Resume + col.Boot, Work: col.WallHours(left)}
		f.Need = deadline.Net(f.Work, f.Start+lost, p.Tick().Hours(), o.Grant.Hours())
		if c == d.Current {
			f.Start = pr.coming(d.State.Running)
		}
		f.USD = col.Alone*(f.Start+col.PaidHours(left)) + col.OneOff
		if end := f.Within(); soonest == 0 || end < soonest {
			soonest = end
		}
		if f.Within() <= until {
			ways = append(ways, f)
		}
	}
	slices.SortStableFunc(ways, func(a, b Fallback) int { return cmp.Compare(a.USD, b.USD) })
	return ways, soonest
}

// exposed is the most work, in hours, that a loss which nobody announced takes from
// the job on any spot that it may use.
func (pr *Program) exposed(d *Demand) float64 {
	most := time.Duration(0)
	save := d.State.Job.Checkpoint.Save
	for c := range d.Columns {
		o := &pr.Problem.Offers[d.Columns[c].Offer]
		if o.Sure() || o.Notice > 0 && o.Notice >= save+stopTime {
			continue
		}
		every := d.State.Job.Checkpoint.Every
		if every == 0 {
			every = pricing.CheckpointEvery(save, d.Columns[c].Loss)
		}
		most = max(most, every+save)
	}
	return most.Hours()
}

// coming is how long it takes until every machine of r is ready, h.
func (pr *Program) coming(r *Running) float64 {
	wait := time.Duration(0)
	for i := range pr.Problem.Machines {
		if m := &pr.Problem.Machines[i]; slices.Contains(r.Machines, m.ID) {
			wait = max(wait, m.ReadyAt.Sub(pr.Problem.Now))
		}
	}
	return wait.Hours()
}

// reservation is a net and the hours, from now, in which it may be needed.
type reservation struct {
	job      int
	column   *Column
	from, to float64
}

// reservations are nets that together keep within every row.
type reservations struct {
	pr    *Program
	list  []reservation
	offer []int // machines of each offer that there can be; < 0: not limited
	quota []int // units of each row that there are, held ones too
}

func (pr *Program) reservations() *reservations {
	p := pr.Problem
	r := &reservations{pr: pr, offer: make([]int, len(p.Offers)), quota: make([]int, len(p.Quotas))}
	for i := range p.Offers {
		if p.Offers[i].forSale() {
			r.offer[i] = p.Offers[i].Cap
		}
	}
	for i := range p.Quotas {
		r.quota[i] = p.Quotas[i].Left
	}
	for i, o := range pr.machineOffer {
		if o < 0 || p.Machines[i].Leaving {
			continue
		}
		if r.offer[o] >= 0 {
			r.offer[o]++
		}
		if row := pr.quotaOf[o]; row >= 0 {
			r.quota[row] += p.Quotas[row].Unit.Use(p.Offers[o].Type)
		}
	}
	return r
}

// reserve finds a net for a job among its ways, or says what it lacks.
func (r *reservations) reserve(job int, s *Safety) {
	p := r.pr.Problem
	d := &r.pr.Jobs[job]
	until := d.State.Job.Deadline.Sub(p.Now).Hours()
	ends := []float64{until}
	for _, x := range r.list {
		if x.from > 0 && x.from < until {
			ends = append(ends, x.from)
		}
	}
	slices.SortFunc(ends, func(a, b float64) int { return cmp.Compare(b, a) })
	for k := range s.Ways {
		f := &s.Ways[k]
		for _, end := range ends {
			if f.Within() > end {
				break
			}
			want := reservation{job: job, column: &d.Columns[f.Column], from: max(0, end-f.Need), to: end}
			why := r.lacks(want)
			if why == "" {
				r.list = append(r.list, want)
				s.Net, s.From, s.Why = f, p.Now.Add(hoursOf(end-f.Need)), ""
				return
			}
			if s.Why == "" {
				s.Why = why
			}
		}
	}
}

// lacks says which row has no room for a reservation beside the others, and who
// holds it; "" when all have.
func (r *reservations) lacks(want reservation) string {
	p := r.pr.Problem
	instants := []float64{want.from}
	for _, x := range r.list {
		if x.from > want.from && x.from < want.to {
			instants = append(instants, x.from)
		}
	}
	row := r.pr.quotaOf[want.column.Offer]
	for _, at := range instants {
		machines, units, burn := want.column.Nodes, 0, want.column.Alone
		if row >= 0 {
			units = want.column.Nodes * p.Quotas[row].Unit.Use(p.Offers[want.column.Offer].Type)
		}
		var sameOffer, sameRow, all []string
		for _, x := range r.list {
			if x.from > at || x.to <= at {
				continue
			}
			name := string(r.pr.Jobs[x.job].State.Job.ID)
			burn += x.column.Alone
			all = append(all, name)
			if x.column.Offer == want.column.Offer {
				machines += x.column.Nodes
				sameOffer = append(sameOffer, name)
			}
			if row >= 0 && r.pr.quotaOf[x.column.Offer] == row {
				units += x.column.Nodes * p.Quotas[row].Unit.Use(p.Offers[x.column.Offer].Type)
				sameRow = append(sameRow, name)
			}
		}
		o := &p.Offers[want.column.Offer]
		switch {
		case row >= 0 && units > r.quota[row]:
			return heldFor(quotaName(p.Quotas[row]), sameRow)
		case r.offer[want.column.Offer] >= 0 && machines > r.offer[want.column.Offer]:
			return heldFor("the supply of "+o.Offering.String(), sameOffer)
		case p.BurnCap > 0 && burn > p.BurnCap.Dollars()+capSlack:
			return heldFor("the burn cap of "+p.BurnCap.String()+" USD/h", all)
		}
	}
	return ""
}

// heldFor says which row is short, and for which jobs it is kept.
func heldFor(row string, jobs []string) string {
	if len(jobs) == 0 {
		return row + " is too small for it"
	}
	return fmt.Sprintf("%s is kept for %s, which must start sooner", row, strings.Join(jobs, ", "))
}

func quotaName(q QuotaLeft) string {
	return fmt.Sprintf("quota %s (%s) in %s", q.Class.Family, q.Class.Market, q.Class.Region)
}

// hoursOf is h hours, within what a time can hold.
func hoursOf(h float64) time.Duration {
	const most = 100 * 365 * 24
	return time.Duration(max(-most, min(h, most)) * float64(time.Hour))
}
