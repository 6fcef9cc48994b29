package ledger

import (
	"slices"
	"time"

	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/provider"
)

// Row is what charges with the same key come to.
type Row struct {
	Key      []string      // one value for each dimension
	Amount   pricing.Money // exact; what is paid ahead is spread over its hours
	Billed   pricing.Money // by the invoices of the time
	List     pricing.Money // what the same time costs on demand, where that rate is known
	Saving   pricing.Money // list cost less the public price, or what a bill made of it, of spot time whose both rates are known; may be negative
	Discount pricing.Money // public price less amount: negotiated, bought ahead, or by a bill of other time
	Idle     pricing.Money // of Amount: nobody held it, or used it
	Waste    pricing.Money // of Amount: restarts and lost work
	Credit   pricing.Money // of Amount: given by a cloud; never more than nothing

	Hours         float64 // accelerator-hours billed
	UnknownHours  float64 // of them, without a known rate: not in Amount
	UnknownItems  int     // lines of disks, traffic, ... without a known rate
	UnknownIdle   float64 // hours of what is idle, items included, without a known rate: not in Idle
	UnknownWaste  float64 // hours of what is waste without one: not in Waste
	UnlistedHours float64 // of Hours, without a known list rate: not in List, nor in Saving
	Charges       int     // lines summed
}

// LowerBound reports whether the amount lacks what has no known rate.
func (r Row) LowerBound() bool { return r.UnknownHours > 0 || r.UnknownItems > 0 }

// SavingLowerBound reports whether saving and discount lack time of which either rate is not
// known.
func (r Row) SavingLowerBound() bool { return r.UnlistedHours > 0 || r.UnknownHours > 0 }

// ListLowerBound reports whether the list cost lacks what has no known list rate.
func (r Row) ListLowerBound() bool { return r.UnlistedHours > 0 }

// Add adds the columns of another row. Hours are floats: see Sums for exact ones.
func (r *Row) Add(o Row) {
	r.Amount += o.Amount
	r.Billed += o.Billed
	r.List += o.List
	r.Saving += o.Saving
	r.Discount += o.Discount
	r.Idle += o.Idle
	r.Waste += o.Waste
	r.Credit += o.Credit
	r.Hours += o.Hours
	r.UnknownHours += o.UnknownHours
	r.UnknownItems += o.UnknownItems
	r.UnknownIdle += o.UnknownIdle
	r.UnknownWaste += o.UnknownWaste
	r.UnlistedHours += o.UnlistedHours
	r.Charges += o.Charges
}

// Totals are sums of charges by some dimensions.
type Totals struct {
	By   []Dimension
	Rows []Row // by key
	Sum  Row   // of the rows; its key is empty
}

// Total sums charges by dimensions; without any there is one row, or none when
// there are no charges. Days are those of UTC. Each charge counts as often as it is
// given: a Ledger and a store hold it once.
func Total(charges []Charge, by ...Dimension) Totals {
	sums := NewSums(time.UTC, by...)
	for i := range charges {
		sums.Add(&charges[i])
	}
	return sums.Totals()
}

// Sums collects charges one by one, so that a ledger can be summed while it is
// read. Amounts are exact. List costs are exact up to one rounding a row, so that
// they too do not depend on how time was cut into charges. The sum of every column
// is the sum of its rows.
type Sums struct {
	by       []Dimension
	calendar *calendar
	inTime   bool // by day or month: what straddles two is divided
	rows     map[string]*sum
	key      []byte
}

// NewSums is empty. Days and months are those of the zone.
func NewSums(zone *time.Location, by ...Dimension) *Sums {
	inTime := slices.Contains(by, ByDay) || slices.Contains(by, ByMonth)
	return &Sums{by: slices.Clone(by), calendar: newCalendar(zone), inTime: inTime, rows: map[string]*sum{}}
}

// Add counts a charge in. It does not keep it. One that straddles days or months that are
// told apart counts to each by its time there.
func (s *Sums) Add(c *Charge) {
	if !s.inTime {
		s.add(c)
		return
	}
	first := true
	s.calendar.days(c, func(part *Charge) {
		if row := s.add(part); !first {
			row.charges-- // the line was counted where it begins
		}
		first = false
	})
}

func (s *Sums) add(c *Charge) *sum {
	s.key = s.key[:0]
	for _, d := range s.by {
		s.key = append(d.append(s.key, c, s.calendar), 0)
	}
	row, ok := s.rows[string(s.key)]
	if !ok {
		row = &sum{key: make([]string, len(s.by))}
		for k, d := range s.by {
			row.key[k] = string(d.append(nil, c, s.calendar))
		}
		s.rows[string(s.key)] = row
	}
	row.add(c)
	return row
}

// Totals are the sums of what was added so far.
func (s *Sums) Totals() Totals {
	t := Totals{By: slices.Clone(s.by), Rows: make([]Row, 0, len(s.rows))}
	var hours, unknown, unlisted, idle, waste span
	for _, r := range s.rows {
		t.Rows = append(t.Rows, r.row())
		hours.join(r.time)
		unknown.join(r.unknown)
		unlisted.join(r.unlisted)
		idle.join(r.unknownIdle)
		waste.join(r.unknownWaste)
	}
	slices.SortFunc(t.Rows, func(a, b Row) int { return slices.Compare(a.Key, b.Key) })
	for _, r := range t.Rows {
		t.Sum.Add(r)
	}
	t.Sum.Hours, t.Sum.UnknownHours, t.Sum.UnlistedHours = hours.hours(), unknown.hours(), unlisted.hours()
	t.Sum.UnknownIdle, t.Sum.UnknownWaste = idle.hours(), waste.hours()
	return t
}

// sum collects the charges of one row.
type sum struct {
	key                        []string
	amount, billed             pricing.Money
	listed                     pricing.Money // list cost of what was paid at the list rate
	idle, waste, credit        pricing.Money
	list, saving               listCost
	public                     listCost      // public price of spot time with a negotiated discount
	beside                     listCost      // list cost of other time that was not paid at the list rate
	spotPaid, publicPaid, paid pricing.Money // amounts of what saving, public and beside are the costs of
	time, unknown, unlisted    span
	unknownIdle, unknownWaste  span
	unknownItems               int
	charges                    int
}

func (s *sum) add(c *Charge) {
	s.charges++
	s.amount += c.Amount
	s.billed += c.Billed()
	switch c.Account {
	case ToIdle, Unused:
		s.idle += c.Amount
		if !c.Known {
			s.unknownIdle.add(c.Time())
		}
	case ToWaste, ToRestart:
		s.waste += c.Amount
		if !c.Known {
			s.unknownWaste.add(c.Time())
		}
	case Credits:
		s.credit += c.Amount
	}
	if c.Kind == Credit || c.Kind == Purchase {
		return
	}
	if c.Item != Machine {
		s.listed += c.Amount
		if !c.Known && c.Share < 0 {
			s.unknownItems--
		} else if !c.Known {
			s.unknownItems++
		}
		return
	}
	held := c.Time()
	if held == 0 { // a bill's correction of an amount: the same time was paid otherwise
		if spot := c.Offering.Market == provider.Spot; c.Kind == Correction && c.List > 0 && spot {
			s.spotPaid += c.Amount
		} else if c.Kind == Correction && c.List > 0 {
			s.paid += c.Amount
		}
		return
	}
	s.time.add(held)
	if !c.Known {
		s.unknown.add(held)
	}
	switch {
	case c.List <= 0:
		s.unlisted.add(held)
		return
	case c.Known && c.List == c.Rate && c.Per == 0:
		s.listed += c.Amount
	default:
		s.list.add(c, c.List)
	}
	switch spot := c.Offering.Market == provider.Spot; {
	case !c.Known:
	case spot:
		s.saving.add(c, c.List)
		s.spotPaid += c.Amount
		if c.Public != 0 {
			s.public.add(c, c.Public)
			s.publicPaid += c.Amount
		}
	case c.List != c.Rate || c.Per != 0:
		s.beside.add(c, c.List)
		s.paid += c.Amount
	}
}

func (s *sum) row() Row {
	negotiated := s.public.money() - s.publicPaid
	return Row{
		Key: s.key, Amount: s.amount, Billed: s.billed, List: s.listed + s.list.money(),
		Saving: s.saving.money() - s.spotPaid - negotiated, Discount: s.beside.money() - s.paid + negotiated,
		Idle: s.idle, Waste: s.waste, Credit: s.credit,
		Hours: s.time.hours(), UnknownHours: s.unknown.hours(), UnknownItems: s.unknownItems,
		UnknownIdle: s.unknownIdle.hours(), UnknownWaste: s.unknownWaste.hours(), UnlistedHours: s.unlisted.hours(), Charges: s.charges,
	}
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

// hours is the time as a float for people. What was all taken back is 0. Whole
// hours and rest are given one sign first, so that the float does not depend on the
// order in which they were added.
func (s span) hours() float64 {
	switch {
	case s.whole > 0 && s.rest < 0:
		s.whole, s.rest = s.whole-1, s.rest+time.Hour
	case s.whole < 0 && s.rest > 0:
		s.whole, s.rest = s.whole+1, s.rest-time.Hour
	}
	return float64(s.whole) + s.rest.Hours()
}
