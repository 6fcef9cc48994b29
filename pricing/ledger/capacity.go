package ledger

import (
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"time"

	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/provider"
)

// Capacity is what was bought ahead: a reservation at the on-demand rate (A15, G15),
// a block for some days (A16), or a commitment for a term (A17, G11). It costs its
// rate whether machines run in it or not: a machine in it bears its own hours, and
// what nobody uses goes to Unused. Its rate is spread evenly over its time; what was
// paid ahead is billed by Purchases and borne by the hours.
//
// Which of an organisation's machines a savings plan or another floating discount
// falls on is not simulated: that stands on the bill.
type Capacity struct {
	ID       string // Offering.Reservation of the machines in it
	Item     Item   // Reservation, Block or Commitment
	Offering provider.Offering
	Machines int
	From     time.Time
	Until    time.Time     // excluded; zero: a Reservation that goes on
	Since    time.Time     // nothing of before is booked; zero: From
	Upfront  pricing.Money // of one machine for the whole time
	Hourly   pricing.Rate  // of one machine
	Known    bool          // the rates above are; false: its hours are booked at no known rate
	Team     string        // it was bought for; "": for all
}

func (c Capacity) validate() error {
	switch {
	case c.ID == "":
		return errors.New("id: is missing")
	case !slices.Contains([]Item{Reservation, Block, Commitment}, c.Item):
		return fmt.Errorf("item: %q: want reservation, block or commitment", c.Item)
	case c.Offering.Cloud == "" || c.Offering.Type == "":
		return errors.New("offering: has no cloud or no type")
	case c.Machines <= 0:
		return fmt.Errorf("machines: %d: want at least 1", c.Machines)
	case c.From.IsZero():
		return errors.New("from: is missing")
	case !c.Until.IsZero() && !c.From.Before(c.Until):
		return errors.New("until: is not after from")
	case c.Until.IsZero() && (c.Item != Reservation || c.Upfront != 0):
		return errors.New("until: is missing")
	case c.Upfront < 0 || c.Hourly < 0:
		return errors.New("rate: is negative")
	case c.Item == Block && c.Hourly != 0:
		return errors.New("hourly: a block is paid when it is bought")
	}
	return nil
}

// term is the time over which the price of the capacity is spread.
func (c Capacity) term() time.Duration { return c.Until.Sub(c.From) }

// Begin is the first instant of it that is booked.
func (c Capacity) Begin() time.Time {
	if c.Since.After(c.From) {
		return c.Since
	}
	return c.From
}

// prepaid reports whether the hours of the capacity are billed by Purchases.
func (c Capacity) prepaid() bool { return c.Upfront > 0 }

// rate is what one machine costs for a time: the term where something was paid
// ahead, else an hour.
func (c Capacity) rate() (rate pricing.Rate, per time.Duration) {
	if !c.prepaid() {
		return c.Hourly, 0
	}
	return pricing.Rate(c.Upfront) + pricing.Rate(c.Hourly.Over(c.term())), c.term()
}

// capacity finds what a machine runs in.
func (r Rules) capacity(o provider.Offering) (Capacity, bool) {
	if o.Reservation == "" {
		return Capacity{}, false
	}
	for _, c := range r.Capacities {
		if c.ID == o.Reservation && c.Offering.Cloud == o.Cloud {
			return c, true
		}
	}
	return Capacity{}, false
}

// Life is the time of one machine in a capacity.
type Life struct{ From, To time.Time } // To is excluded; zero: it goes on

// SettleCapacity books what nobody used of a capacity since it was last booked, up
// to now or its end. lives are the times of all machines in it since then.
func (m *Meter) SettleCapacity(c Capacity, lives []Life, now time.Time, round int64) []Charge {
	if !c.Until.IsZero() && c.Until.Before(now) {
		now = c.Until
	}
	begin := c.Begin()
	if !begin.Before(now) {
		return nil
	}
	borders := []time.Time{now}
	for _, l := range lives {
		for _, at := range []time.Time{l.From, l.To} {
			if at.After(begin) && at.Before(now) {
				borders = append(borders, at)
			}
		}
	}
	slices.SortFunc(borders, time.Time.Compare)
	borders = slices.CompactFunc(borders, time.Time.Equal)
	rate, per := c.rate()
	held := Holding{Item: c.Item, ID: c.ID, Offering: c.Offering, Started: begin, Unit: rate, Per: per, Known: c.Known, Prepaid: c.prepaid()}
	var charges []Charge
	from := begin
	for _, to := range borders {
		used := 0
		for _, l := range lives {
			if !l.From.After(from) && (l.To.IsZero() || l.To.After(from)) {
				used++
			}
		}
		held.Size = int64(max(0, c.Machines-used))
		if to.Equal(c.Until) {
			held.Ended = to
		}
		charges = append(charges, m.Hold(held, []Share{{Account: Unused, Team: c.Team, Accelerators: 1}}, to, round)...)
		from = to
	}
	return charges
}

// Purchases are the lines of what is billed for a capacity in [from, to) by
// themselves and not with its hours: the price paid ahead, at its start, and then
// each hour of the clock its hourly part.
func (c Capacity) Purchases(from, to time.Time, round int64) []Charge {
	if !c.prepaid() || !c.Known {
		return nil
	}
	var charges []Charge
	buy := func(at, until time.Time, price pricing.Money, note string) {
		if at.Before(from) || !at.Before(to) || price == 0 {
			return
		}
		charges = append(charges, Charge{
			ID:   c.Offering.Cloud + "/" + string(c.Item) + ":" + c.ID + "/1/" + at.UTC().Format(time.RFC3339Nano) + "/" + string(Purchase) + "-" + note,
			Kind: Purchase, Item: c.Item, Instance: provider.InstanceID(c.ID), Run: 1, Offering: c.Offering,
			From: at.UTC(), To: until.UTC(), Account: Overhead, Team: c.Team, Share: 1, Of: 1, Known: true,
			Quantity: int64(c.Machines), Price: price, Note: note, Round: round,
		})
	}
	n := pricing.Money(c.Machines)
	buy(c.From, c.From.Add(time.Hour), c.Upfront*n, "upfront")
	for at := c.From; at.Before(c.Until) && c.Hourly > 0; {
		next := clockHour(at).Add(time.Hour)
		if next.After(c.Until) {
			next = c.Until
		}
		price := c.Hourly.Over(next.Sub(c.From)) - c.Hourly.Over(at.Sub(c.From))
		buy(at, next, price*n, "hourly")
		at = next
	}
	return charges
}

// volume is price × quantity ÷ unit, rounded half up to the nano dollar.
func volume(price pricing.Rate, quantity, unit int64) pricing.Money {
	hi, lo := bits.Mul64(uint64(price), uint64(quantity))
	quotient, rest := bits.Div64(hi, lo, uint64(unit))
	if rest >= uint64(unit)-rest {
		quotient++
	}
	return pricing.Money(quotient)
}
