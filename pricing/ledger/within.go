package ledger

import (
	"time"

	"github.com/goodfleet/goodfleet/pricing"
)

// Within is the part of the charge that falls into [begin, end); a zero border is open. Its
// money is spread evenly over its time, so that the parts of adjacent stretches sum to the
// charge, to the nano dollar; what is paid ahead falls whole to the instant at which it is
// billed, for the hours bear it. ok is false when nothing of it falls there.
func (c *Charge) Within(begin, end time.Time) (part Charge, ok bool) {
	part = *c
	inside := (begin.IsZero() || !c.From.Before(begin)) && (end.IsZero() || c.From.Before(end))
	if c.Kind == Purchase || !c.From.Before(c.To) || inside && (end.IsZero() || !c.To.After(end)) {
		return part, inside
	}
	if !begin.IsZero() && begin.After(part.From) {
		part.From = begin.UTC()
	}
	if !end.IsZero() && end.Before(part.To) {
		part.To = end.UTC()
	}
	if !part.From.Before(part.To) {
		return Charge{}, false
	}
	part.Amount = c.Amount.Between(c.From, c.To, begin, end)
	if c.Item == Traffic { // what was moved, at its own pace
		part.Quantity = int64(pricing.Money(c.Quantity).Between(c.From, c.To, begin, end))
	}
	return part, true
}

// days calls visit with the part of the charge that falls into each day of a calendar, in
// order; nearly always that is one, with the charge itself.
func (k *calendar) days(c *Charge, visit func(part *Charge)) {
	if c.Kind == Purchase || !c.From.Before(c.To) || k.day(c.From) == k.day(c.To.Add(-1)) {
		visit(c)
		return
	}
	for from := c.From; from.Before(c.To); {
		day, end := k.day(from), quarter(from)
		for end.Before(c.To) && k.day(end) == day {
			end = end.Add(quarterHour)
		}
		if part, ok := c.Within(from, end); ok {
			visit(&part)
		}
		from = end
	}
}

// quarterHour is the finest step of any zone.
const quarterHour = 15 * time.Minute

// quarter is the end of the quarter hour that an instant lies in.
func quarter(at time.Time) time.Time {
	return time.Unix(at.Unix()/900*900, 0).UTC().Add(quarterHour)
}
