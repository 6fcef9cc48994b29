package autoscale_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goodfleet/goodfleet/autoscale"
	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/provider"
)

// eightRunning is a fleet of eight small machines with a long job on each, and a
// breaker that nobody resumes by habit.
func eightRunning(t *testing.T, s setup) *world {
	t.Helper()
	s.offerings = []provider.Offering{smallSpot, smallOnDemand}
	if s.plan == nil {
		s.plan = thrifty
	}
	w := newWorld(t, s)
	w.watchful = true
	for n := range 8 {
		w.submit(testJob(planner.JobID(fmt.Sprintf("job-%d", n)), 20, 1))
	}
	for range 15 {
		w.round(time.Minute)
	}
	if n := len(w.live()); n != 8 {
		t.Fatalf("%d machines run, want 8\n%s", n, w.history())
	}
	return w
}

func (w *world) do(lines ...string) {
	w.t.Helper()
	for _, c := range w.clouds {
		if err := c.Cloud.Do(lines...); err != nil {
			w.t.Fatal(err)
		}
	}
}

func TestBreakerDoesNotBelieveAListingThatLacksTheFleet(t *testing.T) {
	for _, how := range []string{"empty", "half"} {
		t.Run(how, func(t *testing.T) {
			w := eightRunning(t, setup{})
			w.do("listing " + how + " for 30m")
			for range 29 {
				r := w.round(time.Minute)
				if len(r.Frozen) != 1 || !r.Diff.Empty() || len(r.Bought) > 0 {
					t.Fatalf("round %d froze %v, changed %+v and bought %d machines", r.Number, r.Frozen, r.Diff, len(r.Bought))
				}
			}
			w.round(2 * time.Minute)
			w.round(time.Minute)
			got := w.kinds()
			if got[autoscale.EventBreaker] != 1 || got[autoscale.EventLoss]+got[autoscale.EventRelease]+got[autoscale.EventAdopt] > 0 || got[autoscale.EventLaunch] != 8 {
				t.Errorf("events %v, want one of the breaker, and nothing lost, released, adopted or bought again", got)
			}
			if n := len(w.live()); n != 8 {
				t.Errorf("%d machines are left of 8", n)
			}
		})
	}
}

func TestResumeBelievesAListing(t *testing.T) {
	w := eightRunning(t, setup{})
	w.do("listing empty for 1h")
	w.round(time.Minute)
	if err := w.loop.Resume(t.Context(), w.now, "Ada", false); err == nil {
		t.Error("the breaker was lifted without a confirmation")
	}
	for range 5 {
		if err := w.loop.Resume(t.Context(), w.now, "Ada", true); err != nil {
			t.Fatal(err)
		}
		w.round(time.Minute)
	}
	if got := w.kinds(); got[autoscale.EventLoss] == 0 {
		t.Errorf("events %v: the listing was not believed after Resume", got)
	}
}

func TestBreakerOpensOnABadClock(t *testing.T) {
	for name, off := range map[string]time.Duration{"three days ahead": 72 * time.Hour, "an hour back": -time.Hour} {
		t.Run(name, func(t *testing.T) {
			w := eightRunning(t, setup{settings: func(s *autoscale.Settings) { s.MaxLife = 48 * time.Hour }})
			right := w.now
			r, err := w.loop.Round(t.Context(), right.Add(off))
			if err != nil {
				t.Fatal(err)
			}
			if r.Breaker == "" || !strings.Contains(r.Breaker, "clock") || !r.Diff.Empty() {
				t.Errorf("breaker %q, diff %+v, want it open for the clock and nothing done", r.Breaker, r.Diff)
			}
			w.restart() // the row of the breaker outlives it
			if r = w.round(time.Minute); r.Halted == "" || !r.Diff.Empty() {
				t.Errorf("halted %q, diff %+v with the right clock, want to wait for a person", r.Halted, r.Diff)
			}
			if err := w.loop.Resume(t.Context(), w.now, "Ada", true); err != nil {
				t.Fatal(err)
			}
			w.until(3000, w.allEnded)
			w.round(time.Minute)
			w.checkBooks()
		})
	}
}

// A plan that takes the machines from under most jobs is not carried out.
func TestBreakerOpensOnAPlanThatStopsTheFleet(t *testing.T) {
	mad := false
	w := eightRunning(t, setup{plan: func(p planner.Problem) (planner.Plan, error) {
		if !mad {
			return thrifty(p)
		}
		var plan planner.Plan
		for _, j := range p.Jobs {
			plan.Waits = append(plan.Waits, planner.Wait{Job: j.Job.ID, Reason: "mad"})
		}
		for _, m := range p.Machines {
			plan.Releases = append(plan.Releases, planner.Release{Instance: m.ID, Offering: m.Offering, Reason: "mad"})
		}
		return plan, nil
	}})
	mad = true
	for range 30 {
		w.round(time.Minute)
	}
	if got := w.kinds(); got[autoscale.EventBreaker] != 1 || got[autoscale.EventStop]+got[autoscale.EventRelease]+got[autoscale.EventDrain] > 0 {
		t.Errorf("events %v, want one of the breaker and nothing stopped", got)
	}
	if err := w.loop.Resume(t.Context(), w.now, "Ada", true); err != nil {
		t.Fatal(err)
	}
	for range 4 {
		w.round(time.Minute)
	}
	if n := len(w.live()); n != 0 {
		t.Errorf("%d machines are left after Resume\n%s", n, w.history())
	}
}

// A plan may take two machines from under their jobs on any fleet, as when a dearer
// job or a price pushes them out. A third of eight is more than a fifth.
func TestBreakerLetsAPlanTakeTwoMachines(t *testing.T) {
	for _, tt := range []struct{ jobs, trips int }{{1, 0}, {2, 0}, {3, 1}} {
		t.Run(fmt.Sprintf("%d jobs pushed out of eight", tt.jobs), func(t *testing.T) {
			pushing := false
			w := eightRunning(t, setup{plan: func(p planner.Problem) (planner.Plan, error) {
				if !pushing {
					return thrifty(p)
				}
				rest, out := p, map[provider.InstanceID]bool{}
				for _, j := range p.Jobs[:tt.jobs] {
					for _, id := range j.Running.Machines {
						out[id] = true
					}
				}
				rest.Jobs = p.Jobs[tt.jobs:]
				rest.Machines = slices.DeleteFunc(slices.Clone(p.Machines), func(m planner.Machine) bool { return out[m.ID] })
				plan, err := thrifty(rest)
				for _, j := range p.Jobs[:tt.jobs] {
					plan.Waits = append(plan.Waits, planner.Wait{Job: j.Job.ID, Reason: "pushed out"})
				}
				for _, m := range p.Machines {
					if out[m.ID] {
						plan.Releases = append(plan.Releases, planner.Release{Instance: m.ID, Offering: m.Offering, Reason: "pushed out"})
					}
				}
				return plan, err
			}})
			pushing, w.stable = true, false // nothing has happened but in the plan
			w.round(time.Minute)
			got := w.kinds()
			if got[autoscale.EventBreaker] != tt.trips {
				t.Errorf("the breaker opened %d times, want %d\n%s", got[autoscale.EventBreaker], tt.trips, w.history())
			}
			if want := tt.jobs * (1 - tt.trips); got[autoscale.EventStop] != want {
				t.Errorf("%d gangs are stopped, want %d", got[autoscale.EventStop], want)
			}
		})
	}
}

func TestBreakerLetsAFleetScaleDownStepByStep(t *testing.T) {
	for _, how := range []string{"jobs are cancelled", "machines are drained"} {
		t.Run(how, func(t *testing.T) {
			w := eightRunning(t, setup{})
			var ids []planner.JobID
			for n := range 8 {
				ids = append(ids, planner.JobID(fmt.Sprintf("job-%d", n)))
			}
			if how == "machines are drained" {
				for _, m := range w.live() {
					o := autoscale.Override{OverrideKey: autoscale.OverrideKey{Kind: autoscale.DrainMachine, Subject: string(m.ID)}, Who: "Ada", Why: "they are old"}
					if err := w.loop.Set(t.Context(), w.now, o); err != nil {
						t.Fatal(err)
					}
				}
			}
			if err := w.loop.Cancel(t.Context(), w.now, ids...); err != nil {
				t.Fatal(err)
			}
			for range 12 {
				w.round(time.Minute)
			}
			if n, got := len(w.live()), w.kinds(); n != 0 || got[autoscale.EventBreaker] > 0 {
				t.Errorf("%d machines are left, events %v, want none and no breaker", n, got)
			}
		})
	}
}

// Jobs that all end at once leave machines that are ended two at a time.
func TestIdleMachinesEndStepByStep(t *testing.T) {
	w := newWorld(t, setup{plan: thrifty, offerings: []provider.Offering{smallSpot}})
	w.watchful = true
	for n := range 8 {
		w.submit(testJob(planner.JobID(fmt.Sprintf("job-%d", n)), 0.5, 1))
	}
	var ended []int
	for before := 0; len(w.rounds) < 60; {
		w.round(time.Minute)
		n := len(w.live())
		if n < before {
			ended = append(ended, before-n)
		}
		before = n
	}
	if got, want := fmt.Sprint(ended), "[2 2 2 2]"; got != want || w.kinds()[autoscale.EventBreaker] > 0 {
		t.Errorf("machines ended by round %s, want %s and no breaker", got, want)
	}
}

func TestGrowthAndMovesAreLimited(t *testing.T) {
	w := newWorld(t, setup{plan: thrifty, offerings: []provider.Offering{smallSpot, smallOnDemand}, settings: func(s *autoscale.Settings) {
		s.MaxGrowth, s.MaxMoves = 5, 2
	}})
	for n := range 12 {
		w.submit(testJob(planner.JobID(fmt.Sprintf("job-%02d", n)), 5, 1))
	}
	var bought []int
	for range 4 {
		bought = append(bought, len(w.round(time.Minute).Bought))
	}
	if got, want := fmt.Sprint(bought), "[5 5 2 0]"; got != want {
		t.Errorf("machines bought by minute %s, want %s", got, want)
	}
	for range 10 {
		w.round(time.Minute)
	}
	// On demand falls to a tenth: thrifty moves all jobs at once.
	w.prices.turn, w.prices.later = w.now, map[provider.Offering]pricing.Rate{smallOnDemand: w.prices.rates[smallSpot] / 10, smallSpot: 40 * w.prices.rates[smallSpot]}
	moved := 0
	for range 3 {
		n := 0
		for _, x := range w.round(time.Minute).Diff.Targets {
			if x.Moves {
				n++
			}
		}
		if n > 2 {
			t.Errorf("%d jobs moved in one round, want 2 at most", n)
		}
		moved += n
	}
	if moved == 0 {
		t.Error("no job moved")
	}
}
