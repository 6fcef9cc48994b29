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
	var f fields
	if err := f.UnmarshalJSON(text); err != nil {
		return err
	}
	for k, m := range f {
		at := join(path, string(m.name))
		if !slices.Contains(names, string(m.name)) {
			return &FieldError{at, "unknown field: want one of " + strings.Join(names, ", ")}
		}
		for _, other := range f[:k] {
			if bytes.Equal(other.name, m.name) {
				return &FieldError{at, "is there twice"}
			}
		}
	}
	return nil
}
