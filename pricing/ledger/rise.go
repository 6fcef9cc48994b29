package ledger

import (
	"time"

	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/provider"
)

// riseNote says on its lines why a rise is moved.
const riseNote = "the spot rate rose within its hour"

// risen follows charges of a run with the pairs of lines that move to Overrun what a
// spot rate adds that rose within an instance-hour: nobody could decide on it before
// the hour began. What is moved belongs to the charge, so that a charge that is taken
// back, or moved, takes its rise with it. The pairs sum to zero and hold no time; the
// job and the team stay on both lines. Where the rate is fixed for the hour nothing
// rises in it.
func (m *Meter) risen(r *run, charges []Charge) []Charge {
	if r.offering.Market != provider.Spot || r.rule.Fixed || r.held != nil || r.capacity != nil {
		return charges
	}
	var pairs []Charge
	for i := range charges {
		c := &charges[i]
		if c.Account == Overrun || !c.Known {
			continue
		}
		if rise := m.riseOf(r, c); rise != 0 {
			pairs = append(pairs, risePair(c, rise)...)
		}
	}
	return append(charges, pairs...)
}

// riseOf is the part of a charge above the rate at the start of its instance-hour,
// with the sign of the charge, rounded to zero. There is none when that rate is not known.
func (m *Meter) riseOf(r *run, c *Charge) pricing.Money {
	hour := c.From.Sub(r.started).Truncate(time.Hour)
	if r.started.Add(hour).Equal(c.From) {
		return 0
	}
	first, ok := m.prices.RateAt(r.offering, r.started.Add(hour))
	if !ok {
		return 0
	}
	base := m.rules.negotiated(r.offering, first)
	if base < 0 || c.Rate <= base {
		return 0
	}
	above, whole := pricing.Money(c.Rate-base), pricing.Money(c.Rate)
	if c.Amount < 0 {
		return -portion(-c.Amount, above, whole)
	}
	return portion(c.Amount, above, whole)
}

// risePair takes a rise from the account of a charge and gives it to Overrun.
func risePair(c *Charge, rise pricing.Money) []Charge {
	out := *c
	out.Kind, out.Share, out.Amount, out.ID, out.Note = Rise, 0, -rise, c.ID+"/rise"+transferOut, riseNote
	in := out
	in.Account, in.Amount, in.ID = Overrun, rise, c.ID+"/rise"+transferIn
	return []Charge{out, in}
}
