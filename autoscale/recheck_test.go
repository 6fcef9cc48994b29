package autoscale_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/goodfleet/goodfleet/autoscale"
	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/provider"
)

// TestWhatIsRefusedIsAskedForAgain: a full quota after ten minutes each time, what may
// not be done after thirty, and a zone without capacity after waits that double.
func TestWhatIsRefusedIsAskedForAgain(t *testing.T) {
	for _, tt := range []struct {
		kind error
		want []int // minutes of the calls in the first two hours
	}{
		{provider.ErrQuota, []int{1, 11, 31, 61, 91}},
		{provider.ErrDenied, []int{1, 31, 61, 91}},
		{provider.ErrCapacity, []int{1, 4, 10, 22, 46, 76, 106}},
	} {
		w := newWorld(t, setup{plan: thrifty, offerings: []provider.Offering{smallSpot}})
		w.clouds[0].launch = refuse(tt.kind, smallSpot)
		w.submit(testJob("a", 1, 1))
		var asked []int
		for minute := 1; minute <= 120; minute++ {
			w.round(time.Minute)
			if len(w.clouds[0].calls) > 0 {
				asked = append(asked, minute)
			}
		}
		if !slices.Equal(asked, tt.want) {
			t.Errorf("%v: asked in minutes %v, want %v", tt.kind, asked, tt.want)
		}
		w.clouds[0].launch = nil
		w.until(31, func() bool { return len(w.live()) == 1 })
	}
}

// TestEndThatIsDeniedIsAskedForAgainAfterHalfAnHour, not in every round: the machine
// counts as ours meanwhile.
func TestEndThatIsDeniedIsAskedForAgainAfterHalfAnHour(t *testing.T) {
	w := newWorld(t, setup{plan: thrifty, offerings: []provider.Offering{smallSpot}})
	w.submit(testJob("a", 0.5, 1))
	w.until(20, func() bool { return w.runs() == 1 })
	w.clouds[0].deny = true
	var denied []time.Time
	for range 140 {
		for _, e := range w.round(time.Minute).Events {
			if e.Kind == autoscale.EventDenied {
				denied = append(denied, e.At)
			}
		}
	}
	if len(denied) < 3 {
		t.Fatalf("denied at %v\n%s", denied, w.history())
	}
	for i, at := range denied[1:] {
		if wait := at.Sub(denied[i]); wait != 30*time.Minute {
			t.Errorf("asked again after %v, want 30 minutes: %v", wait, fmt.Sprint(denied))
		}
	}
	w.clouds[0].deny = false
	w.until(31, func() bool { return len(w.live()) == 0 })
}

// TestWaitsStartAnewWhenALaunchIsGranted: three refusals in a row, a machine, and the
// next refusal is waited out as the first was.
func TestWaitsStartAnewWhenALaunchIsGranted(t *testing.T) {
	w := newWorld(t, setup{plan: thrifty, offerings: []provider.Offering{smallSpot}})
	asked := func(minutes int) (list []int) {
		for minute := 1; minute <= minutes; minute++ {
			w.round(time.Minute)
			if len(w.clouds[0].calls) > 0 {
				list = append(list, minute)
			}
		}
		return list
	}
	w.clouds[0].launch = refuse(provider.ErrCapacity, smallSpot)
	w.submit(testJob("a", 9, 1))
	if got := asked(12); !slices.Equal(got, []int{1, 4, 10}) {
		t.Fatalf("asked in minutes %v", got)
	}
	w.clouds[0].launch = nil
	if got := asked(12); !slices.Equal(got, []int{10}) {
		t.Fatalf("asked in minutes %v after the third refusal, want it granted in the tenth", got)
	}
	w.clouds[0].launch = refuse(provider.ErrCapacity, smallSpot)
	w.submit(testJob("b", 9, 1))
	if got := asked(5); !slices.Equal(got, []int{1, 4}) {
		t.Errorf("asked in minutes %v, want the second after three", got)
	}
}

// TestBootDeadlineIsLearned: once three machines came up in two minutes, one that does
// not is given up after ten; before, it may take thirty. A restart forgets none of them.
func TestBootDeadlineIsLearned(t *testing.T) {
	for _, tt := range []struct {
		seen, want int
		restarts   bool
	}{{2, 30, false}, {3, 10, false}, {3, 10, true}} {
		w := newWorld(t, setup{plan: thrifty, offerings: []provider.Offering{smallSpot}})
		for n := range tt.seen {
			w.submit(testJob(planner.JobID(fmt.Sprintf("job-%d", n)), 0.1, 1))
			w.until(40, w.allEnded)
		}
		if tt.restarts {
			w.restart()
		}
		w.do("launch boots in 5h")
		w.submit(testJob("late", 0.1, 1))
		w.until(3, func() bool { return len(w.live()) == 1 })
		bought := w.now
		w.until(40, func() bool { return w.kinds()[autoscale.EventQuarantine] > 0 })
		if got := int(w.now.Sub(bought) / time.Minute); got != tt.want {
			t.Errorf("after %d boots of two minutes (restarts: %t) it is given up after %d minutes, want %d", tt.seen, tt.restarts, got, tt.want)
		}
	}
}
