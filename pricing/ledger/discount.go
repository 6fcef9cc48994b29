package ledger

import (
	"errors"
	"fmt"
	"math/bits"

	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/provider"
)

// Factor is what is left of a price after a negotiated discount, in billionths:
// 0.91 is 910,000,000.
type Factor int64

const whole Factor = 1_000_000_000

// ParseFactor reads a plain decimal number above 0 and up to 1.
func ParseFactor(text string) (Factor, error) {
	nano, err := pricing.ParseMoney(text)
	if err != nil {
		return 0, fmt.Errorf("factor %q: want a plain decimal number", text)
	}
	if f := Factor(nano); f > 0 && f <= whole {
		return f, nil
	}
	return 0, fmt.Errorf("factor %q: want more than 0 and at most 1", text)
}

// of is the rate after the discount, rounded half up to the nano dollar an hour.
func (f Factor) of(rate pricing.Rate) pricing.Rate {
	hi, lo := bits.Mul64(uint64(rate), uint64(f))
	quotient, rest := bits.Div64(hi, lo, uint64(whole))
	if rest >= uint64(whole)/2 {
		quotient++
	}
	return pricing.Rate(quotient)
}

// Discount is a negotiated discount on public prices. A field that is not set
// agrees with everything. Commitments have rates of their own: see Capacity.
type Discount struct {
	Cloud   string
	Account string
	Region  string
	Type    string
	Market  provider.Market
	Factor  Factor
}

func (d Discount) validate() error {
	switch {
	case d.Factor <= 0 || d.Factor > whole:
		return fmt.Errorf("factor: %d billionths: want more than 0 and at most 1", d.Factor)
	case d.Market == provider.Reserved:
		return errors.New("market: what is bought ahead has a rate of its own")
	}
	return nil
}

func (d Discount) fits(o provider.Offering) bool {
	return (d.Cloud == "" || d.Cloud == o.Cloud) && (d.Account == "" || d.Account == o.Account) &&
		(d.Region == "" || d.Region == o.Region) && (d.Type == "" || d.Type == o.Type) &&
		(d.Market == 0 || d.Market == o.Market) && o.Market != provider.Reserved
}

// negotiated is the rate of an offering after the first discount that fits.
func (r Rules) negotiated(o provider.Offering, public pricing.Rate) pricing.Rate {
	for _, d := range r.Discounts {
		if d.fits(o) {
			return d.Factor.of(public)
		}
	}
	return public
}
