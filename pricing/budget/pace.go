package budget

import (
	"time"

	"github.com/goodfleet/goodfleet/pricing"
)

// Pace is how fast the amount of a short period may be burnt so that what runs goes on
// from period to period. A cap stops what it covers while as much is left as goes on
// until all has stopped, so a burn b of what could come to cost m·b meanwhile lasts iff
//
//	b·T + m·b·l ≤ left,
//
// T until the period ends, l until all has stopped; and from period to period iff the
// same holds of a whole one. The price of a total (Price) answers in hours: within an
// hour it cannot hold the burn down, and a fleet that is bought for what a stop needs
// alone boots, is stopped, and stands still for the rest of each hour.
type Pace struct {
	Amount pricing.Money // of a period
	Left   pricing.Money // of this one
	Length time.Duration // of a period, positive
	Ends   time.Duration // until this one ends, in [0, Length]
	Lasts  time.Duration // until all could be stopped
	Dearer float64       // m of what runs now, or of what could: at least 1
	Idle   bool          // nothing runs
}

// Burn is what may burn at once, of machines whose rate counts Counts. While nothing
// runs, all that is left may: what is too large to go on from period to period runs for
// a part of each.
func (p Pace) Burn() pricing.Rate {
	if p.Left <= 0 {
		return 0
	}
	length, lasts := p.Length.Hours(), p.Lasts.Hours()
	tail := max(p.Dearer, 1) * lasts
	burn := p.Left.Dollars() * (length + tail) / ((length + lasts) * (p.Ends.Hours() + tail + tiniestSpan))
	if steady := p.Amount.Dollars() / (length + lasts); !p.Idle {
		burn = min(burn, steady)
	}
	return pricing.RateOf(burn)
}

// tiniestSpan keeps a quotient finite as a period ends, in hours.
const tiniestSpan = 1e-6

// Counts is what a dollar of the rate of a machine counts that could come to cost dearer
// times as much until it is stopped; 1 for one whose rate is fixed.
func (p Pace) Counts(dearer float64) float64 {
	length, lasts := p.Length.Hours(), p.Lasts.Hours()
	return (length + max(dearer, 1)*lasts) / (length + lasts)
}

// Grows is how long it takes until Burn has grown by a part while nothing runs; ok is
// false where the period ends before.
func (p Pace) Grows(part float64) (time.Duration, bool) {
	tail := time.Duration(max(p.Dearer, 1) * float64(p.Lasts))
	then := time.Duration(float64(p.Ends+tail)/(1+part)) - tail
	return p.Ends - then, then > 0
}
