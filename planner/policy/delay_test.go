package policy

import (
	"strings"
	"testing"
	"time"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/provider"
)

// oneV100 is a drawn problem with one job that runs on one V100, and an offer of that,
// on demand at 1 USD/h, with a boot.
func oneV100(boot time.Duration) (planner.Problem, planner.Offer) {
	p := drawProblem(2, shape{jobs: 1, spot: true})
	o := p.Offers[0]
	for _, x := range p.Offers {
		if x.Offering.Market == provider.OnDemand && x.Type.Accelerator == "V100" && x.Type.Count == 1 {
			o = x
		}
	}
	o.Rate, o.Booked, o.Cap, o.Boot = pricing.DollarPerHour, pricing.DollarPerHour, -1, boot
	return p, o
}

// TestAJobWaitsForAMachineThatIsAboutToBeFree: a machine boots for three minutes, at
// 1 USD/h with an hour worth 1 USD, so that waiting for up to six saves money.
func TestAJobWaitsForAMachineThatIsAboutToBeFree(t *testing.T) {
	p, o := oneV100(3 * time.Minute)
	job := func(id planner.JobID, hours float64) planner.JobState {
		j := *p.Jobs[0].Job
		j.ID, j.ValueOfTime, j.Submitted = id, pricing.DollarPerHour, p.Now
		j.Resources.Accelerators, j.Resources.Replicas.Set = []string{"V100"}, []int{1}
		speed, ok := j.Curve.Speed("V100", 1, 1)
		if !ok {
			t.Fatal("it does not run on one V100")
		}
		j.Work = planner.Work{Kind: planner.WorkExact, Samples: hours * speed.Goodput}
		return planner.JobState{Job: &j, Waiting: p.Now}
	}
	for _, tt := range []struct {
		name   string
		left   time.Duration // of the job that runs
		waited time.Duration // of the one that waits
		kind   planner.WorkKind
		waits  bool
	}{
		{"a minute is left", time.Minute, 0, planner.WorkExact, true},
		{"as long as it boots", 3 * time.Minute, 0, planner.WorkExact, true},
		{"a little under what waiting costs", 5*time.Minute + 50*time.Second, 0, planner.WorkExact, true},
		{"a little over it", 6*time.Minute + 10*time.Second, 0, planner.WorkExact, false},
		{"an hour is left", time.Hour, 0, planner.WorkExact, false},
		{"a minute, again and again", time.Minute, 5*time.Minute + 30*time.Second, planner.WorkExact, false},
		{"nobody knows", time.Minute, 0, planner.WorkUnknown, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a, b := job("a", tt.left.Hours()), job("b", 2)
			a.Job.Work.Kind = tt.kind
			a.Waiting = time.Time{}
			a.Running = &planner.Running{
				Config:   planner.Config{Cloud: o.Offering.Cloud, Type: o.Type.Name, Nodes: 1, Replicas: 1},
				Offering: o.Offering, Machines: []provider.InstanceID{"i-a"}, Since: p.Now.Add(-time.Hour),
			}
			b.Waiting = p.Now.Add(-tt.waited)
			q := planner.Problem{
				Now: p.Now, Jobs: []planner.JobState{a, b}, Offers: []planner.Offer{o},
				Machines: []planner.Machine{{ID: "i-a", Offering: o.Offering, Rate: o.Rate, ReadyAt: p.Now.Add(-time.Hour)}},
			}
			plan, err := Value(q, Settings{})
			if err != nil {
				t.Fatal(err)
			}
			if got := allocation(&plan, "b") == nil; got != tt.waits {
				t.Fatalf("waits %v, want %v: %+v", got, tt.waits, plan.Waits)
			}
			if !tt.waits {
				return
			}
			if len(plan.Machines) != 1 || plan.Burn != o.Rate || allocation(&plan, "a").Machines[0] != 0 {
				t.Errorf("holds %+v at %s", plan.Machines, plan.Burn)
			}
			if w := plan.Waits[0]; !strings.Contains(w.Reason, "i-a is free in") || w.Never {
				t.Errorf("it waits: %+v", w)
			}
			if want := p.Now.Add(tt.left); plan.NextDecision.After(want.Add(time.Minute)) || plan.NextDecision.IsZero() {
				t.Errorf("next decision at %s, the machine is free at %s", plan.NextDecision, want)
			}
		})
	}
}
