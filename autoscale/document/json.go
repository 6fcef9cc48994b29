package document

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"unicode/utf8"
)

// JSON writes any value as JSON with an indent, as it is shown and kept: names of others may
// be in it, so that what would steer a terminal or turn the text round is written as an
// escape. Whoever reads it gets the same value.
func JSON(w io.Writer, v any, indent string) error {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetIndent("", indent)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return err
	}
	_, err := w.Write(unsteered(text.Bytes()))
	return err
}

// unsteered is JSON with escapes for what steers. Such stands in texts alone, but for the
// line ends around values; and what encoding/json escapes by itself is gone already.
func unsteered(text []byte) []byte {
	steering := func(r rune) bool { return r >= 0x7f && steers(r) }
	if !bytes.ContainsFunc(text, steering) {
		return text
	}
	var b bytes.Buffer
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		if steering(r) {
			fmt.Fprintf(&b, `\u%04x`, r)
		} else {
			b.Write(text[:size])
		}
		text = text[size:]
	}
	return b.Bytes()
}
