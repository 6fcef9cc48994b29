package autoscale

import (
	"slices"
	"time"

	"github.com/goodfleet/goodfleet/provider"
)

// A cloud's clock may be off, and by another amount from one answer to the next.
// What is known of a machine's age is therefore counted on our own clock: its
// launch is put between the moment at which we decided it and the moment at which
// we first heard of it, and every later stamp is read as a distance from the
// launch as the same answer tells it. Lengths are then exact whatever the clocks say.

// strayLimit is how far a stamp may lie from what we hold possible before it is
// taken for nonsense rather than for a clock that is off.
const strayLimit = time.Hour

// firstSight is a machine as we first hear of it, not launched before earliest.
func firstSight(inst provider.Instance, earliest, now time.Time) provider.Instance {
	fresh := provider.Instance{ID: inst.ID, Offering: inst.Offering, State: provider.Pending, Tags: inst.Tags, Launched: inst.Launched}
	switch {
	case inst.Launched.IsZero(), inst.Launched.After(now):
		fresh.Launched = now
	case inst.Launched.Before(earliest):
		fresh.Launched = earliest
	}
	return fresh
}

// heard is what is known of a machine after a row about it. Its state only goes
// forward and what was once known of its times stays: a listing that lags takes
// nothing back.
func heard(known, row provider.Instance, now time.Time) provider.Instance {
	shift := offBy(known, row)
	// A stamp on our clock, not before a bound; ahead of now only as far as a clock may be off.
	stamp := func(t, least time.Time) time.Time {
		t = t.Add(-shift)
		switch {
		case t.Before(least):
			return least
		case t.After(now.Add(strayLimit)):
			return now
		}
		return t
	}
	next := known
	next.State = max(known.State, row.State)
	if next.Started.IsZero() && (!row.Started.IsZero() || row.State == provider.Running) {
		next.Started = now
		if !row.Started.IsZero() {
			next.Started = stamp(row.Started, known.Launched)
		}
	}
	if !row.CalledHome.IsZero() {
		if next.CalledHome.IsZero() {
			next.CalledHome = stamp(row.CalledHome, known.Launched)
		}
		next.Accelerators = row.Accelerators
		if row.MemGiB != 0 {
			next.MemGiB = row.MemGiB
		}
	}
	if row.State == provider.Ended && known.State != provider.Ended {
		next.Ended, next.Cause = now, row.Cause
		if !row.Ended.IsZero() {
			next.Ended = stamp(row.Ended, later(known.Launched, next.Started))
		}
		if row.Cause == provider.NotEnded || row.Cause > provider.Failed {
			next.Cause = provider.Failed
		}
	}
	return next
}

// offBy is how far a row's clock stands from that of the record.
func offBy(known, row provider.Instance) time.Duration {
	if row.Launched.IsZero() || known.Launched.IsZero() {
		return 0
	}
	shift := row.Launched.Sub(known.Launched)
	if shift.Abs() > strayLimit {
		return 0
	}
	return shift
}

// offByAll is how far the clock of a listing is off: the middle of what the machines
// say that were known before.
func (l *Loop) offByAll(rows []provider.Instance) time.Duration {
	var list []time.Duration
	for _, row := range rows {
		if r, ok := l.cache.machine[row.ID]; ok {
			list = append(list, offBy(r.Instance, row))
		}
	}
	if len(list) == 0 {
		return 0
	}
	slices.Sort(list)
	return list[len(list)/2]
}
