package budget

import (
	"errors"
	"fmt"
	"math"
	"math/bits"

	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/provider"
)

// FleetBurn is the name of the cap on the whole fleet.
const FleetBurn = "fleet-burn"

// ErrRefused is wrapped by every answer that a launch may not be made.
var ErrRefused = errors.New("refused by the budget")

// Limit is one cap on the rates of the machines that run at once. Every limit
// that covers an offering must hold, so the strictest answers.
type Limit struct {
	Name string                       // of the policy behind it; unique
	Burn pricing.Rate                 // sum of the rates of the machines covered
	Over func(provider.Offering) bool // what it covers; nil: everything
}

func (l Limit) covers(o provider.Offering) bool { return l.Over == nil || l.Over(o) }

// Refused says which limit forbids a launch, and by which numbers.
type Refused struct {
	Policy   string       // name of the limit
	Asked    pricing.Rate // of all machines of the launch; 0: not known
	Reserved pricing.Rate // of launches under way
	Held     pricing.Rate // of machines that are here
	Limit    pricing.Rate
	Unpriced string // what has no known rate; "": everything has one
}

// Error is one line for people: "fleet-burn: reserved 6 of 10 USD/h, asked 6".
func (r *Refused) Error() string {
	if r.Unpriced != "" {
		return fmt.Sprintf("%s: the rate of %s is not known", r.Policy, r.Unpriced)
	}
	used := fmt.Sprintf("reserved %s", r.Reserved)
	if r.Held > 0 {
		used = fmt.Sprintf("held %s and %s", r.Held, used)
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

// plus adds two rates that are not negative, and stays at the largest one.
func plus(a, b pricing.Rate) pricing.Rate {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}
