package autoscale

import (
	"time"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/pricing/budget"
	"github.com/goodfleet/goodfleet/provider"
)

// closure is what a budget policy forbids in a round.
type closure struct {
	policy   string        // its name, with the key that a cap is for
	says     string        // why
	level    budget.Action // NoNew at least
	spent    pricing.Money // of amount
	amount   pricing.Money
	until    time.Time // when its period is over; zero: not known
	stops    bool      // what is covered is stopped; else only nothing more is begun
	over     func(budget.Facts) bool
	ofOffers bool // whether a job is covered depends on what it runs on
}

// why is what a closure says, with the name of its policy.
func (c *closure) why() string { return "budget policy " + c.policy + ": " + c.says }

// Closed is a cap that lets a job begin nothing more, or stops it: a step of its policy is
// reached, or its amount is used up.
type Closed struct {
	Policy string        // its name, with the key that the cap is for
	Step   budget.Action // budget.NoNew, budget.Drain or budget.Stop
	Says   string
	Spent  pricing.Money
	Amount pricing.Money
	Until  time.Time // when its period is over; zero: it has no end
	Some   bool      // only some of what the job could run on is closed to it
}

// ClosedTo lists the caps that are closed to a job, in the order of their policies.
func (s *State) ClosedTo(job *planner.Job) []Closed {
	var list []Closed
	for i := range s.Closures {
		c := &s.Closures[i]
		x := Closed{Policy: c.policy, Step: c.level, Says: c.says, Spent: c.spent, Amount: c.amount, Until: c.until}
		if !c.ofOffers {
			if c.over(s.facts(job, provider.Offering{})) {
				list = append(list, x)
			}
			continue
		}
		covered, fits := 0, 0
		for k := range s.Offers {
			if o := &s.Offers[k]; job.RunsOn(o.Type) {
				fits++
				if c.over(s.facts(job, o.Offering)) {
					covered++
				}
			}
		}
		if x.Some = covered < fits; covered > 0 {
			list = append(list, x)
		}
	}
	return list
}

// facts are those of a job on an offering.
func (s *State) facts(job *planner.Job, o provider.Offering) budget.Facts {
	t, _ := s.Catalogue.Lookup(o.Cloud, o.Type)
	return budget.FactsOf(o, t).For(string(job.ID), job.Team, job.Project)
}

// stopping is the closure by which a job may hold nothing, wherever it runs; nil: none.
func (s *State) stopping(job *planner.Job) *closure {
	for i := range s.Closures {
		if c := &s.Closures[i]; c.stops && !c.ofOffers && c.over(s.facts(job, provider.Offering{})) {
			return c
		}
	}
	return nil
}

// leavesBy is the closure by which a job must leave what it holds; nil: none.
func (s *State) leavesBy(r *JobRecord) *closure {
	if c := s.stopping(r.Job); c != nil {
		return c
	}
	for i := range s.Closures {
		c := &s.Closures[i]
		if !c.stops {
			continue
		}
		if r.Gang != nil && c.over(s.facts(r.Job, r.Gang.Offering)) || r.Target != nil && c.over(s.facts(r.Job, r.Target.Offering)) {
			return c
		}
	}
	return nil
}

// gated is a job that may use only what the policies let it use.
func (s *State) gated(r *JobRecord, job *planner.Job) *planner.Job {
	if len(s.Gates) == 0 {
		return job
	}
	gated := *job
	gated.Refuses = func(o *planner.Offer) (by []planner.Refusal) {
		f := s.facts(job, o.Offering)
		for i := range s.Gates {
			if why, _ := s.Gates[i].refuses(r, f, o); why != "" {
				by = append(by, planner.Refusal{By: s.Gates[i].policy, Why: why})
			}
		}
		return by
	}
	gated.Opens = func(o *planner.Offer) (at time.Time) {
		f := s.facts(job, o.Offering)
		for i := range s.Gates {
			switch why, until := s.Gates[i].refuses(r, f, o); {
			case why == "":
			case until.IsZero():
				return time.Time{}
			default:
				at = later(at, until)
			}
		}
		return at
	}
	return &gated
}

// gate is a policy that says why a job may not use an offer, and when it may; "" when it
// may now, zero when nobody knows.
type gate struct {
	policy  string
	refuses func(r *JobRecord, f budget.Facts, o *planner.Offer) (why string, until time.Time)
	waits   func(r *JobRecord, f budget.Facts, o provider.Offering) SpotWait // of a fallback; nil: of anything else
}
