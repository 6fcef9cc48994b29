package schedule

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func window(t testing.TB, cron string, lasts time.Duration, zone string) Window {
	t.Helper()
	c, err := ParseCron(cron)
	if err != nil {
		t.Fatal(err)
	}
	w, err := NewWindow(c, lasts, zone)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func instant(t testing.TB, text string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return at.UTC()
}

func TestSchedulesThatCannotBeRead(t *testing.T) {
	for text, want := range map[string]string{
		"":                 "want five fields",
		"* * *":            "want five fields",
		"0 0 1 * * *":      "want five fields",
		"@daily":           "want five fields",
		"60 * * * *":       `minute "60": "60": want a number from 0 to 59`,
		"* 24 * * *":       `hour "24"`,
		"* * 0 * *":        `day of the month "0"`,
		"* * * 13 *":       `month "13": "13": want a number from 1 to 12 or a name such as feb`,
		"* * * * 8":        `day of the week "8"`,
		"* * * * monday":   "or a name such as mon",
		"*/0 * * * *":      `step "0": want a number from 1 to 59`,
		"5/10 * * * *":     "a step needs a range or *",
		"30-10 * * * *":    "the range is backwards",
		"-1 * * * *":       "want a number from 0 to 59",
		"+1 * * * *":       "want a number from 0 to 59",
		"1,,2 * * * *":     `"": want a number`,
		"0 1 30 2 *":       "no day is ever like this",
		"0 1 31 4,6,9 *":   "no day is ever like this",
		"0 1 L * *":        `day of the month "L"`,
		"0 1 * * nil":      `day of the week "nil"`,
		"0 1 * * fri-mon":  "the range is backwards",
		"0 1 * * mon-fri/": `step "": want a number`,
	} {
		if _, err := ParseCron(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func TestWindowsThatMakeNoSenseAreRefused(t *testing.T) {
	c, err := ParseCron("0 1 * * *")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		cron  Cron
		lasts time.Duration
		zone  string
		want  string
	}{
		{Cron{}, time.Hour, "", "no schedule"},
		{c, 0, "", "whole minutes"},
		{c, 90 * time.Second, "", "whole minutes"},
		{c, 8 * 24 * time.Hour, "", "up to 168h"},
		{c, time.Hour, "Local", "the same on every machine"},
		{c, time.Hour, "CEST", "such as Europe/Berlin"},
		{c, time.Hour, "Europe/Atlantis", "such as Europe/Berlin"},
	} {
		if _, err := NewWindow(tt.cron, tt.lasts, tt.zone); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v for %v in %q: %v, want %q", tt.cron, tt.lasts, tt.zone, err, tt.want)
		}
	}
}

// TestOpeningsOverTheClockChange lists when windows open and end in Berlin, where the
// clock went from 03:00 back to 02:00 on 25 October 2026 and goes from 02:00 to 03:00
// on 28 March 2027.
func TestOpeningsOverTheClockChange(t *testing.T) {
	for _, tt := range []struct {
		name  string
		cron  string
		lasts time.Duration
		from  string
		want  []string // opens, ends, opens, ends
	}{
		{"Monday before and after it is put back", "0 1 * * 1", 4 * time.Hour, "2026-10-19T12:00:00+02:00",
			[]string{"2026-10-26T00:00:00Z", "2026-10-26T04:00:00Z", "2026-11-02T00:00:00Z", "2026-11-02T04:00:00Z"}},
		{"the night it is put back lasts five hours", "0 1 * * sun", 4 * time.Hour, "2026-10-18T12:00:00+02:00",
			[]string{"2026-10-24T23:00:00Z", "2026-10-25T04:00:00Z", "2026-11-01T00:00:00Z", "2026-11-01T04:00:00Z"}},
		{"an hour that is there twice opens once", "30 2 25 10 *", 30 * time.Minute, "2026-10-24T12:00:00+02:00",
			[]string{"2026-10-25T00:30:00Z", "2026-10-25T02:00:00Z", "2027-10-25T00:30:00Z", "2027-10-25T01:00:00Z"}},
		{"the night it is put forward lasts three hours", "0 1 * * 0", 4 * time.Hour, "2027-03-27T12:00:00+01:00",
			[]string{"2027-03-28T00:00:00Z", "2027-03-28T03:00:00Z", "2027-04-03T23:00:00Z", "2027-04-04T03:00:00Z"}},
		{"a time that is jumped over is the jump", "30 2 28 3 *", time.Hour, "2027-03-27T12:00:00+01:00",
			[]string{"2027-03-28T01:00:00Z", "2027-03-28T01:30:00Z", "2028-03-28T00:30:00Z", "2028-03-28T01:30:00Z"}},
		{"either day will do", "0 0 13 * fri", time.Hour, "2026-11-01T00:00:00+01:00",
			[]string{"2026-11-05T23:00:00Z", "2026-11-06T00:00:00Z", "2026-11-12T23:00:00Z", "2026-11-13T00:00:00Z"}},
		{"leap days", "0 0 29 2 *", 24 * time.Hour, "2026-11-01T00:00:00+01:00",
			[]string{"2028-02-28T23:00:00Z", "2028-02-29T23:00:00Z", "2032-02-28T23:00:00Z", "2032-02-29T23:00:00Z"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := window(t, tt.cron, tt.lasts, "Europe/Berlin")
			at := instant(t, tt.from)
			for i, want := range tt.want {
				open, next := w.At(at)
				if open != (i%2 == 1) || !next.Equal(instant(t, want)) {
					t.Fatalf("at %s: open %v, next %s, want %v and %s", at, open, next, i%2 == 1, want)
				}
				at = next
			}
		})
	}
}

// TestAtMatchesTheMinutes holds At against a walk over every minute: a window is open
// when the wall has shown a minute of the schedule within as many minutes as it lasts.
// Days of the change are tested above, by hand: here zones have no change.
func TestAtMatchesTheMinutes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		minute := rapid.SampledFrom([]string{"*", "0", "*/20", "5-50/15", "59,3"}).Draw(t, "minute")
		hour := rapid.SampledFrom([]string{"*", "0", "23", "*/7", "8-18", "1,2,22"}).Draw(t, "hour")
		day := rapid.SampledFrom([]string{"*", "1", "*/5", "10-12"}).Draw(t, "day")
		month := rapid.SampledFrom([]string{"*", "nov", "11-12"}).Draw(t, "month")
		weekday := rapid.SampledFrom([]string{"*", "mon-fri", "7", "6,0"}).Draw(t, "weekday")
		lasts := time.Duration(rapid.IntRange(1, 3000).Draw(t, "minutes")) * time.Minute
		zone := rapid.SampledFrom([]string{"", "Asia/Kolkata", "Etc/GMT+9"}).Draw(t, "zone")
		c, err := ParseCron(strings.Join([]string{minute, hour, day, month, weekday}, " "))
		if err != nil {
			t.Fatal(err)
		}
		w, err := NewWindow(c, lasts, zone)
		if err != nil {
			t.Fatal(err)
		}
		holds := func(at time.Time) bool {
			at = at.In(w.zone)
			return c.holdsDay(at) && slices.Contains(w.minutes, 60*at.Hour()+at.Minute())
		}
		at := time.Date(2026, 11, 1, 0, rapid.IntRange(0, 40000).Draw(t, "at"), 0, 0, time.UTC)
		want := false
		for back := time.Duration(0); back < lasts && !want; back += time.Minute {
			want = holds(at.Add(-back))
		}
		open, next := w.At(at)
		if open != want {
			t.Fatalf("%s at %s: open %v, want %v", w, at, open, want)
		}
		if !next.After(at) {
			t.Fatalf("%s at %s: next is %s", w, at, next)
		}
		if !open && (!holds(next) || next.Sub(at) < 100*time.Hour && slices.ContainsFunc(minutesBetween(at, next), holds)) {
			t.Fatalf("%s at %s: closed until %s, which is not the next start", w, at, next)
		}
	})
}

func minutesBetween(from, to time.Time) []time.Time {
	var list []time.Time
	for at := from; at.Before(to); at = at.Add(time.Minute) {
		list = append(list, at)
	}
	return list
}

func TestSundayHasThreeNames(t *testing.T) {
	at := time.Date(2026, 11, 1, 5, 0, 0, 0, time.UTC) // a Sunday
	for _, day := range []string{"0", "7", "sun", "SUN", "5-7", "0-1"} {
		if open, _ := window(t, "0 5 * * "+day, time.Hour, "").At(at); !open {
			t.Errorf("%s: closed on a Sunday", day)
		}
	}
	if open, _ := window(t, "0 5 * * */2", time.Hour, "").At(at.AddDate(0, 0, 1)); open {
		t.Error("*/2: open on a Monday")
	}
}
