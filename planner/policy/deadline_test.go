package policy

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/provider"
)

// spotAndSure sells v1 in spot and on demand, with boots of six minutes, and spot
// that is lost every ten hours.
func spotAndSure(jobs ...*planner.Job) planner.Problem {
	p := planner.Problem{Now: start, Round: time.Minute}
	for _, market := range []provider.Market{provider.OnDemand, provider.Spot} {
		o := planner.Offer{
			Offering: provider.Offering{Cloud: "aws", Region: "r1", Zone: "r1-a", Type: "v1", Market: market},
			Type:     typeOf("v1"), Boot: 5 * time.Minute, Cap: -1, Rate: pricing.RateOf(3), Grant: 2 * time.Minute,
		}
		if market == provider.Spot {
			o.Rate, o.Notice = pricing.RateOf(1), 2*time.Minute
			o.Hazard = pricing.Hazard{PoolPerHour: 0.1, Down: 2 * time.Hour}
		}
		o.Booked = o.Rate
		p.Offers = append(p.Offers, o)
	}
	for _, j := range jobs {
		p.Jobs = append(p.Jobs, planner.JobState{Job: j, Waiting: j.Submitted})
	}
	return p
}

// trainFor is a job of so many hours on one V100 that restores in a minute.
func trainFor(name string, h float64, deadline time.Duration) *planner.Job {
	return &planner.Job{
		ID: planner.JobID(name), Family: "f", Submitted: start, Deadline: start.Add(deadline),
		Work: planner.Work{Samples: 1000 * h, Kind: planner.WorkExact}, Resources: planner.Resources{Replicas: planner.Replicas{Set: []int{1}}},
		Checkpoint: planner.Checkpoint{Restore: time.Minute}, Curve: tableCurve{"V100": {1: 1000}},
	}
}

func planFor(t testing.TB, p planner.Problem, rule Policy) planner.Plan {
	t.Helper()
	plan, err := rule(p, Settings{})
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

func marketOf(plan planner.Plan, job planner.JobID) provider.Market {
	for _, a := range plan.Allocations {
		if a.Job == job {
			return a.Offering.Market
		}
	}
	return 0
}

// TestNetIsDueWhenSlackIsUsedUp: 4 h of work, starts of 6 minutes (twice), 2 minutes
// of grant: 4 h 14 min before the deadline spot is no longer good enough.
func TestNetIsDueWhenSlackIsUsedUp(t *testing.T) {
	for _, tc := range []struct {
		left   time.Duration
		market provider.Market
		state  planner.PromiseState
	}{
		{10 * time.Hour, provider.Spot, planner.PromiseKept},
		{4*time.Hour + 15*time.Minute, provider.Spot, planner.PromiseKept},
		{4*time.Hour + 13*time.Minute, provider.OnDemand, planner.PromiseNet},
		{4*time.Hour + 7*time.Minute, provider.OnDemand, planner.PromiseNet},
		{4*time.Hour + 3*time.Minute, provider.OnDemand, planner.PromiseLate}, // by so little that it still binds
		{2 * time.Hour, provider.Spot, planner.PromiseLate},
	} {
		t.Run(tc.left.String(), func(t *testing.T) {
			plan := planFor(t, spotAndSure(trainFor("a", 4, tc.left)), Value)
			got := plan.Promises[0]
			if marketOf(plan, "a") != tc.market || got.State != tc.state {
				t.Fatalf("%v, %v; want %v, %v: %s", marketOf(plan, "a"), got.State, tc.market, tc.state, got)
			}
			due := start.Add(tc.left - 4*time.Hour - 14*time.Minute)
			if tc.state == planner.PromiseKept {
				if got.From.Sub(due).Abs() > time.Second || got.Slack.Round(time.Minute) != due.Sub(start) {
					t.Errorf("net from %v with %v of slack, want %v", got.From, got.Slack, due)
				}
				if plan.NextDecision.After(got.From) {
					t.Errorf("next decision at %v, after the net is due", plan.NextDecision)
				}
			}
			if tc.state == planner.PromiseLate {
				if want := start.Add(4*time.Hour + 6*time.Minute); got.Soonest.Sub(want).Abs() > 3*time.Minute {
					t.Errorf("fastest end %v, want about %v", got.Soonest, want)
				}
				if got.Later == nil || got.Later.Offering.Market != provider.Spot {
					t.Errorf("cheapest end %+v, want one on spot", got.Later)
				}
			}
			if plan.Gap < -1e-9 || plan.Gap > 1 || plan.Value > plan.Bound.Value+1e-6 {
				t.Errorf("value %g, bound %g, gap %g", plan.Value, plan.Bound.Value, plan.Gap)
			}
		})
	}
}

// TestLongDeadlineChangesNothing: a plan with slack is the plan without a deadline.
func TestLongDeadlineChangesNothing(t *testing.T) {
	for seed := range uint64(40) {
		sh := shape{jobs: 5, spot: true, machines: true, capped: seed%2 == 0, quota: seed%3 == 0}
		plain := planFor(t, drawProblem(seed, sh), Value)
		p := drawProblem(seed, sh)
		for i := range p.Jobs {
			p.Jobs[i].Job.Deadline = start.Add(10000 * time.Hour)
		}
		with := planFor(t, p, Value)
		with.Promises, with.NextDecision, with.NextClock = nil, plain.NextDecision, plain.NextClock
		if !with.Roomy { // the net of a deadline may lack room
			with.Roomy = plain.Roomy
		}
		for i := range with.Waits { // a net that is too large for a cap or quota is named
			with.Waits[i].Reason, _, _ = strings.Cut(with.Waits[i].Reason, "; deadline")
		}
		for i := range with.Allocations {
			with.Allocations[i].Reason, _, _ = strings.Cut(with.Allocations[i].Reason, "; deadline")
		}
		if diff := cmp.Diff(plain, with); diff != "" {
			t.Fatalf("seed %d: %s", seed, diff)
		}
	}
}

// TestTightDeadlineChoosesFasterConfig: before it has to, and no faster than needed.
func TestTightDeadlineChoosesFasterConfig(t *testing.T) {
	job := trainFor("a", 16, 100*time.Hour)
	job.Curve = tableCurve{"V100": {1: 1000, 2: 1900, 4: 2600}} // two machines do 1710
	job.Resources.Replicas.Set = []int{1, 2, 4}
	job.ValueOfTime = pricing.RateOf(0.01)
	p := spotAndSure(job)
	v4 := p.Offers[0]
	v4.Offering.Type, v4.Type, v4.Rate, v4.Booked = "v4", typeOf("v4"), pricing.RateOf(12), pricing.RateOf(12)
	p.Offers = append(p.Offers[:1:1], v4)
	for _, tc := range []struct {
		left     time.Duration
		replicas int
	}{{100 * time.Hour, 1}, {17 * time.Hour, 1}, {12 * time.Hour, 2}, {10 * time.Hour, 2}, {7 * time.Hour, 4}} {
		job.Deadline = start.Add(tc.left)
		plan := planFor(t, p, Value)
		if got := plan.Allocations[0]; got.Config.Replicas != tc.replicas || plan.Promises[0].State == planner.PromiseLate {
			t.Errorf("%v left: %d replicas, want %d: %s", tc.left, got.Config.Replicas, tc.replicas, plan.Promises[0])
		}
	}
}

// TestTwoNetsAndOneQuota: the job that must start first has it; the other is told, and
// begun earlier where there is time.
func TestTwoNetsAndOneQuota(t *testing.T) {
	quota := planner.QuotaLeft{Class: provider.QuotaClass{Cloud: "aws", Region: "r1", Family: "P", Market: provider.OnDemand}, Unit: provider.VCPUs, Left: 8}
	p := spotAndSure(trainFor("late", 4, 9*time.Hour), trainFor("soon", 4, 8*time.Hour))
	p.Quotas = []planner.QuotaLeft{quota}
	at := func(x planner.Promise) time.Duration { return x.From.Sub(start).Round(time.Minute) }
	plan := planFor(t, p, Value)
	late, soon := plan.Promises[0], plan.Promises[1]
	// One after the other they need 2 × 4 h 14 min before 9 h.
	if soon.State != planner.PromiseKept || at(soon) != 32*time.Minute || late.State != planner.PromiseKept || at(late) != 4*time.Hour+46*time.Minute {
		t.Errorf("soon from %v: %s; late from %v: %s", at(soon), soon, at(late), late)
	}

	p.Now = start.Add(50 * time.Minute) // too late for both
	plan = planFor(t, p, Value)
	late, soon = plan.Promises[0], plan.Promises[1]
	if soon.State != planner.PromiseKept || at(soon) != 3*time.Hour+46*time.Minute {
		t.Errorf("soon from %v: %s", at(soon), soon)
	}
	if late.State != planner.PromiseOpen || !strings.Contains(late.Reason, "quota P (on-demand) in r1 is kept for soon") {
		t.Errorf("late: %s", late)
	}

	// Both are due: the sooner one gets the machine, the other runs on what is left.
	p.Now = start.Add(4*time.Hour + 50*time.Minute)
	p.Jobs[1].Done = 1000
	plan = planFor(t, p, Value)
	if marketOf(plan, "soon") != provider.OnDemand || marketOf(plan, "late") != provider.Spot {
		t.Errorf("soon on %v, late on %v", marketOf(plan, "soon"), marketOf(plan, "late"))
	}
	if got := plan.Promises[0].String(); !strings.Contains(got, "soon") {
		t.Errorf("late: %s", got)
	}
}

// TestDeadlineComesBeforeWorth: a job without deadline that is worth more gives way.
func TestDeadlineComesBeforeWorth(t *testing.T) {
	rich := trainFor("rich", 4, time.Hour)
	rich.Deadline, rich.ValueOfTime = time.Time{}, pricing.RateOf(500)
	for _, tc := range []struct {
		name string
		row  func(p *planner.Problem)
	}{
		{"quota", func(p *planner.Problem) {
			p.Quotas = []planner.QuotaLeft{{Class: provider.QuotaClass{Cloud: "aws", Region: "r1", Family: "P", Market: provider.OnDemand}, Unit: provider.VCPUs, Left: 8}}
		}},
		{"burn cap", func(p *planner.Problem) { p.BurnCap = pricing.RateOf(3.5) }},
		{"supply", func(p *planner.Problem) { p.Offers[0].Cap = 1 }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := spotAndSure(rich, trainFor("due", 4, 4*time.Hour+10*time.Minute))
			p.Offers[1].Cap = 0
			tc.row(&p)
			plan := planFor(t, p, Value)
			if marketOf(plan, "due") != provider.OnDemand || marketOf(plan, "rich") != 0 {
				t.Errorf("due on %v, rich on %v", marketOf(plan, "due"), marketOf(plan, "rich"))
			}
		})
	}
}

// TestNetsTogetherKeepEveryRow checks reserved nets minute by minute against quota,
// supply and burn cap, and each alone against its deadline.
func TestNetsTogetherKeepEveryRow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sh := shape{jobs: rapid.IntRange(2, 8).Draw(t, "jobs"), spot: true, machines: rapid.Bool().Draw(t, "machines"), capped: rapid.Bool().Draw(t, "capped"), quota: rapid.Bool().Draw(t, "quota")}
		p := drawProblem(rapid.Uint64Range(0, 1<<20).Draw(t, "seed"), sh)
		for i := range p.Offers {
			p.Offers[i].Cap = rapid.SampledFrom([]int{-1, 0, 1, 2}).Draw(t, "cap")
		}
		for i := range p.Jobs {
			if rapid.IntRange(0, 3).Draw(t, "none") > 0 {
				p.Jobs[i].Job.Deadline = start.Add(time.Duration(rapid.IntRange(-60, 60*20).Draw(t, "deadline")) * time.Minute)
			}
		}
		pr, err := planner.NewProgram(&p, planner.DefaultTransfer())
		if err != nil {
			t.Fatal(err)
		}
		left := make([]float64, len(p.Jobs))
		for i := range left {
			_, left[i] = planner.Remaining(&p.Jobs[i], 1000)
		}
		list := pr.Secure(left)
		held := map[provider.Offering]int{}
		for _, m := range p.Machines {
			held[m.Offering]++
		}
		for minute := 0; minute < 60*21; minute += 7 {
			at := start.Add(time.Duration(minute)*time.Minute + time.Second)
			machines, burn := map[provider.Offering]int{}, 0.0
			units := make([]int, len(p.Quotas))
			for i, s := range list {
				if s.Net == nil || at.Before(s.From) {
					continue
				}
				c := &pr.Jobs[i].Columns[s.Net.Column]
				o := &p.Offers[c.Offer]
				if !o.Sure() || s.Net.Within() > p.Jobs[i].Job.Deadline.Sub(start).Hours()+1e-9 {
					t.Fatalf("job %d: net %+v on %v with the deadline at %v", i, s.Net, o.Offering, p.Jobs[i].Job.Deadline)
				}
				// One that is late for its margins has done its work by then all the same:
				// it is within the deadline.
				if !at.Before(s.From.Add(time.Duration(s.Net.Need * float64(time.Hour)))) {
					continue
				}
				machines[o.Offering] += c.Nodes
				burn += c.Alone
				for q := range p.Quotas {
					if x := &p.Quotas[q].Class; x.Family == o.Type.QuotaFamily && x.Market == o.Offering.Market && x.Cloud == o.Offering.Cloud && x.Region == o.Offering.Region {
						units[q] += c.Nodes * p.Quotas[q].Unit.Use(o.Type)
					}
				}
			}
			for i := range p.Offers {
				o := &p.Offers[i]
				if n := machines[o.Offering]; o.Cap >= 0 && n > o.Cap+held[o.Offering] {
					t.Fatalf("%v: %d machines of %v, there can be %d", at, n, o.Offering, o.Cap+held[o.Offering])
				}
			}
			for q := range p.Quotas {
				limit := p.Quotas[q].Left
				for _, m := range p.Machines {
					if x := typeOf(m.Offering.Type); x.QuotaFamily == p.Quotas[q].Class.Family && m.Offering.Market == p.Quotas[q].Class.Market {
						limit += p.Quotas[q].Unit.Use(x)
					}
				}
				if units[q] > limit {
					t.Fatalf("%v: %d units of a quota of %d", at, units[q], limit)
				}
			}
			if p.BurnCap > 0 && burn > p.BurnCap.Dollars()+1e-6 {
				t.Fatalf("%v: %g USD/h over a cap of %s", at, burn, p.BurnCap)
			}
		}
		for i, s := range list {
			if !p.Jobs[i].Job.Deadline.IsZero() && len(s.Ways) > 0 && s.Net == nil && s.Why == "" {
				t.Fatalf("job %d has ways, no net, and no reason", i)
			}
		}
	})
}

// TestDueJobsAreSeatedBeforeAll: where the nets of due jobs all fit beside what may
// not be ended, all of them run on what surely runs.
func TestDueJobsAreSeatedBeforeAll(t *testing.T) {
	seated := 0
	for seed := range uint64(200) {
		p := drawProblem(seed, shape{jobs: 5, spot: true, capped: seed%2 == 0, quota: seed%3 == 0})
		for i := range 2 {
			p.Jobs[i].Job.Deadline = start.Add(1000 * time.Hour)
		}
		pr, err := planner.NewProgram(&p, planner.DefaultTransfer())
		if err != nil {
			t.Fatal(err)
		}
		for i, s := range pr.Secure([]float64{p.Jobs[0].Job.Work.Samples, p.Jobs[1].Job.Work.Samples, 0, 0, 0})[:2] {
			if len(s.Ways) > 0 { // between what it takes and what must be left
				p.Jobs[i].Job.Deadline = start.Add(time.Duration((s.Ways[0].Within() + s.Ways[0].Need) / 2 * float64(time.Hour)))
			}
		}
		plan := planFor(t, p, Value)
		for _, x := range plan.Promises {
			if x.State != planner.PromiseNet {
				continue
			}
			seated++
			if m := marketOf(plan, x.Job); m != provider.OnDemand {
				t.Errorf("seed %d: %s is due and on %v", seed, x.Job, m)
			}
			if x.Finish.After(x.Deadline) {
				t.Errorf("seed %d: %s is due and ends at %v, after %v", seed, x.Job, x.Finish, x.Deadline)
			}
		}
		for i, x := range plan.Promises {
			if x.State == planner.PromiseOpen && x.Net != nil {
				t.Errorf("seed %d: job %d: its reserved net was not to be had: %s", seed, i, x)
			}
		}
		if math.IsNaN(plan.Gap) || plan.Value > plan.Bound.Value+1e-6 {
			t.Errorf("seed %d: value %g, bound %g", seed, plan.Value, plan.Bound.Value)
		}
	}
	if seated < 20 {
		t.Errorf("only %d nets were due: the draw is too easy", seated)
	}
}

func ExamplePolicy_deadline() {
	p := spotAndSure(trainFor("resnet", 4, 6*time.Hour))
	plan, err := Value(p, Settings{})
	if err != nil {
		panic(err)
	}
	fmt.Println(plan.Allocations[0].Offering)
	fmt.Println(plan.Promises[0])
	// Output:
	// aws/r1-a/v1/spot
	// in time: 1h46m0s of slack, from 2023-03-01 13:46 it gets aws/r1-a/v1/on-demand
}

// TestNetsCountTheMachinesThatAreThere: a machine that is held can carry a net though no
// more can be bought, whoever runs on it now; one that is leaving cannot.
func TestNetsCountTheMachinesThatAreThere(t *testing.T) {
	class := provider.QuotaClass{Cloud: "aws", Region: "r1", Family: "P", Market: provider.OnDemand}
	for _, row := range []struct {
		name string
		full func(p *planner.Problem)
		says string
	}{
		{"quota", func(p *planner.Problem) {
			p.Quotas = []planner.QuotaLeft{{Class: class, Unit: provider.VCPUs, Left: 0}}
		}, "quota P (on-demand) in r1 is too small for it"},
		{"supply", func(p *planner.Problem) { p.Offers[0].Cap = 0 }, "nothing that it takes and that surely runs can be had now"},
	} {
		for _, held := range []struct {
			name  string
			there []planner.Machine
			want  planner.PromiseState
		}{
			{"none", nil, planner.PromiseOpen},
			{"one", []planner.Machine{{ID: "m"}}, planner.PromiseKept},
			{"one that is leaving", []planner.Machine{{ID: "m", Leaving: true}}, planner.PromiseOpen},
		} {
			t.Run(row.name+", "+held.name, func(t *testing.T) {
				other := trainFor("other", 50, time.Hour)
				other.Deadline = time.Time{}
				p := spotAndSure(trainFor("due", 4, 9*time.Hour), other)
				row.full(&p)
				for _, m := range held.there {
					m.Offering, m.Rate, m.ReadyAt = p.Offers[0].Offering, p.Offers[0].Rate, start
					p.Machines = append(p.Machines, m)
					if !m.Leaving {
						p.Jobs[1].Running = &planner.Running{Offering: m.Offering, Machines: []provider.InstanceID{"m"}, Since: start.Add(-time.Hour),
							Config: planner.Config{Cloud: "aws", Type: "v1", Nodes: 1, Replicas: 1}}
					}
				}
				got := planFor(t, p, Value).Promises[0]
				if got.State != held.want || held.want == planner.PromiseOpen && !strings.Contains(got.Reason, row.says) {
					t.Errorf("got %v, %s; want %v: %s", got.State, got.String(), held.want, row.says)
				}
			})
		}
	}
}
