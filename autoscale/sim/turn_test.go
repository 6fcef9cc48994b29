package sim

import (
	"context"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/goodfleet/goodfleet/autoscale"
	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/provider"
)

// onCluster is a cluster with no jobs yet, whose plan gives machines to jobs in order.
func onCluster(t testing.TB, cluster string) Setting {
	t.Helper()
	catalogue, err := provider.EmbeddedCatalogue()
	if err != nil {
		t.Fatal(err)
	}
	prices, err := pricing.NewHistory(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	s := Setting{
		Variant: "cluster", Start: start, Catalogue: catalogue, Prices: prices, Plan: inTurn, Check: true,
		Loop: autoscale.Settings{Round: 6 * time.Minute, SkipUnchanged: true, Book: 24 * time.Hour},
	}
	c, err := ParseCluster(cluster, catalogue)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Stand(&s); err != nil {
		t.Fatal(err)
	}
	return s
}

// inTurn gives one machine to each job, in order, as long as there are any.
func inTurn(p planner.Problem) (planner.Plan, error) {
	var plan planner.Plan
	for i, m := range p.Machines {
		x := planner.PlannedMachine{Instance: m.ID, Offering: m.Offering}
		if i < len(p.Jobs) {
			x.Jobs = []planner.Share{{Job: p.Jobs[i].Job.ID, Accelerators: 1}}
			plan.Allocations = append(plan.Allocations, planner.Allocation{
				Job: p.Jobs[i].Job.ID, Offering: m.Offering, Machines: []planner.MachineRef{planner.MachineRef(i)},
				Config: planner.Config{Cloud: m.Offering.Cloud, Type: m.Offering.Type, Nodes: 1, Replicas: 1},
			})
		}
		plan.Machines = append(plan.Machines, x)
	}
	for _, j := range p.Jobs[min(len(p.Jobs), len(p.Machines)):] {
		plan.Waits = append(plan.Waits, planner.Wait{Job: j.Job.ID, Reason: "no machine is left"})
	}
	return plan, nil
}

// rigid is a job of one accelerator: so many samples, so many of them an hour.
func rigid(id string, after time.Duration, samples, perHour float64) *planner.Job {
	return &planner.Job{
		ID: planner.JobID(id), Submitted: start.Add(after), Curve: speeds{"V100": perHour, "V100-32GB": perHour},
		Work: planner.Work{Samples: samples, Kind: planner.WorkExact}, Resources: planner.Resources{Replicas: planner.Replicas{Set: []int{1}}},
	}
}

func simulate(t testing.TB, s Setting) Outcome {
	t.Helper()
	out, err := Simulate(context.Background(), s)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// In lockstep a job does whole steps; a round lasts until the slowest has done its own.
// The course of two jobs is worked out here step by step.
func TestLockstepDoesWholeStepsUntilTheLastHasDoneThem(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := onCluster(lockstepT, "2xV100")
		s.Lockstep = true
		step := rapid.SampledFrom([]float64{1, 8}).Draw(t, "step")
		s.Truth.Step = func(*planner.Job) float64 { return step }
		type course struct{ perSec, left, ends float64 }
		var jobs []course
		for i := range 2 {
			c := course{perSec: rapid.Float64Range(0.1, 3).Draw(t, "steps/s"), left: rapid.Float64Range(1, 2000).Draw(t, "steps")}
			jobs = append(jobs, c)
			s.Jobs = append(s.Jobs, rigid(string(rune('a'+i)), 0, c.left*step, c.perSec*3600*step))
		}
		out := simulate(lockstepT, s)

		for clock := 0.0; jobs[0].ends == 0 || jobs[1].ends == 0; {
			over := clock
			for i := range jobs {
				c := &jobs[i]
				if c.ends > 0 {
					continue
				}
				did := min(math.Floor(c.perSec*360), c.left)
				over = max(over, clock+did/c.perSec)
				if c.left -= did; c.left <= 0 {
					c.ends = clock + did/c.perSec
				}
			}
			clock = over
		}
		for i, j := range out.JobOutcomes {
			if got := j.JCTHours * 3600; math.Abs(got-jobs[i].ends) > 1e-3 {
				t.Errorf("job %s takes %.6f s, want %.6f", j.Job, got, jobs[i].ends)
			}
		}
	})
}

// lockstepT stands for the test in rapid's draws, whose T is no testing.TB of ours.
var lockstepT testing.TB = fatalT{}

type fatalT struct{ testing.TB }

func (fatalT) Helper()         {}
func (fatalT) Fatal(of ...any) { panic(of) }

// A job that comes within a round in lockstep waits for the next; when nothing runs,
// it begins at once.
func TestLockstepBeginsRoundsWhenTheLastIsOver(t *testing.T) {
	s := onCluster(t, "2xV100")
	s.Lockstep = true
	s.Jobs = []*planner.Job{
		rigid("a", 0, 1000, 3600), rigid("b", 100*time.Second, 360, 3600),
		rigid("c", time.Hour+time.Second/2, 10, 3600), // after all is done: at once
	}
	out := simulate(t, s)
	want := []float64{1000, 260 + 360, 10}
	for i, j := range out.JobOutcomes {
		if got := j.JCTHours * 3600; math.Abs(got-want[i]) > 1e-3 {
			t.Errorf("job %s takes %.3f s, want %.3f", j.Job, got, want[i])
		}
	}
}

// A standing cluster carries the first job at once, costs nothing, and what is
// simulated ends with the jobs that count.
func TestStandingClusterCarriesTheFirstJobAtOnce(t *testing.T) {
	s := onCluster(t, "3xV100,2x4xV100-32GB")
	s.Jobs = []*planner.Job{rigid("a", 0, 1800, 3600), rigid("b", time.Minute, 1e9, 3600), rigid("c", 2*time.Minute, 600, 3600)}
	s.Counted = func(j *planner.Job) bool { return j.ID != "b" }
	out := simulate(t, s)
	for i, want := range []float64{1800, 0, 600} {
		if got := out.JobOutcomes[i].JCTHours * 3600; want > 0 && math.Abs(got-want) > 1e-3 {
			t.Errorf("job %s takes %.3f s, want %.0f", out.JobOutcomes[i].Job, got, want)
		}
	}
	if out.Launches != 5 || out.Cost != 0 || out.Interruptions != 0 {
		t.Errorf("%d machines, cost %s, %d interruptions: want 5 that cost nothing and stay", out.Launches, out.Cost, out.Interruptions)
	}
	if out.Unfinished != 1 || out.To.After(start.Add(time.Hour)) {
		t.Errorf("%d jobs are unfinished at %v: want the one that does not count, at half past", out.Unfinished, out.To)
	}
}

func TestParseCluster(t *testing.T) {
	catalogue, err := provider.EmbeddedCatalogue()
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		text                   string
		machines, accelerators int
	}{
		{"gavel", 108, 108}, {"pollux", 16, 64}, {"sia", 11, 64}, {"sia-physical", 6, 44}, {"sia-2048", 352, 2048},
		{"36xV100", 36, 36}, {"2x4xA100-80GB, 1xRTX 2080 Ti", 3, 9},
	} {
		c, err := ParseCluster(tt.text, catalogue)
		if err != nil {
			t.Errorf("%s: %v", tt.text, err)
			continue
		}
		if c.Machines() != tt.machines || c.Accelerators() != tt.accelerators {
			t.Errorf("%s: %d machines, %d accelerators, want %d and %d", tt.text, c.Machines(), c.Accelerators(), tt.machines, tt.accelerators)
		}
	}
	for _, text := range []string{"", "V100", "0xV100", "-1xV100", "4xV1000", "4x0xV100", "1xV100,2xV100", "gavel,", "9999999xV100", "2xTPU v5e"} {
		if _, err := ParseCluster(text, catalogue); err == nil {
			t.Errorf("%q is a cluster", text)
		}
	}
}

// The course of a job may be told in parts: it goes from one to the next, and on from
// where it was after a stop.
func TestToldLegsAreTheCourse(t *testing.T) {
	s := onCluster(t, "1xV100")
	s.Jobs = []*planner.Job{rigid("a", 0, 1000, 1)}
	s.Jobs[0].Checkpoint.Restore = 30 * time.Second
	s.Truth.Legs = func(_ *planner.Job, _ planner.Config, _ string, done float64) ([]Leg, bool) {
		legs := []Leg{{To: 400, PerSec: 1}, {To: 1000, PerSec: 2}}
		if done >= 400 {
			legs = legs[1:]
		}
		return legs, true
	}
	away := start.Add(330 * time.Second) // 300 samples are done
	s.Plan = func(p planner.Problem) (planner.Plan, error) {
		if p.Now.Before(away) {
			plan, err := inTurn(p)
			plan.NextDecision = away
			return plan, err
		}
		if p.Now.Before(away.Add(10 * time.Minute)) {
			jobs := p.Jobs
			p.Jobs = nil
			plan, err := inTurn(p)
			for _, j := range jobs {
				plan.Waits = append(plan.Waits, planner.Wait{Job: j.Job.ID, Reason: "a pause"})
			}
			plan.NextDecision = away.Add(10 * time.Minute)
			return plan, err
		}
		return inTurn(p)
	}
	s.Loop.Round = 30 * time.Second
	out := simulate(t, s)
	// 30 s of start and 300 of work, a pause of 600, 30 s of start, 100 and 300 of work.
	if got, want := out.JobOutcomes[0].JCTHours*3600, 30+300+600+30+100+300.; math.Abs(got-want) > 1e-3 {
		t.Errorf("took %.3f s, want %g", got, want)
	}
}
