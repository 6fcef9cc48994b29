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
	Type   string       // kind of thing: "gp3", "ipv4"
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
		thing.ID = provider.InstanceID(fmt.Sprintf("%s/%s-%d", inst.ID, b.Item, i))
		thing.Offering.Type, thing.Offering.Market, thing.Offering.Reservation = b.Type, provider.OnDemand, ""
		if !thing.Ended.IsZero() {
			thing.Cause = provider.EndedByUs
		}
		h := Holding{Item: b.Item, ID: string(thing.ID), Offering: thing.Offering, Size: b.Size, Started: inst.Started, Ended: inst.Ended, Unit: b.Unit, Known: true}
		charges = append(charges, m.settle(thing, &h, of, shares, now, round)...)
	}
	return charges
}
