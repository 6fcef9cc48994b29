package document

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"

	"github.com/goodfleet/goodfleet/planner/numeral"
)

// builder makes nodes of one parsed document.
type builder struct {
	file    string
	anchors map[string]ast.Node
	nodes   int // so far, of the whole file
}

// trail is the way from the document to a value; it becomes a path in an error.
type trail struct {
	up    *trail
	key   string
	index int // of a list, when key is ""
}

func (t *trail) String() string {
	switch {
	case t == nil:
		return ""
	case t.key == "":
		return fmt.Sprintf("%s[%d]", t.up, t.index)
	}
	return join(t.up.String(), t.key)
}

// join is the path of a key: "spec.work", and quoted where the key is no plain word.
func join(path, key string) string {
	switch {
	case !plainKey.MatchString(key):
		return path + "[" + strconv.Quote(key) + "]"
	case path == "":
		return key
	}
	return path + "." + key
}

var plainKey = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]*$`)

func (b *builder) build(n ast.Node, at *trail, depth int) (*node, error) {
	made := place(n)
	refuse := func(format string, args ...any) (*node, error) {
		return nil, &Error{File: b.file, Line: made.line, Column: made.column, Path: at.String(), Reason: fmt.Sprintf(format, args...)}
	}
	if b.nodes++; b.nodes > maxNodes || depth > maxDepth {
		return refuse("is nested too deep, or repeated too often")
	}
	switch v := n.(type) {
	case *ast.MappingNode:
		return b.mapping(made, v.Values, at, depth)
	case *ast.MappingValueNode:
		return b.mapping(made, []*ast.MappingValueNode{v}, at, depth)
	case *ast.SequenceNode:
		made.shape = listShape
		for i, value := range v.Values {
			item, err := b.build(value, &trail{up: at, index: i}, depth+1)
			if err != nil {
				return nil, err
			}
			made.items = append(made.items, item)
		}
		return made, nil
	case *ast.AnchorNode:
		b.anchors[v.Name.GetToken().Value] = v.Value
		return b.build(v.Value, at, depth+1)
	case *ast.AliasNode:
		name := v.Value.GetToken().Value
		target, ok := b.anchors[name]
		if !ok {
			return refuse("alias *%s has no anchor before it", name)
		}
		return b.build(target, at, depth+1)
	case *ast.TagNode:
		return refuse("tag %s: tags are not used here", v.Start.Value)
	}
	value, reason := scalar(n)
	if reason != "" {
		return refuse("%s", reason)
	}
	made.value = value
	return made, nil
}

// scalar is the value of a node that holds no others, or why it has none.
func scalar(n ast.Node) (value any, reason string) {
	switch v := n.(type) {
	case *ast.StringNode:
		if v.Token.Type == token.StringType && decimalNumber.MatchString(v.Value) {
			return numberOf(v.Value) // the parser takes 1e6 for text, JSON and YAML 1.2 do not
		}
		return v.Value, ""
	case *ast.LiteralNode:
		return v.Value.Value, ""
	case *ast.BoolNode:
		return v.Value, ""
	case *ast.NullNode:
		return nil, ""
	case *ast.IntegerNode, *ast.FloatNode:
		text := n.GetToken().Value
		if !decimalNumber.MatchString(text) {
			return nil, text + ": write a number in plain decimal, or text in quotes"
		}
		return numberOf(text)
	case *ast.InfinityNode, *ast.NanNode:
		return nil, n.GetToken().Value + " is no number that can be used"
	}
	return nil, strings.ToLower(n.Type().String()) + " is not used here"
}

// decimalNumber is a number as JSON writes it.
var decimalNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]{1,3})?$`)

// numberOf is a number as it stands in a file, or why it cannot be used. One that is too
// large is found with the bounds of its field.
func numberOf(text string) (value any, reason string) {
	if _, err := numeral.Parse(text); errors.Is(err, numeral.ErrSmall) {
		return nil, text + ": " + err.Error()
	}
	return decimal(text), ""
}

// decimal is text as encoding/json writes it: a whole number without point or
// exponent, and nothing that a float64 cannot tell from 0.
func decimal(text string) json.Number {
	f, err := strconv.ParseFloat(text, 64)
	switch {
	case err != nil || !strings.ContainsAny(text, ".eE"):
		return json.Number(text)
	case f == math.Trunc(f) && math.Abs(f) < 1<<53:
		return json.Number(strconv.FormatInt(int64(f), 10))
	}
	return json.Number(strconv.FormatFloat(f, 'g', -1, 64))
}

func (b *builder) mapping(made *node, values []*ast.MappingValueNode, at *trail, depth int) (*node, error) {
	made.shape = mappingShape
	seen := make(map[string]bool, len(values))
	for _, v := range values {
		key := place(v.Key)
		refuse := func(reason string) (*node, error) {
			return nil, &Error{File: b.file, Line: key.line, Column: key.column, Path: at.String(), Reason: reason}
		}
		name, ok := v.Key.(*ast.StringNode)
		if !ok {
			return refuse(fmt.Sprintf("key %s: want text; merge keys, tags and other keys are not used here", v.Key.GetToken().Value))
		}
		if seen[name.Value] {
			return refuse(fmt.Sprintf("key %q is given twice", name.Value))
		}
		seen[name.Value] = true
		child, err := b.build(v.Value, &trail{up: at, key: name.Value}, depth+1)
		if err != nil {
			return nil, err
		}
		made.fields = append(made.fields, field{name: name.Value, line: key.line, column: key.column, node: child})
	}
	return made, nil
}

// place is an empty node where n begins.
func place(n ast.Node) *node {
	if v, ok := n.(*ast.MappingValueNode); ok {
		n = v.Key
	}
	if v, ok := n.(*ast.MappingNode); ok && !v.IsFlowStyle && len(v.Values) > 0 {
		n = v.Values[0].Key
	}
	at := &node{line: 1, column: 1}
	if tk := n.GetToken(); tk != nil && tk.Position != nil {
		at.line, at.column = max(tk.Position.Line, 1), max(tk.Position.Column, 1)
	}
	return at
}
