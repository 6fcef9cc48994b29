package planner

import (
	"cmp"
	"fmt"
	"slices"
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
// whatever runs there gives way to a deadline. A net in use is kept; of the others the
// one that must start first is reserved first. One that finds no room in its own hours
// is begun earlier, or makes others begin earlier, else another way is taken. left is the work left of each job (P80), in samples.
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
	pr.reserveAll(list, order)
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

func quotaName(q QuotaLeft) string {
	return fmt.Sprintf("quota %s (%s) in %s", q.Class.Family, q.Class.Market, q.Class.Region)
}

// hoursOf is h hours, within what a time can hold.
func hoursOf(h float64) time.Duration {
	const most = 100 * 365 * 24
	return time.Duration(max(-most, min(h, most)) * float64(time.Hour))
}
