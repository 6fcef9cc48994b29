package autoscale_test

import (
	"testing"
	"time"

	"github.com/goodfleet/goodfleet/autoscale"
	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/planner/policy"
	"github.com/goodfleet/goodfleet/provider"
)

// counted is a policy that counts its plans, and a world that skips rounds.
func counted(t *testing.T, offerings ...provider.Offering) (w *world, plans *int) {
	plans = new(int)
	w = newWorld(t, setup{
		offerings: offerings, settings: func(s *autoscale.Settings) { s.SkipUnchanged = true },
		plan: func(p planner.Problem) (planner.Plan, error) {
			*plans++
			return policy.Value(p, policy.Settings{})
		},
	})
	return w, plans
}

// TestGangsStartAndMachinesEndWithoutAnotherPlan: a machine that becomes ready for the one
// job that waits for it, and one that has ended as it was told to, are what the plan counts
// on.
func TestGangsStartAndMachinesEndWithoutAnotherPlan(t *testing.T) {
	w, plans := counted(t, smallSpot)
	w.submit(testJob("a", 1, 1))
	planned := map[string]int{}
	was := 0
	for !w.allEnded() {
		r := w.round(time.Minute)
		made := *plans - was
		was = *plans
		for _, e := range r.Events {
			planned[e.Kind] += made
		}
		if r.Skipped != (made == 0 && r.Diff.Empty()) && len(r.Diff.Starts) == 0 {
			t.Errorf("round %d is told skipped: %v, with %d plans and %d starts", r.Number, r.Skipped, made, len(r.Diff.Starts))
		}
	}
	for _, kind := range []string{autoscale.EventReady, autoscale.EventStart, autoscale.EventEnded} {
		if planned[kind] != 0 {
			t.Errorf("%d plans were made in rounds with an event %q, want none\n%s", planned[kind], kind, w.history())
		}
	}
	if planned[autoscale.EventLaunch] == 0 || planned[autoscale.EventDone] == 0 {
		t.Errorf("plans by event: %v, want some where a job came and where it was done", planned)
	}
}

// TestAMachineWithRoomToSpareIsPlannedAsItBecomesReady: others may share it that would not
// wait for it to come up.
func TestAMachineWithRoomToSpareIsPlannedAsItBecomesReady(t *testing.T) {
	w, plans := counted(t, largeSpot)
	w.submit(testJob("a", 3, 1))
	for range 30 {
		before := *plans
		r := w.round(time.Minute)
		if len(r.Diff.Starts) > 0 {
			if *plans == before {
				t.Errorf("no plan was made as a machine of 4 accelerators became ready for one of 1\n%s", w.history())
			}
			return
		}
	}
	t.Fatalf("no gang was started\n%s", w.history())
}
