package planner

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// mostRebuilds bounds how often the nets of a plan are laid out anew because one more
// found no room.
const mostRebuilds = 64

// reserveAll reserves a net for each job of order that has room, in that order. A job
// whose net is in use and could not be come back to keeps it before all others. A job
// whose net finds no room beside the others has all of them laid out anew, each as late
// as it can be, the latest deadline first: where the jobs share one machine, that finds
// an order whenever there is one.
func (pr *Program) reserveAll(list []Safety, order []int) {
	p := pr.Problem
	r := pr.reservations()
	inUse := map[int]bool{}
	use := func(i int) {
		d, s := &pr.Jobs[i], &list[i]
		at := slices.IndexFunc(s.Ways, func(f Fallback) bool { return f.Column == d.Current })
		if d.Current < 0 || at < 0 {
			return
		}
		want := reservation{job: i, column: &d.Columns[d.Current], to: s.Ways[at].Within()}
		if r.lacks(want) == "" {
			r.list = append(r.list, want)
			s.Net, s.Why, inUse[i] = &s.Ways[at], "", true
		}
	}
	for _, i := range order {
		if !list[i].From.After(p.Now) {
			use(i)
		}
	}
	used := slices.Clone(r.list)
	var kept []int
	rebuilds := 0
	for _, i := range order {
		switch s := &list[i]; {
		case inUse[i]:
		case r.reserve(i, s):
			kept = append(kept, i)
		case rebuilds < mostRebuilds:
			rebuilds++
			if anew, ok := pr.layOut(list, append(slices.Clone(kept), i), used); ok {
				r, kept = anew, append(kept, i)
			}
		}
	}
	for _, i := range order {
		if list[i].Net == nil {
			use(i)
		}
	}
	for _, x := range r.list {
		s := &list[x.job]
		s.From, s.Why = p.Now.Add(hoursOf(x.due)), ""
		if inUse[x.job] {
			s.From = p.Now
		}
	}
}

// layOut lays out the nets of jobs anew, beside those in use. ok is false when one
// finds no room.
func (pr *Program) layOut(list []Safety, jobs []int, used []reservation) (r *reservations, ok bool) {
	slices.SortStableFunc(jobs, func(a, b int) int {
		return pr.Jobs[b].State.Job.Deadline.Compare(pr.Jobs[a].State.Job.Deadline)
	})
	r = pr.reservations()
	r.list = slices.Clone(used)
	nets := make([]*Fallback, len(jobs))
	for k, i := range jobs {
		s := list[i] // a copy: nothing is changed unless all find room
		if !r.reserve(i, &s) {
			return nil, false
		}
		nets[k] = s.Net
	}
	for k, i := range jobs {
		list[i].Net = nets[k]
	}
	return r, true
}

// reservation is a net and the hours, from now, in which it may be needed.
type reservation struct {
	job      int
	column   *Column
	from, to float64 // from >= 0
	due      float64 // when it must start; less than 0 when that has passed
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

// reserve finds a net for a job among its ways and adds it: the cheapest way that has
// room, as late as it has. It reports whether there is one; s.Why is what it lacked.
func (r *reservations) reserve(job int, s *Safety) bool {
	d := &r.pr.Jobs[job]
	until := d.State.Job.Deadline.Sub(r.pr.Problem.Now).Hours()
	ends := []float64{until}
	for _, x := range r.list {
		if x.from > 0 && x.from < until {
			ends = append(ends, x.from)
		}
	}
	slices.SortFunc(ends, func(a, b float64) int { return cmp.Compare(b, a) })
	ends = slices.Compact(ends)
	for k := range s.Ways {
		f := &s.Ways[k]
		for _, end := range ends {
			if f.Within() > end {
				break
			}
			want := reservation{job: job, column: &d.Columns[f.Column], from: max(0, end-f.Need), to: end, due: end - f.Need}
			why := r.lacks(want)
			if why == "" {
				r.list = append(r.list, want)
				s.Net, s.Why = f, ""
				return true
			}
			s.Why = cmp.Or(s.Why, why)
		}
	}
	return false
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
