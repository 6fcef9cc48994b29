package autoscale_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/goodfleet/goodfleet/autoscale"
	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/pricing/budget"
)

// spentBetween is what is booked of a stretch of time, of a team or of all.
func (w *world) spentBetween(team string, from, to time.Time) pricing.Money {
	w.t.Helper()
	charges, err := w.store.Charges(context.Background(), from, to)
	if err != nil {
		w.t.Fatal(err)
	}
	var sum pricing.Money
	for _, c := range charges {
		if team == "" || c.Team == team {
			sum += c.Amount.Between(c.From, c.To, from, to)
		}
	}
	return sum
}

// TestTotalIsNotPassedAndBeginsAnew runs four jobs of a dollar an hour each under a
// total of five dollars a day, of days that end at two in the morning. Restarts, and
// books that are kept once an hour, change nothing.
func TestTotalIsNotPassedAndBeginsAnew(t *testing.T) {
	midnight := start.Add(2 * time.Hour)
	for _, tt := range []struct {
		name     string
		team     string
		book     time.Duration
		restarts bool
	}{
		{"the fleet", "", 0, false},
		{"booked once an hour", "", time.Hour, false},
		{"restarted every seven minutes", "", 0, true},
		{"a team", "Vision", 0, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, setup{settings: func(s *autoscale.Settings) { s.Book = tt.book }})
			w.cfg.Totals = []budget.Total{{Name: "daily", Amount: 5 * pricing.Dollar, Period: budget.Day, Zone: time.FixedZone("", 22*3600), Team: tt.team, Unpriced: true}}
			w.restart()
			other := testJob("other", 3, 1)
			other.Team = "Speech"
			w.submit(testJob("a", 1.6, 1), testJob("b", 1.6, 1), testJob("c", 1.6, 1), testJob("d", 1.6, 1), other)
			stopped := time.Time{}
			for w.now.Before(midnight.Add(-time.Minute)) {
				r := w.round(time.Minute)
				if tt.restarts && w.now.Sub(start)%(7*time.Minute) == 0 {
					w.restart()
				}
				if stopped.IsZero() && w.kinds()[autoscale.EventStop] > 0 {
					stopped = w.now
				}
				if !stopped.IsZero() && len(r.Bought) > 0 {
					t.Fatalf("at %v: %d machines are bought after the stop", w.now.Sub(start), len(r.Bought))
				}
			}
			got := w.spentBetween(tt.team, start.Add(-24*time.Hour), midnight)
			if got > 5*pricing.Dollar || got < 47*pricing.Dollar/10 {
				t.Errorf("%s of 5 USD are spent", got)
			}
			left := map[string]int{"": 0, "Vision": 1}[tt.team] // the other team goes on
			if w.runs() != left || stopped.IsZero() {
				t.Errorf("%d jobs run, want %d; stopped at %v", w.runs(), left, stopped)
			}
			if w.job("a").Phase != autoscale.JobWaiting || w.job("a").Safe == 0 {
				t.Errorf("job a is in phase %d with %g samples safe: want it to wait, with its work saved", w.job("a").Phase, w.job("a").Safe)
			}
			w.until(200, w.allEnded)
			said := w.history()
			if !strings.Contains(said, "daily: 4.") || !strings.Contains(said, "of 5 USD a day are spent") || w.kinds()[autoscale.EventLost] > 0 {
				t.Errorf("history:\n%s", said)
			}
		})
	}
}

// TestTotalThatIsSpentSaysSoToEachJob: a job that comes late hears of it too.
func TestTotalThatIsSpentSaysSoToEachJob(t *testing.T) {
	w := newWorld(t, setup{})
	w.cfg.Totals = []budget.Total{{Name: "tiny", Amount: pricing.Dollar / 100, Period: budget.Month}}
	w.restart()
	w.submit(testJob("a", 1, 1))
	w.until(20, func() bool { return w.kinds()[autoscale.EventBudget] == 1 })
	w.submit(testJob("b", 1, 1))
	r := w.round(time.Minute)
	for _, id := range []planner.JobID{"a", "b"} {
		found := false
		for _, x := range r.Plan.Waits {
			found = found || x.Job == id && strings.Contains(x.Reason, "budget tiny") && x.Retries.Equal(time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC))
		}
		if !found {
			t.Errorf("job %s: waits %+v, want the budget and when it begins anew", id, r.Plan.Waits)
		}
	}
}
