package report

import (
	"math"
	"strconv"
	"strings"

	"github.com/goodfleet/goodfleet/pricing"
)

// unknown is how a value that is not known is shown.
const unknown = "—"

// cent is the unit in which amounts are shown.
const cent = pricing.Dollar / 100

// Together rounds amounts to whole units so that they add up to their rounded
// sum: each is rounded down, and the units that are missing go to the largest
// remainders, the first of equals first.
func Together(amounts []pricing.Money, unit pricing.Money) (rounded []pricing.Money, total pricing.Money) {
	sum := pricing.Money(0)
	for _, amount := range amounts {
		sum += amount
	}
	total = nearest(sum, unit)
	return roundedTo(amounts, unit, total), total
}

// Parts rounds numbers to so many decimals so that they add up to their rounded total, as
// Together rounds amounts. The total is that of the numbers, which may be sums of more exact
// ones.
func Parts(parts []float64, total float64, decimals int) (rounded []string, sum string) {
	unit := pricing.Money(1)
	for range nanoDecimals - decimals {
		unit *= 10
	}
	amounts := make([]pricing.Money, len(parts))
	at, all := -1, pricing.Money(0)
	for i, p := range parts {
		amounts[i] = pricing.Money(math.Round(p * float64(pricing.Dollar)))
		all += amounts[i]
		if at < 0 || amounts[i] > amounts[at] {
			at = i
		}
	}
	if at >= 0 { // what floats lack of the total is far below a unit
		amounts[at] += pricing.Money(math.Round(total*float64(pricing.Dollar))) - all
	}
	shown, whole := Together(amounts, unit)
	rounded = make([]string, len(shown))
	for i, v := range shown {
		rounded[i] = number(v.Dollars(), decimals)
	}
	return rounded, number(whole.Dollars(), decimals)
}

// nanoDecimals are the decimals of an exact number here.
const nanoDecimals = 9

// nearest is amount to the nearest whole unit, half away from zero.
func nearest(amount, unit pricing.Money) pricing.Money {
	if amount < 0 {
		return -nearest(-amount, unit)
	}
	return (amount + unit/2) / unit * unit
}

// dollars writes an amount with cents and separators: "1,234.50".
func dollars(amount pricing.Money) string {
	return number(nearest(amount, cent).Dollars(), 2)
}

// number writes a float with so many decimals and separators of thousands.
func number(v float64, decimals int) string {
	text := strconv.FormatFloat(v, 'f', decimals, 64)
	sign := ""
	if text[0] == '-' {
		sign, text = "-", text[1:]
	}
	if strings.Trim(text, "0.") == "" {
		sign = "" // no minus zero
	}
	whole, fraction, dotted := strings.Cut(text, ".")
	for at := len(whole) - 3; at > 0; at -= 3 {
		whole = whole[:at] + "," + whole[at:]
	}
	if dotted {
		whole += "." + fraction
	}
	return sign + whole
}
