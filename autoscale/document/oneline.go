package document

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// OneLine is a text as it can be shown to people in one line: what would end the line,
// steer a terminal or turn the text round is written as Go writes it in quotes. Names in
// a ledger, a bill or a store may hold anything.
func OneLine(text string) string { return shown(text, "") }

// Lines is OneLine of each line of a text, in which tabs stay.
func Lines(text string) string { return shown(text, "\n\t") }

func shown(text, keep string) string {
	first := strings.IndexFunc(text, func(r rune) bool { return steers(r) && !strings.ContainsRune(keep, r) })
	if first < 0 && utf8.ValidString(text) {
		return text
	}
	var b strings.Builder
	for i, r := range text {
		switch {
		case strings.ContainsRune(keep, r):
			b.WriteRune(r)
		case r == utf8.RuneError && !strings.HasPrefix(text[i:], string(utf8.RuneError)):
			fmt.Fprintf(&b, `\x%02x`, text[i])
		case steers(r):
			quoted := fmt.Sprintf("%+q", r)
			b.WriteString(quoted[1 : len(quoted)-1])
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// steers reports whether a character is an order rather than a sign.
func steers(r rune) bool {
	return unicode.IsControl(r) || unicode.In(r, unicode.Zl, unicode.Zp, unicode.Bidi_Control)
}
