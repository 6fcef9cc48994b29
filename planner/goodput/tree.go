package goodput

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/goodfleet/goodfleet/planner/numeral"
)

// InputError is a place in a document that cannot be used.
type InputError struct {
	Field  string // its path: "cases[3].job.m0"; "" for the document as a whole
	Reason string
}

// Error names the path and the reason.
func (e *InputError) Error() string {
	if e.Field == "" {
		return e.Reason
	}
	return e.Field + ": " + e.Reason
}

// tree is a JSON document that is being read. It keeps the first error; from then
// on every value reads as zero.
type tree struct {
	dec   *json.Decoder
	err   *InputError
	depth int
	empty bool // the document has nothing in it
}

// node is a value of a tree with its path. The zero node is absent.
type node struct {
	tree   *tree
	path   string
	value  any // nil, bool, json.Number, string, []node or map[string]node
	exists bool
}

// maxDepth bounds nesting: no document of ours comes near it.
const maxDepth = 64

// parseTree reads a document. Names given twice are an error.
func parseTree(text []byte) (node, *tree) {
	text = bytes.TrimPrefix(text, []byte("\ufeff")) // as some editors write it
	t := &tree{dec: json.NewDecoder(bytes.NewReader(text)), empty: len(bytes.TrimSpace(text)) == 0}
	t.dec.UseNumber()
	root := t.read("")
	if _, err := t.dec.Token(); !errors.Is(err, io.EOF) && t.err == nil {
		t.fail("", "something follows the document at byte %d", t.dec.InputOffset())
	}
	return root, t
}

// fail notes an error unless there was one before.
func (t *tree) fail(path, format string, args ...any) {
	if t.err == nil {
		t.err = &InputError{path, fmt.Sprintf(format, args...)}
	}
}

// error is the first error; nil without one.
func (t *tree) error() error {
	if t.err == nil {
		return nil
	}
	return t.err
}

func (t *tree) token(path string) json.Token {
	token, err := t.dec.Token()
	if err != nil {
		switch {
		case errors.Is(err, io.EOF) && t.empty:
			t.fail("", "is empty: want a JSON document")
		case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
			t.fail(path, "ends before its last bracket")
		default:
			t.fail(path, "is no JSON at byte %d: %v", t.dec.InputOffset(), err)
		}
	}
	return token
}

func (t *tree) read(path string) node {
	n := node{tree: t, path: path, exists: true}
	if t.depth++; t.depth > maxDepth {
		t.fail(path, "is nested too deeply")
	}
	defer func() { t.depth-- }()
	if t.err != nil {
		return n
	}
	switch token := t.token(path).(type) {
	case json.Delim:
		if token == '[' {
			var list []node
			for t.err == nil && t.dec.More() {
				list = append(list, t.read(path+"["+strconv.Itoa(len(list))+"]"))
			}
			n.value = list
		} else {
			fields := make(map[string]node)
			for t.err == nil && t.dec.More() {
				name, _ := t.token(path).(string)
				field := strings.TrimPrefix(path+"."+name, ".")
				if _, twice := fields[name]; twice {
					t.fail(field, "is given twice")
				}
				fields[name] = t.read(field)
			}
			n.value = fields
		}
		if t.err == nil {
			t.token(path) // the closing bracket
		}
	default:
		n.value = token
	}
	return n
}

// there reports whether the node has a value; null is none.
func (n node) there() bool { return n.exists && n.value != nil }

// get is a field that may be absent.
func (n node) get(name string) node {
	fields, _ := n.value.(map[string]node)
	if f, ok := fields[name]; ok {
		return f
	}
	return node{tree: n.tree, path: strings.TrimPrefix(n.path+"."+name, ".")}
}

// need is a field that may not.
func (n node) need(name string) node {
	f := n.get(name)
	if !f.there() {
		n.tree.fail(f.path, "is missing")
	}
	return f
}

// only fails on a field that is not one of names. It fails if n is no object.
func (n node) only(names ...string) {
	for _, name := range n.keys() {
		if !slices.Contains(names, name) {
			n.tree.fail(n.get(name).path, "unknown field: want one of %s", strings.Join(names, ", "))
		}
	}
}

// keys lists the names of the fields, sorted. It fails if n is no object.
func (n node) keys() []string {
	fields, ok := n.value.(map[string]node)
	if !ok {
		n.tree.fail(n.path, "want an object")
	}
	names := make([]string, 0, len(fields))
	for name := range fields {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func (n node) list() []node {
	list, ok := n.value.([]node)
	if !ok {
		n.tree.fail(n.path, "want a list")
	}
	return list
}

func (n node) text() string {
	s, ok := n.value.(string)
	if !ok {
		n.tree.fail(n.path, "want a text")
	}
	if strings.ContainsFunc(s, unicode.IsControl) {
		n.tree.fail(n.path, "%+q: want text without control characters", s)
	}
	return s
}

func (n node) flag() bool {
	b, ok := n.value.(bool)
	if !ok {
		n.tree.fail(n.path, "want true or false")
	}
	return b
}

// number reads a finite number.
func (n node) number() float64 {
	text, ok := n.value.(json.Number)
	if !ok {
		n.tree.fail(n.path, "want a number")
		return 0
	}
	v, err := numeral.Parse(text.String())
	if err != nil {
		n.tree.fail(n.path, "%s: %v", text, err)
		return 0
	}
	return v
}

// atLeast reads a number not below least.
func (n node) atLeast(least float64) float64 {
	v := n.number()
	if v < least {
		n.tree.fail(n.path, "%g: want at least %g", v, least)
	}
	return v
}

// count reads a whole number of at least least; 4.0 is one.
func (n node) count(least int) int {
	v := n.number()
	if v != math.Trunc(v) {
		n.tree.fail(n.path, "%g: want a whole number", v)
		return 0
	}
	if v < float64(least) || v > maxCount {
		n.tree.fail(n.path, "%.0f: want %d to %d", v, least, maxCount)
		return 0
	}
	return int(v)
}
