package policy

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/provider"
)

// Binds lists the limits over the whole plan that keep a job from a cheaper way, or from
// any: the burn cap, the rows, the prices of budgets. Each is lifted alone and all is
// planned anew, for what a limit lets one job have it takes from others. The largest
// saving comes first.
func (r *Reasons) Binds(id planner.JobID) ([]Barrier, error) {
	i, err := r.job(id)
	if err != nil {
		return nil, err
	}
	var list []Barrier
	try := func(what string, lift func(p *planner.Problem)) error {
		p := r.given
		lift(&p)
		plan, err := r.again(p)
		if err != nil {
			return err
		}
		free := allocation(&plan, id)
		if free == nil {
			return nil
		}
		b := Barrier{What: what, Config: free.Config, Offering: free.Offering, Rate: free.Alone.Dollars(), Saves: 1}
		if now := allocation(&r.Plan, id); now != nil {
			before, known := r.costOf(i, now)
			after, too := r.costOf(i, free)
			if !known || !too {
				return nil
			}
			b.Saves = 1 - after/before
		}
		if b.Saves > leastBarrier {
			list = append(list, b)
		}
		return nil
	}
	for _, l := range r.limits(r.given.Jobs[i].Job.Team) {
		if err := try(l.what, l.lift); err != nil {
			return nil, err
		}
	}
	bySaving(list)
	return list, nil
}

// KeptFrom lists the limits over the whole plan that keep it from an offering of which it
// uses nothing: planned anew without one of them, something of it would be in use.
func (r *Reasons) KeptFrom(o provider.Offering) ([]string, error) {
	var list []string
	if inUse(&r.Plan, o) > 0 {
		return nil, nil
	}
	for _, l := range r.limits("") {
		p := r.given
		l.lift(&p)
		plan, err := r.again(p)
		if err != nil {
			return nil, err
		}
		if inUse(&plan, o) > 0 {
			list = append(list, l.what)
		}
	}
	return list, nil
}

// limit is one limit over the whole plan, and how a problem loses it.
type limit struct {
	what string
	lift func(p *planner.Problem)
}

// limits lists the limits over the plan that can bind jobs of a team; of any team: "".
func (r *Reasons) limits(team string) []limit {
	var list []limit
	ours := func(other string) bool { return other == "" || team == "" || other == team }
	if most := r.given.BurnCap; most > 0 {
		list = append(list, limit{"burn cap: " + most.String() + " USD/h", func(p *planner.Problem) { p.BurnCap = 0 }})
	}
	for n := range r.given.Rows {
		if row := &r.given.Rows[n]; ours(row.Team) {
			list = append(list, limit{rowText(row), func(p *planner.Problem) { p.Rows = slices.Delete(slices.Clone(p.Rows), n, n+1) }})
		}
	}
	for n, b := range r.given.Budgets {
		if b.Mu > 0 && ours(b.Team) {
			what := fmt.Sprintf("budget %s: a dollar counts %.2f", b.Name, 1+b.Mu)
			list = append(list, limit{what, func(p *planner.Problem) { p.Budgets = slices.Delete(slices.Clone(p.Budgets), n, n+1) }})
		}
	}
	return list
}

// rowText is a row in words: "limit nlp: burn cap 40 USD/h of team NLP", "budget policy
// nights: burn cap 12 USD/h".
func rowText(r *planner.Row) string {
	text := cmp.Or(r.Word, "limit") + " " + r.Name + ": "
	switch r.Kind {
	case planner.SpotRow:
		text += "spot share " + percent(r.Part)
	case planner.LeastSpotRow:
		text += "spot share of at least " + percent(r.Part)
	default:
		text += "burn cap " + r.Most.String() + " USD/h"
	}
	if r.Team != "" {
		text += " of team " + r.Team
	}
	return text
}

// costOf is the money and time per unit of work of job i as it is allocated, at the
// value of its time and with its own share of shared machines. ok is false for a way
// that the plan did not know.
func (r *Reasons) costOf(i int, a *planner.Allocation) (cost float64, ok bool) {
	w := &r.know[i]
	for c := range r.full[i].Columns {
		col := r.full[i].Columns[c]
		if r.problem.Offers[col.Offer].Offering == a.Offering && col.Nodes == a.Config.Nodes && col.Replicas() == a.Config.Replicas {
			col.Alone = a.Rate.Dollars()
			return col.CostOfWork(w.v) + once(&col, w.left), true
		}
	}
	return 0, false
}
