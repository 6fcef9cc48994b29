package policy

import (
	"strings"
	"testing"
	"time"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/planner/throughput"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/provider"
)

// explorers are n jobs of a family that was measured on T4 alone; V100 is estimated
// to do five times as much, at four times the rate.
func explorers(t *testing.T, n int, samples float64) planner.Problem {
	t.Helper()
	profile, err := throughput.NewProfile(throughput.ProfileConfig{Name: "lm", Entries: []throughput.Entry{
		{Accelerator: "T4", Replicas: 1, SamplesPerSec: 100},
		{Accelerator: "V100", Replicas: 1, SamplesPerSec: 500, Estimated: true},
	}})
	if err != nil {
		t.Fatal(err)
	}
	p := planner.Problem{Now: time.Date(2026, 8, 3, 0, 0, 0, 0, time.UTC)}
	for i := range n {
		p.Jobs = append(p.Jobs, planner.JobState{Waiting: p.Now, Job: &planner.Job{
			ID: planner.JobID(rune('a' + i)), Family: "lm", Submitted: p.Now, Curve: planner.TableCurve(profile), ValueOfTime: pricing.DollarPerHour / 10,
			Work: planner.Work{Samples: samples, Kind: planner.WorkExact}, Resources: planner.Resources{Replicas: planner.Replicas{Set: []int{1}}},
		}})
	}
	for _, o := range []struct {
		name, accelerator string
		cents             pricing.Rate
	}{{"t4", "T4", 50}, {"v100", "V100", 200}} {
		p.Offers = append(p.Offers, planner.Offer{
			Offering: provider.Offering{Cloud: "aws", Region: "r", Zone: "z", Type: o.name, Market: provider.OnDemand},
			Type: provider.InstanceType{Cloud: "aws", Name: o.name, Accelerator: o.accelerator, Kind: provider.GPU, Count: 1, AcceleratorMemGiB: 16,
				VCPU: 8, MemGiB: 32, Hosts: 1},
			Rate: o.cents * pricing.DollarPerHour / 100, Booked: o.cents * pricing.DollarPerHour / 100, Cap: -1, Boot: 3 * time.Minute,
		})
	}
	return p
}

// runsOn counts the allocations on a type, and finds one that says it is a trial.
func runsOn(t *testing.T, p planner.Problem) (count map[string]int, trial *planner.Allocation) {
	t.Helper()
	plan, err := Value(p, Settings{})
	if err != nil {
		t.Fatal(err)
	}
	count = map[string]int{}
	for i, a := range plan.Allocations {
		count[a.Config.Type]++
		if strings.HasPrefix(a.Reason, "tries ") {
			trial = &plan.Allocations[i]
		}
	}
	return count, trial
}

func TestOneJobOfAFamilyTriesATypeThatIsWorthIt(t *testing.T) {
	count, trial := runsOn(t, explorers(t, 6, 100*3600*200)) // 200 hours each on T4
	if count["t4"] != 5 || count["v100"] != 1 || trial == nil {
		t.Fatalf("%v, trial %+v; want one of six to try V100", count, trial)
	}
	if !strings.Contains(trial.Reason, "tries V100 for lm, which never ran there: knowing its speed is worth ") {
		t.Errorf("reason %q", trial.Reason)
	}
}

func TestTypeIsNotTriedForWorkThatIsSoonDone(t *testing.T) {
	count, trial := runsOn(t, explorers(t, 1, 100*60)) // one minute on T4
	if count["t4"] != 1 || trial != nil {
		t.Errorf("%v, trial %+v; want T4: a minute of work never earns a trial back", count, trial)
	}
}

func TestTrialThatWasBegunIsTheOnlyOne(t *testing.T) {
	p := explorers(t, 6, 100*3600*200)
	v100 := p.Offers[1]
	p.Machines = []planner.Machine{{ID: "i-1", Offering: v100.Offering, Rate: v100.Rate, ReadyAt: p.Now}}
	p.Jobs[4].Running = &planner.Running{
		Config: planner.Config{Cloud: "aws", Type: "v100", Nodes: 1, Replicas: 1}, Offering: v100.Offering, Machines: []provider.InstanceID{"i-1"}, Since: p.Now,
	}
	count, trial := runsOn(t, p)
	if count["v100"] != 1 || trial == nil || trial.Job != p.Jobs[4].Job.ID {
		t.Errorf("%v, trial %+v; want the one that runs to go on, and no other", count, trial)
	}
}

func TestWhatATrialFoundOutIsUsedByTheFamily(t *testing.T) {
	p := explorers(t, 6, 100*3600*200)
	for _, tc := range []struct {
		seen float64
		want int // on V100
	}{{500, 6}, {150, 0}} {
		b := planner.NewBeliefs()
		if _, err := b.Observe(p.Jobs[0].Job, planner.Measurement{Gang: 1, Accelerator: "V100", Kind: "gpu", Nodes: 1, Replicas: 1, SamplesPerSec: tc.seen}); err != nil {
			t.Fatal(err)
		}
		q := p
		q.Jobs = append([]planner.JobState(nil), p.Jobs...)
		for i := range q.Jobs {
			q.Jobs[i].Job = b.Of(q.Jobs[i].Job)
		}
		if count, trial := runsOn(t, q); count["v100"] != tc.want || trial != nil {
			t.Errorf("V100 does %g samples/s: %v, trial %+v; want %d there", tc.seen, count, trial, tc.want)
		}
	}
}

func TestJobThatWasNeverMeasuredGoesByItsEstimates(t *testing.T) {
	p := explorers(t, 2, 100*3600*200)
	profile, err := throughput.Estimate("bert-large")
	if err != nil {
		t.Fatal(err)
	}
	p.Offers[1].Rate, p.Offers[1].Booked = p.Offers[0].Rate, p.Offers[0].Rate // as cheap as T4
	for i := range p.Jobs {
		job := *p.Jobs[i].Job
		job.Curve = planner.TableCurve(profile)
		p.Jobs[i].Job = &job
	}
	if count, trial := runsOn(t, p); count["v100"] != 2 || trial != nil {
		t.Errorf("%v, trial %+v; want both on V100, which the estimates take for the best", count, trial)
	}
}
