package policy

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/provider"
)

// Policy makes a plan from a problem. Every policy of this package is one, or
// makes one from another.
type Policy func(p planner.Problem, s Settings) (planner.Plan, error)

// Only is next on the offers that keep accepts; of others nothing is bought, but
// machines that are held go on.
func Only(next Policy, keep func(o *planner.Offer) bool) Policy {
	return func(p planner.Problem, s Settings) (planner.Plan, error) {
		held := make(map[provider.Offering]bool, len(p.Machines))
		for i := range p.Machines {
			held[p.Machines[i].Offering] = true
		}
		offers := make([]planner.Offer, 0, len(p.Offers))
		for _, o := range p.Offers {
			switch {
			case keep(&o):
				offers = append(offers, o)
			case held[o.Offering]:
				o.Cap, o.Blocked = 0, "not of this policy"
				offers = append(offers, o)
			}
		}
		p.Offers = offers
		return next(p, s)
	}
}

// OnDemand is next without spot.
func OnDemand(next Policy) Policy {
	return Only(next, func(o *planner.Offer) bool { return o.Offering.Market != provider.Spot })
}

// OneType is next on a single instance type, on demand: how many teams run today.
func OneType(next Policy, cloud, name string) Policy {
	return Only(next, func(o *planner.Offer) bool {
		return o.Offering.Market == provider.OnDemand && o.Type.Cloud == cloud && o.Type.Name == name
	})
}

// CheapestType is the instance type on which all the work of jobs costs least on
// demand, each job alone on whole machines at its cheapest size, among the types
// on which most of the jobs can run. ok is false when no job runs on any.
func CheapestType(jobs []*planner.Job, offers []planner.Offer) (cloud, name string, ok bool) {
	type total struct {
		runs int
		usd  float64
	}
	var order [][2]string
	sums := map[[2]string]*total{}
	for i := range offers {
		o := &offers[i]
		if o.Offering.Market != provider.OnDemand {
			continue
		}
		key := [2]string{o.Type.Cloud, o.Type.Name}
		if sums[key] == nil {
			sums[key] = &total{}
			order = append(order, key)
		}
	}
	for _, j := range jobs {
		least := map[[2]string]float64{}
		p := planner.Problem{Jobs: []planner.JobState{{Job: j}}, Offers: offers}
		pr, err := planner.NewProgram(&p, planner.DefaultTransfer())
		if err != nil {
			return "", "", false
		}
		for c := range pr.Jobs[0].Columns {
			col := &pr.Jobs[0].Columns[c]
			o := &offers[col.Offer]
			if o.Offering.Market != provider.OnDemand {
				continue
			}
			usd := col.Alone * col.PaidHours(j.Work.Samples)
			key := [2]string{o.Type.Cloud, o.Type.Name}
			if had, ok := least[key]; !ok || usd < had {
				least[key] = usd
			}
		}
		for key, usd := range least {
			sums[key].runs++
			sums[key].usd += usd
		}
	}
	var best total
	for _, key := range order {
		s := *sums[key]
		if s.runs > best.runs || s.runs == best.runs && s.runs > 0 && s.usd < best.usd {
			best, cloud, name, ok = s, key[0], key[1], true
		}
	}
	return cloud, name, ok
}

// Blind buys for each job the accelerator that is cheapest by the hour, whatever
// it does in that hour, and keeps what it has: the rule of a scheduler that counts
// accelerators and does not know their speeds. Jobs go in the order of the problem.
func Blind(p planner.Problem, s Settings) (planner.Plan, error) {
	pr, err := blindProgram(&p, s)
	if err != nil {
		return planner.Plan{}, err
	}
	know := make([]worth, len(pr.Jobs))
	full := make([]planner.Demand, len(pr.Jobs))
	most := 0.0
	for i := range pr.Jobs {
		for c := range pr.Jobs[i].Columns {
			most = max(most, pr.Jobs[i].Columns[c].Alone)
		}
	}
	for i := range pr.Jobs {
		d := &pr.Jobs[i]
		full[i] = *d
		if len(d.Columns) == 0 {
			continue
		}
		know[i] = appraise(&p, d, nil)
		keepCheapestHour(&p, d)
		know[i].best = -1
		prize := 2 * most * (1 + 0.01*float64(len(pr.Jobs)-i)/float64(len(pr.Jobs)))
		for c := range d.Columns {
			col := &d.Columns[c]
			col.Here, col.Bought, col.Stay = prize, prize, prize
			if c == d.Current {
				col.Stay = 4 * most // never moved, never stopped for another
			}
		}
		full[i] = *d
	}
	pr.Prune()
	scale := 2 * most * float64(len(pr.Jobs))
	// It is a rule, not a search: nothing is tried that first come would not get.
	rule := planner.Limits{Passes: s.Limits.Passes, Kicks: -1, Exchanges: -1, NoBound: true}
	return report(&p, pr, planner.Solve(pr, scale, rule), know, full, scale), nil
}

// blindProgram is the program on the two accelerators that are cheapest by the
// hour, and on what is held; on everything if that is too little for some job.
func blindProgram(p *planner.Problem, s Settings) (*planner.Program, error) {
	hour := map[string]float64{}
	for i := range p.Offers {
		o := &p.Offers[i]
		if at := o.Rate.Dollars() / float64(o.Type.Count); o.Blocked == "" && o.Cap != 0 && o.Type.Kind == provider.GPU && (hour[o.Type.Accelerator] == 0 || at < hour[o.Type.Accelerator]) {
			hour[o.Type.Accelerator] = at
		}
	}
	names := slices.SortedFunc(maps.Keys(hour), func(a, b string) int {
		return cmp.Or(cmp.Compare(hour[a], hour[b]), strings.Compare(a, b))
	})
	few := *p
	held := make(map[provider.Offering]bool, len(p.Machines))
	for i := range p.Machines {
		held[p.Machines[i].Offering] = true
	}
	few.Offers = nil
	for _, o := range p.Offers {
		if slices.Contains(names[:min(2, len(names))], o.Type.Accelerator) || held[o.Offering] {
			few.Offers = append(few.Offers, o)
		}
	}
	pr, err := planner.NewProgram(&few, s.transfer())
	if err != nil || slices.ContainsFunc(pr.Jobs, func(d planner.Demand) bool { return len(d.Columns) == 0 }) {
		return planner.NewProgram(p, s.transfer())
	}
	*p = few
	return pr, nil
}

// keepCheapestHour leaves a job the columns of its smallest gang on the accelerator
// that costs least by the hour, and the column that it holds.
func keepCheapestHour(p *planner.Problem, d *planner.Demand) {
	least, accelerator, size := math.Inf(1), "", math.MaxInt
	for c := range d.Columns {
		size = min(size, d.Columns[c].Replicas())
	}
	for c := range d.Columns {
		col := &d.Columns[c]
		o := &p.Offers[col.Offer]
		if hour := o.Rate.Dollars() / float64(o.Type.Count); col.Replicas() == size && hour < least {
			least, accelerator = hour, o.Type.Accelerator
		}
	}
	var kept []planner.Column
	current := -1
	for c := range d.Columns {
		col := &d.Columns[c]
		if c == d.Current {
			current = len(kept)
		} else if col.Replicas() != size || p.Offers[col.Offer].Type.Accelerator != accelerator {
			continue
		}
		kept = append(kept, *col)
	}
	d.Columns, d.Current = kept, current
}
