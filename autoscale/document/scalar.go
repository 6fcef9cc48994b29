package document

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/planner/numeral"
	"github.com/goodfleet/goodfleet/pricing"
)

// Duration is a length of time in a document: "30m", "1h30m", "2d12h". It is
// never negative.
type Duration time.Duration

// day is the one unit that time.ParseDuration lacks.
const day = 24 * time.Hour

// ParseDuration reads a duration: whole days first, if any, then what
// time.ParseDuration takes.
func ParseDuration(text string) (time.Duration, error) {
	refuse := func(why string) (time.Duration, error) {
		return 0, fmt.Errorf("%q is no duration: %s", text, why)
	}
	var total time.Duration
	rest := text
	if days, after, ok := strings.Cut(text, "d"); ok {
		n, err := strconv.ParseUint(days, 10, 16)
		if err != nil {
			return refuse(`want a number and a unit, as in "30m" or "2d12h"`)
		}
		total, rest = time.Duration(n)*day, after
	}
	if rest != "" || total == 0 && rest == text {
		d, err := time.ParseDuration(rest)
		switch {
		case err != nil:
			return refuse(`want a number and a unit, as in "30m" or "2d12h"`)
		case d < 0:
			return refuse("it is negative")
		case total > math.MaxInt64-d:
			return refuse("it is too long")
		}
		total += d
	}
	return total, nil
}

// FormatDuration writes what ParseDuration reads back, without units that are zero.
func FormatDuration(d time.Duration) string {
	if d == 0 {
		return "0s"
	}
	text := ""
	if days := d / day; days > 0 && days <= math.MaxUint16 {
		text, d = strconv.FormatInt(int64(days), 10)+"d", d%day
		if d == 0 {
			return text
		}
	}
	rest := d.String()
	if strings.HasSuffix(rest, "m0s") {
		rest = strings.TrimSuffix(rest, "0s")
	}
	if strings.HasSuffix(rest, "h0m") {
		rest = strings.TrimSuffix(rest, "0m")
	}
	return text + rest
}

// MarshalText writes a duration as people do.
func (d Duration) MarshalText() ([]byte, error) { return []byte(FormatDuration(time.Duration(d))), nil }

// UnmarshalText reads it.
func (d *Duration) UnmarshalText(text []byte) error {
	parsed, err := ParseDuration(string(text))
	*d = Duration(parsed)
	return err
}

// Interval is a duration, or "auto", which is 0.
type Interval time.Duration

// auto is the word for an interval that goodfleet chooses.
const auto = "auto"

// ParseInterval reads a duration that is not 0, or "auto".
func ParseInterval(text string) (time.Duration, error) {
	if text == auto {
		return 0, nil
	}
	d, err := ParseDuration(text)
	if err == nil && d == 0 {
		return 0, fmt.Errorf(`%q: want a positive duration, or "auto"`, text)
	}
	return d, err
}

// MarshalText writes "auto" for 0.
func (i Interval) MarshalText() ([]byte, error) {
	if i == 0 {
		return []byte(auto), nil
	}
	return Duration(i).MarshalText()
}

// UnmarshalText reads what MarshalText writes.
func (i *Interval) UnmarshalText(text []byte) error {
	parsed, err := ParseInterval(string(text))
	*i = Interval(parsed)
	return err
}

// Size is an amount of data or memory, "80GiB". The zero value is unknown.
type Size planner.Size

// sizeUnits are the accepted units in GiB, longest first where one ends another.
var sizeUnits = []struct {
	name string
	gib  float64
}{
	{"KiB", 1.0 / (1 << 20)}, {"MiB", 1.0 / (1 << 10)}, {"GiB", 1}, {"TiB", 1 << 10}, {"PiB", 1 << 20},
	{"KB", 1e3 / (1 << 30)}, {"MB", 1e6 / (1 << 30)}, {"GB", 1e9 / (1 << 30)}, {"TB", 1e12 / (1 << 30)}, {"PB", 1e15 / (1 << 30)},
}

// ParseSize reads a number and its unit, KiB to PiB or KB to PB, with or without
// a space between, in GiB.
func ParseSize(text string) (gib float64, err error) {
	for _, unit := range sizeUnits {
		number, ok := strings.CutSuffix(text, unit.name)
		if !ok {
			continue
		}
		n, err := parseDecimal(strings.TrimSuffix(number, " "))
		if err != nil {
			return 0, fmt.Errorf("%q is no size: %w", text, err)
		}
		return n * unit.gib, nil
	}
	return 0, fmt.Errorf(`%q is no size: want a number and a unit, as in "80GiB" or "1.5 TB"`, text)
}

// maxDecimal bounds numbers of sizes: beyond it, digits would be lost.
const maxDecimal = 1 << 53

// parseDecimal reads digits with at most one point between them.
func parseDecimal(text string) (float64, error) {
	for i, r := range text {
		if (r < '0' || r > '9') && (r != '.' || i == 0 || i == len(text)-1) {
			return 0, errors.New("want a plain decimal number before the unit")
		}
	}
	n, err := numeral.Parse(text)
	if errors.Is(err, numeral.ErrSmall) {
		return 0, err
	}
	if err != nil || n > maxDecimal {
		return 0, errors.New("want a plain decimal number before the unit")
	}
	return n, nil
}

// MarshalText writes GiB.
func (s Size) MarshalText() ([]byte, error) {
	if !s.Known || s.GiB < 0 || math.IsNaN(s.GiB) || math.IsInf(s.GiB, 0) {
		return nil, fmt.Errorf("size %v GiB (known %t) has no text", s.GiB, s.Known)
	}
	return []byte(strconv.FormatFloat(s.GiB, 'f', -1, 64) + "GiB"), nil
}

// UnmarshalText reads a size with its unit.
func (s *Size) UnmarshalText(text []byte) error {
	gib, err := ParseSize(string(text))
	*s = Size{GiB: gib, Known: err == nil}
	return err
}

// sizeOf is a need in GiB as a Size: a need of nothing is not written.
func sizeOf(gib float64) Size { return Size{GiB: gib, Known: gib != 0} }

// Amount is money with its currency: "12.50 USD".
type Amount pricing.Money

// MarshalText writes the exact amount.
func (a Amount) MarshalText() ([]byte, error) { return []byte(pricing.Money(a).String() + " USD"), nil }

// UnmarshalText reads an amount with its currency.
func (a *Amount) UnmarshalText(text []byte) error {
	parsed, err := pricing.ParseAmount(string(text))
	*a = Amount(parsed)
	return err
}

// Hourly is a rate with its unit: "3 USD/h".
type Hourly pricing.Rate

// MarshalText writes the exact rate.
func (h Hourly) MarshalText() ([]byte, error) {
	return []byte(pricing.Rate(h).String() + " USD/h"), nil
}

// UnmarshalText reads a rate with its unit.
func (h *Hourly) UnmarshalText(text []byte) error {
	parsed, err := pricing.ParseHourly(string(text))
	*h = Hourly(parsed)
	return err
}
