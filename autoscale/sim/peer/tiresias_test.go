package peer

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goodfleet/goodfleet/planner"
)

// A job that had 16 GPU-hours gives way to one that came later, and goes on after it.
// In lockstep the round that finds it over the limit begins at 16 h; with two workers
// it is at 8 h.
func TestTiresiasServesWhoHadLittleFirst(t *testing.T) {
	const hour = 3600.
	for _, tt := range []struct {
		workers int
		want    []float64
	}{
		{1, []float64{22 * hour, 7 * hour}}, // b comes at 10 h, and runs from 16 to 17 h
		{2, []float64{21 * hour, hour}},     // b comes at 10 h, when a has had more than 16 GPU-hours
	} {
		jobs := []*planner.Job{job("a", 0, 20*hour, tt.workers), job("b", 10*hour, hour, tt.workers)}
		if tt.workers == 1 {
			jobs[0].Work.Samples = 21 * hour
		}
		cluster := map[int]string{1: "1xV100", 2: "1x2xV100"}[tt.workers]
		if diff := cmp.Diff(tt.want, replay(t, cluster, Tiresias{}.Plan, jobs...)); diff != "" {
			t.Errorf("%d workers: %s", tt.workers, diff)
		}
	}
}

// When gangs that stay leave no room for one that is chosen, all are seated anew.
func TestTiresiasMakesRoomByMoving(t *testing.T) {
	got := replay(t, "2x2xV100", Tiresias{}.Plan,
		job("a", 0, 4000, 1), job("b", 0, 360, 2), job("c", 0, 4000, 1), job("d", 400, 1000, 2))
	// a and c share a machine: d finds another whole, in the round at 720 s.
	if want := 720. - 400 + 1000; got[3] != want {
		t.Errorf("took %v s: want the last at %g", got, want)
	}
}

// A kind on which a job has no speed, or one of 0, is none for it: it waits for another,
// and one that no kind serves keeps nobody from machines.
func TestTiresiasSeatsNobodyWhereItStandsStill(t *testing.T) {
	p := machinesOf(1, 1, "still", "a", "b")
	slow := p.Offers[0]
	slow.Offering.Type, slow.Type.Name, slow.Type.Accelerator = "K80", "K80", "K80"
	p.Offers = append(p.Offers, slow)
	p.Machines = append(p.Machines, planner.Machine{ID: "k", Offering: slow.Offering})
	p.Jobs[0].Job.Curve = speeds{"K80": 0}
	for name, tt := range map[string]struct {
		curve planner.Curve // of a
		want  map[planner.JobID]string
	}{
		"0 on V100":      {speeds{"V100": 0, "K80": 1800}, map[planner.JobID]string{"a": "K80", "b": "V100"}},
		"0 on K80":       {speeds{"V100": 3600, "K80": 0}, map[planner.JobID]string{"a": "V100", "b": "K80"}},
		"unknown on K80": {speeds{"V100": 3600}, map[planner.JobID]string{"a": "V100", "b": "K80"}},
	} {
		p.Jobs[1].Job.Curve = tt.curve
		plan, err := Tiresias{}.Plan(p)
		if err != nil {
			t.Fatal(err)
		}
		got := map[planner.JobID]string{}
		for _, a := range plan.Allocations {
			got[a.Job] = a.Offering.Type
			if !(a.Speed.Goodput > 0) {
				t.Errorf("%s: %s stands still on %s", name, a.Job, a.Offering.Type)
			}
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}
