package document

import (
	"bytes"
	"cmp"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/goodfleet/goodfleet/pricing"
)

//go:embed schema/*.json
var schemaFiles embed.FS

// kinds lists the documents that there are. A new kind is a line here, its Go
// type and its schema.
var kinds = []struct {
	name string
	file string
	make func() any
}{
	{"Config", "schema/config.json", func() any { return new(Config) }},
	{"TrainingJob", "schema/trainingjob.json", func() any { return new(TrainingJob) }},
}

// Kinds lists the kinds of documents by name.
func Kinds() []string {
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = k.name
	}
	return names
}

// Schema is the published JSON Schema (draft 2020-12) of a kind. ok is false when
// there is no such kind. The formats that begin with "goodfleet-" are those of
// this package: a reader that does not know them may ignore them.
func Schema(name string) (text []byte, ok bool) {
	for _, k := range kinds {
		if k.name == name {
			text, err := schemaFiles.ReadFile(k.file)
			return text, err == nil
		}
	}
	return nil, false
}

// compiled is a schema ready for use, and as it is written.
type compiled struct {
	schema *jsonschema.Schema
	raw    map[string]any
}

// schemas compiles every schema once.
var schemas = sync.OnceValues(func() (map[string]compiled, error) {
	all := make(map[string]compiled, len(kinds))
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	for _, f := range formats {
		compiler.RegisterFormat(&jsonschema.Format{Name: f.name, Validate: func(v any) error {
			text, ok := v.(string)
			if !ok {
				return nil // its type is wrong, which the schema says itself
			}
			return f.check(text)
		}})
	}
	for _, k := range kinds {
		text, err := schemaFiles.ReadFile(k.file)
		if err != nil {
			return nil, err
		}
		parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", k.file, err)
		}
		if err := compiler.AddResource(k.file, parsed); err != nil {
			return nil, fmt.Errorf("%s: %w", k.file, err)
		}
		schema, err := compiler.Compile(k.file)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", k.file, err)
		}
		raw, ok := parsed.(map[string]any)
		if !ok {
			return nil, fmt.Errorf("%s: is no object", k.file)
		}
		all[k.name] = compiled{schema, raw}
	}
	return all, nil
})

// formats are the texts that a schema names and this package reads.
var formats = []struct {
	name  string
	check func(string) error
}{
	{"goodfleet-name", checkName},
	{"goodfleet-text", checkText},
	{"goodfleet-duration", func(s string) error { _, err := ParseDuration(s); return err }},
	{"goodfleet-interval", func(s string) error { _, err := ParseInterval(s); return err }},
	{"goodfleet-size", func(s string) error { _, err := ParseSize(s); return err }},
	{"goodfleet-amount", func(s string) error { m, err := pricing.ParseAmount(s); return positive(s, int64(m), err) }},
	{"goodfleet-rate", func(s string) error { r, err := pricing.ParseHourly(s); return positive(s, int64(r), err) }},
	{"goodfleet-time", checkTime},
}

func positive(text string, nano int64, err error) error {
	if err == nil && nano <= 0 {
		return fmt.Errorf("%q: want more than 0", text)
	}
	return err
}

// nameText is what clouds take as the value of a tag.
var nameText = regexp.MustCompile(`^[\p{L}\p{N}][\p{L}\p{N} _.:/=+@-]*$`)

// checkName refuses a name that could not be written on a machine's tag.
func checkName(s string) error {
	if !nameText.MatchString(s) || strings.HasSuffix(s, " ") {
		return fmt.Errorf("%q: want letters, digits, spaces and _.:/=+-@, beginning with a letter or digit", s)
	}
	return nil
}

// checkText refuses what no field of one line holds.
func checkText(s string) error {
	if strings.ContainsFunc(s, unicode.IsControl) || strings.TrimSpace(s) != s {
		return fmt.Errorf("%q: want one line of text without space around it", s)
	}
	return nil
}

func checkTime(s string) error {
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return fmt.Errorf(`%q is no time: want RFC 3339, as in "2026-12-24T18:00:00Z"`, s)
	}
	if t.Year() < 1970 || t.Year() > 2200 {
		return fmt.Errorf("%q: want a year from 1970 to 2200", s)
	}
	return nil
}

// validate holds a tree to the schema of its kind, and reports what is wrong
// first in the file.
func validate(file, name string, root *node) error {
	all, err := schemas()
	if err != nil {
		return err
	}
	c := all[name]
	invalid := c.schema.Validate(root.plain())
	if invalid == nil {
		return nil
	}
	var tree *jsonschema.ValidationError
	if !errors.As(invalid, &tree) {
		return &Error{File: file, Line: root.line, Column: root.column, Reason: invalid.Error()}
	}
	var found, missing []*Error
	for _, leaf := range leaves(tree) {
		if _, ok := leaf.ErrorKind.(*kind.Required); ok {
			missing = append(missing, c.explain(file, root, leaf)...)
			continue
		}
		found = append(found, c.explain(file, root, leaf)...)
	}
	if len(found) == 0 {
		found = missing // a key that is missing may be there, misspelt
	}
	return slices.MinFunc(found, func(a, b *Error) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column), cmp.Compare(a.Path, b.Path), cmp.Compare(a.Reason, b.Reason))
	})
}

func leaves(e *jsonschema.ValidationError) []*jsonschema.ValidationError {
	if len(e.Causes) == 0 {
		return []*jsonschema.ValidationError{e}
	}
	var all []*jsonschema.ValidationError
	for _, cause := range e.Causes {
		all = append(all, leaves(cause)...)
	}
	return all
}

// explain says what a schema's complaint means, at its place.
func (c compiled) explain(file string, root *node, leaf *jsonschema.ValidationError) []*Error {
	at, path := root.find(leaf.InstanceLocation)
	e := &Error{File: file, Line: at.line, Column: at.column, Path: path}
	switch k := leaf.ErrorKind.(type) {
	case *kind.AdditionalProperties:
		known := c.keys(leaf.InstanceLocation)
		var all []*Error
		for _, name := range k.Properties {
			f := at.get(name)
			all = append(all, &Error{File: file, Line: f.line, Column: f.column, Path: join(path, name), Reason: "unknown key" + didYouMean(name, known)})
		}
		return all
	case *kind.Required:
		e.Path, e.Reason = join(path, k.Missing[0]), "is required"
	case *kind.DependentRequired:
		e.Path, e.Reason = join(path, k.Missing[0]), "is required beside "+k.Prop
	case *kind.Type:
		e.Reason = wrongType(at, k.Want)
	case *kind.Enum:
		e.Reason = wrongWord(at, k.Want)
	case *kind.Const:
		e.Reason = fmt.Sprintf("%s: want %v", at.text(), k.Want)
	case *kind.Format:
		e.Reason = k.Err.Error()
	case *kind.Minimum:
		e.Reason = fmt.Sprintf("%s: want at least %s", at.text(), k.Want.RatString())
	case *kind.ExclusiveMinimum:
		e.Reason = fmt.Sprintf("%s: want more than %s", at.text(), k.Want.RatString())
	case *kind.Maximum:
		e.Reason = fmt.Sprintf("%s: want at most %s", at.text(), k.Want.RatString())
	case *kind.MinLength, *kind.MinItems:
		e.Reason = "is empty"
	case *kind.MaxLength:
		e.Reason = fmt.Sprintf("has %d letters, more than %d", k.Got, k.Want)
	case *kind.UniqueItems:
		again := at.items[k.Duplicates[1]]
		e.Line, e.Column, e.Reason = again.line, again.column, again.text()+" is given twice"
	case *kind.MaxProperties:
		e.Reason = "want only one of " + strings.Join(c.keys(leaf.InstanceLocation), ", ") + ", or all but the first of these"
	case *kind.MinProperties:
		e.Reason = "want " + strings.Join(c.keys(leaf.InstanceLocation), " or ")
	default:
		e.Reason = fmt.Sprintf("does not keep %s of the schema", strings.Join(leaf.ErrorKind.KeywordPath(), "/"))
	}
	return []*Error{e}
}

// find follows the steps of a JSON pointer.
func (n *node) find(location []string) (at *node, path string) {
	at = n
	for _, step := range location {
		if at.shape == listShape {
			i, err := strconv.Atoi(step)
			if err != nil || i >= len(at.items) {
				return at, path
			}
			at, path = at.items[i], fmt.Sprintf("%s[%d]", path, i)
			continue
		}
		f := at.get(step)
		if f == nil {
			return at, path
		}
		at, path = f.node, join(path, step)
	}
	return at, path
}

// text shows a value in an error.
func (n *node) text() string {
	switch {
	case n.shape == mappingShape:
		return "a mapping"
	case n.shape == listShape:
		return "a list"
	case n.value == nil:
		return "nothing"
	}
	text, err := json.Marshal(n.value)
	if err != nil || len(text) > 200 {
		return "a long text"
	}
	return string(text)
}

// typeWords are the schema's types in people's words.
var typeWords = map[string]string{
	"string": "text", "number": "a number", "integer": "a whole number", "boolean": "true or false", "object": "a mapping", "array": "a list",
}

func wrongType(at *node, want []string) string {
	words := make([]string, len(want))
	for i, w := range want {
		words[i] = typeWords[w]
	}
	wanted := strings.Join(words, " or ")
	if at.shape == scalarShape && slices.Equal(want, []string{"string"}) {
		if at.value == nil {
			return "is empty: want text"
		}
		return fmt.Sprintf("want text, got %s: put it in quotes", at.text())
	}
	return fmt.Sprintf("want %s, got %s", wanted, at.text())
}

func wrongWord(at *node, want []any) string {
	words := make([]string, len(want))
	for i, w := range want {
		words[i] = fmt.Sprint(w)
	}
	reason := fmt.Sprintf("%s: want %s", at.text(), strings.Join(words, ", "))
	if text, ok := at.value.(string); ok {
		if meant, ok := Nearest(text, words); ok {
			reason += fmt.Sprintf("; did you mean %q?", meant)
		}
	}
	return reason
}

// keys lists the keys that the schema knows at a place, in order.
func (c compiled) keys(location []string) []string {
	at := c.raw
	for _, step := range location {
		if properties, ok := at["properties"].(map[string]any); ok {
			if next, ok := properties[step].(map[string]any); ok {
				at = next
				continue
			}
		}
		next, ok := at["items"].(map[string]any)
		if !ok {
			return nil
		}
		at = next
	}
	properties, ok := at["properties"].(map[string]any)
	if !ok {
		return nil
	}
	var names []string
	for name := range properties {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
