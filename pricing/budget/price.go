package budget

import (
	"math"
	"time"

	"github.com/goodfleet/goodfleet/pricing"
)

// Price is how dear the money of a total is: each dollar of the rates that it covers
// counts 1 + mu in what a plan maximises. It rises while more burns than would last
// to the end of the period, and falls while less does,
//
//	d ln(1 + mu)/dt = (burn/rho − 1)/Reaction,  mu ≥ 0,
//	rho = left/(time to the end + Reserve),
//
// so a period ends with about Reserve's share of its amount left: what is reserved
// for the swings of its last hours. The update of a round, (1 + mu)·exp(eta·(burn/rho
// − 1)) with eta = round/Reaction, is the step of this equation over one round.
//
// A Price holds the solution from At on, under a burn that stays as it is; it depends
// on the time that has passed and not on how often it was looked at. The zero value is
// that of a total of which nothing is known yet.
type Price struct {
	At   time.Time // from when on Burn holds; zero: never seen
	Log  float64   // ln(1 + mu) at At
	Left pricing.Money
	Burn pricing.Rate
}

const (
	// Reaction is the time in which the price answers: at twice the burn that would
	// last, 1 + mu grows by e in it.
	Reaction = 6 * time.Hour

	// reserveShare is the part of a period whose spending is reserved for its last
	// hours: six of a month's, twelve minutes of a day's.
	reserveShare = 1.0 / 120

	// asideShare is the last part of a period, in which what is left is set aside for
	// what runs: almost four days of a month, three hours of a day. It is longer than
	// the three days without a stop that a month is to end with, since what runs when it
	// begins may be more than can be paid for.
	asideShare = 1.0 / 8

	// mostLog bounds ln(1 + mu), at a million: what has waited for weeks is worth
	// thousands of times its hour.
	mostLog = 13.8

	// LevelStep is by how much ln(1 + mu) changes until a plan hears of it.
	LevelStep = 0.02
)

// Reserve is by how much longer than its period a total is meant to last.
func (t Total) Reserve(at time.Time) time.Duration {
	from, until := t.Span(at)
	return time.Duration(float64(until.Sub(from)) * reserveShare)
}

// Swing is the money that is reserved so: what would burn in that time, were the amount
// burnt evenly.
func (t Total) Swing(at time.Time) pricing.Money {
	from, until := t.Span(at)
	return pricing.Money(float64(t.Amount) * float64(t.Reserve(at)) / float64(until.Sub(from)+t.Reserve(at)))
}

// SetAside is from when on, in the period that holds an instant, what is left is set
// aside for what runs.
func (t Total) SetAside(at time.Time) time.Time {
	from, until := t.Span(at)
	return until.Add(-time.Duration(float64(until.Sub(from)) * asideShare))
}

// after is the price h hours after At, within the period that ends in end hours from
// At, its reserve included.
func (p Price) after(h, end float64) float64 {
	return min(max(p.Log+p.grown(h, end), 0), mostLog)
}

// grown is the integral of burn/rho − 1 over h hours, in units of Reaction: with left
// L, burn b and end T it is (T − L/b)·ln(L/(L − b·h)). Its sign does not change on the
// way, so that the bound mu ≥ 0 may be applied at the end.
func (p Price) grown(h, end float64) float64 {
	left, burn := p.Left.Dollars(), p.Burn.Dollars()
	switch {
	case h <= 0:
		return 0
	case burn <= 0:
		return -h / Reaction.Hours()
	case left <= 0 || burn*h >= left:
		return math.Inf(1)
	}
	return (left/burn - end) * math.Log1p(-burn*h/left) / Reaction.Hours()
}

// To is the price at an instant not before At, if the burn stays as it is. At the end
// of a period the next one begins with all of the amount.
func (p Price) To(t Total, now time.Time) Price {
	for p.At.Before(now) {
		_, until := t.Span(p.At)
		if !p.At.Before(until) { // its one window is over
			return Price{At: now}
		}
		end := until.Sub(p.At) + t.Reserve(p.At)
		if now.Before(until) {
			h := now.Sub(p.At).Hours()
			return Price{At: now, Log: p.after(h, end.Hours()), Left: p.Left - p.Burn.Over(now.Sub(p.At)), Burn: p.Burn}
		}
		p = Price{At: until, Log: p.after(until.Sub(p.At).Hours(), end.Hours()), Left: t.Amount, Burn: p.Burn}
	}
	return p
}

// See is the price at now with what is left and burns then.
func (p Price) See(t Total, now time.Time, left pricing.Money, burn pricing.Rate) Price {
	if p.At.IsZero() {
		return Price{At: now, Left: left, Burn: burn}
	}
	return Price{At: now, Log: p.To(t, now).Log, Left: left, Burn: burn}
}

// Lasts is the burn that would last to the end of the period, its reserve included; 0
// when nothing is left.
func (p Price) Lasts(t Total) pricing.Rate {
	_, until := t.Span(p.At)
	if h := (until.Sub(p.At) + t.Reserve(p.At)).Hours(); h > 0 && p.Left > 0 {
		return pricing.RateOf(p.Left.Dollars() / h)
	}
	return 0
}

// Level is the price in whole steps.
func (p Price) Level() int { return int(math.Floor(p.Log / LevelStep)) }

// Mu is the price that plans are made with, that of its step.
func (p Price) Mu() float64 { return math.Expm1(float64(p.Level()) * LevelStep) }

// Next is when the price comes to another step if the burn stays as it is; zero: not
// within its period.
func (p Price) Next(t Total) time.Time {
	if p.At.IsZero() {
		return time.Time{}
	}
	_, until := t.Span(p.At)
	end := (until.Sub(p.At) + t.Reserve(p.At)).Hours()
	left, burn := p.Left.Dollars(), p.Burn.Dollars()
	rises := burn > 0 && end > left/burn
	to := float64(p.Level())*LevelStep - p.Log - 1e-9 // just below the step
	if rises {
		to = float64(p.Level()+1)*LevelStep - p.Log
	}
	if !rises && p.Level() == 0 || rises && p.Log >= mostLog {
		return time.Time{}
	}
	h := -to * Reaction.Hours()
	if burn > 0 {
		slope := (left/burn - end) / Reaction.Hours()
		if slope == 0 {
			return time.Time{}
		}
		h = -math.Expm1(to/slope) * left / burn
	}
	if at := p.At.Add(time.Duration(math.Ceil(min(max(h, 0), 24*366) * float64(time.Hour)))); at.Before(until) {
		return at
	}
	return until
}
