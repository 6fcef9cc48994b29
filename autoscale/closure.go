package autoscale

import (
	"time"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/pricing/budget"
	"github.com/goodfleet/goodfleet/provider"
)

// closure is what a budget policy forbids in a round.
type closure struct {
	why      string
	until    time.Time // when it is over by itself; zero: not known
	stops    bool      // what is covered is stopped; else only nothing more is begun
	over     func(budget.Facts) bool
	ofOffers bool // whether a job is covered depends on what it runs on
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
	gated.Refuses = func(o *planner.Offer) string {
		f := s.facts(job, o.Offering)
		for i := range s.Gates {
			if why, _ := s.Gates[i](r, f, o); why != "" {
				return why
			}
		}
		return ""
	}
	gated.Opens = func(o *planner.Offer) (at time.Time) {
		f := s.facts(job, o.Offering)
		for i := range s.Gates {
			switch why, until := s.Gates[i](r, f, o); {
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

// gate says why a job may not use an offer, and when it may; "" when it may now, zero when
// nobody knows.
type gate func(r *JobRecord, f budget.Facts, o *planner.Offer) (why string, until time.Time)
