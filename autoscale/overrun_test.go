package autoscale_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/goodfleet/goodfleet/autoscale"
	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/pricing/budget"
	"github.com/goodfleet/goodfleet/pricing/ledger"
	"github.com/goodfleet/goodfleet/provider"
)

// A selector may cover an idle machine though it asks about jobs too. A stop then ends
// the machine as well, at once and not when its hold is over.
func TestStopEndsMachinesThatCountWhenIdle(t *testing.T) {
	policy := func(amount pricing.Money) *budget.Policy {
		return &budget.Policy{
			Name: "p", Owner: "o", Over: selector(t, budget.Match{Where: `team == "Vision" || accelerators > 1`}),
			Cap: &budget.Cap{Amount: amount, Period: budget.Always},
		}
	}
	w := under(t, setup{offerings: []provider.Offering{largeSpot}}, policy(20*pricing.Dollar))
	w.until(20, func() bool { return w.runs() == 1 })
	w.put(policy(pricing.Dollar / 2))
	for range 3 {
		w.round(time.Minute)
	}
	if n := len(w.live()); n != 0 {
		t.Errorf("%d machines cost on, three rounds after the stop\n%s", n, w.history())
	}
}

// Machines that were out of contact while periods ended, in which caps were passed, are
// overruns of those periods: of a window that closed, and of every hour of an outage.
func TestOutageOverTheEndOfPeriodsIsBookedAsOverrun(t *testing.T) {
	for _, c := range []struct {
		name string
		cap  budget.Cap
	}{
		{"a window that closes", budget.Cap{Amount: 2 * pricing.Dollar, Period: budget.Dated, From: start, Until: start.Add(90 * time.Minute)}},
		{"a window that opens", budget.Cap{Amount: 2 * pricing.Dollar, Period: budget.Dated, From: start.Add(70 * time.Minute), Until: start.Add(9 * time.Hour)}},
		{"hours", budget.Cap{Amount: 2 * pricing.Dollar, Period: budget.Hour}},
		{"hours, with what is carried over", budget.Cap{Amount: 2 * pricing.Dollar, Period: budget.Hour, Unused: 0.25}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := under(t, setup{offerings: []provider.Offering{smallOnDemand}}, &budget.Policy{Name: "p", Over: selector(t, budget.Match{Where: `cloud != ""`}), Cap: &c.cap})
			w.until(60, func() bool { return w.runs() == 1 }) // it is too dear to go on from hour to hour: it begins late in one
			w.clouds[0].list = errors.New("503")
			for range 200 {
				w.round(time.Minute)
			}
			w.clouds[0].list = nil
			for range 5 {
				w.round(time.Minute)
			}
			if w.overrun() <= 0 {
				t.Fatalf("nothing is booked as an overrun\n%s", w.history())
			}
			charges, err := w.store.Charges(t.Context(), time.Time{}, time.Time{})
			if err != nil {
				t.Fatal(err)
			}
			most := c.cap.Amount + pricing.Money(c.cap.Unused*float64(c.cap.Amount))
			for from := start; from.Before(w.now); from = from.Add(time.Hour) {
				until := from.Add(time.Hour)
				if c.cap.Period == budget.Dated {
					from, until = c.cap.From, c.cap.Until
				}
				spent := pricing.Money(0)
				for _, c := range charges {
					if c.Account != ledger.Overrun && !c.From.Before(from) && c.From.Before(until) {
						spent += c.Amount
					}
				}
				if spent > most {
					t.Errorf("from %v on %s USD are spent beside overruns, the cap is %s", from.Sub(start), spent, most)
				}
				if c.cap.Period == budget.Dated {
					break
				}
			}
		})
	}
}

// reads counts how often a store is asked for the charges of a stretch.
type reads struct {
	autoscale.Store
	of map[[2]time.Time]int
}

func (r *reads) Charges(ctx context.Context, from, to time.Time) ([]ledger.Charge, error) {
	r.of[[2]time.Time{from, to}]++
	return r.Store.Charges(ctx, from, to)
}

// Whether a cap was passed in a period does not depend on the machine that was out of
// contact in it: however many come back, the charges of a period are read once.
func TestChargesOfAPeriodAreReadOnceForAllMachines(t *testing.T) {
	w := under(t, setup{offerings: []provider.Offering{smallOnDemand}}, &budget.Policy{Name: "p", Over: selector(t, budget.Match{Where: `cloud != ""`}), Cap: &budget.Cap{Amount: 20 * pricing.Dollar, Period: budget.Hour}})
	for _, name := range []planner.JobID{"b", "c"} {
		job := testJob(name, 100, 1)
		job.ValueOfTime = 30 * pricing.DollarPerHour
		w.submit(job)
	}
	w.until(20, func() bool { return w.runs() == 3 })
	w.clouds[0].list = errors.New("503")
	for range 200 {
		w.round(time.Minute)
	}
	w.clouds[0].list = nil
	store := &reads{w.cfg.Store, map[[2]time.Time]int{}}
	w.cfg.Store = store
	w.restart()
	clear(store.of)
	w.round(time.Minute)
	for h := range 3 {
		from, until := start.Add(time.Duration(h)*time.Hour), start.Add(time.Duration(h+1)*time.Hour)
		if got := store.of[[2]time.Time{from, until}]; got != 1 {
			t.Errorf("the charges of hour %d are read %d times in the round, want once", h, got)
		}
	}
}

// A job that ended while its machine was out of contact has spent too much all the same.
func TestOverrunOfAJobThatEndedInTheOutage(t *testing.T) {
	w := newWorld(t, setup{offerings: []provider.Offering{smallOnDemand}})
	w.put(&budget.Policy{Name: "p", Owner: "o", Cap: &budget.Cap{Amount: 2 * pricing.Dollar, Period: budget.Day, Each: budget.PerJob}})
	job := testJob("a", 1, 1) // three dollars
	job.ValueOfTime = 30 * pricing.DollarPerHour
	w.submit(job)
	w.until(20, func() bool { return w.runs() == 1 })
	w.clouds[0].list = errors.New("503")
	for range 80 {
		w.round(time.Minute)
	}
	if w.job("a").Ended.IsZero() {
		t.Fatal("it has not ended")
	}
	w.clouds[0].list = nil
	w.until(20, w.allEnded)
	w.round(time.Minute)
	if spent := w.job("a").Spent; spent <= 2*pricing.Dollar {
		t.Fatalf("%s USD are spent: want the cap passed", spent)
	}
	w.checkOverrun()
}

// What is booked of one period counts for no other: after a long absence too, charges
// end where periods do.
func TestChargesEndWithPeriods(t *testing.T) {
	window := budget.Cap{Amount: 100 * pricing.Dollar, Period: budget.Dated, From: start.Add(35 * time.Minute), Until: start.Add(95 * time.Minute)}
	w := under(t, setup{offerings: []provider.Offering{smallOnDemand}},
		&budget.Policy{Name: "hour", Cap: &budget.Cap{Amount: 100 * pricing.Dollar, Period: budget.Hour}},
		&budget.Policy{Name: "window", Cap: &window})
	w.until(20, func() bool { return w.runs() == 1 })
	w.round(3 * time.Hour) // nobody looks for so long
	charges, err := w.store.Charges(t.Context(), time.Time{}, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	turns := []time.Time{window.From, window.Until}
	for h := range 5 {
		turns = append(turns, start.Add(time.Duration(h)*time.Hour))
	}
	for _, c := range charges {
		for _, at := range turns {
			if c.From.Before(at) && at.Before(c.To) {
				t.Errorf("a charge from %v to %v holds the turn at %v", c.From.Sub(start), c.To.Sub(start), at.Sub(start))
			}
		}
	}
}

// A spot hour costs what was asked as it began, though the price has fallen since and the
// loop that saw it has died: what was spent in its absence is reckoned by that.
func TestDearHourIsReckonedAfterARestart(t *testing.T) {
	for _, c := range []struct {
		name   string
		cap    pricing.Money
		beside pricing.Rate // costs as much, whatever the price is
	}{
		{"alone", 2 * pricing.Dollar, 0},
		{"with a disk", 4 * pricing.Dollar, 8 * pricing.DollarPerHour},
	} {
		t.Run(c.name, func(t *testing.T) { dearHour(t, c.cap, c.beside) })
	}
}

func dearHour(t *testing.T, amount pricing.Money, beside pricing.Rate) {
	w := under(t, setup{offerings: []provider.Offering{smallSpot}}, daysCap(amount))
	if beside > 0 {
		rules := ledger.Rules{Beside: []ledger.Beside{{Item: ledger.Disk, Cloud: "aws", Type: "gp3", Size: 28 * 24, Unit: beside}}}
		w.cfg.Bills.Beside = rules.BesideRate
		w.cfg.Meter = func(charges []ledger.Charge) *ledger.Meter { return ledger.Resume(w.prices, rules, charges) }
		w.restart()
	}
	w.prices.jumps = []jump{{start.Add(150 * time.Second), smallSpot, 8 * pricing.DollarPerHour}, {start.Add(4 * time.Minute), smallSpot, pricing.DollarPerHour}}
	w.until(6, func() bool { return w.runs() == 1 })
	if m := w.truth(w.live()[0].ID); m.Started.Before(w.prices.jumps[0].at) || !m.Started.Before(w.prices.jumps[1].at) {
		t.Fatalf("it started at %v: want it in the dear minutes", m.Started.Sub(start))
	}
	w.restart()
	if r := w.round(10 * time.Minute); len(r.Diff.Stops) != 1 {
		t.Errorf("%d stops in the first round after the absence, want 1\n%s", len(r.Diff.Stops), w.history())
	}
}
