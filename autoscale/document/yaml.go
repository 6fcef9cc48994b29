package document

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strings"
)

// YAML writes any value that marshals to JSON as YAML with the same fields in the
// same order. Whatever some reader of YAML, old or new, could take for a number, a
// truth or a time is put in quotes.
func YAML(v any) ([]byte, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	in := json.NewDecoder(bytes.NewReader(text))
	in.UseNumber()
	var out bytes.Buffer
	w := yamlWriter{in: in, out: &out}
	if err := w.value(0, ""); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// yamlWriter turns the tokens of a JSON text into lines of YAML.
type yamlWriter struct {
	in  *json.Decoder
	out *bytes.Buffer
}

// value writes the next value. lead is what stands between the place where the
// value begins and its text, if it fits the line: " " after a key or a dash.
func (w yamlWriter) value(indent int, lead string) error {
	tk, err := w.in.Token()
	if err != nil {
		return err
	}
	delim, ok := tk.(json.Delim)
	if !ok {
		fmt.Fprintf(w.out, "%s%s\n", lead, yamlScalar(tk))
		return nil
	}
	closing := map[json.Delim]string{'{': "}", '[': "]"}[delim]
	if !w.in.More() {
		fmt.Fprintf(w.out, "%s%v%s\n", lead, delim, closing)
		_, err := w.in.Token()
		return err
	}
	// The entries of a mapping in a list begin on the line of its dash.
	inline := lead == " " && delim == '{' && bytes.HasSuffix(w.out.Bytes(), []byte("-"))
	if lead == " " && !inline {
		w.out.WriteByte('\n')
	}
	for first := true; w.in.More(); first = false {
		switch {
		case inline && first:
			w.out.WriteByte(' ')
		default:
			w.out.WriteString(strings.Repeat(" ", indent))
		}
		if err := w.entry(delim, indent); err != nil {
			return err
		}
	}
	_, err = w.in.Token()
	return err
}

// entry writes one key with its value, or one item.
func (w yamlWriter) entry(delim json.Delim, indent int) error {
	if delim == '[' {
		w.out.WriteByte('-')
		return w.value(indent+2, " ")
	}
	key, err := w.in.Token()
	if err != nil {
		return err
	}
	name, ok := key.(string)
	if !ok {
		return io.ErrUnexpectedEOF
	}
	w.out.WriteString(yamlScalar(name) + ":")
	return w.value(indent+2, " ")
}

// plainText is text that every reader of YAML takes for text, but for words.
var plainText = regexp.MustCompile(`^[A-Za-z/][A-Za-z0-9_./()+=@-]*( [A-Za-z0-9_./()+=@-]+)*$`)

// words are read as a truth or as nothing by some.
var words = regexp.MustCompile(`(?i)^(true|false|yes|no|on|off|y|n|null|nan|inf)$`)

func yamlScalar(tk json.Token) string {
	text, ok := tk.(string)
	if ok && plainText.MatchString(text) && !words.MatchString(text) {
		return text
	}
	quoted, err := json.Marshal(tk)
	if err != nil {
		return `""` // no token fails to marshal
	}
	return string(unsteered(quoted))
}
