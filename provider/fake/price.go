package fake

import (
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/goodfleet/goodfleet/provider"
)

// PriceChange is a change of an offering's price that a scenario tells of. The
// cloud itself knows no prices: whoever keeps the history beside it applies them.
// Exactly one of PerHour, Times and Unknown is set.
type PriceChange struct {
	At       time.Time
	Offering provider.Offering
	PerHour  string  // US dollars per hour, in decimal digits
	Times    float64 // the new price as a multiple of the one before
	Unknown  bool    // from here on there is no quote
}

// pricing is a statement about prices.
type pricing struct {
	of     pattern
	change PriceChange
}

// readPrice reads "OFFERING RATE", "OFFERING times FACTOR" or "OFFERING unknown".
func readPrice(l *line) (deed, pattern) {
	d := &pricing{of: l.pattern()}
	switch {
	case l.has("unknown"):
		d.change.Unknown = true
	case l.has("times"):
		w := l.word("the factor")
		f, err := strconv.ParseFloat(w, 64)
		if err != nil || !(f > 0) || math.IsInf(f, 0) {
			l.fail("factor %q: want a positive number", w)
		}
		d.change.Times = f
	default:
		w := l.word("the price")
		if !decimal(w) {
			l.fail("price %q: want US dollars per hour, as in 1.25", w)
		}
		d.change.PerHour = w
	}
	return d, d.of
}

// decimal reports whether s is a number in plain digits, of a length that a price has.
func decimal(s string) bool {
	digits, dots := 0, 0
	for _, r := range s {
		switch {
		case r >= '0' && r <= '9':
			digits++
		case r == '.':
			dots++
		default:
			return false
		}
	}
	return digits > 0 && digits <= 15 && dots <= 1
}

func (d *pricing) fits(c *Cloud) error {
	_, err := d.of.sold(c)
	return err
}

func (d *pricing) begin(c *Cloud, at time.Time) {
	sold, err := d.of.sold(c)
	if err != nil { // fits has looked
		return
	}
	for _, o := range sold {
		change := d.change
		change.At, change.Offering = at, o
		c.prices = append(c.prices, change)
	}
	slices.SortStableFunc(c.prices, func(a, b PriceChange) int { return a.At.Compare(b.At) })
	c.at(at, func(*Cloud) {}) // so that a caller who follows events looks at its prices
}

// PriceChanges lists the changes of prices that the scenario and the drawn faults
// tell of, past and to come, in time order.
func (c *Cloud) PriceChanges() []PriceChange {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.prices)
}
