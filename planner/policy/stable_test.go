package policy

import (
	"fmt"
	"testing"
	"time"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/provider"
)

// carryOut is the problem one round after a plan: what was bought is there, what
// was released is gone, every job holds what it was given.
func carryOut(p planner.Problem, plan planner.Plan, round time.Duration) planner.Problem {
	next := p
	next.Now = p.Now.Add(round)
	next.Machines = nil
	ids := make([]provider.InstanceID, len(plan.Machines))
	bought := map[provider.Offering]int{}
	for i, m := range plan.Machines {
		ids[i] = m.Instance
		if m.Instance == "" {
			ids[i] = provider.InstanceID(fmt.Sprintf("n-%d", i))
			bought[m.Offering]++
			next.Machines = append(next.Machines, planner.Machine{
				ID: ids[i], Offering: m.Offering, Rate: m.Rate,
				ReadyAt: p.Now.Add(2 * time.Minute), HoldTo: p.Now.Add(10 * time.Minute),
			})
			continue
		}
		for _, had := range p.Machines {
			if had.ID == m.Instance {
				next.Machines = append(next.Machines, had)
			}
		}
	}
	next.Quotas = append([]planner.QuotaLeft(nil), p.Quotas...)
	for o, n := range bought {
		for q := range next.Quotas {
			if next.Quotas[q].Class == provider.QuotaClassOf(o, typeOf(o.Type)) {
				next.Quotas[q].Left -= n * typeOf(o.Type).VCPU
			}
		}
	}
	next.Jobs = append([]planner.JobState(nil), p.Jobs...)
	for i := range next.Jobs {
		s := &next.Jobs[i]
		was := s.Running
		s.Running = nil
		if s.Waiting.IsZero() {
			s.Waiting = p.Now
		}
		for _, a := range plan.Allocations {
			if a.Job != s.Job.ID {
				continue
			}
			s.Waiting = time.Time{}
			r := &planner.Running{Config: a.Config, Offering: a.Offering, Since: p.Now}
			if a.Keeps {
				r.Since = was.Since
			}
			for _, ref := range a.Machines {
				r.Machines = append(r.Machines, ids[ref])
			}
			s.Running = r
		}
	}
	return next
}

// TestTheSameStateOneRoundLaterChangesNothing plans, carries the plan out and
// plans again: a change then must name the clock that passed.
func TestTheSameStateOneRoundLaterChangesNothing(t *testing.T) {
	changes := 0
	for name, sh := range map[string]shape{
		"free":     {jobs: 6, spot: true},
		"shared":   {jobs: 8, smallJobs: true, spot: true},
		"capped":   {jobs: 8, capped: true, spot: true},
		"all rows": {jobs: 6, capped: true, quota: true, machines: true, spot: true},
	} {
		for seed := range uint64(80) {
			p := drawProblem(seed, sh)
			first, err := Value(p, Settings{})
			if err != nil {
				t.Fatal(err)
			}
			next := carryOut(p, first, time.Minute)
			second, err := Value(next, Settings{})
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range second.Releases {
				if r.Clock == planner.NoClock {
					t.Errorf("%s, seed %d: releases %s: %s", name, seed, r.Instance, r.Reason)
				}
			}
			for _, a := range second.Allocations {
				if !a.Keeps {
					changes++
					if a.Clock == planner.NoClock {
						t.Errorf("%s, seed %d: %s moves to %v: %s", name, seed, a.Job, a.Config, a.Reason)
					}
				}
			}
			if len(second.Allocations) < len(first.Allocations) && changes == 0 {
				t.Errorf("%s, seed %d: %d jobs ran, then %d", name, seed, len(first.Allocations), len(second.Allocations))
			}
		}
	}
	t.Logf("%d changes by a clock", changes)
}

// TestWhatThePlanItselfUsesUpIsNotWaitedFor: a job that is left without its
// cheapest way by the plan's own purchases gets the cheapest that is left at once,
// as it would a round later.
func TestWhatThePlanItselfUsesUpIsNotWaitedFor(t *testing.T) {
	for seed := range uint64(200) {
		p := drawProblem(seed, shape{jobs: 5, spot: true})
		for i := range p.Offers {
			if p.Offers[i].Offering.Market == provider.Spot {
				p.Offers[i].Cap = 1
			}
		}
		first, err := Value(p, Settings{})
		if err != nil {
			t.Fatal(err)
		}
		if len(first.Waits) > 0 {
			t.Errorf("seed %d: uncapped, on demand is to be had, and %s waits: %s", seed, first.Waits[0].Job, first.Waits[0].Reason)
		}
		next := carryOut(p, first, time.Minute)
		for i := range next.Offers {
			for _, m := range first.Machines {
				if m.Instance == "" && m.Offering == next.Offers[i].Offering && next.Offers[i].Cap > 0 {
					next.Offers[i].Cap--
				}
			}
		}
		second, err := Value(next, Settings{})
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range second.Allocations {
			if !a.Keeps && a.Clock == planner.NoClock {
				t.Errorf("seed %d: %s moves to %v: %s", seed, a.Job, a.Config, a.Reason)
			}
		}
	}
}
