package ledger

import (
	"slices"
	"time"

	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/provider"
)

// Reach is how far back the meter can correct what it booked: an end that was
// reported late, or work that turned out to be lost.
const Reach = 24 * time.Hour

// Prices is what the meter needs to know of prices.
type Prices interface {
	// RateAt is the price of o at an instant; ok is false when none is known.
	RateAt(o provider.Offering, at time.Time) (rate pricing.Rate, ok bool)
	// ListRate is the on-demand rate of the type and zone of o.
	ListRate(o provider.Offering, at time.Time) (rate pricing.Rate, ok bool)
	// ChangesOf lists the instants between from and to, both left out, at which the
	// rate of o becomes another, in time order.
	ChangesOf(o provider.Offering, from, to time.Time) []time.Time
}

// Meter makes charges from the lives of instances. It has one owner: it is not
// safe for concurrent use. What it remembers can be had back from its charges
// (Resume); after a write that failed it must be, since it has moved on.
type Meter struct {
	prices Prices
	rules  Rules
	beside []string             // names of Rules.Beside
	runs   map[instanceKey]*run // the newest run of each instance
	ended  []instanceKey        // closed runs that may still be corrected, in the order of closing
}

// restart is how much later than the last start a start must be to be another:
// less is the rounding of a clock or a store.
const restart = time.Second

// instanceKey names what costs. A disk may have the name of a machine.
type instanceKey struct {
	cloud string
	item  Item
	id    provider.InstanceID
}

// run is one start of an instance, up to its end. Durations count from its start.
type run struct {
	key       instanceKey
	number    int
	offering  provider.Offering
	held      *Holding // nil: a machine
	capacity  *Capacity
	rule      Rule
	started   time.Time
	booked    time.Duration // usage is booked up to here
	current   piece
	of        int       // accelerators, and who held them: as last booked
	claims    []claim   //
	stretches []stretch // in time order, as far back as Reach
	closed    bool      // the end is known and settled
}

// NewMeter makes a meter that knows of no instance yet.
func NewMeter(prices Prices, rules Rules) *Meter {
	return &Meter{prices: prices, rules: rules, beside: besideNames(rules.Beside), runs: map[instanceKey]*run{}}
}

// Settle books inst from where it was last booked up to now, or to its end if
// that is known. shares say who held its accelerators, of in number, all that
// time; what they leave is idle. A machine without accelerators has one part. An instance that has not started costs nothing;
// one that is not ready is shared out to ToBoot by the caller. round is copied
// into the charges.
//
// When inst has ended, what its rule says of the end follows: the rest of the
// least billed time, borne by those that held the machine at its end, or lines
// that take back all that was booked when the cloud took the machine within its
// free time, or what was booked past an end that became known late. Settling an
// ended instance again adds nothing.
//
// Settle only what the cloud listed: a machine that cannot be seen is booked when
// it can be seen again, as far as it lived.
//
// Each charge lies within one hour of the clock and one instance-hour. Ids depend
// on the instance, its run, the time and the bearer alone.
func (m *Meter) Settle(inst provider.Instance, of int, shares []Share, now time.Time, round int64) []Charge {
	return append(m.settle(inst, nil, of, shares, now, round), m.settleBeside(inst, of, shares, now, round)...)
}

// settle books a machine, or what is held.
func (m *Meter) settle(inst provider.Instance, held *Holding, of int, shares []Share, now time.Time, round int64) []Charge {
	if inst.Started.IsZero() || now.Before(inst.Started) {
		return nil
	}
	m.forget(now)
	of = max(of, 1)
	var charges []Charge
	key := instanceKey{cloud: inst.Offering.Cloud, id: inst.ID}
	if held != nil {
		key.item = held.Item
	}
	r, number := m.runs[key], 1
	if r != nil && inst.Started.Sub(r.started) >= restart { // stopped and started again
		charges = m.risen(r, m.close(r, inst.Started, provider.EndedByUs, round))
		r, number = nil, r.number+1
	}
	if r == nil {
		if r = m.open(key, inst, number, now); r == nil {
			return charges
		}
	}
	r.held = held
	if inst.Ended.IsZero() || inst.Ended.After(now) {
		return append(charges, m.risen(r, m.book(r, now.Sub(r.started), of, claimsOf(of, shares), round))...)
	}
	last := m.book(r, inst.Ended.Sub(r.started), of, claimsOf(of, shares), round)
	last = append(last, m.close(r, inst.Ended, inst.Cause, round)...)
	return append(charges, m.risen(r, last)...)
}

// open begins a run, or is nil while there is nothing to bill of it.
func (m *Meter) open(key instanceKey, inst provider.Instance, number int, now time.Time) *run {
	r := m.newRun(key, number, inst.Offering, inst.Started)
	end := now
	if !inst.Ended.IsZero() && inst.Ended.Before(now) {
		end = inst.Ended
	}
	if !end.After(r.started) { // no time passed: at most the minimum of a run that is over
		over := !inst.Ended.IsZero() && !inst.Ended.After(now)
		if !over || r.rule.least(0) == 0 || r.rule.free(0, inst.Cause) {
			return nil
		}
	}
	m.runs[r.key] = r
	return r
}

func (m *Meter) newRun(key instanceKey, number int, o provider.Offering, started time.Time) *run {
	r := &run{key: key, number: number, offering: o, rule: m.rules.Of(o), started: started.UTC()}
	if key.item != Machine {
		r.rule = m.rules.OfItem(key.item, key.cloud)
	} else if c, ok := m.rules.capacity(o); ok {
		r.capacity = &c
	}
	return r
}

// book makes the usage lines of a run up to an instant.
func (m *Meter) book(r *run, end time.Duration, of int, claims []claim, round int64) []Charge {
	if r.closed {
		return nil
	}
	if r.booked < end || r.booked == 0 {
		r.of, r.claims = of, claims
	}
	var charges []Charge
	for r.booked < end {
		from := r.booked
		if from == from.Truncate(time.Hour) {
			r.trim(from - Reach)
		}
		r.current = m.pieceAt(r, from)
		tick := clockHour(r.started.Add(from)).Add(time.Hour).Sub(r.started)
		to := min(m.pieceEnd(r, from, end), tick)
		b := &booking{kind: Usage, from: from, to: to, piece: r.current, of: of, claims: claims}
		charges = append(charges, r.lines(b, round)...)
		r.stretches = append(r.stretches, stretch{booking: b, from: from, to: to})
		r.booked = to
	}
	return charges
}

// lines divides a booking among its claims and makes their lines.
func (r *run) lines(b *booking, round int64) []Charge {
	b.amounts = split(b.piece.between(b.from, b.to), b.claims)
	charges := make([]Charge, len(b.claims))
	for i, c := range b.claims {
		charges[i] = r.line(b.kind, part{from: b.from, to: b.to, piece: b.piece, of: b.of,
			account: c.account, job: c.job, team: c.team, project: c.project, share: c.share, amount: b.amounts[i]}, round)
	}
	return charges
}

// pieceAt is the piece that an instant falls in: the current one, until its hour
// is over or, where the rate is not fixed for the hour, another is in force.
func (m *Meter) pieceAt(r *run, at time.Duration) piece {
	switch {
	case r.held != nil:
		return r.held.pieceAt(r, at)
	case r.capacity != nil:
		return m.pieceOfCapacity(r, at)
	}
	hour := at.Truncate(time.Hour)
	inHour := at > hour
	if inHour && r.rule.Fixed {
		return r.current
	}
	instant := r.started.Add(at)
	next := piece{from: at}
	if rate, ok := m.prices.RateAt(r.offering, instant); ok && rate >= 0 {
		next.rate, next.known = m.rules.negotiated(r.offering, rate), true
		if next.rate != rate {
			next.public = rate
		}
	}
	if inHour && next.rate == r.current.rate && next.known == r.current.known && next.public == r.current.public {
		return r.current
	}
	next.list = m.listAt(r, instant)
	return next
}

// listAt is the on-demand rate at an instant; 0: not known.
func (m *Meter) listAt(r *run, instant time.Time) pricing.Rate {
	list, _ := m.prices.ListRate(r.offering, instant)
	return max(0, list)
}

// pieceOfCapacity is the piece of a machine that runs in capacity bought ahead: at
// one rate from its start on, but for the list rate that it is held against.
func (m *Meter) pieceOfCapacity(r *run, at time.Duration) piece {
	rate, per := r.capacity.rate()
	next := piece{from: at, rate: rate, per: per, known: r.capacity.Known, prepaid: r.capacity.prepaid()}
	if !next.known {
		next.rate = 0
	}
	next.list = r.current.list
	if r.booked == 0 {
		next.list = m.listAt(r, r.started)
	}
	if r.booked > 0 && !r.newPiece(next) {
		return r.current
	}
	return next
}

// pieceEnd is where a piece that holds at from ends at the latest.
func (m *Meter) pieceEnd(r *run, from, end time.Duration) time.Duration {
	switch {
	case r.held != nil && r.key.item == Disk:
		return min(end, r.monthEnd(from))
	case r.held != nil || r.capacity != nil:
		return end
	}
	until := min(end, from.Truncate(time.Hour)+time.Hour)
	if r.rule.Fixed {
		return until
	}
	changes := m.prices.ChangesOf(r.offering, r.started.Add(from), r.started.Add(until))
	if len(changes) > 0 {
		until = changes[0].Sub(r.started)
	}
	return until
}

// close settles the end of a run by its rule, once.
func (m *Meter) close(r *run, at time.Time, cause provider.EndCause, round int64) []Charge {
	if r.closed {
		return nil
	}
	r.closed = true
	m.ended = append(m.ended, r.key)
	end := max(0, at.Sub(r.started))
	if r.rule.free(end, cause) {
		return r.takeBack(0, round)
	}
	if whole := r.rule.Whole; whole > 0 && cause == provider.Interrupted {
		return r.takeBack(end.Truncate(whole), round)
	}
	charges := r.takeBack(end, round)
	if r.booked >= r.rule.least(end) {
		return charges
	}
	return append(charges, m.minimum(r, r.rule.least(end), round)...)
}

// minimum books the rest of the least billed time, up to an instant, at the last rate, to those that
// held the machine last. It is final: nothing takes it back or moves it.
func (m *Meter) minimum(r *run, to time.Duration, round int64) []Charge {
	b := &booking{kind: Minimum, from: r.booked, to: to, of: r.of, claims: r.claims}
	if n := len(r.stretches); n > 0 {
		last := r.stretches[n-1]
		b.piece, b.of, b.claims = last.piece, last.of, last.claims
	} else {
		b.piece = m.pieceAt(r, 0)
	}
	return r.lines(b, round)
}

// takeBack makes the lines that take back what was booked from an instant on,
// exactly and from those that bear it now.
func (r *run) takeBack(from time.Duration, round int64) []Charge {
	r.stretches = cut(r.stretches, from)
	kept := len(r.stretches)
	for kept > 0 && r.stretches[kept-1].from >= from {
		kept--
	}
	var charges []Charge
	for _, p := range parts(r.started, r.stretches[kept:], func(stretch, int) bool { return true }) {
		p.share, p.amount = -p.share, -p.amount
		charges = append(charges, r.line(Reversal, p, round))
	}
	r.stretches = r.stretches[:kept]
	r.booked = min(r.booked, from)
	return charges
}

// trim forgets the stretches that ended before a time.
func (r *run) trim(before time.Duration) {
	old := 0
	for old < len(r.stretches)-1 && r.stretches[old].to < before {
		old++
	}
	r.stretches = slices.Delete(r.stretches, 0, old)
}

// forget drops what was remembered of runs that ended too long ago to be
// corrected. That they ended is kept.
func (m *Meter) forget(now time.Time) {
	for len(m.ended) > 0 {
		r := m.runs[m.ended[0]]
		if r.closed && now.Sub(r.started.Add(r.booked)) <= Reach {
			return
		}
		if r.closed { // else the instance was started again
			r.stretches = nil
		}
		m.ended = m.ended[1:]
	}
}
