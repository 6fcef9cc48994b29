package autoscale

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/pricing/ledger"
	"github.com/goodfleet/goodfleet/provider"
)

// Bills are what costs beside the rates of machines. The meter must know the same:
// its rules hold the capacities and what is beside machines.
type Bills struct {
	Capacities []ledger.Capacity                    // bought ahead: what of them nobody uses is booked too
	Grants     []ledger.Grant                       // credits, booked when they come
	Controller *ledger.Holding                      // what runs goodfleet; nil: nothing that is paid
	Beside     func(provider.Offering) pricing.Rate // the most that a machine costs in an hour beside its rate; nil: nothing
}

// beside is what a machine of an offering costs in an hour beside its rate.
func (l *Loop) beside(o provider.Offering) pricing.Rate {
	if l.cfg.Bills.Beside == nil {
		return 0
	}
	return l.cfg.Bills.Beside(o)
}

// oldest is the first instant that a charge of the bills begins at; zero: there are none.
func (b *Bills) oldest() time.Time {
	var begins []time.Time
	for _, c := range b.Capacities {
		begins = append(begins, c.Begin())
	}
	for _, g := range b.Grants {
		begins = append(begins, g.From)
	}
	if b.Controller != nil {
		begins = append(begins, b.Controller.Started)
	}
	if len(begins) == 0 {
		return time.Time{}
	}
	return slices.MinFunc(begins, time.Time.Compare)
}

// validate reports the first bill that cannot be.
func (b *Bills) validate() error {
	if err := (ledger.Rules{Capacities: b.Capacities}).Validate(); err != nil {
		return err
	}
	for i, g := range b.Grants {
		if _, err := g.Credit(0); err != nil {
			return fmt.Errorf("grants[%d]: %w", i, err)
		}
	}
	if h := b.Controller; h != nil && (h.Item != ledger.Controller || h.ID == "" || h.Started.IsZero()) {
		return errors.New("controller: want an item of that name, with an id and a start")
	}
	return nil
}

// recallBills takes up what the ledger has of the bills.
func (l *Loop) recallBills(charges []ledger.Charge) {
	l.billed, l.billLines = time.Time{}, map[string]bool{}
	for i := range charges {
		if k := charges[i].Kind; k == ledger.Purchase || k == ledger.Credit {
			l.billLines[charges[i].ID] = true
		}
	}
}

// once leaves out purchases and credits that the ledger has.
func (l *Loop) once(charges []ledger.Charge) []ledger.Charge {
	var list []ledger.Charge
	for _, c := range charges {
		if !l.billLines[c.ID] {
			l.billLines[c.ID] = true
			list = append(list, c)
		}
	}
	return list
}

// bookBills books what no machine bears, up to now: what nobody used of the capacity
// that was bought ahead, what was paid for it, the controller, credits. Lines come
// every Settings.Book, and whenever a machine in a capacity is over, since later
// nobody would remember when it ran. over holds the ids of such capacities.
func (l *Loop) bookBills(now time.Time, over map[string]bool) {
	round, due := l.cache.round, l.billed.IsZero() || now.Sub(l.billed) >= l.cfg.Settings.Book
	for _, c := range l.cfg.Bills.Capacities {
		if (due || over[c.ID]) && l.frozen(c.Offering.Cloud) == "" {
			l.charge(l.meter.SettleCapacity(c, l.livesIn(c), now, round))
		}
	}
	if !due {
		return
	}
	for _, c := range l.cfg.Bills.Capacities {
		l.charge(l.once(c.Purchases(later(c.Begin(), l.billed), now, round)))
	}
	if h := l.cfg.Bills.Controller; h != nil {
		l.charge(l.meter.Hold(*h, []ledger.Share{{Account: ledger.Overhead, Accelerators: 1}}, now, round))
	}
	for _, g := range l.cfg.Bills.Grants {
		if c, err := g.Credit(round); err == nil && !g.Came.After(now) { // validate has made it once
			l.charge(l.once([]ledger.Charge{c}))
		}
	}
	l.billed = now
}

// livesIn are the times of the machines in a capacity that are not settled.
func (l *Loop) livesIn(c ledger.Capacity) []ledger.Life {
	var lives []ledger.Life
	for _, m := range l.cache.machines {
		o, i := m.Instance.Offering, &m.Instance
		if o.Reservation != c.ID || o.Cloud != c.Offering.Cloud || i.Started.IsZero() {
			continue
		}
		life := ledger.Life{From: i.Started}
		if !m.Gone { // of one that is gone no cloud has said when it ended
			life.To = i.Ended
		}
		lives = append(lives, life)
	}
	return lives
}
