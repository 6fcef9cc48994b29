package autoscale

import (
	"errors"
	"fmt"
	"time"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/provider"
)

// Reservation is capacity that somebody has bought ahead: so many machines of one
// offering. What is launched in it costs nothing more, so its decision rate is 0.
type Reservation struct {
	Offering provider.Offering // of the reserved market, with the reservation's id
	Count    int               // machines in all
	From     time.Time         // zero: it has begun
	Until    time.Time         // zero: it does not end

	// Drain is how long before Until its machines are taken. Nothing is placed in it
	// from then on. (EC2 takes those of a capacity block from 30 minutes before.)
	Drain time.Duration
}

// validate reports the first thing that is wrong with a reservation.
func (r *Reservation) validate() error {
	switch o := r.Offering; {
	case o.Market != provider.Reserved || o.Reservation == "":
		return errors.New("want an offering of the reserved market, with the reservation's id")
	case r.Count <= 0:
		return fmt.Errorf("%d machines: want one at least", r.Count)
	case r.Drain < 0:
		return fmt.Errorf("drain %v is negative", r.Drain)
	case !r.Until.IsZero() && !r.taken().After(r.From):
		return fmt.Errorf("it ends at %s, before it begins", r.taken().UTC().Format(time.RFC3339))
	}
	return r.Offering.Validate()
}

// taken is when its machines are taken; zero: never.
func (r *Reservation) taken() time.Time {
	if r.Until.IsZero() {
		return time.Time{}
	}
	return r.Until.Add(-r.Drain)
}

// lossPerHour is the hazard that its end adds at now: one loss in the time that is
// left. So of two reservations the one that lasts is taken first, and a job leaves
// one that ends soon once that is worth a restart.
func (r *Reservation) lossPerHour(now time.Time) float64 {
	taken := r.taken()
	if taken.IsZero() {
		return 0
	}
	return 1 / max(taken.Sub(now), time.Minute).Hours()
}

// closed says why nothing may be placed in the reservation for at least so long a
// time from now on, and when it may; "" when it may.
func (r *Reservation) closed(now time.Time, least time.Duration) (why string, until time.Time) {
	switch taken := r.taken(); {
	case now.Before(r.From):
		return "reservation " + r.Offering.Reservation + " begins at " + r.From.UTC().Format(time.RFC3339), r.From
	case taken.IsZero():
	case !now.Before(taken):
		return "reservation " + r.Offering.Reservation + " ended at " + taken.UTC().Format(time.RFC3339), time.Time{}
	case now.Add(least).After(taken):
		return "reservation " + r.Offering.Reservation + " ends at " + taken.UTC().Format(time.RFC3339), time.Time{}
	}
	return "", time.Time{}
}

// reservation finds the one that an offering is of; nil: it is bought as it comes.
func (s *State) reservation(o provider.Offering) *Reservation {
	for i := range s.Reservations {
		if s.Reservations[i].Offering == o {
			return &s.Reservations[i]
		}
	}
	return nil
}

// reservation finds the one that an offering is of; nil: it is bought as it comes.
func (l *Loop) reservation(o provider.Offering) *Reservation {
	for i := range l.cfg.Reservations {
		if l.cfg.Reservations[i].Offering == o {
			return &l.cfg.Reservations[i]
		}
	}
	return nil
}

// reserve closes the offer of a reservation outside its time, and limits it to the
// machines that are not used. Those that are on their way in or out count.
func (s *State) reserve(o *planner.Offer) {
	r := s.reservation(o.Offering)
	if r == nil {
		return
	}
	left := r.Count
	for i := range s.Machines {
		if m := &s.Machines[i].Instance; m.Offering == r.Offering && m.State != provider.Ended {
			left--
		}
	}
	for i := range s.Intents {
		if x := &s.Intents[i]; x.Offering == r.Offering {
			left -= x.open()
		}
	}
	if left = max(0, left); o.Cap < 0 || left < o.Cap {
		o.Cap = left
	}
	if why, until := r.closed(s.Now, o.Boot+s.Hold); why != "" {
		o.Blocked, o.Until = why, until
	}
}

// leaveBefore is how long before the end of a reservation its machines are left,
// beside the time that another takes to come up: to plan, to save and to restore.
const leaveBefore = 5 * time.Minute

// leaveAt is when the machines of a reservation are left for others; zero: never.
func (l *Loop) leaveAt(r *Reservation) time.Time {
	if r.Until.IsZero() {
		return time.Time{}
	}
	return r.taken().Add(-l.bootOf(r.Offering) - l.cfg.Settings.Setup - leaveBefore)
}

// leaveReservations drains the machines of reservations that are about to end: the
// jobs go on there until they have another place, or until the cloud takes it.
func (l *Loop) leaveReservations(now time.Time) {
	for i := range l.cfg.Reservations {
		r := &l.cfg.Reservations[i]
		at := l.leaveAt(r)
		if at.IsZero() || now.Before(at) {
			continue
		}
		for _, m := range l.cache.machines {
			if m.Instance.Offering != r.Offering || !m.Instance.Live() || m.Draining || l.frozen(r.Offering.Cloud) != "" {
				continue
			}
			m.Draining, m.Reason = true, "reservation "+r.Offering.Reservation+" ends at "+r.taken().UTC().Format(time.RFC3339)
			l.cache.touchMachine(m)
			l.last.changed = true
			l.machineEvent(now, EventDrain, m, m.Reason)
			l.abandon(m.Instance.ID, now)
		}
	}
}
