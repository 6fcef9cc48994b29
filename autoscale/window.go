package autoscale

import (
	"fmt"
	"slices"
	"time"

	"github.com/goodfleet/goodfleet/autoscale/schedule"
	"github.com/goodfleet/goodfleet/planner"
)

// WindowClock passes when a window opens or ends.
const WindowClock planner.Clock = "window"

// Window says when the loop may do something of its own will. Where windows allow
// something, it is done while one of them is open and at no other time; where one
// denies it, not while that is open. What has to be done is done at any time: jobs
// leave machines that are taken back, drained or unfit.
type Window struct {
	Name     string
	Deny     bool // it denies while it is open; else it allows
	Moves    bool // of jobs that run, to other machines or to none
	Launches bool // of machines
	Time     schedule.Window
}

// validateWindows reports the first thing that is wrong with windows.
func validateWindows(list []Window) error {
	for i, w := range list {
		switch {
		case w.Name == "":
			return fmt.Errorf("windows[%d] has no name", i)
		case !w.Moves && !w.Launches:
			return fmt.Errorf("window %q is of nothing: want moves, launches or both", w.Name)
		case w.Time.IsZero():
			return fmt.Errorf("window %q has no time", w.Name)
		case slices.ContainsFunc(list[:i], func(x Window) bool { return x.Name == w.Name }):
			return fmt.Errorf("window %q is given twice", w.Name)
		}
	}
	return nil
}

// windows are all that there are.
type windows []Window

func ofMoves(w Window) bool    { return w.Moves }
func ofLaunches(w Window) bool { return w.Launches }

// shut says which window keeps something from being done at now, and until when; ""
// when none does.
func (list windows) shut(of func(Window) bool, now time.Time) (why string, until time.Time) {
	var first Window
	allows, opens := false, time.Time{}
	for _, w := range list {
		if !of(w) {
			continue
		}
		open, next := w.Time.At(now)
		switch {
		case w.Deny && open:
			return fmt.Sprintf("window %s denies it until %s: %s", w.Name, next.UTC().Format(time.RFC3339), w.Time), next
		case w.Deny:
		case open:
			allows, opens = true, time.Time{}
			first = w
		case !allows || !opens.IsZero() && next.Before(opens):
			allows, opens, first = true, next, w
		}
	}
	if opens.IsZero() {
		return "", time.Time{}
	}
	return fmt.Sprintf("window %s allows it from %s on: %s", first.Name, opens.UTC().Format(time.RFC3339), first.Time), opens
}

// forced reports whether a job has to leave where it is: a machine under it is taken
// back, drained or unfit.
func (s *State) forced(r *JobRecord) bool {
	if r.Gang == nil {
		return false
	}
	for i := range s.Machines {
		if m := &s.Machines[i]; m.leaving() && r.Gang.holds(m.Instance.ID) {
			return true
		}
	}
	return false
}
