package policy

import (
	"math"
	"slices"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/provider"
)

// Search for a price: the problem is planned anew at each rate that is tried.
const (
	// priceStep is the share of a price to which it is found.
	priceStep = 1e-3

	// mostTimes is how many times its price something is asked about.
	mostTimes = 64
)

// Threshold is a rate at which a plan changes.
type Threshold struct {
	Rate pricing.Rate // the plan was made at this rate, and has it so
	OK   bool         // false: at no rate from 0 to mostTimes the present one
}

// at is the problem with another rate of an offer, as a quote that is booked too.
func (r *Reasons) at(offer int, rate pricing.Rate) planner.Problem {
	p := r.given
	p.Offers = slices.Clone(p.Offers)
	p.Offers[offer].Rate, p.Offers[offer].Booked = rate, rate
	o := p.Offers[offer].Offering
	p.Machines = slices.Clone(p.Machines)
	for i := range p.Machines {
		if p.Machines[i].Offering == o && p.Machines[i].Rate > 0 {
			p.Machines[i].Rate = rate
		}
	}
	return p
}

// highest finds the highest rate of an offer, from 0 to its present one, at which a
// plan made anew is as holds wants it; at the present rate it is not.
func (r *Reasons) highest(offer int, holds func(plan *planner.Plan) bool) (Threshold, error) {
	high := r.problem.Offers[offer].Rate
	low := pricing.Rate(1)
	ok, err := r.holdsAt(offer, low, holds)
	if err != nil || !ok {
		return Threshold{}, err
	}
	return r.between(offer, low, high, holds)
}

// lasting finds the highest rate of an offer up to which plans made anew stay as
// holds wants them; at the present rate they are.
func (r *Reasons) lasting(offer int, holds func(plan *planner.Plan) bool) (Threshold, error) {
	low := r.problem.Offers[offer].Rate
	for times := 2; times <= mostTimes; times *= 2 {
		high := r.problem.Offers[offer].Rate.Times(times)
		ok, err := r.holdsAt(offer, high, holds)
		if err != nil {
			return Threshold{}, err
		}
		if !ok {
			return r.between(offer, low, high, holds)
		}
		low = high
	}
	return Threshold{}, nil
}

// between halves the rates between one at which holds is true and one at which it
// is not, and returns the last one at which it was.
func (r *Reasons) between(offer int, low, high pricing.Rate, holds func(plan *planner.Plan) bool) (Threshold, error) {
	for float64(high-low) > priceStep*float64(low) && high-low > 1 {
		mid := rounded(low, high)
		ok, err := r.holdsAt(offer, mid, holds)
		if err != nil {
			return Threshold{}, err
		}
		if ok {
			low = mid
		} else {
			high = mid
		}
	}
	return Threshold{Rate: low, OK: true}, nil
}

func (r *Reasons) holdsAt(offer int, rate pricing.Rate, holds func(plan *planner.Plan) bool) (bool, error) {
	plan, err := r.again(r.at(offer, rate))
	return err == nil && holds(&plan), err
}

// rounded is a rate near the middle of two that has few digits, if one lies between.
func rounded(low, high pricing.Rate) pricing.Rate {
	mid := low + (high-low)/2
	digit := pricing.Rate(math.Pow10(int(math.Log10(float64(max(high-low, 1)))))) / 10
	if digit > 1 {
		if m := mid / digit * digit; m > low && m < high {
			return m
		}
	}
	return mid
}

// inUse counts the machines of an offering that carry something in a plan.
func inUse(plan *planner.Plan, o provider.Offering) int {
	n := 0
	for i := range plan.Machines {
		if plan.Machines[i].Offering == o && len(plan.Machines[i].Jobs) > 0 {
			n++
		}
	}
	return n
}

// PriceOf is the highest rate at which a plan made anew uses a machine of the
// offering: below the present rate if the plan has none, above it if it has. It is
// found to a thousandth, by planning at each rate that is tried.
func (r *Reasons) PriceOf(o provider.Offering) (Threshold, error) {
	at, ok := r.offer(o)
	if !ok || r.problem.Offers[at].Rate <= 0 {
		return Threshold{}, nil
	}
	used := func(plan *planner.Plan) bool { return inUse(plan, o) > 0 }
	if used(&r.Plan) {
		return r.lasting(at, used)
	}
	return r.highest(at, used)
}

// JobPriceOf is the highest rate of an offering at which a plan made anew puts the
// job there.
func (r *Reasons) JobPriceOf(id planner.JobID, o provider.Offering) (Threshold, error) {
	at, ok := r.offer(o)
	if !ok || r.problem.Offers[at].Rate <= 0 {
		return Threshold{}, nil
	}
	there := func(plan *planner.Plan) bool {
		a := allocation(plan, id)
		return a != nil && a.Offering == o
	}
	if there(&r.Plan) {
		return r.lasting(at, there)
	}
	return r.highest(at, there)
}

// ValueToStart is the value of time, USD per hour, from which on a job that waits
// would get machines.
func (r *Reasons) ValueToStart(id planner.JobID) (Threshold, error) {
	i, err := r.job(id)
	if err != nil {
		return Threshold{}, err
	}
	starts := func(v pricing.Rate) (bool, error) {
		plan, err := r.again(r.valued(i, v))
		return err == nil && allocation(&plan, id) != nil, err
	}
	low := max(pricing.RateOf(r.know[i].v), 1)
	high := low
	for times := 2; ; times *= 2 {
		if times > mostTimes {
			return Threshold{}, nil
		}
		high = low.Times(times)
		ok, err := starts(high)
		if err != nil {
			return Threshold{}, err
		}
		if ok {
			low = low.Times(times / 2)
			break
		}
	}
	for float64(high-low) > priceStep*float64(high) {
		mid := rounded(low, high)
		ok, err := starts(mid)
		if err != nil {
			return Threshold{}, err
		}
		if ok {
			high = mid
		} else {
			low = mid
		}
	}
	return Threshold{Rate: high, OK: true}, nil
}

// valued is the problem with another value of time of one job.
func (r *Reasons) valued(job int, v pricing.Rate) planner.Problem {
	p := r.given
	p.Jobs = slices.Clone(p.Jobs)
	j := *p.Jobs[job].Job
	j.ValueOfTime = v
	p.Jobs[job].Job = &j
	return p
}

// CapToStart is the least burn cap under which a job that waits would get machines.
// OK is false when it would wait without a cap too, or there is none.
func (r *Reasons) CapToStart(id planner.JobID) (Threshold, error) {
	low := r.problem.BurnCap
	if low == 0 {
		return Threshold{}, nil
	}
	under := func(limit pricing.Rate) (planner.Plan, error) {
		p := r.given
		p.BurnCap = limit
		return r.again(p)
	}
	free, err := under(0)
	if err != nil || allocation(&free, id) == nil {
		return Threshold{}, err
	}
	high := max(free.Burn, low+1)
	for float64(high-low) > priceStep*float64(high) {
		mid := rounded(low, high)
		plan, err := under(mid)
		if err != nil {
			return Threshold{}, err
		}
		if allocation(&plan, id) != nil {
			high = mid
		} else {
			low = mid
		}
	}
	return Threshold{Rate: high, OK: true}, nil
}
