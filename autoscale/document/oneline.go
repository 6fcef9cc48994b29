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

// mostQuoted and mostSaid are how many characters of a quoted text, and of a whole
// complaint, are shown.
const mostQuoted, mostSaid = 80, 800

// Brief is a complaint in one line of bounded length: of long quoted texts, which are what a
// file or a person said, the beginning is shown, and of a long complaint beginning and end.
func Brief(text string) string {
	text = OneLine(text)
	var b strings.Builder
	for text != "" {
		start := strings.IndexByte(text, '"')
		if start < 0 {
			break
		}
		end := endOfQuote(text[start+1:])
		if end < 0 {
			break
		}
		b.WriteString(text[:start+1])
		b.WriteString(cut(text[start+1:start+1+end], mostQuoted))
		b.WriteByte('"')
		text = text[start+end+2:]
	}
	b.WriteString(text)
	said := []rune(b.String())
	if len(said) <= mostSaid {
		return b.String()
	}
	return cut(string(said), mostSaid*3/4) + " " + string(said[len(said)-mostSaid/4:])
}

// endOfQuote is where the quote ends that text is in; -1: nowhere.
func endOfQuote(text string) int {
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
	return -1
}

// cut shows so many characters at the beginning of a text, and never a part of an escape.
func cut(text string, most int) string {
	all := []rune(text)
	if len(all) <= most {
		return text
	}
	shown := string(all[:most])
	if slash := strings.LastIndexByte(shown, '\\'); slash >= 0 && len(shown)-slash < 10 {
		for slash > 0 && shown[slash-1] == '\\' {
			slash--
		}
		shown = shown[:slash]
	}
	return shown + "…"
}
