package pricing

import (
	"errors"
	"fmt"
	"math/big"
	"math/bits"
	"strconv"
	"strings"
	"time"
)

// Money is an amount in nano US dollars, exact over millions of charges.
type Money int64

// Rate is nano US dollars per hour of one instance.
type Rate int64

// Dollar is one US dollar.
const Dollar Money = 1_000_000_000

// DollarPerHour is a rate of one US dollar an hour.
const DollarPerHour Rate = 1_000_000_000

// ErrNotMoney is wrapped by every error about a text that is no amount of money.
var ErrNotMoney = errors.New("not an amount")

// ParseMoney reads a plain decimal number of US dollars, such as "12.50". Digits
// beyond the ninth decimal, exponents, signs of plus, separators, NaN and
// infinities are refused: a price is copied, never rounded on the way in.
func ParseMoney(text string) (Money, error) {
	n, err := parseNano(text)
	return Money(n), err
}

// ParseRate reads a plain decimal number of US dollars per hour, such as "0.918".
func ParseRate(text string) (Rate, error) {
	n, err := parseNano(text)
	return Rate(n), err
}

// ParseAmount reads an amount with its currency, as people write it in files:
// "12.50 USD". A bare number is refused.
func ParseAmount(text string) (Money, error) {
	number, ok := strings.CutSuffix(strings.TrimSpace(text), " USD")
	if !ok {
		return 0, fmt.Errorf("%w: %q: want a decimal number and the currency, as in \"12.50 USD\"", ErrNotMoney, text)
	}
	return ParseMoney(strings.TrimSpace(number))
}

// ParseHourly reads a rate with its unit, as people write it in files: "900 USD/h".
func ParseHourly(text string) (Rate, error) {
	number, ok := strings.CutSuffix(strings.TrimSpace(text), " USD/h")
	if !ok {
		return 0, fmt.Errorf("%w: %q: want a decimal number and the unit, as in \"900 USD/h\"", ErrNotMoney, text)
	}
	return ParseRate(strings.TrimSpace(number))
}

func parseNano(text string) (int64, error) {
	refuse := func(why string) (int64, error) {
		return 0, fmt.Errorf("%w: %q: %s", ErrNotMoney, text, why)
	}
	digits, negative := strings.CutPrefix(text, "-")
	whole, fraction, dotted := strings.Cut(digits, ".")
	if whole == "" && fraction == "" {
		return refuse("empty")
	}
	for _, part := range []string{whole, fraction} {
		for _, r := range part {
			if r < '0' || r > '9' {
				return refuse("want digits and one decimal point")
			}
		}
	}
	if dotted && fraction == "" || whole == "" {
		return refuse("want digits on both sides of the decimal point")
	}
	fraction = strings.TrimRight(fraction, "0")
	if len(fraction) > 9 {
		return refuse("more than nine decimals")
	}
	n, err := strconv.ParseInt(whole+fraction+strings.Repeat("0", 9-len(fraction)), 10, 64)
	if err != nil {
		return refuse("out of range")
	}
	if negative {
		n = -n
	}
	return n, nil
}

// Over is what the rate comes to in d, rounded half to even to the nano dollar.
// It panics on a negative rate or duration, which no caller can mean.
func (r Rate) Over(d time.Duration) Money { return r.Per(time.Hour, d) }

// Per is what a rate that is not for an hour but for another time, such as a month
// or the term of a commitment, comes to in d, rounded as Over rounds.
func (r Rate) Per(per, d time.Duration) Money {
	if r < 0 || d < 0 || per <= 0 {
		panic(fmt.Sprintf("pricing: %d nano dollars per %v over %v", int64(r), per, d))
	}
	hi, lo := bits.Mul64(uint64(r), uint64(d))
	quotient, remainder := bits.Div64(hi, lo, uint64(per))
	twice := remainder * 2 // per is less than half of what fits
	if twice > uint64(per) || twice == uint64(per) && quotient%2 == 1 {
		quotient++
	}
	return Money(quotient)
}

// Times is the rate of n machines.
func (r Rate) Times(n int) Rate { return r * Rate(n) }

// Dollars is the amount as a float, for solvers and screens only.
func (m Money) Dollars() float64 { return float64(m) / 1e9 }

// Dollars is the rate in USD per hour as a float, for solvers and screens only.
func (r Rate) Dollars() float64 { return float64(r) / 1e9 }

// RateOf is the rate nearest to a float of USD per hour, for rates that are
// computed (a default, a threshold) and never for prices that were read.
func RateOf(dollarsPerHour float64) Rate {
	n, _ := new(big.Float).SetMode(big.ToNearestEven).SetFloat64(dollarsPerHour * 1e9).Int64()
	return Rate(n)
}

// String is the exact decimal number of dollars without trailing zeros: "12.5".
func (m Money) String() string { return nanoText(int64(m)) }

// String is the exact decimal number of dollars per hour without trailing zeros.
func (r Rate) String() string { return nanoText(int64(r)) }

func nanoText(n int64) string {
	sign := ""
	magnitude := uint64(n)
	if n < 0 {
		sign, magnitude = "-", uint64(-n)
	}
	text := fmt.Sprintf("%s%d.%09d", sign, magnitude/1e9, magnitude%1e9)
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
}

// MarshalText writes the exact decimal number, so that JSON carries money as text.
func (m Money) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalText reads a plain decimal number.
func (m *Money) UnmarshalText(text []byte) (err error) {
	*m, err = ParseMoney(string(text))
	return err
}

// MarshalText writes the exact decimal number, so that JSON carries money as text.
func (r Rate) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText reads a plain decimal number.
func (r *Rate) UnmarshalText(text []byte) (err error) {
	*r, err = ParseRate(string(text))
	return err
}
