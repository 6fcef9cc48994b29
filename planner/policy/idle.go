package policy

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/provider"
)

// keepIdle takes back releases of machines that are likely to be wanted before another
// could boot: the k-th idle machine of an offer is kept while
//
//	P(k jobs or more come within b)·(b·r + v·b) > r·b,
//
// b being the boot of a machine of the offer, h, r its rate, USD/h, and v the mean value
// of time of the jobs that came. Jobs come as they did in the last hour, one by one
// and independently, whether they have ended since or not. Machines are released where money is dear, where rows bound what is
// held, and where the burn cap leaves no room. It reports when the first of them is to
// be looked at again; zero if none was kept.
func keepIdle(p *planner.Problem, pr *planner.Program, know []worth, full []planner.Demand, plan *planner.Plan) time.Time {
	head := slices.ContainsFunc(know, func(w worth) bool { return w.short != "" }) // what is free is kept for it
	if len(plan.Releases) == 0 || len(p.Rows) > 0 || p.Mu() > 0 || head {
		return time.Time{}
	}
	know, full = withPast(p, pr, know, full)
	machine := make(map[provider.InstanceID]*planner.Machine, len(p.Machines))
	for i := range p.Machines {
		machine[p.Machines[i].ID] = &p.Machines[i]
	}
	idle := map[provider.Offering]int{}
	for _, m := range plan.Machines {
		if len(m.Jobs) == 0 {
			idle[m.Offering]++
		}
	}
	var next time.Time
	kept := plan.Releases[:0:0]
	for _, r := range plan.Releases {
		m := machine[r.Instance]
		come, v, o := arrivals(p, know, full, r.Offering)
		k := idle[r.Offering] + 1
		capped := m != nil && p.BurnCap > 0 && plan.Burn+m.Rate > p.BurnCap
		plan.Roomy = plan.Roomy && !capped
		if m == nil || o == nil || m.Leaving || m.Rate <= 0 || m.ReadyAt.After(p.Now) || capped ||
			atLeast(k, come*o.Boot.Hours())*(m.Rate.Dollars()+v) <= m.Rate.Dollars() {
			kept = append(kept, r)
			continue
		}
		idle[r.Offering] = k
		plan.Burn += m.Rate
		plan.Machines = append(plan.Machines, planner.PlannedMachine{
			Instance: r.Instance, Offering: r.Offering, Rate: m.Rate,
			Reason: fmt.Sprintf("kept idle: %s jobs an hour came that it carries, and another would boot for %s", number(come), o.Boot.Round(time.Second)),
		})
		if at := p.Now.Add(o.Boot); next.IsZero() || at.Before(next) {
			next = at
		}
	}
	plan.Releases = kept
	return next
}

// withPast is what is known of the jobs that are there and of those that came within
// the same span and have ended.
func withPast(p *planner.Problem, pr *planner.Program, know []worth, full []planner.Demand) ([]worth, []planner.Demand) {
	if len(p.Past) == 0 {
		return know, full
	}
	past := *p
	past.Jobs, past.Rows, past.Budgets = make([]planner.JobState, len(p.Past)), nil, nil
	for i, j := range p.Past {
		past.Jobs[i].Job = j
	}
	q, err := planner.NewProgram(&past, pr.Transfer)
	if err != nil { // such as another limit of a team since
		return know, full
	}
	know, full = slices.Clone(know), slices.Clone(full)
	for i := range q.Jobs {
		w := worth{best: -1}
		if d := &q.Jobs[i]; len(d.Columns) > 0 {
			w = appraise(&past, d, nil)
		}
		know, full = append(know, w), append(full, q.Jobs[i])
	}
	return know, full
}

// arrivals is how many jobs an hour came lately that one machine of an offering carries,
// and the mean of their values of time, USD/h; the offer is nil if it is not known.
func arrivals(p *planner.Problem, know []worth, full []planner.Demand, o provider.Offering) (perHour, v float64, offer *planner.Offer) {
	for i := range p.Offers {
		if p.Offers[i].Offering == o {
			offer = &p.Offers[i]
		}
	}
	if offer == nil {
		return 0, 0, nil
	}
	n := 0.0
	for i := range full {
		d := &full[i]
		if !d.State.Job.Submitted.After(p.Now.Add(-planner.ArrivalSpan)) || know[i].best < 0 {
			continue
		}
		for c := range d.Columns {
			if col := &d.Columns[c]; col.Nodes == 1 && p.Offers[col.Offer].Offering == o && good(&d.Columns[know[i].best], col, know[i].v) {
				n, v = n+1, v+know[i].v
				break
			}
		}
	}
	if n == 0 {
		return 0, 0, offer
	}
	return n / planner.ArrivalSpan.Hours(), v / n, offer
}

// good reports whether a job would take c in the place of best if c were idle: its
// cost of work is at most a tenth above.
func good(best, c *planner.Column, v float64) bool {
	return c.CostOfWork(v) <= 1.1*best.CostOfWork(v)
}

// atLeast is the probability of k or more where mean are expected, by Poisson's law.
func atLeast(k int, mean float64) float64 {
	term, sum := math.Exp(-mean), 0.0
	for n := range k {
		if n > 0 {
			term *= mean / float64(n)
		}
		sum += term
	}
	return 1 - sum
}
