package budget

import (
	"strings"
	"testing"
	"time"

	"github.com/goodfleet/goodfleet/pricing"
)

func TestSpanIsOfTheCalendarInItsZone(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	cairo, err := time.LoadLocation("Africa/Cairo")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		period          Period
		zone            *time.Location
		at, from, until string
	}{
		{Day, nil, "2026-11-02T00:00:00Z", "2026-11-02T00:00:00Z", "2026-11-03T00:00:00Z"},
		{Day, nil, "2026-11-02T23:59:59Z", "2026-11-02T00:00:00Z", "2026-11-03T00:00:00Z"},
		{Day, berlin, "2026-10-25T12:00:00Z", "2026-10-24T22:00:00Z", "2026-10-25T23:00:00Z"}, // 25 hours
		{Day, berlin, "2027-03-28T12:00:00Z", "2027-03-27T23:00:00Z", "2027-03-28T22:00:00Z"}, // 23 hours
		{Hour, berlin, "2026-10-25T00:59:59Z", "2026-10-25T00:00:00Z", "2026-10-25T01:00:00Z"},
		{Week, berlin, "2026-10-25T22:59:59Z", "2026-10-18T22:00:00Z", "2026-10-25T23:00:00Z"}, // Sunday; 169 hours
		{Week, nil, "2026-11-02T00:00:00Z", "2026-11-02T00:00:00Z", "2026-11-09T00:00:00Z"},    // Monday
		{Day, cairo, "2026-04-24T12:00:00Z", "2026-04-23T22:00:00Z", "2026-04-24T21:00:00Z"},   // there is no midnight: clocks go on to one
		{Day, cairo, "2026-04-23T12:00:00Z", "2026-04-22T22:00:00Z", "2026-04-23T22:00:00Z"},
		{Month, nil, "2026-12-31T23:00:00Z", "2026-12-01T00:00:00Z", "2027-01-01T00:00:00Z"},
		{Month, berlin, "2026-12-31T23:00:00Z", "2026-12-31T23:00:00Z", "2027-01-31T23:00:00Z"},
	} {
		at, err := time.Parse(time.RFC3339, tt.at)
		if err != nil {
			t.Fatal(err)
		}
		from, until := Total{Period: tt.period, Zone: tt.zone}.Span(at)
		if from.Format(time.RFC3339) != tt.from || until.Format(time.RFC3339) != tt.until {
			t.Errorf("%s at %s: %s to %s, want %s to %s", tt.period, tt.at, from, until, tt.from, tt.until)
		}
	}
}

func TestTotalsThatMakeNoSenseAreRefused(t *testing.T) {
	for want, total := range map[string]Total{
		"no name":     {Amount: pricing.Dollar, Period: Day},
		"more than 0": {Name: "a", Period: Day},
		"want a day":  {Name: "a", Amount: pricing.Dollar},
	} {
		if err := total.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", total, err, want)
		}
	}
}

func TestOnlyTheTotalHasNoEnd(t *testing.T) {
	for p := Day; p <= Always; p++ {
		_, until := Total{Period: p, From: beginning, Until: beginning.AddDate(1, 0, 0)}.Span(beginning.AddDate(0, 6, 0))
		if got, want := p.Endless(), until.Equal(end); got != want {
			t.Errorf("%s: endless is %v, and it ends at %s", p, got, until)
		}
	}
}
