package budget

import (
	"fmt"
	"time"

	"github.com/goodfleet/goodfleet/pricing"
)

// Period is a stretch of the calendar over which a total counts.
type Period uint8

const (
	Day Period = iota + 1
	Month
)

// String is the period's word.
func (p Period) String() string {
	switch p {
	case Day:
		return "day"
	case Month:
		return "month"
	}
	return fmt.Sprintf("period(%d)", uint8(p))
}

// Total is a cap on what is spent in each period.
type Total struct {
	Name   string
	Amount pricing.Money
	Period Period
	Zone   *time.Location // whose midnight begins a period; nil: UTC
	Team   string         // whose jobs count; "": the whole fleet

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
	case t.Period != Day && t.Period != Month:
		return fmt.Errorf("budget %s: %s: want a day or a month", t.Name, t.Period)
	}
	return nil
}

// Span is the period that holds an instant: from, included, until, excluded.
func (t Total) Span(at time.Time) (from, until time.Time) {
	zone := t.Zone
	if zone == nil {
		zone = time.UTC
	}
	y, m, d := at.In(zone).Date()
	if t.Period == Month {
		return time.Date(y, m, 1, 0, 0, 0, 0, zone).UTC(), time.Date(y, m+1, 1, 0, 0, 0, 0, zone).UTC()
	}
	return time.Date(y, m, d, 0, 0, 0, 0, zone).UTC(), time.Date(y, m, d+1, 0, 0, 0, 0, zone).UTC()
}
