package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // zones of machines that have no database of them

	"github.com/spf13/cobra"

	"github.com/goodfleet/goodfleet/pricing/budget"
)

// spanFlags are a window of time as it is asked for.
type spanFlags struct {
	from, to, zone, now string
}

func (f *spanFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.from, "from", "", "first day or instant; or a span by its name: today, yesterday, 7d (whole days before today), this-month, last-month")
	cmd.Flags().StringVar(&f.to, "to", "", "day or instant that is no longer in it")
	cmd.Flags().StringVar(&f.zone, "zone", "UTC", "time zone of days and months, such as Europe/Berlin")
	cmd.Flags().StringVar(&f.now, "now", "", "instant that spans by name are counted from (default now)")
}

// span is a window: from is in it, to is not; zero: open.
type span struct {
	from, to, now time.Time
	zone          *time.Location
}

// read reads a window. Days begin at midnight of the zone, so that they have 23 or
// 25 hours where clocks change.
func (f spanFlags) read(now time.Time) (span, error) {
	s := span{now: now}
	var err error
	if s.zone, err = readZone(f.zone); err != nil {
		return s, err
	}
	if f.now != "" {
		if s.now, err = s.instant("now", f.now); err != nil {
			return s, err
		}
	}
	if from, to, ok := s.named(f.from); ok {
		if f.to != "" {
			return s, fmt.Errorf("--from %s is a span with its own end: leave out --to", f.from)
		}
		s.from, s.to = from, to
		return s, nil
	}
	if f.from != "" {
		if s.from, err = s.instant("from", f.from); err != nil {
			return s, err
		}
	}
	if f.to != "" {
		if s.to, err = s.instant("to", f.to); err != nil {
			return s, err
		}
	}
	if !s.from.IsZero() && !s.to.IsZero() && !s.from.Before(s.to) {
		return s, fmt.Errorf("--from %s is not before --to %s", f.from, f.to)
	}
	return s, nil
}

// named are the spans that have names.
func (s span) named(word string) (from, to time.Time, ok bool) {
	now := s.now.In(s.zone)
	day := func(back int) time.Time {
		return budget.StartOfDay(now.Year(), now.Month(), now.Day()-back, s.zone).In(s.zone)
	}
	month := func(back int) time.Time {
		return budget.StartOfDay(now.Year(), now.Month()-time.Month(back), 1, s.zone).In(s.zone)
	}
	switch word {
	case "today":
		return day(0), now, true
	case "yesterday":
		return day(1), day(0), true
	case "this-month":
		return month(0), now, true
	case "last-month":
		return month(1), month(0), true
	}
	if number, found := strings.CutSuffix(word, "d"); found {
		if n, err := strconv.Atoi(number); err == nil && n > 0 && n <= 3660 {
			return day(n), day(0), true
		}
	}
	return from, to, false
}

// instant reads a day of the zone, or an instant.
func (s span) instant(flag, text string) (time.Time, error) {
	if at, err := time.Parse(time.DateOnly, text); err == nil {
		return budget.StartOfDay(at.Year(), at.Month(), at.Day(), s.zone).In(s.zone), nil
	}
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return at, nil
	}
	return time.Time{}, fmt.Errorf(`--%s %q: want a day, a time, or a span such as 7d or last-month, as in "2023-06-05" or "2023-06-05T12:00:00Z"`, flag, text)
}

// readZone reads the IANA name of a zone. Abbreviations are refused: EST is a fixed
// offset, and New York's clocks move.
func readZone(name string) (*time.Location, error) {
	zone, err := time.LoadLocation(name)
	if name == "UTC" {
		return time.UTC, nil
	}
	if err != nil || !strings.Contains(name, "/") || strings.HasPrefix(name, "Etc/") {
		return nil, fmt.Errorf(`--zone %q: want UTC or a place of the IANA database, as in "America/New_York"`, name)
	}
	return zone, nil
}
