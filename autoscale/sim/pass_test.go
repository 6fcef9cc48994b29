package sim

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/planner/policy"
)

// TestRoundsThatPassChangeNothing runs the example week, and a month of jobs that learn
// their speeds as they run, with and without the rounds that change nothing: all that comes
// of it is the same, to the last charge.
func TestRoundsThatPassChangeNothing(t *testing.T) {
	week := weekSetting(t, func(p planner.Problem) (planner.Plan, error) {
		return policy.Value(p, policy.Settings{Limits: planner.Limits{Quick: true}})
	})
	week.Loop.Book = 7 * time.Minute
	week.Jobs = week.Jobs[:25]
	demand := month(t, 0.05, 3)
	demand.Loop.Round, demand.Check = 5*time.Minute, true
	for _, test := range []struct {
		name string
		s    Setting
		most float64 // share of the rounds that are run, at most
	}{
		{"week", week, 0.75},
		{"month", demand, 0.7},
	} {
		t.Run(test.name, func(t *testing.T) {
			play := func(every bool) (Outcome, int) {
				s := test.s
				s.everyRound = every
				w, err := newWorld(s)
				if err != nil {
					t.Fatal(err)
				}
				if err := w.run(t.Context()); err != nil {
					t.Fatal(err)
				}
				out, err := w.outcome(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				return out, w.counts.passed
			}
			all, none := play(true)
			some, passed := play(false)
			if none != 0 || float64(passed) < (1-test.most)*float64(some.Rounds) {
				t.Errorf("%d and %d of %d rounds are passed over, want none, and at least a part of %.2f", none, passed, some.Rounds, 1-test.most)
			}
			if diff := cmp.Diff(all, some); diff != "" {
				t.Errorf("outcomes differ (-all rounds, +some):\n%.4000s", diff)
			}
		})
	}
}
