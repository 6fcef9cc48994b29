package autoscale

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/goodfleet/goodfleet/autoscale/placement"
	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/pricing/budget"
	"github.com/goodfleet/goodfleet/provider"
)

// Decide says what to do in a state: it asks plan what to hold and who runs where,
// puts off what cannot be had yet, and lays jobs onto machines. It is pure: the
// same state gives the same diff, and nothing is called but plan.
//
// Machines to be bought have names like "new/0" in the diff's targets.
func Decide(s State, plan PlanFunc) (Diff, planner.Plan, error) {
	d, err := decide(&s, plan, new([]planner.Offer))
	if err != nil {
		return Diff{}, planner.Plan{}, err
	}
	return d.diff, d.plan, nil
}

// decision is a diff, and what act needs to know beside it.
type decision struct {
	diff Diff
	plan planner.Plan
	refs [][]planner.MachineRef // machines of the plan behind each launch

	paced     bool              // a part of the plan was too much for one round
	stuck     bool              // moves have no room on the way, and may have soon
	questions []budget.Question // that a person has to answer first
}

// toBuy is the name of a machine of the plan until it is bought.
func toBuy(ref planner.MachineRef) provider.InstanceID {
	return provider.InstanceID("new/" + strconv.Itoa(int(ref)))
}

func decide(s *State, planFunc PlanFunc, room *[]planner.Offer) (*decision, error) {
	p := s.problem(room)
	a, late, err := s.admit(&p, planFunc)
	if err != nil {
		return nil, err
	}
	plan := *a.plan
	d := &decision{plan: plan}
	if s.Still < patience {
		moves, _ := a.stuck()
		d.stuck = len(moves) > 0
	}
	late = slices.DeleteFunc(late, func(x Deferral) bool { return a.deferred[x.Job] != "" || a.want[x.Job] == nil })
	d.diff.Deferred, d.questions = append(late, a.deferrals()...), a.questions
	d.diff.Launches, d.refs = a.launches()
	d.diff.Targets = a.targets()
	m := newMoves(s, d.diff.Targets)
	if err := m.place(); err != nil {
		return nil, err
	}
	d.diff.Stops = m.stops()
	d.diff.Starts = m.starts()
	d.diff.Terminations, d.diff.Drains = m.ends(plan.Releases)
	s.limitEnds(d, m.robbed())
	d.paced = d.paced || a.paced
	d.diff.name(s.Woke)
	return d, nil
}

// admit makes the plan, and finds out which part of it can begin. A move that no cap or
// quota has room for on the way, with the place that the job leaves counted too, would be
// put off for ever while nobody else comes or goes, and with it those who were to share its
// new machine or to have its old one. So a plan is made anew in which such jobs stay: late
// are their moves, as they were put off. While others come and go there may be room soon, for
// which they wait: what began instead would take it.
func (s *State) admit(p *planner.Problem, planFunc PlanFunc) (a *admission, late []Deferral, err error) {
	var next time.Time
	var clock planner.Clock
	for {
		plan, err := planFunc(*p)
		if err != nil {
			return nil, nil, fmt.Errorf("plan: %w", err)
		}
		if err := placement.CheckPlan(*p, plan, s.Catalogue.Lookup); err != nil {
			return nil, nil, err
		}
		s.stopSpent(&plan)
		if len(late) > 0 {
			plan.Roomy = false
		}
		if !next.IsZero() && (plan.NextDecision.IsZero() || next.Before(plan.NextDecision)) {
			plan.NextDecision, plan.NextClock = next, clock
		}
		next, clock = plan.NextDecision, plan.NextClock
		a = newAdmission(s, p, &plan)
		a.run()
		stuck, crowded := a.stuck()
		if len(stuck) == 0 || s.Still < patience {
			return a, late, nil
		}
		late = append(late, stuck...)
		for i := range p.Jobs {
			j := &p.Jobs[i]
			j.Stays = j.Stays || slices.ContainsFunc(stuck, func(d Deferral) bool { return d.Job == j.Job.ID })
			j.Shares = j.Shares || slices.Contains(crowded, j.Job.ID)
		}
	}
}

// goOn carries on with what the last plan decided: gangs whose machines have become ready
// start, those that stand in the way of others stop, and machines end that were only waited
// for.
func goOn(s *State) (*decision, error) {
	d := &decision{}
	m := newMoves(s, nil)
	if err := m.place(); err != nil {
		return nil, err
	}
	d.diff.Stops = m.stops()
	d.diff.Starts = m.starts()
	d.diff.Terminations, d.diff.Drains = m.ends(nil)
	s.limitEnds(d, m.robbed())
	d.diff.name(s.Woke)
	return d, nil
}

// running is an allocation as the state keeps it.
func running(a planner.Allocation, plan *planner.Plan, now time.Time) *planner.Running {
	r := &planner.Running{Config: a.Config, Offering: a.Offering, Since: now}
	for _, ref := range a.Machines {
		id := plan.Machines[ref].Instance
		if id == "" {
			id = toBuy(ref)
		}
		r.Machines = append(r.Machines, id)
	}
	return r
}

// samePlace reports whether two targets are the same machines with as many replicas, shared
// with the same job or with none.
func samePlace(a, b *planner.Running) bool {
	if a == nil || b == nil {
		return a == b
	}
	if a.Config.Replicas != b.Config.Replicas || a.Config.With != b.Config.With || len(a.Machines) != len(b.Machines) {
		return false
	}
	return !slices.ContainsFunc(a.Machines, func(id provider.InstanceID) bool { return !slices.Contains(b.Machines, id) })
}
