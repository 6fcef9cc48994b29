package share

import (
	"fmt"
	"strings"
	"unicode"
)

// span is the magnitudes that a field may have. They reach far beyond what clouds and training
// have; further out, quotients and powers of several fields leave double precision.
type span struct {
	least, most float64
	zero        bool   // or 0
	text        string // what is wanted
}

var (
	speeds   = span{1e-9, 1e12, true, "0, or 1e-9 to 1e12 steps/s"}
	dollars  = span{1e-6, 1e6, true, "0, or 1e-6 to 1e6 USD/h"}
	weights  = span{1e-9, 1e9, false, "1e-9 to 1e9"}
	works    = span{1e-6, 1e18, true, "0, or 1e-6 to 1e18 steps"}
	spells   = span{1e-6, 1e12, true, "0, or 1e-6 to 1e12 s"}
	restarts = span{0, 1e12, true, "0 to 1e12"}
	lambdas  = span{0, 1e12, true, "0 to 1e12"}
	goodputs = span{1e-9, 1e12, true, "0 (unusable), or 1e-9 to 1e12"}
	fewest   = span{1e-6, 1e9, false, "1e-6 to 1e9"}
)

// mostDeadline is the latest deadline, in seconds; -1e308 has passed just as -1 has.
const mostDeadline = 1e12

// mostWorth is the most that an option may count.
const mostWorth = 1e200

// refuse is the reason why v cannot be used; "" if it can.
func (s span) refuse(v float64) string {
	if v >= s.least && v <= s.most || s.zero && v == 0 {
		return ""
	}
	return fmt.Sprintf("%g: want %s", v, s.text)
}

// nameOf refuses as a name what no line of a table holds.
func nameOf(text, path string, args ...any) error {
	if strings.ContainsFunc(text, unprintable) {
		return fieldErr(fmt.Sprintf("%q: want one line of text without control characters", text), path, args...)
	}
	return nil
}

// unprintable reports letters that end a line, or that a terminal takes for a command.
func unprintable(r rune) bool { return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' }
