package budget

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"time"

	"github.com/goodfleet/goodfleet/pricing"
)

// FleetBurn is the name of the cap on the whole fleet.
const FleetBurn = "fleet-burn"

// Unlimited is the burn of a limit that bounds something else.
const Unlimited pricing.Rate = math.MaxInt64

// ErrRefused is wrapped by every answer that a launch may not be made.
var ErrRefused = errors.New("refused by the budget")

// Limit is one cap on the rates of the machines that run at once, or on those of one
// machine. Every limit that covers a part of what is asked must hold, so the strictest
// answers.
type Limit struct {
	Name string           // of the policy behind it; unique
	Over func(Facts) bool // what it covers; nil: everything
	Burn pricing.Rate     // sum of the rates of what is covered; Unlimited: any
	Left *Left            // Burn comes of an amount of money; nil: it is a cap by itself

	MaxRate pricing.Rate // of one machine; 0: any
	OfList  float64      // of one machine's rate in its on-demand rate; 0: any
	Closed  string       // why nothing more is bought or begun; "": it may be
}

// Left is money that is left, and how long what runs must be able to go on with it
// when more is begun: until it could be stopped, saved and ended.
type Left struct {
	Spent, Amount pricing.Money
	Lasts         time.Duration
	Room          Room // when there is more, of an amount that is used up; zero: not looked at
}

// Burn is what the money left lasts for.
func (l Left) Burn() pricing.Rate {
	if l.Spent >= l.Amount {
		return 0
	}
	hi, lo := bits.Mul64(uint64(l.Amount-l.Spent), uint64(time.Hour))
	if hi >= uint64(l.Lasts) {
		return Unlimited
	}
	rate, _ := bits.Div64(hi, lo, uint64(l.Lasts))
	return pricing.Rate(min(rate, math.MaxInt64))
}

// Refused says which limit forbids a launch, and by which numbers.
type Refused struct {
	Policy   string       // name of the limit
	Asked    pricing.Rate // of what it covers of the launch; 0: not known
	Reserved pricing.Rate // of launches under way
	Held     pricing.Rate // of machines that are here
	Limit    pricing.Rate
	Left     *Left  // the limit comes of money that is left
	Unpriced string // what has no known rate; "": everything has one
	Why      string // it is no matter of sums
}

// Error is one line for people: "fleet-burn: reserved 6 of 10 USD/h, asked 6".
func (r *Refused) Error() string {
	if r.Unpriced != "" {
		return fmt.Sprintf("%s: the rate of %s is not known", r.Policy, r.Unpriced)
	}
	if r.Why != "" {
		return r.Policy + ": " + r.Why
	}
	used := fmt.Sprintf("reserved %s", r.Reserved)
	if r.Held > 0 {
		used = fmt.Sprintf("held %s and %s", r.Held, used)
	}
	if r.Left != nil && r.Left.Spent >= r.Left.Amount {
		text := fmt.Sprintf("%s: %s of %s USD are spent: it is used up", r.Policy, r.Left.Spent, r.Left.Amount)
		if r.Left.Room != (Room{}) {
			text += "; " + r.Left.Room.String()
		}
		return text
	}
	if r.Left != nil {
		return fmt.Sprintf("%s: %s of %s USD are spent, what is left lasts %v at %s USD/h: %s, asked %s",
			r.Policy, r.Left.Spent, r.Left.Amount, r.Left.Lasts, r.Limit, used, r.Asked)
	}
	return fmt.Sprintf("%s: %s of %s USD/h, asked %s", r.Policy, used, r.Limit, r.Asked)
}

func (r *Refused) Unwrap() error { return ErrRefused }

// times is the rate of n machines. A sum too large for a Rate stays at the
// largest one, which is over every cap: it must not wrap around to a small one.
func times(rate pricing.Rate, n int) pricing.Rate {
	hi, lo := bits.Mul64(uint64(rate), uint64(n))
	if hi != 0 || lo > math.MaxInt64 {
		return math.MaxInt64
	}
	return pricing.Rate(lo)
}

// portion is n of `of` parts of a rate, rounded up.
func portion(rate pricing.Rate, n, of int) pricing.Rate {
	if n == of || of == 0 {
		return rate
	}
	hi, lo := bits.Mul64(uint64(rate), uint64(n))
	q, rest := bits.Div64(hi, lo, uint64(of)) // n < of: it fits
	if rest > 0 {
		q++
	}
	return pricing.Rate(q)
}

// plus adds two rates that are not negative, and stays at the largest one.
func plus(a, b pricing.Rate) pricing.Rate {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}
