package ledger

import (
	"math/big"
	"slices"
	"time"

	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/provider"
)

// Row is what charges with the same key come to.
type Row struct {
	Key    []string      // one value for each dimension
	Amount pricing.Money // exact
	List   pricing.Money // what the same time costs on demand, where that rate is known
	Saving pricing.Money // list cost less amount of spot time whose both rates are known; may be negative

	Hours         float64 // accelerator-hours billed
	UnknownHours  float64 // of them, without a known rate: not in Amount
	UnlistedHours float64 // of them, without a known list rate: not in List, nor in Saving
	Charges       int     // lines summed
}

// LowerBound reports whether the amount lacks what has no known rate.
func (r Row) LowerBound() bool { return r.UnknownHours > 0 }

// ListLowerBound reports whether the list cost lacks what has no known list rate.
func (r Row) ListLowerBound() bool { return r.UnlistedHours > 0 }

// Totals are sums of charges by some dimensions.
type Totals struct {
	By   []Dimension
	Rows []Row // by key
	Sum  Row   // of the rows; its key is empty
}

// Total sums charges by dimensions; without any there is one row, or none when
// there are no charges. Amounts are exact. List costs are exact up to one rounding
// a row, so that they too do not depend on how time was cut into charges. The sum
// of every column is the sum of its rows.
//
// Each charge counts as often as it is given: a Ledger and a store hold it once.
func Total(charges []Charge, by ...Dimension) Totals {
	sums := map[string]*sum{}
	var key []byte
	for i := range charges {
		c := &charges[i]
		key = key[:0]
		for _, d := range by {
			key = append(d.append(key, c), 0)
		}
		s, ok := sums[string(key)]
		if !ok {
			s = &sum{key: make([]string, len(by))}
			for k, d := range by {
				s.key[k] = string(d.append(nil, c))
			}
			sums[string(key)] = s
		}
		s.add(c)
	}
	t := Totals{By: slices.Clone(by), Rows: make([]Row, 0, len(sums))}
	var hours, unknown, unlisted span
	for _, s := range sums {
		t.Rows = append(t.Rows, s.row())
		hours.join(s.time)
		unknown.join(s.unknown)
		unlisted.join(s.unlisted)
	}
	slices.SortFunc(t.Rows, func(a, b Row) int { return slices.Compare(a.Key, b.Key) })
	for _, r := range t.Rows {
		t.Sum.Amount += r.Amount
		t.Sum.List += r.List
		t.Sum.Saving += r.Saving
		t.Sum.Charges += r.Charges
	}
	t.Sum.Hours, t.Sum.UnknownHours, t.Sum.UnlistedHours = hours.hours(), unknown.hours(), unlisted.hours()
	return t
}

// sum collects the charges of one row.
type sum struct {
	key                     []string
	amount                  pricing.Money
	listed                  pricing.Money // list cost of time that was paid at the list rate
	list, saving            listCost
	spotPaid                pricing.Money // amount of what saving is the list cost of
	time, unknown, unlisted span
	charges                 int
}

func (s *sum) add(c *Charge) {
	s.charges++
	s.amount += c.Amount
	held := c.Time()
	s.time.add(held)
	if !c.Known {
		s.unknown.add(held)
	}
	switch {
	case c.List <= 0:
		s.unlisted.add(held)
		return
	case c.Known && c.List == c.Rate:
		s.listed += c.Amount
	default:
		s.list.add(c)
	}
	if c.Offering.Market == provider.Spot && c.Known {
		s.saving.add(c)
		s.spotPaid += c.Amount
	}
}

func (s *sum) row() Row {
	return Row{
		Key: s.key, Amount: s.amount, List: s.listed + s.list.money(), Saving: s.saving.money() - s.spotPaid,
		Hours: s.time.hours(), UnknownHours: s.unknown.hours(), UnlistedHours: s.unlisted.hours(), Charges: s.charges,
	}
}

// listCost is the sum of list rate × share × time, as exact integers by the
// accelerators of the machine, which divide it.
type listCost struct {
	byOf       map[int]*big.Int // in nano dollars per hour × accelerators × nanoseconds
	term, rate big.Int          // used again for each charge
}

func (l *listCost) add(c *Charge) {
	if l.byOf == nil {
		l.byOf = map[int]*big.Int{}
	}
	total, ok := l.byOf[c.Of]
	if !ok {
		total = new(big.Int)
		l.byOf[c.Of] = total
	}
	l.term.SetInt64(int64(c.Time()))
	l.rate.SetInt64(int64(c.List))
	total.Add(total, l.term.Mul(&l.term, &l.rate))
}

// money rounds the exact sum half away from zero to the nano dollar.
func (l *listCost) money() pricing.Money {
	exact := new(big.Rat)
	for of, total := range l.byOf { // a sum of exact numbers: the order does not matter
		if of > 0 {
			exact.Add(exact, new(big.Rat).SetFrac(total, new(big.Int).Mul(big.NewInt(int64(of)), big.NewInt(int64(time.Hour)))))
		}
	}
	half := big.NewRat(1, 2)
	if exact.Sign() < 0 {
		half.Neg(half)
	}
	exact.Add(exact, half)
	return pricing.Money(new(big.Int).Quo(exact.Num(), exact.Denom()).Int64())
}

// span is accelerator-time, exact over any number of charges: a Duration ends at
// 292 years, which a large fleet passes in a month.
type span struct {
	whole int64         // hours
	rest  time.Duration // less than an hour either way
}

func (s *span) add(d time.Duration) {
	s.rest += d % time.Hour
	s.whole += int64(d/time.Hour) + int64(s.rest/time.Hour)
	s.rest %= time.Hour
}

func (s *span) join(t span) {
	s.whole += t.whole
	s.add(t.rest)
}

// hours is the time as a float for people. What was all taken back is 0.
func (s span) hours() float64 { return float64(s.whole) + s.rest.Hours() }
