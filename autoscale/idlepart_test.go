package autoscale_test

import (
	"testing"
	"time"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/pricing/budget"
	"github.com/goodfleet/goodfleet/pricing/ledger"
	"github.com/goodfleet/goodfleet/provider"
)

// Teams bear what nobody has of the machines that their jobs are on: the guard counts it as
// the ledger books it, and the plan holds a team's cap against it.
func TestTeamsBearWhatIsIdleBesideTheirJobs(t *testing.T) {
	for _, tt := range []struct {
		name           string
		other          int // accelerators of another team's job; 0: there is none
		vision, speech int // quarters of the machine that they bear
	}{
		{"alone", 0, 4, 0},
		{"as much each", 1, 2, 2},
		{"one of four is idle, and nearer to be the other's", 2, 1, 3},
		{"none is idle", 3, 1, 3},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ofTeam := func(team string) *budget.Policy {
				over, err := budget.NewSelector(budget.Match{Team: team})
				if err != nil {
					t.Fatal(err)
				}
				return &budget.Policy{Name: team, Owner: "o", Over: over, Burn: 100 * pricing.DollarPerHour}
			}
			w := newWorld(t, setup{offerings: []provider.Offering{largeSpot}})
			w.put(ofTeam("Vision"), ofTeam("Speech"))
			worthy := func(id planner.JobID, team string, replicas int) *planner.Job {
				j := testJob(id, 100, replicas)
				j.Team, j.ValueOfTime = team, 30*pricing.DollarPerHour
				return j
			}
			w.submit(worthy("a", "Vision", 1))
			if tt.other > 0 {
				w.submit(worthy("b", "Speech", tt.other))
			}
			for range 10 {
				w.round(time.Minute)
			}
			live := w.live()
			if len(live) != 1 {
				t.Fatalf("%d machines, want one\n%s", len(live), w.history())
			}
			from := w.now
			for range 60 {
				w.round(time.Minute)
			}
			rate := w.records()[0].Rate
			uses := map[string]pricing.Rate{}
			for _, u := range w.cfg.Guard.(*budget.Guard).Uses() {
				uses[u.Policy] = u.Held
			}
			for team, quarters := range map[string]int{"Vision": tt.vision, "Speech": tt.speech} {
				want := rate * pricing.Rate(quarters) / 4
				if got, ok := uses[team+" (burn)"]; !ok || got != want {
					t.Errorf("the guard counts %s USD/h for %s, want %s", got, team, want)
				}
				if got, want := w.spentBetween(team, from, w.now), want.Over(w.now.Sub(from)); got-want > 120 || want-got > 120 { // of each line a nano dollar
					t.Errorf("%s USD are booked for %s, want %s", got, team, want)
				}
			}
			charges, err := w.store.Charges(t.Context(), from, w.now)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range charges {
				if c.Account == ledger.ToIdle && (c.Job == "" || c.Team == "") {
					t.Errorf("idle beside a job, and nobody's: %+v", c)
				}
			}
		})
	}
}
