package share

import (
	"bytes"
	"slices"
	"strings"
)

// onlyFields reports the first field of a JSON object, of text that the decoder has checked, that
// has none of the names, or is there twice: a field that is misspelt would else be taken for
// one that was left out. What is no object is no concern of it.
func onlyFields(text []byte, path string, names ...string) error {
	text = bytes.TrimSpace(bytes.TrimPrefix(text, []byte("\ufeff")))
	if len(text) == 0 || text[0] != '{' {
		return nil
	}
	var room [16][]byte
	seen := room[:0]
	for rest := space(text[1:]); rest[0] != '}'; {
		name, after, err := member(rest)
		if err != nil {
			return err
		}
		if seen, err = oneOf(seen, name, path, names); err != nil {
			return err
		}
		_, after = value(after)
		rest = next(after)
	}
	return nil
}

// oneOf adds a name to those seen, if it is one of names, and new.
func oneOf(seen [][]byte, name []byte, path string, names []string) ([][]byte, error) {
	if !slices.Contains(names, string(name)) {
		return nil, &FieldError{join(path, string(name)), "unknown field: want one of " + strings.Join(names, ", ")}
	}
	for _, other := range seen {
		if bytes.Equal(other, name) {
			return nil, &FieldError{join(path, string(name)), "is there twice"}
		}
	}
	return append(seen, name), nil
}
