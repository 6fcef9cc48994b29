package autoscale_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/goodfleet/goodfleet/autoscale"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/pricing/budget"
	"github.com/goodfleet/goodfleet/pricing/ledger"
	"github.com/goodfleet/goodfleet/provider"
)

// under is a world with policies and a job of a hundred hours that is worth any price.
func under(t *testing.T, s setup, policies ...*budget.Policy) *world {
	w := newWorld(t, s)
	for _, p := range policies {
		p.Owner = "o"
	}
	w.put(policies...)
	job := testJob("a", 100, 1)
	job.ValueOfTime = 30 * pricing.DollarPerHour
	w.submit(job)
	return w
}

// put hands policies to the loop.
func (w *world) put(policies ...*budget.Policy) {
	w.t.Helper()
	list, err := budget.NewPolicies(policies...)
	if err != nil {
		w.t.Fatal(err)
	}
	w.cfg.Policies = list
	if err := w.loop.SetPolicies(context.Background(), list); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) says(text string) bool { return strings.Contains(w.history(), text) }

func (w *world) overrun() (sum pricing.Money) {
	charges, err := w.store.Charges(context.Background(), time.Time{}, time.Time{})
	if err != nil {
		w.t.Fatal(err)
	}
	for _, c := range charges {
		if c.Account == ledger.Overrun {
			sum += c.Amount
		}
	}
	return sum
}

// daysCap is a cap on what AWS costs, or all: of another scope than a team its money has
// no price, so that jobs run until they are stopped.
func daysCap(amount pricing.Money) *budget.Policy {
	over, err := budget.NewSelector(budget.Match{Where: `cloud != ""`})
	if err != nil {
		panic(err)
	}
	return &budget.Policy{Name: "day", Owner: "o", Over: over, Cap: &budget.Cap{Amount: amount, Period: budget.Day}}
}

func TestRaisedAndLoweredCapHoldsFromTheNextRound(t *testing.T) {
	w := under(t, setup{offerings: []provider.Offering{smallOnDemand}}, daysCap(2*pricing.Dollar))
	w.until(60, func() bool { return w.says("spent policy/day") || w.kinds()[autoscale.EventStop] > 0 })
	w.until(10, func() bool { return len(w.live()) == 0 })
	spent := w.spentBetween("", start, start.Add(24*time.Hour))
	if spent > 2*pricing.Dollar || spent < 3*pricing.Dollar/2 || w.overrun() != 0 {
		t.Fatalf("%s of 2 USD are spent, %s as overruns\n%s", spent, w.overrun(), w.history())
	}
	w.put(daysCap(20 * pricing.Dollar))
	if r := w.round(time.Minute); len(r.Bought) != 1 {
		t.Fatalf("the cap is raised: %d machines are bought in the next round\n%s", len(r.Bought), w.history())
	}
	w.until(20, func() bool { return w.runs() == 1 })
	w.put(daysCap(pricing.Dollar))
	if r := w.round(time.Minute); len(r.Diff.Stops) != 1 {
		t.Fatalf("the cap is lowered below what is spent: %d stops in the next round\n%s", len(r.Diff.Stops), w.history())
	}
}

func TestOfTwoPoliciesTheStricterAnswersInTheLoop(t *testing.T) {
	vision := selector(t, budget.Match{Team: "Vision"})
	w := under(t, setup{offerings: []provider.Offering{smallOnDemand}},
		&budget.Policy{Name: "wide", Over: vision, Burn: 10 * pricing.DollarPerHour},
		&budget.Policy{Name: "narrow", Over: vision, Burn: 2 * pricing.DollarPerHour})
	for range 5 {
		if r := w.round(time.Minute); len(r.Bought) > 0 {
			t.Fatal("a machine of 3 USD/h is bought under 2 USD/h")
		}
	}
	r := w.rounds[len(w.rounds)-1]
	if len(r.Plan.Waits) != 1 || !strings.Contains(r.Plan.Waits[0].Reason, "narrow") {
		t.Errorf("waits %+v, want the narrow policy named", r.Plan.Waits)
	}
	w.put(&budget.Policy{Name: "wide", Owner: "o", Over: vision, Burn: 10 * pricing.DollarPerHour})
	if r := w.round(time.Minute); len(r.Bought) != 1 {
		t.Errorf("%d machines are bought under 10 USD/h", len(r.Bought))
	}
}

func TestPricesAndFallbackKeepJobsOffOfferings(t *testing.T) {
	for _, c := range []struct {
		name   string
		policy budget.Policy
		after  time.Duration // it is bought; 0: never
	}{
		{"a machine that is too dear", budget.Policy{MaxRate: 2 * pricing.DollarPerHour}, 0},
		{"spot alone may be dear", budget.Policy{Over: selector(t, budget.Match{Market: "spot"}), MaxRate: 2 * pricing.DollarPerHour}, time.Minute},
		{"on demand after ten minutes", budget.Policy{Fallback: &budget.Fallback{After: 10 * time.Minute}}, 10 * time.Minute},
		{"a dry run", budget.Policy{MaxRate: 2 * pricing.DollarPerHour, DryRun: true}, time.Minute},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.policy.Name = "p"
			w := under(t, setup{offerings: []provider.Offering{smallOnDemand}}, &c.policy)
			bought := time.Duration(0)
			for range 20 {
				if r := w.round(time.Minute); len(r.Bought) > 0 && bought == 0 {
					bought = w.now.Sub(start)
				}
			}
			if bought != c.after {
				t.Errorf("bought after %v, want %v\n%s", bought, c.after, w.history())
			}
		})
	}
}

func TestDeadlineAtRiskNeedsNoWait(t *testing.T) {
	w := newWorld(t, setup{offerings: []provider.Offering{smallOnDemand}})
	w.put(&budget.Policy{Name: "p", Owner: "o", Fallback: &budget.Fallback{After: 10 * time.Hour, Deadlines: true}})
	job := testJob("a", 2, 1)
	job.Deadline = start.Add(3 * time.Hour)
	w.submit(job)
	w.until(60, func() bool { return len(w.live()) == 1 })
	if waited := w.now.Sub(start); waited < 15*time.Minute || waited > 40*time.Minute {
		t.Errorf("bought after %v, want it when the slack is used up", waited)
	}
}

func TestLaunchWaitsForAYes(t *testing.T) {
	ctx := context.Background()
	policy := budget.Policy{Name: "ask", Approval: &budget.Approval{Above: 2 * pricing.DollarPerHour, From: []string{"ada"}}, Notify: []string{"ops"}}
	w := under(t, setup{offerings: []provider.Offering{smallOnDemand}}, &policy)
	first := w.round(time.Minute)
	for range 5 {
		if r := w.round(time.Minute); len(r.Bought) > 0 {
			t.Fatal("a machine is bought before anyone said yes")
		}
	}
	snap, err := w.store.Load(ctx)
	if err != nil || len(snap.Questions) != 1 || len(first.Notices) != 1 || first.Notices[0].To != "ops" {
		t.Fatalf("questions %+v, notices %+v, %v: want one of each", snap.Questions, first.Notices, err)
	}
	id := snap.Questions[0].ID
	if d := first.Diff.Deferred; len(d) != 1 || d[0].Question != id || !d[0].Unasked || !strings.Contains(d[0].Reason, "waits for the yes of ada") {
		t.Errorf("put off: %+v, want the question %s named, new", d, id)
	}
	if _, err := autoscale.Answer(ctx, w.store, w.now, id, budget.Approved, "bob", "please"); err == nil || !strings.Contains(err.Error(), "is answered by ada, not by bob") {
		t.Errorf("got %v", err)
	}
	if _, err := autoscale.Answer(ctx, w.store, w.now, id, budget.Approved, "ada", "the review"); err != nil {
		t.Fatal(err)
	}
	w.restart()
	if r := w.round(time.Minute); len(r.Bought) != 1 {
		t.Errorf("%d machines are bought after the yes\n%s", len(r.Bought), w.history())
	}
}

// Each of the three ways past a cap, alone, is booked as what it is.
func TestOverrunsAreBookedAsSuch(t *testing.T) {
	stopped := func(w *world) func() bool {
		return func() bool { return w.says("budget policy day") && len(w.live()) == 0 }
	}
	t.Run("an end that the cloud does not confirm", func(t *testing.T) {
		w := under(t, setup{offerings: []provider.Offering{smallOnDemand}}, daysCap(2*pricing.Dollar))
		w.clouds[0].deny = true
		w.until(80, func() bool { return w.kinds()[autoscale.EventDenied] > 0 })
		for range 20 {
			w.round(time.Minute)
		}
		w.clouds[0].deny = false
		w.until(60, stopped(w))
		w.round(time.Minute)
		w.checkOverrun()
	})
	t.Run("a machine out of contact", func(t *testing.T) {
		w := under(t, setup{offerings: []provider.Offering{smallOnDemand}}, daysCap(2*pricing.Dollar))
		w.until(20, func() bool { return w.runs() == 1 })
		w.clouds[0].list = errors.New("503")
		for range 60 {
			w.round(time.Minute)
		}
		w.clouds[0].list = nil
		w.until(20, stopped(w))
		w.round(time.Minute)
		w.checkOverrun()
	})
	t.Run("a spot rate that rises within its hour", func(t *testing.T) {
		w := under(t, setup{offerings: []provider.Offering{slowSpot}, gcp: true}, daysCap(2*pricing.Dollar))
		job := testJob("b", 100, 2)
		job.ValueOfTime = 30 * pricing.DollarPerHour
		w.submit(job)
		w.until(30, func() bool { return w.runs() > 0 })
		w.prices.jumps = []jump{{w.now.Add(time.Minute), slowSpot, 30 * pricing.DollarPerHour}}
		w.until(80, stopped(w))
		w.round(time.Minute)
		w.checkOverrun()
	})
}

// checkOverrun: the cap of two dollars is passed, by what is booked as an overrun.
func (w *world) checkOverrun() {
	w.t.Helper()
	spent, over := w.spentBetween("", start, start.Add(24*time.Hour)), w.overrun()
	if over <= 0 || spent-over > 2*pricing.Dollar {
		w.t.Errorf("%s USD are spent of 2, %s of them as overruns\n%s", spent, over, w.history())
	}
}

// A job that waits as a cap is used up is told when there is room again, and begins then:
// not before, and in the round that finds it so.
func TestWhoWaitsForAUsedUpCapBeginsWhenItIsTold(t *testing.T) {
	newYork, err := time.LoadLocation("America/New_York")
	if err != nil {
		t.Fatal(err)
	}
	more := []budget.Exception{{From: start.Add(3 * time.Hour), Until: start.AddDate(0, 1, 0), Add: 5 * pricing.Dollar, Owner: "ada", Reason: "review"}}
	for name, c := range map[string]struct {
		cap   budget.Cap
		more  []budget.Exception
		steps []budget.Step
		want  time.Time
		says  string
	}{
		"a day":            {cap: budget.Cap{Period: budget.Day}, want: start.AddDate(0, 0, 1), says: "2026-11-03T00:00:00Z, as the day ends"},
		"a day of a zone":  {cap: budget.Cap{Period: budget.Day, Zone: newYork}, want: start.Add(5 * time.Hour), says: "2026-11-02T00:00:00-05:00, as the day ends"},
		"a window":         {cap: budget.Cap{Period: budget.Dated, From: start, Until: start.Add(4 * time.Hour)}, want: start.Add(4 * time.Hour), says: "2026-11-02T04:00:00Z, as its window ends"},
		"an exception":     {cap: budget.Cap{Period: budget.Always}, more: more, want: start.Add(3 * time.Hour), says: "2026-11-02T03:00:00Z, as ada adds 5 USD (review)"},
		"a step, not more": {cap: budget.Cap{Period: budget.Day}, steps: []budget.Step{{At: 0.2, Measure: budget.Actual, Do: budget.Stop}}, more: more, want: start.Add(3 * time.Hour), says: "2026-11-02T03:00:00Z, as ada adds 5 USD"},
	} {
		t.Run(name, func(t *testing.T) {
			p := daysCap(0)
			c.cap.Amount = 2 * pricing.Dollar
			p.Cap, p.Exceptions, p.Steps = &c.cap, c.more, c.steps
			w := under(t, setup{offerings: []provider.Offering{smallOnDemand}}, p)
			w.until(60, func() bool { return w.kinds()[autoscale.EventStop] > 0 })
			w.until(10, func() bool { return len(w.live()) == 0 })
			for {
				r := w.round(5 * time.Minute)
				if len(r.Bought) > 0 {
					break
				}
				if len(r.Plan.Waits) != 1 || !strings.Contains(r.Plan.Waits[0].Reason, "room comes at "+c.says) {
					t.Fatalf("after %v waits %+v, want %q", w.now.Sub(start), r.Plan.Waits, c.says)
				}
				if w.now.After(c.want) {
					t.Fatalf("nothing is bought by %v", w.now)
				}
			}
			if w.now.Before(c.want) {
				t.Errorf("bought at %v, want %v", w.now, c.want)
			}
		})
	}
}
