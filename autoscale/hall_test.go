package autoscale_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/pricing/budget"
	"github.com/goodfleet/goodfleet/provider"
)

// Plan, guard and ledger count one way what teams bear of machines that they share: in
// random halls of large machines under caps of three teams the guard holds what the plan
// kept within the caps, the ledger books what the guard held, a team passes its cap only
// where others leave it alone on a machine, and once the fleet stands still nothing that
// is planned for teams that hold nothing is put off for want of money.
func TestPlanGuardAndLedgerCountOneWay(t *testing.T) {
	teams := []string{"Audio", "Speech", "Vision"}
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t, setup{offerings: []provider.Offering{largeSpot, slowSpot}})
		caps := map[string]pricing.Rate{}
		var policies []*budget.Policy
		for _, team := range teams {
			over, err := budget.NewSelector(budget.Match{Team: team})
			if err != nil {
				t.Fatal(err)
			}
			caps[team] = pricing.DollarPerHour * pricing.Rate(rapid.IntRange(2, 24).Draw(t, "half dollars of "+team)) / 2
			policies = append(policies, &budget.Policy{Name: team, Owner: "o", Over: over, Burn: caps[team]})
		}
		w.put(policies...)
		for n := range rapid.IntRange(2, 9).Draw(t, "jobs") {
			j := testJob(planner.JobID(fmt.Sprintf("j%d", n)), rapid.Float64Range(0.3, 6).Draw(t, "hours"), rapid.IntRange(1, 4).Draw(t, "replicas"))
			j.Team = rapid.SampledFrom(teams).Draw(t, "team")
			j.ValueOfTime = pricing.DollarPerHour * pricing.Rate(rapid.IntRange(1, 30).Draw(t, "value"))
			w.submit(j)
			for range rapid.IntRange(0, 12).Draw(t, "rounds") {
				w.round(time.Minute)
			}
		}
		quiet, left := 0, 0
		before := map[string]pricing.Rate{}
		for range 90 {
			r := w.round(time.Minute)
			alone := left
			left = w.kinds()["done"] + w.kinds()["stopped"]
			if r.Diff.Empty() && left == alone {
				quiet++
			} else {
				quiet = 0
			}
			held := map[string]pricing.Rate{}
			for _, u := range w.cfg.Guard.(*budget.Guard).Uses() {
				held[u.Policy] = u.Held
			}
			for _, team := range teams {
				got := held[team+" (burn)"]
				if got > max(caps[team], before[team])+10 && quiet > 1 { // of each machine a nano dollar
					t.Fatalf("%s holds %s USD/h of %s, %s before, and nobody left\n%s", team, got, caps[team], before[team], w.history())
				}
				before[team] = got
			}
			for _, d := range r.Diff.Deferred {
				// Machines that are left for others count until they end.
				if quiet > 15 && strings.Contains(d.Reason, " (burn)") && w.job(d.Job).Target == nil {
					t.Fatalf("%s is planned and put off: %s\n%s", d.Job, d.Reason, w.history())
				}
			}
			if quiet != 5 {
				continue
			}
			// For an hour in which nobody comes or goes, if there is one.
			from, steady := w.now, true
			for range 20 {
				steady = w.round(time.Minute).Diff.Empty() && steady
			}
			steady = steady && left == w.kinds()["done"]+w.kinds()["stopped"]
			for _, team := range teams {
				if want := held[team+" (burn)"].Over(w.now.Sub(from)); steady {
					if got := w.spentBetween(team, from, w.now); got-want > 500 || want-got > 500 {
						t.Errorf("%s USD are booked for %s in %s, the guard held %s\n%s", got, team, w.now.Sub(from), want, w.history())
					}
				}
			}
		}
	})
}
