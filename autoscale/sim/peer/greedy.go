package peer

import (
	"math"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/provider"
)

// Greedy is the rule of those who take what is cheapest now: a job that waits, in order
// of arrival, takes the machines of a market with the least
//
//	rate / speed^Speed
//
// and stays on them until it is done or they are lost. With Speed 0 they are the cheapest
// by the hour, with 1 those on which its work costs least, with 2 those of the least cost
// × time. It takes machines that stand idle where none to be bought are better; what
// nobody is on ends. It knows nothing of losses, boots and other jobs.
type Greedy struct {
	Market provider.Market
	Speed  float64
}

// Plan makes the plan of a round.
func (g Greedy) Plan(p planner.Problem) (planner.Plan, error) {
	f := newFloor(&p)
	if waiting := f.stay(); len(waiting) > 0 {
		alone := p
		alone.Machines, alone.Jobs, alone.Rows, alone.Budgets = p.Machines, nil, nil, nil
		for _, j := range waiting {
			s := *j
			s.Running = nil
			alone.Jobs = append(alone.Jobs, s)
		}
		pr, err := planner.NewProgram(&alone, planner.DefaultTransfer())
		if err != nil {
			return planner.Plan{}, err
		}
		for i, j := range waiting {
			g.take(f, j, pr.Jobs[i].Columns)
		}
	}
	f.end("nobody is on it", func(int) bool { return true })
	plan := f.finish("nothing is sold to it now")
	plan.NextDecision = f.again()
	return plan, nil
}

// take gives a job the best of its columns.
func (g Greedy) take(f *floor, j *planner.JobState, columns []planner.Column) {
	best, least, idle := -1, math.Inf(1), []int(nil)
	for c := range columns {
		col := &columns[c]
		o := &f.p.Offers[col.Offer]
		if o.Offering.Market != g.Market {
			continue
		}
		score := col.Alone / math.Pow(col.Speed.Goodput, g.Speed)
		there := f.idleOf(o.Offering, col.Nodes)
		if there == nil && !sells(o, col.Nodes) {
			continue
		}
		if score < least || score == least && idle == nil && there != nil {
			best, least, idle = c, score, there
		}
	}
	if best < 0 {
		return
	}
	col := &columns[best]
	o := &f.p.Offers[col.Offer]
	k := f.kindOf(o.Offering)
	if idle == nil {
		k, idle = f.buy(o, col.Nodes)
	}
	f.seat(j, k, idle, col.Replicas())
}

// idleOf are n machines of an offering that carry nobody; nil where there are fewer.
func (f *floor) idleOf(o provider.Offering, n int) []int {
	k := f.kindOf(o)
	if k == nil {
		return nil
	}
	var list []int
	for _, i := range k.machines {
		if f.free[i] == k.typ.Count {
			if list = append(list, i); len(list) == n {
				return list
			}
		}
	}
	return nil
}
