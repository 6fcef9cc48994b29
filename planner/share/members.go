package share

import (
	"bytes"
	"encoding/json"
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
		name, after := value(rest)
		if name = name[1 : len(name)-1]; bytes.IndexByte(name, '\\') >= 0 {
			var plain string
			if err := json.Unmarshal(rest[:len(name)+2], &plain); err != nil {
				return err
			}
			name = []byte(plain)
		}
		if !slices.Contains(names, string(name)) {
			return &FieldError{join(path, string(name)), "unknown field: want one of " + strings.Join(names, ", ")}
		}
		for _, other := range seen {
			if bytes.Equal(other, name) {
				return &FieldError{join(path, string(name)), "is there twice"}
			}
		}
		seen = append(seen, name)
		_, after = value(space(space(after)[1:])) // past the colon
		if rest = space(after); rest[0] == ',' {
			rest = space(rest[1:])
		}
	}
	return nil
}
