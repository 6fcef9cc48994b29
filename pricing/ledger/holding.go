package ledger

import (
	"time"

	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/provider"
)

// Published prices of what costs the same in all regions, per hour or per unit of
// traffic.
const (
	AWSAddress     pricing.Rate = 5_000_000  // A12
	GCPAddress     pricing.Rate = 5_000_000  // G9, on a standard machine
	GCPSpotAddress pricing.Rate = 2_500_000  // G9
	AWSTraffic     pricing.Rate = 10_000_000 // A14: per GB, each way
	GCPTraffic     pricing.Rate = 10_000_000 // G10: per GiB

	AWSToRegion  pricing.Rate = 20_000_000  // A22: per GB
	AWSToOutside pricing.Rate = 90_000_000  // A22: per GB, first tier
	GCPToRegion  pricing.Rate = 20_000_000  // G17: per GiB
	GCPToOutside pricing.Rate = 120_000_000 // G17: per GiB, first tier
)

// Holding is a thing beside machines that costs as long as it is held: a disk, also
// of a machine that is stopped; an address; capacity that nobody uses; the
// controller itself.
type Holding struct {
	Item     Item
	ID       string            // of the cloud; one that is used again is another by its start
	Offering provider.Offering // where it is; Type is the kind of thing: "gp3", "ipv4"
	Size     int64             // GB of a disk, else how many
	Started  time.Time
	Ended    time.Time     // zero: it goes on
	Unit     pricing.Rate  // of one unit of Size
	Per      time.Duration // time that Unit is for; 0: an hour; of a disk always the month of UTC, 28 to 31 days
	Known    bool          // Unit is
	Prepaid  bool          // paid by a Purchase
}

// Hold books a holding from where it was last booked up to now, or to its end.
// What h says, and who bears it, held all that time: before a change of size or
// price, book. It keeps the promises of Settle.
func (m *Meter) Hold(h Holding, shares []Share, now time.Time, round int64) []Charge {
	h.Offering.Market = h.Item.market(h.Offering.Market)
	of := 0
	for _, s := range shares {
		of += max(0, s.Accelerators)
	}
	inst := provider.Instance{
		ID: provider.InstanceID(h.ID), Offering: h.Offering, State: provider.Running,
		Started: h.Started, Ended: h.Ended, Cause: provider.NotEnded,
	}
	if !h.Ended.IsZero() {
		inst.State, inst.Cause = provider.Ended, provider.EndedByUs
	}
	return m.settle(inst, &h, of, shares, now, round)
}

// pieceAt is the piece of a holding at an instant: the current one, until what it
// costs becomes another.
func (h *Holding) pieceAt(r *run, at time.Duration) piece {
	next := piece{from: at, rate: h.Unit * pricing.Rate(h.Size), per: h.Per, size: h.Size, known: h.Known, prepaid: h.Prepaid}
	if !h.Known {
		next.rate = 0
	}
	if h.Item == Disk {
		begin, end := month(r.started.Add(at))
		next.per = end.Sub(begin)
	}
	if r.booked > 0 && !r.newPiece(next) {
		return r.current
	}
	return next
}

// newPiece reports whether a holding, or a machine in a capacity, goes on at
// another rate than the current one.
func (r *run) newPiece(next piece) bool {
	same := r.current
	same.from = next.from
	if same != next {
		return true
	}
	if r.key.item != Disk {
		return false
	}
	begin, _ := month(r.started.Add(next.from))
	return r.started.Add(r.current.from).Before(begin)
}

// month is the month of UTC that an instant lies in.
func month(at time.Time) (begin, end time.Time) {
	at = at.UTC()
	begin = time.Date(at.Year(), at.Month(), 1, 0, 0, 0, 0, time.UTC)
	return begin, begin.AddDate(0, 1, 0)
}

// monthEnd is the end of the month, in a run's time.
func (r *run) monthEnd(at time.Duration) time.Duration {
	_, end := month(r.started.Add(at))
	return end.Sub(r.started)
}
