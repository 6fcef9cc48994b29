package autoscale_test

import (
	"errors"
	"testing"
	"time"

	"github.com/goodfleet/goodfleet/autoscale"
	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/provider"
)

// moving is a world in which a job runs on demand and spot becomes worth a move.
func moving(t *testing.T, s setup) *world {
	if s.plan == nil {
		s.plan = thrifty
	}
	s.offerings = []provider.Offering{smallSpot, smallOnDemand}
	w := newWorld(t, s)
	w.prices.rates[smallSpot] = 8 * pricing.DollarPerHour
	w.prices.later = map[provider.Offering]pricing.Rate{smallSpot: pricing.DollarPerHour / 10}
	w.prices.turn = start.Add(30*time.Minute + time.Second)
	job := testJob("GPT-L", 3, 1)
	job.ValueOfTime = pricing.DollarPerHour / 10
	w.submit(job)
	for range 30 {
		w.round(time.Minute)
	}
	return w
}

// The order of a move is: buy, become ready, save and stop, start, end the old.
func TestMoveCreatesBeforeItEnds(t *testing.T) {
	w := moving(t, setup{})
	w.until(400, w.allEnded)
	w.round(time.Minute)
	w.checkBooks()
	events, err := w.store.Events(t.Context(), w.prices.turn, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		autoscale.EventLaunch, autoscale.EventMove, autoscale.EventDrain, autoscale.EventReady, autoscale.EventStop,
		autoscale.EventStopped, autoscale.EventStart, autoscale.EventRelease, autoscale.EventEnded, autoscale.EventDone,
	}
	var got []string
	for _, e := range events {
		if len(got) < len(want) {
			got = append(got, e.Kind)
		}
	}
	for i := range want {
		if i >= len(got) || got[i] != want[i] {
			t.Fatalf("events %v, want %v\n%s", got, want, w.history())
		}
	}
	if r := w.job("GPT-L"); r.Generation != 2 || r.Losses != 0 {
		t.Errorf("generation %d with %d losses, want 2 and none", r.Generation, r.Losses)
	}
}

func TestMoveThatCannotBeHadDisruptsNothing(t *testing.T) {
	w := moving(t, setup{})
	w.clouds[0].launch = refuse(provider.ErrCapacity, smallSpot)
	for range 60 {
		w.round(time.Minute)
	}
	if r := w.job("GPT-L"); r.Generation != 1 || r.Gang == nil {
		t.Errorf("the job was disturbed: generation %d\n%s", r.Generation, w.history())
	}
}

// While both machines have to be paid for, a cap for one puts the move off, and
// each round says so without changing anything.
func TestMoveWaitsForRoomUnderTheCap(t *testing.T) {
	w := moving(t, setup{
		settings: func(s *autoscale.Settings) { s.BurnCap = pricing.DollarPerHour * 305 / 100 },
		plan: func(p planner.Problem) (planner.Plan, error) {
			p.BurnCap = 0 // it thinks of the fleet as it should be, not of the way there
			return thrifty(p)
		},
	})
	for range 20 {
		r := w.round(time.Minute)
		if !r.Diff.Empty() || len(r.Diff.Deferred) != 1 {
			t.Fatalf("round %d: %+v, want the move put off and nothing else", r.Number, r.Diff)
		}
	}
	if len(w.clouds[0].calls) != 0 {
		t.Errorf("asked for %v", w.clouds[0].asked())
	}
}

func TestTargetLostOnTheWayLeavesTheJobWhereItIs(t *testing.T) {
	w := moving(t, setup{})
	w.until(3, func() bool { return len(w.live()) == 2 })
	for _, inst := range w.live() {
		if inst.Offering == smallSpot {
			if err := w.clouds[0].Cloud.Terminate(t.Context(), inst.ID); err != nil { // somebody else ends it
				t.Fatal(err)
			}
		}
	}
	w.clouds[0].launch = refuse(provider.ErrCapacity, smallSpot)
	for range 10 {
		w.round(time.Minute)
	}
	if r := w.job("GPT-L"); r.Generation != 1 || r.Gang == nil || r.Target == nil {
		t.Errorf("the job is %+v, want it where it was\n%s", r, w.history())
	}
	if live := w.live(); len(live) != 1 || live[0].Offering != smallOnDemand {
		t.Errorf("machines %v, want the one it was on", live)
	}
}

func TestGangsChangePlaces(t *testing.T) {
	w := newWorld(t, setup{plan: thrifty, offerings: []provider.Offering{smallSpot, smallSpotB}})
	w.clouds[0].launch = refuse(provider.ErrCapacity)
	a, b := testJob("a", 2, 1), testJob("b", 2, 1)
	w.submit(a)
	w.round(time.Minute)
	w.clouds[0].launch = refuse(provider.ErrCapacity, smallSpot)
	w.submit(b)
	for range 6 {
		w.round(time.Minute)
	}
	state := autoscale.State{Now: w.now, Hold: 10 * time.Minute, Catalogue: w.catalogue}
	snap, err := w.store.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	state.Jobs, state.Machines = snap.Jobs, snap.Instances
	diff, _, err := autoscale.Decide(state, swap)
	if err != nil {
		t.Fatal(err)
	}
	if len(diff.Stops) != 2 || len(diff.Starts) != 0 || len(diff.Launches) != 0 {
		t.Errorf("%+v, want both gangs stopped and nothing bought", diff)
	}
}

func TestNoticeSavesAtOnceAndPlansAnew(t *testing.T) {
	for _, tt := range []struct {
		name   string
		notice time.Duration
		saved  bool
	}{
		{"the notice covers a checkpoint", 2 * time.Minute, true},
		{"the notice is too short", 20 * time.Second, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, setup{plan: thrifty, interruptions: 0.5, notice: tt.notice, offerings: []provider.Offering{smallSpot, smallOnDemand}})
			w.submit(testJob("GPT-L", 10, 1))
			var noticed autoscale.Round
			for range 600 {
				noticed = w.round(10 * time.Second)
				if has(noticed.Events, autoscale.EventNotice) {
					break
				}
			}
			if got := has(noticed.Events, autoscale.EventStop); got != tt.saved {
				t.Errorf("stopped in the round of the notice: %t, want %t\n%s", got, tt.saved, w.history())
			}
			if len(noticed.Diff.Launches) != 1 {
				t.Errorf("%d launches in the round of the notice, want 1\n%s", len(noticed.Diff.Launches), w.history())
			}
			for range 18 {
				w.round(10 * time.Second)
			}
			r := w.job("GPT-L")
			if got := r.Losses == 0; got != tt.saved {
				t.Errorf("%d losses\n%s", r.Losses, w.history())
			}
			if r.Target == nil {
				t.Errorf("the job has no place\n%s", w.history())
			}
			if n := w.kinds()[autoscale.EventNotice]; n != 1 {
				t.Errorf("one notice, listed often, was told %d times", n)
			}
		})
	}
}

// When one node goes the others are freed at once, for whoever needs them.
func TestLossOfANodeFreesTheWholeGang(t *testing.T) {
	w := newWorld(t, setup{plan: thrifty, offerings: []provider.Offering{smallSpot}})
	w.submit(testJob("GPT-L", 10, 2))
	w.until(10, func() bool { return w.job("GPT-L").Gang != nil })
	lost := w.job("GPT-L").Gang.Nodes[1].Instance
	w.round(5 * time.Minute)
	if err := w.clouds[0].Cloud.Terminate(t.Context(), lost); err != nil {
		t.Fatal(err)
	}
	r := w.round(time.Minute)
	job := w.job("GPT-L")
	if job.Gang != nil || job.Losses != 1 {
		t.Errorf("the job is %+v, want its gang lost", job)
	}
	if job.Target == nil || len(r.Diff.Launches) != 1 || r.Diff.Launches[0].Count != 1 {
		t.Errorf("%+v, want one machine bought beside the one that is left\n%s", r.Diff, w.history())
	}
}

func TestCancelledJobIsKilledAndItsMachineEnded(t *testing.T) {
	w := newWorld(t, setup{plan: thrifty})
	w.submit(testJob("GPT-L", 10, 1), testJob("other", 0.2, 1))
	w.until(10, func() bool { return w.job("GPT-L").Gang != nil })
	if err := w.loop.Cancel(t.Context(), w.now, "GPT-L"); err != nil {
		t.Fatal(err)
	}
	w.until(60, w.allEnded)
	if got := w.job("GPT-L").Phase; got != autoscale.JobCancelled {
		t.Errorf("phase %v, want cancelled", got)
	}
	if err := w.loop.Cancel(t.Context(), w.now, "GPT-L"); err != nil {
		t.Errorf("cancelled again: %v", err)
	}
	if err := w.loop.Cancel(t.Context(), w.now, "nobody"); err == nil {
		t.Error("a job that is not there was cancelled")
	}
}

func TestJobThatCannotStartIsGivenUp(t *testing.T) {
	w := newWorld(t, setup{plan: thrifty})
	w.runner.fail = func(call string) error {
		if call == "start" {
			return errors.New("no such image")
		}
		return nil
	}
	w.submit(testJob("GPT-L", 1, 1))
	for range 30 {
		if _, err := w.tryRound(time.Minute); err != nil && !w.job("GPT-L").Ended.IsZero() && w.kinds()[autoscale.EventFailed] > 3 {
			t.Fatal(err)
		}
	}
	if got := w.job("GPT-L").Phase; got != autoscale.JobFailed {
		t.Errorf("phase %v, want failed\n%s", got, w.history())
	}
	if len(w.live()) != 0 {
		t.Errorf("machines are left: %v", w.live())
	}
}

func has(events []autoscale.Event, kind string) bool {
	for _, e := range events {
		if e.Kind == kind {
			return true
		}
	}
	return false
}

// Where a cap has no room for a move on the way, whoever was to share its new machine does
// not wait for it: he gets what there is room for beside the job that stays.
func TestMoveWithoutRoomOnTheWayHoldsNobodyUp(t *testing.T) {
	for _, tt := range []struct {
		name  string
		cap   pricing.Rate
		moves bool
	}{
		{"room for both at once", pricing.DollarPerHour * 47 / 10, true},
		{"not for both at once", pricing.DollarPerHour * 45 / 10, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, setup{
				offerings: []provider.Offering{smallSpot, smallOnDemand, largeSpot},
				settings:  func(s *autoscale.Settings) { s.BurnCap = tt.cap },
			})
			w.prices.rates[smallSpot], w.prices.rates[largeSpot] = 8*pricing.DollarPerHour, 8*pricing.DollarPerHour
			w.prices.later = map[provider.Offering]pricing.Rate{smallSpot: pricing.DollarPerHour * 14 / 10, largeSpot: pricing.DollarPerHour * 16 / 10}
			w.prices.turn = start.Add(30*time.Minute + time.Second)
			first := testJob("GPT-1", 30, 1)
			first.ValueOfTime = pricing.DollarPerHour * 5
			w.submit(first)
			for range 30 {
				w.round(time.Minute)
			}
			next := testJob("GPT-2", 30, 1)
			next.ValueOfTime = pricing.DollarPerHour * 10
			w.submit(next)
			var last autoscale.Round
			for range 30 {
				last = w.round(time.Minute)
			}
			if g := w.job("GPT-2").Gang; g == nil {
				t.Errorf("the second job waits: put off %+v\n%s", last.Diff.Deferred, w.history())
			}
			if moved := w.job("GPT-1").Generation > 1; moved != tt.moves {
				t.Errorf("the first job has moved: %v, want %v\n%s", moved, tt.moves, w.history())
			}
			if d := last.Diff.Deferred; !tt.moves && (len(d) != 1 || d[0].Job != "GPT-1") {
				t.Errorf("put off %+v, want the move alone", d)
			}
		})
	}
}
