package pricing

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Reason is why a price text was refused. The words are stable: people grep them.
type Reason string

const (
	Empty       Reason = "empty"            // not sold that way, or not known
	Zero        Reason = "zero"             // a free machine is a mistake
	Negative    Reason = "negative"         //
	NotANumber  Reason = "not a number"     // NaN
	Infinite    Reason = "infinite"         //
	Sentinel    Reason = "sentinel"         // a number that stands for "unknown": 700, 1e9
	Foreign     Reason = "foreign currency" // anything but USD
	Unparsable  Reason = "unparsable"       // no plain decimal number of at most nine decimals
	BadOffering Reason = "bad offering"     // a field that names what is sold is missing or wrong
	BadTime     Reason = "bad time"         //
	Repeated    Reason = "repeated"         // the same offering and instant was given before
	MissingPart Reason = "missing part"     // a sum of which one part has no price
)

// Refusal says which field of which row of which file was refused, and why. It is
// never planned with.
type Refusal struct {
	File   string `json:"file"`
	Line   int    `json:"line"`
	Field  string `json:"field"`
	Text   string `json:"text"`
	Reason Reason `json:"reason"`
	Detail string `json:"detail,omitempty"`
}

// Error names the row in one line.
func (r Refusal) Error() string {
	text := fmt.Sprintf("%s:%d: %s %q: %s", r.File, r.Line, r.Field, r.Text, r.Reason)
	if r.Detail != "" {
		text += ": " + r.Detail
	}
	return text
}

// sentinels are numbers that catalogues in the wild write for a price that they
// do not know: 700 USD/h for TPU v6e in SkyPilot's, a thousand million elsewhere.
var sentinels = []Rate{700 * DollarPerHour, 1_000_000_000 * DollarPerHour}

// maxPrice is more than any machine costs: a whole pod of TPU v5p is under 30,000
// USD/h. From there on a number stands for something else.
const maxPrice = 1_000_000 * DollarPerHour

// currency is the only one that prices may be in.
const currency = "USD"

// parsePrice reads a price of USD per hour, exactly. The reason is "" when it can
// be used.
func parsePrice(text string) (rate Rate, reason Reason, detail string) {
	if text == "" {
		return 0, Empty, ""
	}
	rate, err := ParseRate(text)
	if err != nil {
		return 0, whyNotPrice(text), errors.Unwrap(err).Error()
	}
	switch {
	case rate < 0:
		return 0, Negative, ""
	case rate == 0:
		return 0, Zero, ""
	}
	for _, s := range sentinels {
		if rate == s {
			return 0, Sentinel, "stands for an unknown price"
		}
	}
	if rate >= maxPrice {
		return 0, Sentinel, "no machine costs as much"
	}
	return rate, "", ""
}

// whyNotPrice tells apart what was meant by a text that is no plain decimal
// number. The float is looked at, never used.
func whyNotPrice(text string) Reason {
	f, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	switch {
	case err != nil && !errors.Is(err, strconv.ErrRange):
		return Unparsable
	case math.IsNaN(f):
		return NotANumber
	case math.IsInf(f, 0):
		return Infinite
	case f == sentinels[0].Dollars() || f == sentinels[1].Dollars():
		return Sentinel
	}
	return Unparsable
}
