package peer

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/goodfleet/goodfleet/autoscale"
	"github.com/goodfleet/goodfleet/autoscale/placement"
	"github.com/goodfleet/goodfleet/autoscale/sim"
	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/planner/share"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/provider"
)

var start = time.Date(2020, time.November, 4, 0, 0, 0, 0, time.UTC)

// speeds is a curve by accelerator, in samples per hour of the whole gang.
type speeds map[string]float64

func (s speeds) Speed(accelerator string, _, _ int) (planner.Speed, bool) {
	v, ok := s[accelerator]
	return planner.Speed{Goodput: v}, ok
}

// job takes so many seconds on a V100, twice as many on a K80.
func job(id string, after, sec float64, workers int) *planner.Job {
	return &planner.Job{
		ID: planner.JobID(id), Submitted: start.Add(time.Duration(after * float64(time.Second))), Curve: speeds{"V100": 3600, "K80": 1800},
		Work: planner.Work{Samples: sec, Kind: planner.WorkExact}, Resources: planner.Resources{Replicas: planner.Replicas{Set: []int{workers}}},
	}
}

// replay simulates jobs on a cluster and returns what each took, in seconds.
func replay(t *testing.T, cluster string, plan autoscale.PlanFunc, jobs ...*planner.Job) []float64 {
	t.Helper()
	return took(outcome(t, cluster, plan, jobs...), jobs)
}

// outcome simulates jobs on a cluster.
func outcome(t *testing.T, cluster string, plan autoscale.PlanFunc, jobs ...*planner.Job) sim.Outcome {
	t.Helper()
	catalogue, err := provider.EmbeddedCatalogue()
	if err != nil {
		t.Fatal(err)
	}
	prices, err := pricing.NewHistory(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	s := sim.Setting{
		Variant: "replay", Start: start, Catalogue: catalogue, Prices: prices, Jobs: jobs, Plan: plan, Check: true, Lockstep: true,
		Loop:  autoscale.Settings{Round: 360 * time.Second, SkipUnchanged: true, Book: 24 * time.Hour, MaxMoves: 1000},
		Truth: sim.Truth{Step: func(*planner.Job) float64 { return 1 }},
	}
	c, err := sim.ParseCluster(cluster, catalogue)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Stand(&s); err != nil {
		t.Fatal(err)
	}
	out, err := sim.Simulate(context.Background(), s)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// took is what each job took, in seconds.
func took(out sim.Outcome, jobs []*planner.Job) []float64 {
	took := make([]float64, len(jobs))
	for i, j := range jobs {
		for _, o := range out.JobOutcomes {
			if o.Job == j.ID {
				took[i] = math.Round(o.JCTHours*3600*1e3) / 1e3
			}
		}
	}
	return took
}

func rule(t *testing.T, name string) share.Policy {
	t.Helper()
	r, ok := share.Find(name)
	if !ok {
		t.Fatalf("no rule %s", name)
	}
	return r
}

func fifo(t *testing.T) *Gavel {
	return NewGavel(GavelConfig{Rule: rule(t, "fifo_greedy"), Aware: true, FIFO: true})
}

// One machine, three jobs in order. As long as the last allocation is that of time 0,
// the next comes at once: the round at 360 s sees b and c, and makes one. From then on
// 1920 s must pass: b waits, through rounds in which nothing runs, until that at 2400 s,
// and c until that at 4440 s.
func TestFIFOWaitsForTheNextAllocation(t *testing.T) {
	got := replay(t, "1xV100", fifo(t).Plan, job("a", 0, 600, 1), job("b", 1, 600, 1), job("c", 2, 500, 1))
	if diff := cmp.Diff([]float64{600, 2999, 4938}, got); diff != "" {
		t.Error(diff)
	}
}

// The head of the queue holds up all behind it, also those that would fit.
func TestFIFOIsHeldUpByItsHead(t *testing.T) {
	got := replay(t, "2xV100", fifo(t).Plan, job("a", 0, 700, 1), job("b", 0, 700, 2), job("c", 0, 10, 1))
	// c comes after b: with b, which takes both, the first round at which 1920 s have
	// passed since b was placed is that of c.
	if got[0] != 700 || got[1] != 1400 || got[2] < 2620 {
		t.Errorf("took %v s: want a first, then b, and c not before there are shares anew", got)
	}
}

// What jobs that never end have had comes to their shares of a fair policy, whether the
// accounts begin anew with each sharing or go on for ever.
func TestRoundsComeToTheirShares(t *testing.T) {
	for _, ever := range []bool{false, true} {
		g := NewGavel(GavelConfig{Rule: rule(t, "max_min_fairness"), Aware: true, Ever: ever})
		had := map[planner.JobID]float64{}
		total, until := 0.0, start.Add(24*time.Hour)
		var last planner.Plan
		var at time.Time
		count := func(p planner.Problem) (planner.Plan, error) {
			if !at.IsZero() && !p.Now.After(until) {
				for _, a := range last.Allocations {
					had[a.Job] += p.Now.Sub(at).Hours()
				}
				total += p.Now.Sub(at).Hours()
			}
			plan, err := g.Plan(p)
			last, at = plan, p.Now
			return plan, err
		}
		long := 25 * 3600.
		replay(t, "2xV100", count, job("a", 0, long, 1), job("b", 0, long, 1), job("c", 0, long, 1))
		for id, h := range had {
			if part := h / total; math.Abs(part-2./3) > 0.01 {
				t.Errorf("ever %v: %s had machines for %.3f of the time, its share is 0.667", ever, id, part)
			}
		}
	}
}

// Asked again at the same instant, after gangs have left, it says the same.
func TestPlanOfAnInstantStands(t *testing.T) {
	g := NewGavel(GavelConfig{Rule: rule(t, "max_min_fairness_agnostic")})
	calls, differ := 0, 0
	var last planner.Plan
	var at time.Time
	plan := func(p planner.Problem) (planner.Plan, error) {
		got, err := g.Plan(p)
		if p.Now.Equal(at) {
			calls++
			if !cmp.Equal(last.Allocations, got.Allocations) {
				differ++
			}
		}
		if err := placement.CheckPlan(p, got, func(_, name string) (provider.InstanceType, bool) {
			for _, o := range p.Offers {
				if o.Offering.Type == name {
					return o.Type, true
				}
			}
			return provider.InstanceType{}, false
		}); err != nil {
			t.Error(err)
		}
		last, at = got, p.Now
		return got, err
	}
	replay(t, "2xV100,2xK80", plan, job("a", 0, 9000, 2), job("b", 0, 9000, 1), job("c", 400, 9000, 2), job("d", 5000, 3000, 1))
	if calls == 0 || differ > 0 {
		t.Errorf("of %d plans made again %d differ", calls, differ)
	}
}
