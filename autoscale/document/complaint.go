package document

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

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
	case *kind.FalseSchema:
		e.Reason = "does not go with the keys beside it"
	case *kind.Required:
		e.Path, e.Reason = join(path, k.Missing[0]), "is required"
	case *kind.DependentRequired:
		e.Path, e.Reason = join(path, k.Missing[0]), "is required beside "+k.Prop
	case *kind.Type:
		e.Reason = wrongType(at, k.Want)
		if example, ok := unitOf[c.format(leaf.InstanceLocation)]; ok && isNumber(at) {
			e.Reason = fmt.Sprintf("%s has no unit: want a number and its unit, such as %s%s", at.text(), at.text(), example)
		}
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
		e.Reason = "want only one of " + strings.Join(c.keys(leaf.InstanceLocation), ", ")
		if k.Want == 1 && slices.Contains(c.keys(leaf.InstanceLocation), "model") {
			e.Reason += ", or all but the first of these"
		}
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

// unitOf is what a number lacks where a text with a unit is read, by the schema's format.
var unitOf = map[string]string{
	"goodfleet-duration": "m", "goodfleet-size": "GiB", "goodfleet-amount": " USD", "goodfleet-rate": " USD/h", "goodfleet-percent": "%",
}

func isNumber(at *node) bool {
	if at.shape != scalarShape {
		return false
	}
	_, err := strconv.ParseFloat(at.text(), 64)
	return err == nil
}

// format is the format of the text at a place, as the schema has it; "": none.
func (c compiled) format(location []string) string {
	at, ok := c.at(location)
	if !ok {
		return ""
	}
	format, _ := at["format"].(string)
	return format
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

// at is the schema of a place; ok is false where it says nothing of it.
func (c compiled) at(location []string) (at map[string]any, ok bool) {
	at = c.raw
	for _, step := range location {
		at = referred(at)
		if properties, ok := at["properties"].(map[string]any); ok {
			if next, ok := properties[step].(map[string]any); ok {
				at = next
				continue
			}
		}
		next, ok := at["items"].(map[string]any)
		if !ok {
			return nil, false
		}
		at = next
	}
	return referred(at), true
}

// keys lists the keys that the schema knows at a place, in order.
func (c compiled) keys(location []string) []string {
	at, ok := c.at(location)
	if !ok {
		return nil
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

// referred is the schema of another kind that a schema stands for, or itself.
func referred(at map[string]any) map[string]any {
	file, ok := at["$ref"].(string)
	if !ok {
		return at
	}
	all, err := schemas()
	if err != nil {
		return at
	}
	for _, k := range kinds {
		if path.Base(k.file) == file {
			return all[k.name].raw
		}
	}
	return at
}
