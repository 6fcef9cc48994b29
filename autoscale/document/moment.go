package document

import (
	"fmt"
	"time"

	"github.com/goodfleet/goodfleet/pricing/budget"
)

// Moment is an instant in a document, "2026-12-24T18:00:00Z", or a day of the calendar,
// "2026-12-24", which begins when it begins in the zone beside it.
type Moment struct {
	at  time.Time // of a day: its midnight in UTC
	day bool
}

// ParseMoment reads what Moment writes.
func ParseMoment(text string) (Moment, error) {
	if at, err := time.Parse(time.DateOnly, text); err == nil {
		if y := at.Year(); y < 1970 || y > 2200 {
			return Moment{}, fmt.Errorf("%q: want a year from 1970 to 2200", text)
		}
		return Moment{at, true}, nil
	}
	if _, err := time.Parse(time.RFC3339, text); err != nil {
		return Moment{}, fmt.Errorf(`%q is no day and no time: want "2026-12-24", or RFC 3339, as in "2026-12-24T18:00:00Z"`, text)
	}
	if err := checkTime(text); err != nil {
		return Moment{}, err
	}
	at, err := time.Parse(time.RFC3339, text)
	return Moment{at, false}, err
}

// In is the instant; of a day the first one of it in a zone, nil: UTC.
func (m Moment) In(zone *time.Location) time.Time {
	if !m.day {
		return m.at
	}
	if zone == nil {
		zone = time.UTC
	}
	y, month, d := m.at.Date()
	return budget.StartOfDay(y, month, d, zone)
}

// IsZero reports whether it was left out.
func (m Moment) IsZero() bool { return m.at.IsZero() }

// Equal reports whether both are the same day, or the same instant.
func (m Moment) Equal(other Moment) bool { return m.day == other.day && m.at.Equal(other.at) }

// MarshalText writes a moment as ParseMoment reads it.
func (m Moment) MarshalText() ([]byte, error) {
	if m.day {
		return []byte(m.at.Format(time.DateOnly)), nil
	}
	return m.at.MarshalText()
}

// UnmarshalText reads it.
func (m *Moment) UnmarshalText(text []byte) error {
	parsed, err := ParseMoment(string(text))
	*m = parsed
	return err
}
