package autoscale_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/goodfleet/goodfleet/autoscale"
	"github.com/goodfleet/goodfleet/autoscale/store"
	"github.com/goodfleet/goodfleet/provider"
)

// restored goes on with another store, as after a disaster. The clouds and the
// gangs are what they were.
func (w *world) restored(s autoscale.Store) {
	w.store = &faultyStore{Store: s}
	w.cfg.Store = w.store
	w.restart()
}

// runs counts the gangs that run.
func (w *world) runs() int {
	n := 0
	for _, g := range w.runner.gangs {
		if g.live() {
			n++
		}
	}
	return n
}

// frozenText is what is printed at a frozen start.
func (w *world) frozenText() string {
	events, err := w.store.Events(context.Background(), time.Time{}, time.Time{})
	if err != nil {
		w.t.Fatal(err)
	}
	for _, e := range events {
		if e.Kind == autoscale.EventFrozenStart {
			return e.Text
		}
	}
	return ""
}

func TestStoreThatIsOlderThanItsMachinesStartsFrozen(t *testing.T) {
	for name, s := range map[string]func(copied *store.Memory) autoscale.Store{
		"made anew with the old id": func(*store.Memory) autoscale.Store { return store.NewMemory("fleet") },
		"restored from a copy":      func(copied *store.Memory) autoscale.Store { return copied },
	} {
		t.Run(name, func(t *testing.T) {
			live := store.NewMemory("fleet")
			w := newWorld(t, setup{plan: thrifty, store: live, offerings: []provider.Offering{smallSpot, largeSpot}})
			w.watchful = true
			w.submit(testJob("early", 9, 1))
			for range 6 {
				w.round(time.Minute)
			}
			copied := live.Copy()
			w.submit(testJob("late", 9, 4))
			for range 6 {
				w.round(time.Minute)
			}
			if w.runs() != 2 || len(w.live()) != 2 {
				t.Fatalf("%d gangs run on %d machines, want two on two", w.runs(), len(w.live()))
			}
			w.restored(s(copied))
			for range 30 {
				if r := w.round(time.Minute); !r.Diff.Empty() || r.Halted == "" {
					t.Fatalf("round %d changed %+v, halted %q", r.Number, r.Diff, r.Halted)
				}
			}
			if w.runs() != 2 || len(w.live()) != 2 {
				t.Errorf("%d gangs run on %d machines after half an hour, want two on two", w.runs(), len(w.live()))
			}
			if text := w.frozenText(); !strings.Contains(text, "adopt") || !strings.Contains(text, "gc --yes") || !strings.Contains(text, string(w.live()[1].ID)) {
				t.Errorf("printed %q, want what to do and the machines", text)
			}
			if list, err := w.loop.GC(t.Context(), w.now, "Ada", false); err != nil || len(list) != 0 {
				t.Errorf("gc lists %v, %v, but gangs run on all machines", list, err)
			}
			if err := w.loop.Adopt(t.Context(), w.now, "Ada"); err != nil {
				t.Fatal(err)
			}
			w.restart()
			if _, epoch, err := w.loop.Fleet(t.Context()); err != nil || epoch != 2 {
				t.Errorf("after a restart epoch %d and %v, want 2", epoch, err)
			}
			if name == "restored from a copy" {
				// "early" is known and goes on; "late" is handed in again, and its gang is taken over.
				if err := w.loop.Submit(t.Context(), w.now, testJob("late", 9, 4)); err != nil {
					t.Fatal(err)
				}
				w.round(time.Minute)
				if r := w.job("late"); r.Gang == nil || r.Generation != 1 || w.runs() != 2 {
					t.Errorf("late holds %+v at generation %d, want the gang that ran", r.Gang, r.Generation)
				}
			}
			w.round(time.Minute)
			if n := len(w.live()); n != 2 {
				t.Errorf("%d machines are left after adopt, want 2: %s", n, w.history())
			}
		})
	}
}

// A copy that was restored beside the store that still runs has machines of both
// before it. Each stops when it sees the other, and ends nothing.
func TestTwoStoresOfOneFleetFenceEachOther(t *testing.T) {
	first := store.NewMemory("fleet")
	w := newWorld(t, setup{plan: thrifty, store: first, offerings: []provider.Offering{smallSpot, largeSpot}})
	w.watchful = true
	w.submit(testJob("a", 20, 1))
	for range 4 {
		w.round(time.Minute)
	}
	copied := first.Copy()
	w.submit(testJob("b", 20, 4))
	for range 4 {
		w.round(time.Minute)
	}
	old := w.loop
	w.restored(copied)
	w.round(time.Minute)
	if err := w.loop.Adopt(t.Context(), w.now, "Ada"); err != nil {
		t.Fatal(err)
	}
	w.submit(testJob("c", 20, 4)) // bought at the copy's epoch
	for range 5 {
		w.round(time.Minute)
	}
	before := len(w.live())
	w.store.Store = first // what the other loop commits to, for the checks of the clouds
	for range 30 {
		w.advance(w.now.Add(time.Minute))
		r, err := old.Round(t.Context(), w.now)
		if err != nil {
			t.Fatal(err)
		}
		if r.Halted == "" || !r.Diff.Empty() {
			t.Fatalf("the older store was not fenced: %+v\n%v\n%s", r.Diff, w.live(), w.history())
		}
	}
	if n := len(w.live()); n != before || w.runs() < 2 {
		t.Errorf("%d machines and %d gangs, want %d and those that ran", n, w.runs(), before)
	}
}

// A new store with an id of its own never touches what an older one launched.
func TestLostStoreLeavesTheFleetOfTheOldOneAlone(t *testing.T) {
	w := newWorld(t, setup{plan: thrifty, offerings: []provider.Offering{smallSpot}})
	w.submit(testJob("a", 9, 1))
	for range 5 {
		w.round(time.Minute)
	}
	id := w.live()[0].ID
	w.restored(store.NewMemory("another"))
	for range 20 {
		w.round(time.Minute)
	}
	if w.runs() != 1 || len(w.live()) != 1 {
		t.Errorf("%d gangs on %d machines, want one on one", w.runs(), len(w.live()))
	}
	if text := w.history(); !strings.Contains(text, "1 machines of fleet fleet") {
		t.Errorf("it is not said whose machines are there:\n%s", text)
	}
	if err := w.loop.Adopt(t.Context(), w.now, "Ada", id); err != nil {
		t.Fatal(err)
	}
	if err := w.loop.Adopt(t.Context(), w.now, "Ada", "i-nobody"); err == nil {
		t.Error("a machine was adopted that no listing shows")
	}
	if err := w.loop.Submit(t.Context(), w.now, testJob("a", 9, 1)); err != nil {
		t.Fatal(err)
	}
	w.round(time.Minute)
	if r := w.job("a"); r.Gang == nil || r.Gang.Nodes[0].Instance != id {
		t.Errorf("the job holds %+v, want its gang on %s taken over", r.Gang, id)
	}
}

func TestOrphanIsEndedAfterTheGraceUnlessAJobTakesIt(t *testing.T) {
	for _, tt := range []struct {
		name  string
		taken bool
	}{{"nobody wants it", false}, {"a job takes it", true}} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, setup{plan: thrifty, offerings: []provider.Offering{smallSpot}})
			w.round(time.Minute)
			w.do("foreign 1 of aws/use1-az1/small/spot fleet fleet")
			w.round(time.Minute)
			if list, err := w.loop.GC(t.Context(), w.now, "Ada", false); err != nil || len(list) != 1 {
				t.Fatalf("orphans %v, %v, want one", list, err)
			}
			if tt.taken {
				w.submit(testJob("a", 1, 1))
			}
			for range 4 {
				w.round(time.Minute)
			}
			if len(w.live()) != 1 {
				t.Error("it was ended within the grace")
			}
			for range 8 {
				w.round(time.Minute)
			}
			if n, want := len(w.live()), map[bool]int{true: 1}[tt.taken]; n != want {
				t.Errorf("%d machines are left, want %d\n%s", n, want, w.history())
			}
			if tt.taken && w.kinds()[autoscale.EventLaunch] > 0 {
				t.Error("a machine was bought although one was there")
			}
			w.until(120, w.allEnded)
			w.round(time.Minute)
			w.checkBooks()
		})
	}
}

func TestGCEndsOrphansAtOnce(t *testing.T) {
	w := newWorld(t, setup{plan: thrifty, offerings: []provider.Offering{smallSpot}})
	w.round(time.Minute)
	w.do("foreign 3 of aws/use1-az1/small/spot fleet fleet")
	w.round(time.Minute)
	if err := w.loop.Set(t.Context(), w.now, autoscale.Override{OverrideKey: autoscale.OverrideKey{Kind: autoscale.HoldMachine, Subject: string(w.live()[0].ID)}, Who: "Ada"}); err != nil {
		t.Fatal(err)
	}
	if list, err := w.loop.GC(t.Context(), w.now, "Ada", true); err != nil || len(list) != 3 {
		t.Fatalf("gc: %v, %v, want three", list, err)
	}
	w.round(time.Minute)
	if n := len(w.live()); n != 1 {
		t.Errorf("%d machines are left, want the one that is held", n)
	}
	if got := w.kinds()[autoscale.EventDrain]; got != 2 {
		t.Errorf("%d machines were drained, want the two that are not held", got)
	}
}

// One machine of two is adopted by its name. The gang on the other is of a job that
// was handed in again, and nobody here knows where it lies: it is stopped, and the job
// begins anew on a machine of ours. The machine that was not named stays as it is.
func TestOfAnotherFleetOnlyWhatIsNamedIsAdopted(t *testing.T) {
	w := newWorld(t, setup{plan: thrifty, offerings: []provider.Offering{smallSpot}})
	w.submit(testJob("a", 9, 1), testJob("b", 9, 1))
	for range 5 {
		w.round(time.Minute)
	}
	if len(w.live()) != 2 || w.runs() != 2 {
		t.Fatalf("%d gangs on %d machines, want two on two", w.runs(), len(w.live()))
	}
	named, other := w.job("a").Gang.Nodes[0].Instance, w.job("b").Gang.Nodes[0].Instance
	w.restored(store.NewMemory("another"))
	w.round(time.Minute)
	if err := w.loop.Adopt(t.Context(), w.now, "Ada", named); err != nil {
		t.Fatal(err)
	}
	if err := w.loop.Submit(t.Context(), w.now, testJob("a", 9, 1), testJob("b", 9, 1)); err != nil {
		t.Fatal(err)
	}
	for range 10 {
		w.round(time.Minute)
	}
	if r := w.job("a"); r.Gang == nil || r.Gang.Nodes[0].Instance != named || r.Generation != 1 {
		t.Errorf("a holds %+v at generation %d, want its gang on %s taken over", r.Gang, r.Generation, named)
	}
	if r := w.job("b"); r.Gang == nil || r.Gang.Nodes[0].Instance == other || r.Generation != 2 {
		t.Errorf("b holds %+v at generation %d, want a second one on a machine of ours", r.Gang, r.Generation)
	}
	if w.runs() != 2 {
		t.Errorf("%d gangs run, want one of each job: %s", w.runs(), w.history())
	}
	left := false
	for _, m := range w.live() {
		left = left || m.ID == other && m.Tags.Fleet == "fleet"
	}
	if !left {
		t.Errorf("%s, which nobody adopted, is gone or marked", other)
	}
}
