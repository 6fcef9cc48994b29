package policy

import (
	"testing"
	"time"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/provider"
)

// TestTeamBearsWhatNobodyHasOfItsMachines: under a cap of a dollar and a half a team
// does not take a quarter of a machine of four dollars for itself, of which it would
// have borne one. Another team's job beside it bears its part; and one that is there
// goes on when the other has left.
func TestTeamBearsWhatNobodyHasOfItsMachines(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	large := provider.Offering{Cloud: "aws", Region: "us-east-1", Zone: "a", Type: "v4", Market: provider.OnDemand}
	job := func(id planner.JobID, team string, replicas int, held bool) planner.JobState {
		s := planner.JobState{Waiting: now, Job: &planner.Job{
			ID: id, Team: team, Submitted: now.Add(-time.Hour), ValueOfTime: 20 * pricing.DollarPerHour, Curve: tableCurve{"V100": {1: 1000, 2: 2000, 3: 3000, 4: 4000}},
			Work: planner.Work{Samples: 50000, Kind: planner.WorkExact}, Resources: planner.Resources{Replicas: planner.Replicas{Set: []int{replicas}}},
		}}
		if held {
			s.Waiting = time.Time{}
			s.Running = &planner.Running{Offering: large, Machines: []provider.InstanceID{"m"}, Since: now.Add(-time.Hour),
				Config: planner.Config{Cloud: "aws", Type: "v4", Nodes: 1, Replicas: replicas}}
		}
		return s
	}
	for _, tt := range []struct {
		name string
		held bool
		jobs []planner.JobState
		want []planner.JobID
	}{
		{"alone on a large machine", false, []planner.JobState{job("a", "Vision", 1, false)}, nil},
		{"beside one of another team", false, []planner.JobState{job("a", "Vision", 1, false), job("b", "NLP", 2, false)}, []planner.JobID{"a", "b"}},
		{"beside too little of another team", false, []planner.JobState{job("a", "Vision", 1, false), job("b", "NLP", 1, false)}, []planner.JobID{"b"}},
		{"there, and the other has left", true, []planner.JobState{job("a", "Vision", 1, true)}, []planner.JobID{"a"}},
		{"there, and one more of the team", true, []planner.JobState{job("a", "Vision", 1, true), job("c", "Vision", 1, false)}, []planner.JobID{"a", "c"}},
		{"there, and one too many for another machine", true, []planner.JobState{job("a", "Vision", 1, true), job("c", "Vision", 4, false)}, []planner.JobID{"a"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := planner.Problem{Now: now, Jobs: tt.jobs, Rows: []planner.Row{{Name: "vision", Kind: planner.BurnRow, Team: "Vision", Most: 3 * pricing.DollarPerHour / 2}}}
			p.Offers = []planner.Offer{{Offering: large, Type: typeOf("v4"), Rate: 4 * pricing.DollarPerHour, Booked: 4 * pricing.DollarPerHour, Cap: -1, Boot: 2 * time.Minute}}
			if tt.held {
				p.Machines = []planner.Machine{{ID: "m", Offering: large, Rate: 4 * pricing.DollarPerHour, ReadyAt: now.Add(-time.Hour)}}
			}
			plan, err := Value(p, Settings{})
			if err != nil {
				t.Fatal(err)
			}
			got := map[planner.JobID]bool{}
			for _, a := range plan.Allocations {
				got[a.Job] = true
			}
			for _, id := range tt.want {
				if !got[id] {
					t.Errorf("%s waits: %+v", id, plan.Waits)
				}
			}
			if len(got) != len(tt.want) {
				t.Errorf("%v run, want %v", got, tt.want)
			}
		})
	}
}
