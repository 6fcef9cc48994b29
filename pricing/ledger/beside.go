package ledger

import (
	"errors"
	"fmt"
	"time"

	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/provider"
)

// Beside is what each machine has that costs as long as it runs, by a rule of its
// own: a boot disk (A10, G8), a public address (A12, G9). It begins and ends with the
// machine, and those who hold the machine bear it; a first hour that is free does not
// free it (A7).
type Beside struct {
	Item   Item   // Disk or Address
	Cloud  string // whose machines have it
	Market provider.Market
	Type   string       // kind of thing: "gp3", "ipv4"; part of its name
	Size   int64        // GB of a disk, addresses
	Unit   pricing.Rate // of one GB for a month, of one address for an hour
}

// shortestMonth is the month in which an hour of a disk costs most.
const shortestMonth = 28 * 24

func (b Beside) validate() error {
	switch {
	case b.Item != Disk && b.Item != Address:
		return fmt.Errorf("item: %q: want disk or address", b.Item)
	case b.Cloud == "":
		return errors.New("cloud: is missing")
	case b.Size <= 0:
		return fmt.Errorf("size: %d: want at least 1", b.Size)
	case b.Unit < 0:
		return fmt.Errorf("unit: %s USD is negative", b.Unit)
	}
	return nil
}

// hourly is the most that it costs in an hour.
func (b Beside) hourly() pricing.Rate {
	rate := b.Unit * pricing.Rate(b.Size)
	if b.Item == Disk {
		rate = (rate + shortestMonth - 1) / shortestMonth
	}
	return rate
}

func (b Beside) fits(o provider.Offering) bool {
	return b.Cloud == o.Cloud && (b.Market == 0 || b.Market == o.Market)
}

// same reports whether two things are told apart only by the order in which they are
// listed.
func (b Beside) same(c Beside) bool {
	return b.Item == c.Item && b.Cloud == c.Cloud && b.Market == c.Market && b.Type == c.Type
}

// besideNames name what machines have beside them, each by what it is, so that a thing
// keeps its name, and with it what is booked of it, whatever else is listed later: as
// "disk-gp3", or "address-ipv4-spot" of what only machines of a market have. Further
// ones of the same kind have a number, by their order: "disk-gp3-2". Size and price are
// no part of it: they may change while a thing runs.
func besideNames(list []Beside) []string {
	names := make([]string, len(list))
	for i, b := range list {
		name := string(b.Item)
		if b.Type != "" {
			name += "-" + b.Type
		}
		if b.Market != 0 {
			name += "-" + b.Market.String()
		}
		n := 1
		for _, other := range list[:i] {
			if other.same(b) {
				n++
			}
		}
		if n > 1 {
			name += fmt.Sprintf("-%d", n)
		}
		names[i] = name
	}
	return names
}

// validateBeside reports what cannot be beside machines, or has the name of another
// thing there: "gp3-2" is that of a second "gp3".
func validateBeside(list []Beside) (bad []error) {
	names := besideNames(list)
	for i, b := range list {
		if err := b.validate(); err != nil {
			bad = append(bad, fmt.Errorf("beside[%d].%w", i, err))
		}
		for k := range i {
			if names[k] == names[i] && list[k].Cloud == b.Cloud {
				bad = append(bad, fmt.Errorf("beside[%d].type: %q cannot be told from beside[%d]: both are called %s", i, b.Type, k, names[i]))
			}
		}
	}
	return bad
}

// BesideRate is the most that a machine of an offering costs in an hour beside its
// own rate.
func (r Rules) BesideRate(o provider.Offering) pricing.Rate {
	var sum pricing.Rate
	for _, b := range r.Beside {
		if b.fits(o) {
			sum += b.hourly()
		}
	}
	return sum
}

// settleBeside books what a machine has beside it.
func (m *Meter) settleBeside(inst provider.Instance, of int, shares []Share, now time.Time, round int64) []Charge {
	var charges []Charge
	for i, b := range m.rules.Beside {
		if !b.fits(inst.Offering) {
			continue
		}
		thing := inst
		thing.ID = provider.InstanceID(string(inst.ID) + "/" + m.beside[i])
		thing.Offering.Type, thing.Offering.Market, thing.Offering.Reservation = b.Type, provider.NoMarket, ""
		if !thing.Ended.IsZero() {
			thing.Cause = provider.EndedByUs
		}
		h := Holding{Item: b.Item, ID: string(thing.ID), Offering: thing.Offering, Size: b.Size, Started: inst.Started, Ended: inst.Ended, Unit: b.Unit, Known: true}
		charges = append(charges, m.settle(thing, &h, of, shares, now, round)...)
	}
	return charges
}
