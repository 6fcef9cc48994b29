package policy

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/provider"
)

// HoursPerMonth is what a month counts: a twelfth of 365 days.
const HoursPerMonth = 365 * 24 / 12.0

// QuotaWorth is what more of one quota would save. Machines are whole, so one unit
// alone may open nothing: Step is the number of units, just enough for one machine or
// gang more, that saves most per unit.
type QuotaWorth struct {
	Quota   planner.QuotaLeft
	Left    int     // what the plan leaves of it, units
	Unit    float64 // what one more unit alone would save, USD per hour
	Step    int     // units; 0: no step up to the largest type saves anything
	Opens   string  // the machines that a step opens
	Saves   float64 // what a step would save, money and time, USD per hour
	Burn    float64 // what the machines would cost more (+) or less (−), USD per hour
	NoOffer bool    // nothing that counts against it is offered
}

// Quotas tells what more of each quota would save, the most first. Savings are of
// value: money and the jobs' time together, at the worth of work that the plan had.
func (r *Reasons) Quotas() ([]QuotaWorth, error) {
	list := make([]QuotaWorth, 0, len(r.problem.Quotas))
	for row := range r.problem.Quotas {
		w, err := r.quota(row)
		if err != nil {
			return nil, err
		}
		list = append(list, w)
	}
	slices.SortStableFunc(list, func(a, b QuotaWorth) int {
		return cmp.Or(cmp.Compare(b.Saves, a.Saves), cmp.Compare(b.Unit, a.Unit))
	})
	return list, nil
}

func (r *Reasons) quota(row int) (QuotaWorth, error) {
	q := r.problem.Quotas[row]
	w := QuotaWorth{Quota: q, Left: r.leftOf(q)}
	steps, offered := []int{1}, false
	for i := range r.problem.Offers {
		o := &r.problem.Offers[i]
		if !counts(q, o) {
			continue
		}
		// What is left over is not enough for one more: the rest is asked for.
		use := q.Unit.Use(o.Type)
		for _, machines := range r.gangs(&o.Type) {
			need := machines * use
			step := need - r.leftOf(q)%need
			if !slices.Contains(steps, step) {
				steps = append(steps, step)
			}
			offered = true
		}
	}
	if !offered {
		w.NoOffer = true
		return w, nil
	}
	now, err := r.withQuota(row, 0)
	if err != nil {
		return w, err
	}
	base := max(now.Value, r.Plan.Value)
	slices.Sort(steps)
	for _, step := range steps {
		sol, err := r.withQuota(row, step)
		if err != nil {
			return w, err
		}
		saves := max(0, sol.Value-base)
		if step == 1 {
			w.Unit = saves
		}
		if saves <= quotaSlack {
			continue
		}
		if w.Step == 0 || saves/float64(step) > w.Saves/float64(w.Step)*(1+1e-9) {
			l := sol.Layout()
			w.Step, w.Opens, w.Saves = step, r.opened(q, l.Machines), saves
			w.Burn = (l.Burn - r.Plan.Burn).Dollars()
		}
	}
	return w, nil
}

// opened names the types that count against a quota of which machines hold more than
// the plan does: "2 × p5.48xlarge".
func (r *Reasons) opened(q planner.QuotaLeft, machines []planner.PlannedMachine) string {
	more := map[string]int{}
	add := func(list []planner.PlannedMachine, n int) {
		for _, m := range list {
			if at, ok := r.offer(m.Offering); ok && counts(q, &r.problem.Offers[at]) {
				more[m.Offering.Type] += n
			}
		}
	}
	add(machines, 1)
	add(r.Plan.Machines, -1)
	var words []string
	for _, name := range slices.Sorted(maps.Keys(more)) {
		switch n := more[name]; {
		case n == 1:
			words = append(words, name)
		case n > 1:
			words = append(words, fmt.Sprintf("%d × %s", n, name))
		}
	}
	return strings.Join(words, ", ")
}

// gangs lists on how many machines of a type the jobs could run, ascending.
func (r *Reasons) gangs(t *provider.InstanceType) []int {
	list := []int{1}
	for i := range r.problem.Jobs {
		j := r.problem.Jobs[i].Job
		for _, size := range j.Resources.Replicas.Sizes() {
			if n := (size + t.Count - 1) / t.Count; n > 1 && len(list) < mostGangs && !slices.Contains(list, n) {
				if _, ok := j.Curve.Speed(t.Accelerator, n, size); ok {
					list = append(list, n)
				}
			}
		}
	}
	slices.Sort(list)
	return list
}

// mostGangs bounds the steps that are tried for one type.
const mostGangs = 4

// quotaSlack is a hundredth of a cent an hour: less is rounding of the search.
const quotaSlack = 1e-4

// leftOf is what the plan leaves of a quota.
func (r *Reasons) leftOf(q planner.QuotaLeft) int {
	left := q.Left
	for _, m := range r.Plan.Machines {
		if at, ok := r.offer(m.Offering); ok && m.Instance == "" && counts(q, &r.problem.Offers[at]) {
			left -= q.Unit.Use(r.problem.Offers[at].Type)
		}
	}
	return max(left, 0)
}

// counts reports whether machines of an offer count against a quota.
func counts(q planner.QuotaLeft, o *planner.Offer) bool {
	c := provider.QuotaClassOf(o.Offering, o.Type)
	if q.Class.Account == "" || c.Account == "" {
		c.Account = q.Class.Account
	}
	return c == q.Class && q.Unit.Use(o.Type) > 0
}

// withQuota solves the problem with so many units more of a quota, and as many more
// machines of each offer as they open.
func (r *Reasons) withQuota(row, more int) (planner.Solution, error) {
	p := r.problem
	p.Quotas = slices.Clone(p.Quotas)
	before := p.Quotas[row]
	p.Quotas[row].Left += more
	p.Offers = slices.Clone(p.Offers)
	for i := range p.Offers {
		o := &p.Offers[i]
		if o.Cap >= 0 && counts(before, o) {
			use := before.Unit.Use(o.Type)
			if o.Cap == before.Left/use {
				o.Cap = p.Quotas[row].Left / use // it was the quota that limited it
			}
		}
	}
	return r.solve(&p)
}
