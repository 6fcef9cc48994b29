// Package numeral reads the numbers of files as they stand there: one that a float64 would
// turn into infinity, or into 0 though it is none, is refused and not rounded away.
package numeral

import (
	"errors"
	"math"
	"strconv"
	"strings"
)

// Reasons why a text is not read.
var (
	ErrNone  = errors.New("is no finite number")
	ErrLarge = errors.New("is out of range: it is 1.8e308 or more")
	ErrSmall = errors.New("is out of range: it is so near to 0 that it would be read as 0")
)

// Parse reads a finite number in decimal, with a sign, a point and an exponent as
// strconv.ParseFloat takes them. The error is ErrNone, ErrLarge or ErrSmall.
func Parse(text string) (float64, error) {
	v, err := strconv.ParseFloat(text, 64)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return 0, ErrLarge
	case err != nil || math.IsNaN(v) || math.IsInf(v, 0):
		return 0, ErrNone
	case v == 0 && significant(text):
		return 0, ErrSmall
	}
	return v, nil
}

// significant reports whether a digit before the exponent is not 0. Of hexadecimal
// numbers the exponent begins with p.
func significant(text string) bool {
	text, digits, exponent := strings.ToLower(strings.TrimLeft(text, "+-")), "123456789", "e"
	if hex, ok := strings.CutPrefix(text, "0x"); ok {
		text, digits, exponent = hex, "123456789abcdef", "p"
	}
	mantissa, _, _ := strings.Cut(text, exponent)
	return strings.ContainsAny(mantissa, digits)
}
