package budget

import (
	"fmt"
	"time"

	"github.com/goodfleet/goodfleet/pricing"
)

// Period is a stretch of time over which a total counts.
type Period uint8

const (
	Day    Period = iota + 1 // of the calendar of a zone: of 23 to 25 hours
	Month                    // of the calendar of a zone
	Hour                     // of the clock
	Week                     // of the calendar of a zone, from Monday on
	Dated                    // from one instant to another
	Always                   // it does not end
)

var periodNames = [...]string{Day: "day", Month: "month", Hour: "hour", Week: "week", Dated: "window", Always: "total"}

// String is the period's word.
func (p Period) String() string {
	if p < Day || p > Always {
		return fmt.Sprintf("period(%d)", uint8(p))
	}
	return periodNames[p]
}

// Endless reports whether a total of this period is over all time: its Span then has no
// start and no end that people know.
func (p Period) Endless() bool { return p == Always }

// ParsePeriod reads the word that String writes.
func ParsePeriod(text string) (Period, error) {
	for p := Day; p <= Always; p++ {
		if periodNames[p] == text {
			return p, nil
		}
	}
	return 0, fmt.Errorf("%q is no period: want hour, day, week, month, window or total", text)
}

// Total is a cap on what is spent in each period.
type Total struct {
	Name   string
	Amount pricing.Money
	Period Period
	Zone   *time.Location // whose midnight begins a period; nil: UTC

	From, Until time.Time // of a Dated one

	Team string           // whose jobs count; "": the whole fleet
	Over func(Facts) bool // what counts beside; nil: everything

	// Unpriced lets rates count as they are until all is spent, see Price. The money
	// then goes to those who come first.
	Unpriced bool
}

// Validate reports the first thing that is wrong.
func (t Total) Validate() error {
	switch {
	case t.Name == "":
		return fmt.Errorf("budget total: it has no name")
	case t.Amount <= 0:
		return fmt.Errorf("budget %s: %s USD: want more than 0", t.Name, t.Amount)
	case t.Period < Day || t.Period > Always:
		return fmt.Errorf("budget %s: %s: want a day or a month", t.Name, t.Period)
	case t.Period == Dated && !t.From.Before(t.Until):
		return fmt.Errorf("budget %s: its window ends before it begins", t.Name)
	}
	return nil
}

// Covers reports whether a part of a machine counts.
func (t *Total) Covers(f Facts) bool {
	return (t.Team == "" || f.Team == t.Team) && (t.Over == nil || t.Over(f))
}

// Whole reports whether all that is held counts, idle machines too.
func (t *Total) Whole() bool { return t.Team == "" && t.Over == nil }

// The first and the last instant of what does not begin or end: far enough for a
// fleet, and near enough for the arithmetic of durations.
var (
	beginning = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	end       = time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC)
)

// Span is the period that holds an instant: from, included, until, excluded. Of a
// Dated total it is its window, whatever the instant.
func (t Total) Span(at time.Time) (from, until time.Time) {
	zone := t.Zone
	if zone == nil {
		zone = time.UTC
	}
	y, m, d := at.In(zone).Date()
	midnight := func(month time.Month, day int) time.Time {
		return StartOfDay(y, month, day, zone)
	}
	switch t.Period {
	case Hour:
		from = at.UTC().Truncate(time.Hour)
		return from, from.Add(time.Hour)
	case Week:
		back := (int(at.In(zone).Weekday()) + 6) % 7 // since Monday
		return midnight(m, d-back), midnight(m, d-back+7)
	case Month:
		return midnight(m, 1), midnight(m+1, 1)
	case Dated:
		return t.From.UTC(), t.Until.UTC()
	case Always:
		return beginning, end
	}
	return midnight(m, d), midnight(m, d+1)
}

// StartOfDay is the first instant of a day of a zone; days and months that are out of their
// range count on, as in time.Date. Where clocks leave out midnight it is the instant at
// which they do: time.Date may name one of the day before.
func StartOfDay(y int, m time.Month, d int, zone *time.Location) time.Time {
	at := time.Date(y, m, d, 0, 0, 0, 0, zone)
	noon := time.Date(y, m, d, 12, 0, 0, 0, zone)
	if at.Day() == noon.Day() {
		return at.UTC()
	}
	_, next := at.ZoneBounds()
	return next.UTC()
}
