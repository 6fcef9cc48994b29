package autoscale

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/pricing/budget"
	"github.com/goodfleet/goodfleet/provider"
)

// decided is what the last plan was made of: as long as none of it changes, a
// plan made anew would say the same.
type decided struct {
	made    bool           // there was a plan since the store was loaded
	changed bool           // something happened since
	goesOn  bool           // something happened since that it counts on: gangs may come and go, and machines end
	open    bool           // jobs wait, or were put off: whenever something happens, there may be room for them
	roomy   bool           // more room would not change it
	paced   bool           // a part of it was too much for one round
	stuck   bool           // moves have no room on the way, and may have soon
	rates   []pricing.Rate // that it saw, by place in Config.Offerings; 0: none known
	book    *pricing.Book  // the last one whose rates are near enough to those
	next    time.Time      // when a clock passes; zero: none does
	clock   planner.Clock  // that one
	ready   time.Time      // when a machine is ready for which only jobs of the plan wait; zero: none is on its way
	plan    planner.Plan
	budgets []planner.BudgetPrice // that it saw
}

// quote reads the book at now.
func (l *Loop) quote(now time.Time) error {
	book, err := l.cfg.Prices.Book(now)
	if err != nil {
		return fmt.Errorf("book at %s: %w", now.Format(time.RFC3339), err)
	}
	same := l.prices != nil && book.Same(l.prices)
	if l.prices = book; same {
		return nil
	}
	rates := make([]pricing.Rate, len(l.cfg.Offerings)) // a new one: the last plan may keep the old
	if l.places == nil {
		l.places = make([]int, len(l.cfg.Offerings))
	}
	quotes := book.Quotes()
	for i := range l.cfg.Offerings {
		o := &l.cfg.Offerings[i]
		at := l.places[i]
		if at >= len(quotes) || quotes[at].Offering != *o {
			var ok bool
			if at, ok = book.Place(*o); !ok {
				continue
			}
			l.places[i] = at
		}
		rates[i] = quotes[at].Rate + l.beside(*o) // no book holds a rate of 0
	}
	l.rates = rates
	return nil
}

// rateOf is the rate of an offering in the book of this round, with what its machines
// cost beside it.
func (l *Loop) rateOf(o provider.Offering) (pricing.Rate, bool) {
	if l.prices == nil {
		return 0, false
	}
	rate, ok := l.prices.Rate(o)
	if ok {
		rate += l.beside(o)
	}
	return rate, ok
}

// offers lists what may be bought, priced. What has no price is told apart: it is
// not bought.
func (l *Loop) offers(now time.Time) (list, unpriced []planner.Offer) {
	list = slices.Grow(l.priced[:0], len(l.cfg.Offerings))
	for i, o := range l.learned() {
		rate := l.rates[i]
		reservation := l.reservation(o.Offering)
		if rate == 0 && reservation == nil {
			unpriced = append(unpriced, planner.Offer{Offering: o.Offering, Type: o.Type})
			continue
		}
		o.Rate, o.Booked = rate, rate
		o.Hazard = l.cfg.Hazards.Of(o.Offering, now)
		o.Missing = l.missing(&o.Offering, &o.Type)
		if reservation != nil {
			o.Rate = 0
			o.Hazard.PoolPerHour += reservation.lossPerHour(now)
		}
		list = append(list, o)
	}
	l.priced = list
	return list, unpriced
}

// learned are the offers of Config.Offerings, by their places, with what no price and no
// clock changes: their types as they were measured, how long they take to come up, and what
// notice there is. It is found anew when a machine has told something new.
func (l *Loop) learned() []planner.Offer {
	if l.known != nil {
		return l.known
	}
	l.known = make([]planner.Offer, len(l.cfg.Offerings))
	first := make(map[[2]string]*planner.Offer, len(l.cfg.Offerings)) // of each cloud and type
	for i, o := range l.cfg.Offerings {
		offer := &l.known[i]
		offer.Offering = o
		if o.Market == provider.Spot {
			offer.Notice = l.cfg.Settings.Notices[o.Cloud]
		}
		key := [2]string{o.Cloud, o.Type}
		if like := first[key]; like != nil {
			offer.Type, offer.Boot, offer.Grant = like.Type, like.Boot, like.Grant
			continue
		}
		first[key] = offer
		offer.Type = l.measured.of(l.types[i])
		offer.Boot, offer.Grant = l.bootOf(o)+l.cfg.Settings.Setup, l.grantOf(o)
	}
	return l.known
}

// repriced reports whether a rate has moved, by more than is worth a plan, since
// the last plan saw it.
func (l *Loop) repriced() bool {
	if l.last.book != nil && l.prices != nil && l.prices.Same(l.last.book) {
		return false
	}
	for i, before := range l.last.rates {
		rate := l.rates[i]
		if (rate == 0) != (before == 0) || rate != before && math.Abs(float64(rate-before)) > l.cfg.Settings.PriceStep*float64(before) {
			return true
		}
	}
	l.last.book = l.prices
	return false
}

// tellGuard tells the budget which machines there are, at the rates in force, and to
// which limits launches are held.
func (l *Loop) tellGuard(now time.Time) { l.cfg.Guard.Observe(l.heldMachines(), l.limits(now)...) }

// heldMachines are the machines that take from a budget.
func (l *Loop) heldMachines() []budget.Held {
	var held []budget.Held
	for _, m := range l.cache.machines {
		if m.Instance.State == provider.Ended || m.Instance.Offering.PaidAhead() {
			continue
		}
		rate, ok := l.rateOf(m.Instance.Offering)
		if !ok {
			rate = m.Rate
		}
		h := budget.Held{Instance: m.Instance.ID, Offering: m.Instance.Offering, Rate: rate, Token: m.Instance.Tags.Intent}
		if len(l.enforced) > 0 {
			h.For = l.parts(m.Instance.ID, m.Instance.Offering, true)
		}
		held = append(held, h)
	}
	return held
}

// position is how far limits are used: by what is here, and by launches whose answer
// is out.
func (l *Loop) position(limits []budget.Limit) *budget.Position {
	p := budget.NewPosition(limits, l.heldMachines())
	for _, x := range l.cache.intents {
		if x.State == IntentOpen && !x.Offering.PaidAhead() {
			p.Take(x.Token, l.ask(x, x.open(), x.Alternates, l.intentParts(x)))
		}
	}
	return p
}
