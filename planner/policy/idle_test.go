package policy

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/provider"
)

// TestIdleMachinesAreKeptWhereJobsComeFasterThanOthersBoot: machines boot for six
// minutes at 1 USD/h, and an hour of each job is worth 1 USD: one is kept where a job
// comes in that time with more than a half, ln 2 or 6.9 jobs an hour.
func TestIdleMachinesAreKeptWhereJobsComeFasterThanOthersBoot(t *testing.T) {
	p, o := oneV100(6 * time.Minute)
	for _, tt := range []struct {
		name       string
		came, idle int
		past       int
		age        time.Duration
		cap        pricing.Rate
		mu         bool
		keeps      int
	}{
		{name: "six came", came: 6, idle: 1, age: 30 * time.Minute, keeps: 0},
		{name: "eight came", came: 8, idle: 1, age: 30 * time.Minute, keeps: 1},
		{name: "eight came, two are idle", came: 8, idle: 2, age: 30 * time.Minute, keeps: 1},
		{name: "eighteen came, two are idle", came: 18, idle: 2, age: 30 * time.Minute, keeps: 2},
		{name: "two of nine are there, seven have ended", came: 2, past: 7, idle: 1, age: 30 * time.Minute, keeps: 1},
		{name: "one of six is there, five have ended", came: 1, past: 5, idle: 1, age: 30 * time.Minute, keeps: 0},
		{name: "nobody is there, eight have ended", past: 8, idle: 1, age: 30 * time.Minute, keeps: 1},
		{name: "nobody is there, eight of yesterday have ended", past: 8, idle: 1, age: 24 * time.Hour, keeps: 0},
		{name: "eight came yesterday", came: 8, idle: 1, age: 24 * time.Hour, keeps: 0},
		{name: "the cap leaves no room", came: 8, idle: 1, age: 30 * time.Minute, cap: 8 * pricing.DollarPerHour, keeps: 0},
		{name: "money is dear", came: 8, idle: 1, age: 30 * time.Minute, mu: true, keeps: 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			q := planner.Problem{Now: p.Now, Offers: []planner.Offer{o}, BurnCap: tt.cap}
			if tt.mu {
				q.Budgets = []planner.BudgetPrice{{Name: "month", Mu: 0.1}}
			}
			hold := func(id provider.InstanceID) {
				q.Machines = append(q.Machines, planner.Machine{ID: id, Offering: o.Offering, Rate: o.Rate, ReadyAt: p.Now.Add(-time.Hour)})
			}
			for n := range tt.came + tt.past {
				j := *p.Jobs[0].Job
				j.ID, j.ValueOfTime, j.Submitted = planner.JobID(fmt.Sprint("j", n)), pricing.DollarPerHour, p.Now.Add(-tt.age)
				j.Resources.Accelerators, j.Resources.Replicas.Set = []string{"V100"}, []int{1}
				j.Work = planner.Work{Kind: planner.WorkExact, Samples: 1e6}
				if n >= tt.came {
					q.Past = append(q.Past, &j)
					continue
				}
				id := provider.InstanceID("on-" + string(j.ID))
				hold(id)
				q.Jobs = append(q.Jobs, planner.JobState{Job: &j, Running: &planner.Running{
					Config:   planner.Config{Cloud: o.Offering.Cloud, Type: o.Type.Name, Nodes: 1, Replicas: 1},
					Offering: o.Offering, Machines: []provider.InstanceID{id}, Since: p.Now.Add(-tt.age / 2),
				}})
			}
			for n := range tt.idle {
				hold(provider.InstanceID(fmt.Sprint("idle-", n)))
			}
			plan, err := Value(q, Settings{})
			if err != nil {
				t.Fatal(err)
			}
			if got := tt.idle - len(plan.Releases); got != tt.keeps {
				t.Fatalf("keeps %d idle machines, want %d: releases %+v", got, tt.keeps, plan.Releases)
			}
			if len(plan.Machines) != tt.came+tt.keeps || plan.Burn != o.Rate.Times(tt.came+tt.keeps) {
				t.Errorf("holds %d machines at %s USD/h", len(plan.Machines), plan.Burn)
			}
			if tt.keeps == 0 {
				return
			}
			if m := plan.Machines[len(plan.Machines)-1]; !strings.HasPrefix(m.Reason, "kept idle: ") {
				t.Errorf("kept without a reason: %+v", m)
			}
			if plan.NextDecision.IsZero() || plan.NextDecision.After(p.Now.Add(o.Boot)) {
				t.Errorf("looked at again at %s", plan.NextDecision)
			}
		})
	}
}

// TestPoissonTails holds the tails against
// the closed forms P(N ≥ 1 | 1) = 1 − 1/e, P(N ≥ 2 | 1) = 1 − 2/e.
func TestPoissonTails(t *testing.T) {
	for _, tt := range []struct {
		k    int
		mean float64
		want float64
	}{{1, 1, 1 - math.Exp(-1)}, {2, 1, 1 - 2*math.Exp(-1)}, {3, 2, 1 - 5*math.Exp(-2)}, {1, 0, 0}} {
		if got := atLeast(tt.k, tt.mean); math.Abs(got-tt.want) > 1e-12 {
			t.Errorf("P(N >= %d) of mean %g is %g, want %g", tt.k, tt.mean, got, tt.want)
		}
	}
}
