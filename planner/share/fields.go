package share

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"github.com/goodfleet/goodfleet/planner/numeral"
)

// fields are the members of a JSON object in the order of the document, their values as
// written. A fleet of 30 types and 10,000 jobs has 300,000 of them: a map of each job's
// would cost more than the program that they state.
type fields []field

type field struct {
	name  []byte
	value []byte
}

// UnmarshalJSON takes an object apart. The decoder has checked the text; null is no
// fields at all.
func (f *fields) UnmarshalJSON(text []byte) error {
	*f = nil
	if bytes.Equal(text, []byte("null")) {
		return nil
	}
	if text[0] != '{' {
		return &json.UnmarshalTypeError{Value: kind(text), Type: reflect.TypeFor[map[string]any]()}
	}
	list, err := members(bytes.Clone(text))
	*f = list
	return err
}

// members takes a checked object apart.
func members(text []byte) (fields, error) {
	list := make(fields, 0, 8)
	rest := space(space(text)[1:])
	for rest[0] != '}' {
		name, after, err := member(rest)
		if err != nil {
			return nil, err
		}
		raw, after := value(after)
		list = append(list, field{name, raw})
		rest = next(after)
	}
	return list, nil
}

// member splits the checked members of an object after the name and colon of the first.
func member(text []byte) (name, rest []byte, err error) {
	name, rest = value(text)
	if name = name[1 : len(name)-1]; bytes.IndexByte(name, '\\') >= 0 {
		var plain string
		if err := json.Unmarshal(text[:len(name)+2], &plain); err != nil {
			return nil, nil, err
		}
		name = []byte(plain)
	}
	return name, space(space(rest)[1:]), nil
}

// next skips what is between one value of a list or object and the next, or its end.
func next(text []byte) []byte {
	if text = space(text); text[0] == ',' {
		return space(text[1:])
	}
	return text
}

// space skips what is between values.
func space(text []byte) []byte {
	for text[0] == ' ' || text[0] == '\n' || text[0] == '\t' || text[0] == '\r' {
		text = text[1:]
	}
	return text
}

// value splits checked JSON after its first value.
func value(text []byte) (first, rest []byte) {
	depth, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			if quoted = !quoted; !quoted && depth == 0 {
				return text[:i+1], text[i+1:]
			}
		case quoted:
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			if depth == 0 {
				return text[:i], text[i:]
			}
			if depth--; depth == 0 {
				return text[:i+1], text[i+1:]
			}
		case depth == 0 && (c == ',' || c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == ':'):
			return text[:i], text[i:]
		}
	}
	return text, nil
}

// kind names a JSON value as encoding/json does.
func kind(text []byte) string {
	switch text[0] {
	case '{':
		return "object"
	case '[':
		return "array"
	case '"':
		return "string"
	case 't', 'f':
		return "bool"
	case 'n':
		return "null"
	}
	return "number"
}

// null reports whether the value is null.
func (f field) null() bool { return f.value[0] == 'n' }

const finiteWord = "a number below 1.8e308"

// number reads a value that must be a number, and finite.
func number(text []byte, path string, args ...any) (float64, error) {
	v, reason := finite(text)
	if reason != "" {
		return 0, fieldErr(reason, path, args...)
	}
	return v, nil
}

// finite is a number, or the reason why it is none.
func finite(text []byte) (v float64, reason string) {
	if k := kind(text); k != "number" {
		return 0, k + ": want a number"
	}
	v, err := numeral.Parse(string(text))
	if errors.Is(err, numeral.ErrSmall) {
		return 0, fmt.Sprintf("%.30s: %v", text, err)
	}
	if err != nil {
		return 0, fmt.Sprintf("%.30s: want %s", text, finiteWord)
	}
	return v, ""
}

// optional reads a number that may be left out, or null; nil then.
func optional(text []byte, path, name string) (*float64, error) {
	if kind(text) == "null" {
		return nil, nil
	}
	v, reason := finite(text)
	if reason != "" {
		return nil, &FieldError{join(path, name), reason}
	}
	return &v, nil
}

// twice reports the first name that an object has more than once.
func (f fields) twice(path string) error {
	seen := make(map[string]bool, len(f))
	for _, m := range f {
		if seen[string(m.name)] {
			return fieldErr("is there twice", "%s.%s", path, m.name)
		}
		seen[string(m.name)] = true
	}
	return nil
}
