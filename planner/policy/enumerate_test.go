package policy

import (
	"maps"
	"math"
	"slices"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/provider"
)

// box is a machine of the enumeration.
type box struct {
	offer   int
	machine int // -1: bought
	free    int
	jobs    int
	gang    bool
}

// enumeration tries every column of every job on every machine that is held, was
// bought for an earlier job, or could be bought. It shares no code with the search.
type enumeration struct {
	p     *planner.Problem
	pr    *planner.Program
	boxes []box
	seats []sitting
	best  float64
	free  bool // rates bind, and are not subtracted
}

// sitting is a job in a column, on boxes.
type sitting struct {
	job, column int
	boxes       []int
}

// enumerate returns the best value of a program by trying every point.
func enumerate(p *planner.Problem, pr *planner.Program) float64 {
	e := &enumeration{p: p, pr: pr, best: math.Inf(-1)}
	return e.all()
}

// enumerateWorth is enumerate without the rates of machines, which only bind.
func enumerateWorth(p *planner.Problem, pr *planner.Program) float64 {
	e := &enumeration{p: p, pr: pr, best: math.Inf(-1), free: true}
	return e.all()
}

func (e *enumeration) all() float64 {
	p := e.p
	for m := range p.Machines {
		for o := range p.Offers {
			if p.Offers[o].Offering == p.Machines[m].Offering && !p.Machines[m].Leaving {
				e.boxes = append(e.boxes, box{offer: o, machine: m, free: p.Offers[o].Type.Count})
			}
		}
	}
	e.job(0, 0)
	return e.best
}

func (e *enumeration) job(i int, worth float64) {
	if i == len(e.pr.Jobs) {
		e.finish(worth)
		return
	}
	e.job(i+1, worth)
	d := &e.pr.Jobs[i]
	for c := range d.Columns {
		e.node(i, c, 0, worth, nil)
	}
}

// node seats the n-th node of column c, on boxes after those in used.
func (e *enumeration) node(i, c, n int, worth float64, used []int) {
	d := &e.pr.Jobs[i]
	col := &d.Columns[c]
	if n == col.Nodes {
		w := col.Here
		if e.stays(d, c, used) {
			w = col.Stay
		} else if d.State.Stays && d.Current >= 0 {
			return
		} else {
			for _, b := range used {
				if m := e.boxes[b].machine; m < 0 || e.p.Machines[m].ReadyAt.After(e.p.Now) {
					w = col.Bought
				}
			}
		}
		e.seats = append(e.seats, sitting{i, c, used})
		e.job(i+1, worth+w)
		e.seats = e.seats[:len(e.seats)-1]
		return
	}
	from := 0
	if n > 0 {
		from = used[n-1] + 1
	}
	for b := from; b < len(e.boxes); b++ {
		x := e.boxes[b]
		if x.offer != col.Offer || x.free < col.PerNode || x.machine < 0 && (x.jobs == 0 || d.State.Shares) || col.Nodes > 1 && x.gang {
			continue
		}
		e.boxes[b].free -= col.PerNode
		e.boxes[b].jobs++
		e.boxes[b].gang = x.gang || col.Nodes > 1
		e.node(i, c, n+1, worth, append(used[:n:n], b))
		e.boxes[b] = x
	}
	if o := &e.p.Offers[col.Offer]; o.Blocked == "" && !d.State.Shares {
		e.boxes = append(e.boxes, box{offer: col.Offer, machine: -1, free: o.Type.Count - col.PerNode, jobs: 1, gang: col.Nodes > 1})
		e.node(i, c, n+1, worth, append(used[:n:n], len(e.boxes)-1))
		e.boxes = e.boxes[:len(e.boxes)-1]
	}
}

func (e *enumeration) stays(d *planner.Demand, c int, used []int) bool {
	if c != d.Current {
		return false
	}
	for _, id := range d.State.Running.Machines {
		found := false
		for _, b := range used {
			if m := e.boxes[b].machine; m >= 0 && e.p.Machines[m].ID == id {
				found = true
			}
		}
		if !found {
			return false
		}
	}
	return true
}

// finish prices the machines of a point and checks its rows.
func (e *enumeration) finish(worth float64) {
	burn, spend := 0.0, 0.0
	quota := make([]int, len(e.p.Quotas))
	bought := make([]int, len(e.p.Offers))
	for _, b := range e.boxes {
		o := &e.p.Offers[b.offer]
		if b.machine < 0 {
			if bought[b.offer]++; o.Cap >= 0 && bought[b.offer] > o.Cap {
				return
			}
			spend += o.Rate.Dollars()
			burn += o.Rate.Dollars()
			for q := range e.p.Quotas {
				if e.p.Quotas[q].Class == provider.QuotaClassOf(o.Offering, o.Type) {
					quota[q] += e.p.Quotas[q].Unit.Use(o.Type)
				}
			}
			continue
		}
		m := &e.p.Machines[b.machine]
		if held := m.HoldTo.After(e.p.Now); held || b.jobs > 0 {
			burn += m.Rate.Dollars()
			if !held {
				spend += m.Rate.Dollars()
			}
		}
	}
	if e.p.BurnCap > 0 && burn > e.p.BurnCap.Dollars()+1e-9 {
		return
	}
	for q := range quota {
		if quota[q] > e.p.Quotas[q].Left {
			return
		}
	}
	if e.free {
		spend = 0
	}
	times := 1.0
	for _, b := range e.p.Budgets {
		if b.Team == "" {
			times += b.Mu
		}
	}
	// What is idle only makes it dearer: the dear checks are for those that may be the best.
	if v := worth - times*spend; v > e.best && e.rowsHold() {
		e.best = max(e.best, v-e.tolls())
	}
}

// rate is what a box costs, USD/h.
func (e *enumeration) rate(b *box) float64 {
	if b.machine >= 0 {
		return e.p.Machines[b.machine].Rate.Dollars()
	}
	return e.p.Offers[b.offer].Rate.Dollars()
}

// idleNow is by how much those who run, and count for a row, pass it because of what nobody
// has of their machines.
func (e *enumeration) idleNow(row *planner.Row) float64 {
	sum, own := 0.0, 0.0
	for _, m := range e.p.Machines {
		on, count := map[planner.JobID]int{}, 0
		for i := range e.pr.Jobs {
			if d := &e.pr.Jobs[i]; d.Current >= 0 && slices.Contains(d.State.Running.Machines, m.ID) {
				col := &d.Columns[d.Current]
				on[d.State.Job.ID], count = col.PerNode, e.p.Offers[col.Offer].Type.Count
			}
		}
		borne := bearing(count, on)
		for i := range e.p.Jobs {
			j := e.p.Jobs[i].Job
			if (row.Team == "" || row.Team == j.Team) && (row.Over == nil || row.Over(j, m.Offering)) && on[j.ID] > 0 {
				counts := m.Rate.Dollars()
				if m.Offering.Market == provider.Spot {
					counts *= 1 + row.Swing
				}
				sum += counts * float64(borne[j.ID]) / float64(count)
				own += counts * float64(on[j.ID]) / float64(count)
			}
		}
	}
	if sum <= row.Most.Dollars() {
		return 0
	}
	return sum - max(own, row.Most.Dollars())
}

// bearing deals the accelerators of a machine that nobody has, one at a time, to the job
// that is furthest below its part: as whole accelerators in proportion come out.
func bearing(count int, on map[planner.JobID]int) map[planner.JobID]int {
	borne, whole := maps.Clone(on), 0
	names := slices.Sorted(maps.Keys(on))
	for _, n := range on {
		whole += n
	}
	for _, j := range names {
		borne[j] = count * on[j] / max(whole, 1)
	}
	left := count
	for _, n := range borne {
		left -= n
	}
	for range left {
		next := names[0]
		for _, j := range names {
			if count*on[j]-borne[j]*whole > count*on[next]-borne[next]*whole {
				next = j
			}
		}
		borne[next]++
	}
	return borne
}

// tenants are the jobs on a box and their accelerators there.
func (e *enumeration) tenants(box int) map[planner.JobID]int {
	on := map[planner.JobID]int{}
	for _, s := range e.seats {
		if slices.Contains(s.boxes, box) {
			d := &e.pr.Jobs[s.job]
			on[d.State.Job.ID] = d.Columns[s.column].PerNode
		}
	}
	return on
}

// tolls is what idle parts of machines count by the budgets of the teams that bear them.
func (e *enumeration) tolls() float64 {
	sum := 0.0
	if !slices.ContainsFunc(e.p.Budgets, func(b planner.BudgetPrice) bool { return b.Team != "" && b.Mu > 0 }) {
		return sum
	}
	for i := range e.boxes {
		on := e.tenants(i)
		if len(on) == 0 {
			continue
		}
		count := e.p.Offers[e.boxes[i].offer].Type.Count
		borne := bearing(count, on)
		for k := range e.p.Jobs {
			j := e.p.Jobs[k].Job
			for _, b := range e.p.Budgets {
				if b.Team != "" && b.Team == j.Team && on[j.ID] > 0 {
					sum += b.Mu * e.rate(&e.boxes[i]) * float64(borne[j.ID]-on[j.ID]) / float64(count)
				}
			}
		}
	}
	return sum
}

// rowsHold checks the rows of a point by their definition: no more than allowed, or
// than is held whatever the plan.
func (e *enumeration) rowsHold() bool {
	for n := range e.p.Rows {
		row := &e.p.Rows[n]
		all, spot, fixed, fixedSpot, comes := 0.0, 0.0, 0.0, 0.0, false
		count := func(b *box, share float64, must bool) {
			v := share * e.rate(b)
			all += v
			isSpot := e.p.Offers[b.offer].Offering.Market == provider.Spot
			if isSpot {
				spot += v
			}
			if must {
				fixed += v
				if isSpot {
					fixedSpot += v
				}
			}
		}
		over := func(j *planner.Job, o int) bool { return row.Over == nil || row.Over(j, e.p.Offers[o].Offering) }
		if row.Team == "" && !row.OfJobs {
			for i := range e.boxes {
				b := &e.boxes[i]
				held := b.machine >= 0 && e.p.Machines[b.machine].HoldTo.After(e.p.Now)
				if (b.machine < 0 || held || b.jobs > 0) && over(nil, b.offer) {
					count(b, 1, held)
				}
			}
		} else {
			for _, s := range e.seats {
				d := &e.pr.Jobs[s.job]
				col := &d.Columns[s.column]
				if row.Team != "" && d.State.Job.Team != row.Team || !over(d.State.Job, col.Offer) {
					continue
				}
				for _, b := range s.boxes {
					has, of := col.PerNode, e.p.Offers[col.Offer].Type.Count
					if row.Kind == planner.BurnRow {
						has = bearing(of, e.tenants(b))[d.State.Job.ID] // what is idle is borne by who is there
					}
					count(&e.boxes[b], float64(has)/float64(of), false)
				}
			}
			for b := range e.boxes { // who runs may stay, and others may join it
				some, there := false, false
				for _, s := range e.seats {
					d := &e.pr.Jobs[s.job]
					if o := d.Columns[s.column].Offer; slices.Contains(s.boxes, b) && (row.Team == "" || d.State.Job.Team == row.Team) && over(d.State.Job, o) {
						some, there = true, there || e.stays(d, s.column, s.boxes)
					}
				}
				comes = comes || some && !there && e.rate(&e.boxes[b]) > 0
			}
			if row.Kind == planner.BurnRow && !comes {
				fixed = row.Most.Dollars() + e.idleNow(row)
			}
		}
		passed, before := all+row.Swing*spot-row.Most.Dollars(), fixed+row.Swing*fixedSpot-row.Most.Dollars()
		switch row.Kind {
		case planner.SpotRow:
			passed, before = spot-row.Part*all, fixedSpot-row.Part*fixed
		case planner.LeastSpotRow:
			passed, before = row.Part*all-spot, row.Part*fixed-fixedSpot
		}
		if row.Spare {
			passed -= e.largest(row)
		}
		if passed > max(before, 0)+1e-9 {
			return false
		}
	}
	return true
}

// largest is the most that one job takes of a row of spot, by its definition: the machines
// that it is on, whole where the row is about machines, and by its part where it is about
// jobs; those of the market that the row is there to limit.
func (e *enumeration) largest(row *planner.Row) float64 {
	most := 0.0
	for _, s := range e.seats {
		d := &e.pr.Jobs[s.job]
		col := &d.Columns[s.column]
		o := &e.p.Offers[col.Offer]
		ofJobs := row.Team != "" || row.OfJobs
		job, share := (*planner.Job)(nil), 1.0
		if ofJobs {
			job, share = d.State.Job, float64(col.PerNode)/float64(o.Type.Count)
		}
		if row.Team != "" && row.Team != d.State.Job.Team || row.Over != nil && !row.Over(job, o.Offering) {
			continue
		}
		burn := 0.0
		for _, b := range s.boxes {
			burn += share * e.rate(&e.boxes[b])
		}
		switch spot := o.Offering.Market == provider.Spot; {
		case row.Kind == planner.SpotRow && spot:
			most = max(most, (1-row.Part)*burn)
		case row.Kind == planner.LeastSpotRow && !spot:
			most = max(most, row.Part*burn)
		}
	}
	return most
}
