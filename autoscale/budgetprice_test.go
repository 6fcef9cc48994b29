package autoscale_test

import (
	"context"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/goodfleet/goodfleet/autoscale"
	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/pricing/budget"
	"github.com/goodfleet/goodfleet/provider"
)

// daily is a world with a job that runs for six hours at any price, on a machine of
// three dollars an hour, and with twelve dollars a day.
func daily(t *testing.T, skip bool) *world {
	w := newWorld(t, setup{settings: func(s *autoscale.Settings) { s.SkipUnchanged = skip }})
	w.cfg.Totals = []budget.Total{{Name: "daily", Amount: 12 * pricing.Dollar, Period: budget.Day}}
	w.restart()
	job := testJob("a", 6, 1)
	job.ValueOfTime, job.Markets = 100*pricing.DollarPerHour, []provider.Market{provider.OnDemand}
	w.submit(job)
	return w
}

// TestMoneyThatRunsShortGetsDearer holds the price after two and a half hours against
// the update of each round, written down, and it is the same after restarts and where
// rounds in which nothing happens make no plan.
func TestMoneyThatRunsShortGetsDearer(t *testing.T) {
	want, left := 0.0, 12.0
	for at := 60; at < 150*60; at++ { // seconds; the machine costs money from minute 1 on
		rho := left / (24.2 - float64(at)/3600)
		want += (3/rho - 1) / 3600 / 6
		left -= 3.0 / 3600
	}
	for _, tt := range []struct {
		name           string
		skip, restarts bool
	}{{"every round plans", false, false}, {"rounds are skipped", true, false}, {"restarted every seven minutes", true, true}} {
		w := daily(t, tt.skip)
		for w.now.Before(start.Add(150 * time.Minute)) {
			w.round(time.Minute)
			if tt.restarts && w.now.Sub(start)%(7*time.Minute) == 0 {
				w.restart()
			}
		}
		snap, err := w.store.Load(context.Background())
		if err != nil || len(snap.Budgets) != 1 {
			t.Fatalf("%s: budgets %+v, error %v: want one", tt.name, snap.Budgets, err)
		}
		if got := snap.Budgets[0].Price.To(w.cfg.Totals[0], w.now).Log; math.Abs(got-want) > 0.02*want { // it burns from its launch on and is paid from its start on, 90 s later
			t.Errorf("%s: ln(1 + mu) %.4f, by the update of each round %.4f", tt.name, got, want)
		}
	}
}

// TestRoundsThatAreSkippedChangeNothingUnderABudget: the job stops when a dollar counts
// too much, and goes on when it counts less, in the same minutes.
func TestRoundsThatAreSkippedChangeNothingUnderABudget(t *testing.T) {
	var histories [][]autoscale.Event
	for _, skip := range []bool{false, true} {
		w := daily(t, skip)
		for range 30 * 60 {
			w.round(time.Minute)
		}
		events, err := w.store.Events(context.Background(), time.Time{}, time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		events = slices.DeleteFunc(events, func(e autoscale.Event) bool { return e.Kind == autoscale.EventHeld })
		histories = append(histories, events)
		if n := w.kinds()[autoscale.EventStop]; n < 2 {
			t.Errorf("skip %v: the job stops %d times for its price", skip, n)
		}
	}
	if diff := cmp.Diff(histories[0], histories[1]); diff != "" {
		t.Errorf("events with every round planned (-), with rounds skipped (+):\n%s", diff)
	}
}

// TestWhatAStartBringsAboutIsWhatThePriceComesTo holds the price that a start is judged
// by against that of the budget an hour on, under the burn that it would have then.
func TestWhatAStartBringsAboutIsWhatThePriceComesTo(t *testing.T) {
	month := budget.Total{Name: "month", Amount: 7200 * pricing.Dollar, Period: budget.Month}
	for _, tt := range []struct{ mu, burn, rate float64 }{{1, 10, 2}, {0.5, 0, 30}, {3, 20, 5}, {3, 0, 5}, {0, 50, 50}} {
		price := budget.Price{At: start, Log: math.Log1p(tt.mu), Left: month.Amount, Burn: pricing.RateOf(tt.burn)}
		b := planner.BudgetPrice{Mu: tt.mu, Burn: price.Burn, Lasts: price.Lasts(month), Rises: budget.Reaction}
		run := price.See(month, start, month.Amount, pricing.RateOf(tt.burn+tt.rate))
		want := max(math.Expm1(run.To(month, start.Add(time.Hour)).Log)-tt.mu, 0)
		if tt.mu == 0 {
			want = 0 // nothing is dear yet: anything may start
		}
		if got := b.Ahead(pricing.RateOf(tt.rate)); math.Abs(got-want) > 0.01*(1+want) {
			t.Errorf("mu %g at %g and %g USD/h more: %.4f, the price rises by %.4f", tt.mu, tt.burn, tt.rate, got, want)
		}
	}
}

// TestAJobThatIsMuchForItsBudgetRunsForAWhile: one of three dollars an hour, where half a
// dollar would last, does not start and stop every few minutes.
func TestAJobThatIsMuchForItsBudgetRunsForAWhile(t *testing.T) {
	w := daily(t, true)
	ran := 0
	for range 20 * 60 {
		w.round(time.Minute)
		ran += w.runs()
	}
	starts := w.kinds()[autoscale.EventStart]
	t.Logf("%d starts, %d minutes in which it ran", starts, ran)
	if starts == 0 || ran < 45*starts {
		t.Errorf("it was started %d times and ran for %d minutes in all", starts, ran)
	}
}
