package schedule

import (
	"errors"
	"fmt"
	"time"
	_ "time/tzdata" // zones are the same on machines that have no data base of their own
)

// Longest is the longest that a window may last.
const Longest = 7 * 24 * time.Hour

// Window is open from each instant of a schedule on, for a length of time on the wall.
type Window struct {
	starts  Cron
	lasts   time.Duration
	zone    *time.Location
	minutes []int // of the day, ascending
}

// NewWindow makes a window. Zone is a name of the IANA data base, such as
// "Europe/Berlin"; "" is UTC. It lasts for whole minutes, one at least and Longest at
// most.
func NewWindow(starts Cron, lasts time.Duration, zone string) (Window, error) {
	switch {
	case starts.text == "":
		return Window{}, errors.New("it has no schedule")
	case lasts < time.Minute || lasts > Longest || lasts%time.Minute != 0:
		return Window{}, fmt.Errorf("it lasts %v: want whole minutes, up to %v", lasts, Longest)
	case zone == "Local":
		return Window{}, fmt.Errorf("zone %q: want a name such as Europe/Berlin, the same on every machine", zone)
	}
	location, err := time.LoadLocation(zone)
	if err != nil {
		return Window{}, fmt.Errorf("zone %q: want a name such as Europe/Berlin", zone)
	}
	return Window{starts: starts, lasts: lasts, zone: location, minutes: starts.minutesOfDay()}, nil
}

// IsZero reports whether the window was never made: it is open at no time.
func (w Window) IsZero() bool { return w.zone == nil }

// String is the window for people: "0 1 * * 1 for 4h0m0s (Europe/Berlin)".
func (w Window) String() string {
	return fmt.Sprintf("%s for %v (%s)", w.starts, w.lasts, w.zone)
}

// At reports whether the window is open at an instant, and the next one at which that
// has to be asked again: when it ends, or opens.
func (w Window) At(t time.Time) (open bool, next time.Time) {
	if start, ok := w.last(t); ok {
		if end := w.end(start); t.Before(end) {
			return true, end
		}
	}
	return false, w.next(t)
}

// wall is an instant as the clock on the wall shows it: a date and minutes, kept as if
// it were UTC.
type wall = time.Time

// date is midnight of the day that the wall shows at t.
func (w Window) date(t time.Time) wall {
	y, m, d := t.In(w.zone).Date()
	return time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
}

// last is the latest start at or before t that may still be open.
func (w Window) last(t time.Time) (start wall, ok bool) {
	day := w.date(t)
	// One day more than it lasts: the clock may be put forward or back by up to a day.
	for back := time.Duration(0); back <= w.lasts+48*time.Hour; back += 24 * time.Hour {
		if day := day.Add(-back); w.starts.holdsDay(day) {
			for i := len(w.minutes) - 1; i >= 0; i-- {
				if start := day.Add(time.Duration(w.minutes[i]) * time.Minute); !w.instant(start).After(t) {
					return start, true
				}
			}
		}
	}
	return wall{}, false
}

// next is the first start after t.
func (w Window) next(t time.Time) time.Time {
	day := w.date(t)
	for range 8*366 + 2 { // some day is like this, ParseCron has seen to it
		if w.starts.holdsDay(day) {
			for _, m := range w.minutes {
				if at := w.instant(day.Add(time.Duration(m) * time.Minute)); at.After(t) {
					return at
				}
			}
		}
		day = day.AddDate(0, 0, 1)
	}
	return time.Time{}
}

// end is when a window that opened at start ends.
func (w Window) end(start wall) time.Time { return w.instant(start.Add(w.lasts)) }

// instant is the first one at which the wall shows a time; of a time that the clock
// jumps over, the instant of the jump.
func (w Window) instant(at wall) time.Time {
	// The zone's offset a day before and a day after: a clock is not changed twice in two days.
	_, before := at.Add(-24 * time.Hour).In(w.zone).Zone()
	_, after := at.Add(24 * time.Hour).In(w.zone).Zone()
	early, late := at.Add(-time.Duration(before)*time.Second), at.Add(-time.Duration(after)*time.Second)
	if late.Before(early) {
		early, late = late, early
	}
	for _, t := range []time.Time{early, late} {
		if _, offset := t.In(w.zone).Zone(); t.Add(time.Duration(offset) * time.Second).Equal(at) {
			return t.UTC()
		}
	}
	jump, _ := late.In(w.zone).ZoneBounds()
	return jump.UTC()
}
