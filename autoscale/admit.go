package autoscale

import (
	"fmt"
	"slices"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/pricing/budget"
	"github.com/goodfleet/goodfleet/provider"
)

// admission decides which part of a plan can begin now. The plan is where the
// fleet should be; on the way there machines that are to end are still paid for
// and still count against quotas. What does not fit beside them is put off, whole
// gangs at a time, and its jobs stay as they are.
type admission struct {
	s    *State
	p    *planner.Problem
	plan *planner.Plan

	job       map[planner.JobID]*JobRecord
	want      map[planner.JobID]*planner.Running // by allocation
	deferred  map[planner.JobID]string           // why it is put off
	short     map[planner.JobID]bool             // the burn cap, a quota or a policy has no room for it now
	over      map[planner.JobID]bool             // a policy has none
	groups    []group                            // machines to be bought, in the order of the plan
	paced     bool                               // something was put off because one round may not do it all
	questions []budget.Question                  // to be asked
	waitsFor  map[planner.JobID]waiting          // questions without whose answer jobs get nothing
	position  *budget.Position                   // with what was admitted so far; nil: no policy limits anything
}

func newAdmission(s *State, p *planner.Problem, plan *planner.Plan) *admission {
	a := &admission{
		s: s, p: p, plan: plan,
		job:      make(map[planner.JobID]*JobRecord, len(s.Jobs)),
		want:     make(map[planner.JobID]*planner.Running, len(plan.Allocations)),
		deferred: map[planner.JobID]string{},
		short:    map[planner.JobID]bool{},
		over:     map[planner.JobID]bool{},
		waitsFor: map[planner.JobID]waiting{},
	}
	for i := range s.Jobs {
		a.job[s.Jobs[i].Job.ID] = &s.Jobs[i]
	}
	for _, x := range plan.Allocations {
		a.want[x.Job] = running(x, plan, s.Now)
	}
	a.group()
	a.obey()
	return a
}

// run puts off until what is left can be had and fits onto the machines.
func (a *admission) run() {
	for {
		before := len(a.deferred)
		a.buy()
		a.fit()
		if len(a.deferred) == before {
			return
		}
	}
}

// buy admits groups in the order of the plan while the cap and the quotas hold,
// with all that is here now counted in. A group of which a job is put off is
// dropped with all its jobs.
func (a *admission) buy() {
	burn, grown := a.burning(), a.s.Grown
	a.begin() // anew each time: what is put off is not counted
	left := a.s.quotasLeft()
	for i := range a.groups {
		g := &a.groups[i]
		for _, job := range g.jobs {
			if why, ok := a.deferred[job]; ok {
				g.drop(why)
			}
		}
		if !g.dropped {
			var short, over bool
			if g.why, short = a.refuse(g, burn, left); g.why == "" {
				g.why, over = a.affords(g)
			}
			g.dropped = g.why != ""
			for _, job := range g.jobs {
				a.short[job], a.over[job] = a.short[job] || short || over, a.over[job] || over
			}
		}
		if limit := a.s.MaxGrowth; !g.dropped && limit > 0 && grown > 0 && grown+len(g.refs) > limit {
			g.drop(fmt.Sprintf("no more than %d machines are bought in a minute", limit))
			a.paced = true
		}
		if g.dropped {
			for _, job := range g.jobs {
				if _, ok := a.deferred[job]; !ok {
					a.deferred[job] = g.why
				}
			}
			continue
		}
		grown += len(g.refs)
		for _, ref := range g.refs {
			o := a.plan.Machines[ref].Offering
			burn += a.s.rate(o, 0)
			a.take(left, o, 1)
		}
	}
}

// burning is the sum of the rates of all that is here or on its way.
func (a *admission) burning() pricing.Rate {
	var sum pricing.Rate
	for i := range a.s.Machines {
		if m := &a.s.Machines[i]; m.Instance.State != provider.Ended {
			sum += a.s.rate(m.Instance.Offering, m.Rate)
		}
	}
	for i := range a.s.Intents {
		x := &a.s.Intents[i]
		sum += a.s.rate(x.Offering, x.Rate).Times(x.open())
	}
	return sum
}

func (a *admission) take(left []planner.QuotaLeft, o provider.Offering, n int) {
	t, _ := a.s.Catalogue.Lookup(o.Cloud, o.Type)
	if i, ok := quotaFor(left, &o, &t); ok {
		left[i].Left -= n * left[i].Unit.Use(t)
	}
}

// refuse says why a group cannot be bought now; "" when it can. short: the burn cap or a
// quota has no room for it.
func (a *admission) refuse(g *group, burn pricing.Rate, left []planner.QuotaLeft) (why string, short bool) {
	left = slices.Clone(left)
	for _, ref := range g.refs {
		o := a.plan.Machines[ref].Offering
		i, ok := a.s.offer(o)
		if !ok {
			return fmt.Sprintf("%s is not sold, or has no price", o), false
		}
		if slices.Contains(a.s.Busy, o.Cloud) {
			return o.Cloud + " throttles", false
		}
		if why, _ := a.s.blocked(&a.s.Offers[i]); why != "" {
			return fmt.Sprintf("%s: %s", o, why), false
		}
		a.take(left, o, 1)
		if q, ok := quotaFor(left, &o, &a.s.Offers[i].Type); ok && left[q].Left < 0 {
			return fmt.Sprintf("%s: the quota has no room beside what is here now", o), true
		}
		burn += a.s.Offers[i].Rate
	}
	if a.s.BurnCap > 0 && burn > a.s.BurnCap {
		return fmt.Sprintf("the burn cap of %s USD/h has no room beside what is here now", a.s.BurnCap), true
	}
	return "", false
}

// deferrals lists what was put off, in the order of the plan.
func (a *admission) deferrals() []Deferral {
	var list []Deferral
	for _, x := range a.plan.Allocations {
		if why, ok := a.deferred[x.Job]; ok {
			q := a.waitsFor[x.Job]
			list = append(list, Deferral{Job: x.Job, Offering: x.Offering, Reason: why, Question: q.question, Unasked: q.unasked})
		}
	}
	return list
}

// targets lists the jobs that get another target, in the order of the plan.
func (a *admission) targets() []Target {
	var list []Target
	for _, x := range a.plan.Allocations {
		r := a.job[x.Job]
		if _, put := a.deferred[x.Job]; put || samePlace(a.want[x.Job], r.Target) {
			if c := a.s.leavesBy(r); put && c != nil && r.Target != nil && !a.s.fixed(r) {
				list = append(list, Target{Job: x.Job, Reason: c.why()}) // it cannot wait where it is
			}
			continue
		}
		list = append(list, Target{Job: x.Job, Target: a.want[x.Job], Moves: r.Target != nil || r.Gang != nil && r.Stopping == 0, Reason: x.Reason, Clock: x.Clock})
	}
	for _, w := range a.plan.Waits {
		if r := a.job[w.Job]; r.Target != nil && a.keeps(r) == "" {
			list = append(list, Target{Job: w.Job, Reason: w.Reason})
		}
	}
	return list
}
