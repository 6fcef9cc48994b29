package budget

import (
	"math"
	"time"

	"github.com/goodfleet/goodfleet/pricing"
)

// Forecast is what will have been spent at the end of a period.
type Forecast struct {
	P50, P90 pricing.Money
	Known    bool // there was enough to look back on
}

const (
	lookBack  = 28 // slots that a forecast looks back on
	fewest    = 3  // fewer say nothing of the spread
	quantile9 = 1.2815515655446004
)

// Slot is the time that a forecast of a period reckons in: it looks back on 28 of them.
func (p Period) Slot() time.Duration {
	switch p {
	case Hour:
		return 5 * time.Minute
	case Day:
		return time.Hour
	case Week:
		return 6 * time.Hour
	}
	return 24 * time.Hour
}

// Tally is what was spent by slots of time. The zero value knows of nothing.
type Tally struct {
	slot  time.Duration
	first int64
	sums  map[int64]pricing.Money
}

// NewTally counts in the slots of a period.
func NewTally(p Period) *Tally { return &Tally{slot: p.Slot(), sums: map[int64]pricing.Money{}} }

// Since is from when on charges are needed for a forecast at an instant.
func (t *Tally) Since(now time.Time) time.Time { return now.Add(-(lookBack + 1) * t.slot) }

// Add counts what was spent over a stretch of time, to each slot its part.
func (t *Tally) Add(from, to time.Time, amount pricing.Money) {
	k := from.UnixNano() / int64(t.slot)
	if len(t.sums) == 0 || k < t.first {
		t.first = k
	}
	for before := pricing.Money(0); ; k++ {
		end := time.Unix(0, (k+1)*int64(t.slot))
		upTo := amount.Accrued(from, to, end)
		t.sums[k] += upTo - before
		if before = upTo; !end.Before(to) {
			return
		}
	}
}

// Forecast is what will have been spent at the end of a period of which spent is spent
// at now: for the time left the mean of up to 28 whole slots before, by their length;
// P90 adds 1.28 standard deviations of a slot times the root of the slots left, as if
// slots were independent. The slot in which spending began is not whole. It knows of
// no queue and of no plan.
func (t *Tally) Forecast(spent pricing.Money, now, until time.Time) Forecast {
	last := now.UnixNano() / int64(t.slot)
	from := max(last-lookBack, t.first+1)
	n := float64(last - from)
	if len(t.sums) == 0 || last-from < fewest {
		return Forecast{}
	}
	sum, squares := 0.0, 0.0
	for k := from; k < last; k++ {
		v := t.sums[k].Dollars()
		sum += v
		squares += v * v
	}
	mean := sum / n
	deviation := math.Sqrt(max(0, squares/n-mean*mean) * n / (n - 1))
	left := max(0, until.Sub(now).Hours()/t.slot.Hours())
	dollars := func(v float64) pricing.Money { return pricing.Money(min(v*1e9, math.MaxInt64/4)) }
	f := Forecast{Known: true, P50: spent + dollars(mean*left)}
	f.P90 = f.P50 + dollars(quantile9*deviation*math.Sqrt(left))
	return f
}
