package schedule

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Cron is a set of minutes on the wall: minute, hour, day of the month, month and day
// of the week, as crontab has them. If both days are given, either will do. The zero
// value holds no minute.
type Cron struct {
	text                             string
	minutes, hours, days, months, on uint64 // bit n: n is in the set; on: days of the week, Sunday is 0
	anyDay, anyWeekday               bool
}

// cronField is one of the five.
type cronField struct {
	name      string
	low, high int
	words     []string // names of low, low+1, ...; nil: numbers only
}

var cronFields = [5]cronField{
	{"minute", 0, 59, nil},
	{"hour", 0, 23, nil},
	{"day of the month", 1, 31, nil},
	{"month", 1, 12, []string{"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"}},
	{"day of the week", 0, 7, []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}},
}

// ParseCron reads five fields such as "30 1 * * mon-fri". A field is *, a number, a
// name, a range, or several with commas between; a step follows a range or * after a
// slash. Sunday is 0, 7 or sun.
func ParseCron(text string) (Cron, error) {
	refuse := func(format string, args ...any) (Cron, error) {
		return Cron{}, fmt.Errorf("%q is no schedule: %s", text, fmt.Sprintf(format, args...))
	}
	words := strings.Fields(text)
	if len(words) != len(cronFields) {
		return refuse("want five fields: minute, hour, day of the month, month, day of the week")
	}
	var sets [5]uint64
	for i, word := range words {
		set, err := cronFields[i].parse(word)
		if err != nil {
			return refuse("%s %q: %v", cronFields[i].name, word, err)
		}
		sets[i] = set
	}
	const sundays = 1<<0 | 1<<7
	if sets[4]&sundays != 0 {
		sets[4] |= sundays
	}
	c := Cron{
		text:    strings.Join(words, " "),
		minutes: sets[0], hours: sets[1], days: sets[2], months: sets[3], on: sets[4],
		anyDay: words[2] == "*", anyWeekday: words[4] == "*",
	}
	// The longest that a day can be away: 29 February over a year of a century.
	day := time.Date(2096, 2, 29, 0, 0, 0, 0, time.UTC)
	for range 8*366 + 1 {
		if c.holdsDay(day) {
			return c, nil
		}
		day = day.AddDate(0, 0, 1)
	}
	return refuse("no day is ever like this")
}

// parse reads one field as a set.
func (f cronField) parse(word string) (set uint64, err error) {
	for part := range strings.SplitSeq(word, ",") {
		span, stepText, stepped := strings.Cut(part, "/")
		step := 1
		if stepped {
			if step, err = strconv.Atoi(stepText); err != nil || step < 1 || step > f.high {
				return 0, fmt.Errorf("step %q: want a number from 1 to %d", stepText, f.high)
			}
		}
		low, high := f.low, f.high
		if f.high == 7 {
			high = 6 // * is each day once
		}
		if span != "*" {
			from, to, ranged := strings.Cut(span, "-")
			if low, err = f.number(from); err != nil {
				return 0, err
			}
			high = low
			if ranged {
				if high, err = f.number(to); err != nil {
					return 0, err
				}
			}
			if stepped && !ranged {
				return 0, fmt.Errorf("%q: a step needs a range or *", part)
			}
			if high < low {
				return 0, fmt.Errorf("%q: the range is backwards", span)
			}
		}
		for n := low; n <= high; n += step {
			set |= 1 << n
		}
	}
	return set, nil
}

func (f cronField) number(text string) (int, error) {
	if i := slices.Index(f.words, strings.ToLower(text)); i >= 0 {
		return f.low + i, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < f.low || n > f.high || text[0] == '+' || text[0] == '-' {
		want := fmt.Sprintf("a number from %d to %d", f.low, f.high)
		if f.words != nil {
			want += " or a name such as " + f.words[1]
		}
		return 0, fmt.Errorf("%q: want %s", text, want)
	}
	return n, nil
}

// String is the schedule as it was written.
func (c Cron) String() string { return c.text }

// holdsDay reports whether the date of t, as t has it, is a day of the schedule.
func (c Cron) holdsDay(t time.Time) bool {
	if c.months>>int(t.Month())&1 == 0 {
		return false
	}
	day, weekday := c.days>>t.Day()&1 == 1, c.on>>int(t.Weekday())&1 == 1
	if c.anyDay || c.anyWeekday {
		return day && weekday
	}
	return day || weekday
}

// minutesOfDay lists the minutes of the day at which the schedule holds, ascending, as minutes
// since midnight on the wall.
func (c Cron) minutesOfDay() []int {
	var list []int
	for h := range 24 {
		if c.hours>>h&1 == 0 {
			continue
		}
		for m := range 60 {
			if c.minutes>>m&1 == 1 {
				list = append(list, 60*h+m)
			}
		}
	}
	return list
}
