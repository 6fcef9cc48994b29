package pricing

import (
	"math/bits"
	"time"
)

// Accrued is what of an amount that is spread evenly over [from, to) has come up by an
// instant, rounded towards nothing to the nano dollar. What has no length comes all at its
// instant: it is there after it.
func (m Money) Accrued(from, to, at time.Time) Money {
	switch {
	case !at.After(from):
		return 0
	case !at.Before(to):
		return m
	case m < 0:
		return -(-m).Accrued(from, to, at)
	}
	hi, lo := bits.Mul64(uint64(m), uint64(at.Sub(from)))
	quotient, _ := bits.Div64(hi, lo, uint64(to.Sub(from))) // at lies before to: it fits
	return Money(quotient)
}

// Between is the part of an amount spread over [from, to) that falls into [begin, end); a
// zero border is open. Parts of adjacent stretches sum to the amount, to the nano dollar.
func (m Money) Between(from, to, begin, end time.Time) Money {
	before, upTo := Money(0), m
	if !begin.IsZero() {
		before = m.Accrued(from, to, begin)
	}
	if !end.IsZero() {
		upTo = m.Accrued(from, to, end)
	}
	return upTo - before
}
