package document

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// Bounds of what one file may hold: beyond them a file is an attack or a mistake,
// and a reader that recurses would not survive it.
const (
	maxBytes = 64 << 20
	maxDepth = 100     // of lists and mappings within each other
	maxNodes = 4 << 20 // after aliases are followed
)

// node is a value of a file with its place.
type node struct {
	line, column int
	value        any     // nil, bool, json.Number or string of a scalar; nil for the others
	fields       []field // of a mapping
	items        []*node // of a list
	shape        shape
}

type shape uint8

const (
	scalarShape shape = iota
	mappingShape
	listShape
)

// field is a key of a mapping with its place and its value.
type field struct {
	name         string
	line, column int
	node         *node
}

// get returns the field of that name; nil when the mapping lacks it.
func (n *node) get(name string) *field {
	for i := range n.fields {
		if n.fields[i].name == name {
			return &n.fields[i]
		}
	}
	return nil
}

// plain is the value as encoding/json and a schema know it.
func (n *node) plain() any {
	switch n.shape {
	case mappingShape:
		m := make(map[string]any, len(n.fields))
		for _, f := range n.fields {
			m[f.name] = f.node.plain()
		}
		return m
	case listShape:
		list := make([]any, len(n.items))
		for i, item := range n.items {
			list[i] = item.plain()
		}
		return list
	}
	return n.value
}

// readTree reads the values of a file, one per document; an empty document is
// none.
func readTree(file string, data []byte) (roots []*node, err error) {
	if len(data) > maxBytes {
		return nil, &Error{File: file, Line: 1, Column: 1, Reason: fmt.Sprintf("the file has more than %d MiB", maxBytes>>20)}
	}
	last := &token.Position{Line: 1, Column: 1}
	defer func() {
		// The parser is a library that has panicked on malformed text before; a
		// malformed file must stay an error of the file.
		if r := recover(); r != nil {
			roots, err = nil, &Error{File: file, Line: last.Line, Column: last.Column, Reason: "cannot be read as YAML"}
		}
	}()
	tokens := lexer.Tokenize(string(data))
	if deep := tooDeep(tokens); deep != nil {
		return nil, &Error{File: file, Line: deep.Line, Column: deep.Column, Reason: fmt.Sprintf("is nested more than %d deep", maxDepth)}
	}
	parsed, err := parser.Parse(tokens, 0)
	if err != nil {
		return nil, syntaxError(file, err)
	}
	b := builder{file: file, anchors: map[string]ast.Node{}}
	for _, doc := range parsed.Docs {
		if doc.Body == nil {
			continue
		}
		if body, ok := doc.Body.(*ast.CommentGroupNode); ok && body != nil {
			continue
		}
		clear(b.anchors)
		root, err := b.build(doc.Body, "", 0)
		if err != nil {
			return nil, err
		}
		if root.shape == scalarShape && root.value == nil {
			continue
		}
		roots = append(roots, root)
	}
	return roots, nil
}

// tooDeep is the place where a file passes maxDepth, found without recursion; nil
// when it does not.
func tooDeep(tokens token.Tokens) *token.Position {
	flow, line, entries := 0, 0, 0
	for _, tk := range tokens {
		if tk.Position.Line != line {
			line, entries = tk.Position.Line, 0
		}
		switch tk.Type {
		case token.SequenceStartType, token.MappingStartType:
			flow++
		case token.SequenceEndType, token.MappingEndType:
			flow--
		case token.SequenceEntryType, token.MappingKeyType, token.AnchorType, token.TagType:
			entries++
		}
		// A block that is indented deeper starts further right.
		if flow > maxDepth || entries > maxDepth || tk.Position.IndentNum > 10*maxDepth {
			return tk.Position
		}
	}
	return nil
}

// syntaxError keeps the message and place of the parser, without its excerpt.
func syntaxError(file string, err error) error {
	e := &Error{File: file, Line: 1, Column: 1, Reason: "is no YAML"}
	var located yaml.Error
	if !errors.As(err, &located) {
		return e
	}
	message, _, _ := strings.Cut(located.GetMessage(), "\n")
	e.Reason = "is no YAML: " + message
	if key, _, twice := strings.Cut(strings.TrimPrefix(message, "mapping key "), " already defined"); twice {
		e.Reason = "key " + key + " is given twice"
	}
	if tk := located.GetToken(); tk != nil && tk.Position != nil {
		e.Line, e.Column = max(tk.Position.Line, 1), max(tk.Position.Column, 1)
	}
	return e
}

// builder makes nodes of a parsed document.
type builder struct {
	file    string
	anchors map[string]ast.Node
	nodes   int
}

func (b *builder) build(n ast.Node, path string, depth int) (*node, error) {
	at := place(n)
	refuse := func(format string, args ...any) (*node, error) {
		return nil, &Error{File: b.file, Line: at.line, Column: at.column, Path: path, Reason: fmt.Sprintf(format, args...)}
	}
	if b.nodes++; b.nodes > maxNodes || depth > maxDepth {
		return refuse("is nested too deep, or repeated too often")
	}
	switch v := n.(type) {
	case *ast.MappingNode:
		return b.mapping(at, v.Values, path, depth)
	case *ast.MappingValueNode:
		return b.mapping(at, []*ast.MappingValueNode{v}, path, depth)
	case *ast.SequenceNode:
		at.shape = listShape
		for i, value := range v.Values {
			item, err := b.build(value, fmt.Sprintf("%s[%d]", path, i), depth+1)
			if err != nil {
				return nil, err
			}
			at.items = append(at.items, item)
		}
		return at, nil
	case *ast.AnchorNode:
		b.anchors[v.Name.GetToken().Value] = v.Value
		return b.build(v.Value, path, depth+1)
	case *ast.AliasNode:
		target, ok := b.anchors[v.Value.GetToken().Value]
		if !ok {
			return refuse("alias *%s has no anchor before it", v.Value.GetToken().Value)
		}
		return b.build(target, path, depth+1)
	case *ast.StringNode:
		at.value = v.Value
		if v.Token.Type == token.StringType && decimalNumber.MatchString(v.Value) {
			at.value = number(v.Value) // the parser takes 1e6 for text, JSON and YAML 1.2 do not
		}
		return at, nil
	case *ast.LiteralNode:
		at.value = v.Value.Value
		return at, nil
	case *ast.BoolNode:
		at.value = v.Value
		return at, nil
	case *ast.NullNode:
		return at, nil
	case *ast.IntegerNode, *ast.FloatNode:
		text := n.GetToken().Value
		if !decimalNumber.MatchString(text) {
			return refuse("%s: write a number in plain decimal, or text in quotes", text)
		}
		at.value = number(text)
		return at, nil
	case *ast.InfinityNode, *ast.NanNode:
		return refuse("%s is no number that can be used", n.GetToken().Value)
	case *ast.TagNode:
		return refuse("tag %s: tags are not used here", v.Start.Value)
	}
	return refuse("%s is not used here", strings.ToLower(n.Type().String()))
}

// number is text as encoding/json writes it: a whole number without point or
// exponent, and nothing that a float64 cannot tell from 0.
func number(text string) json.Number {
	f, err := strconv.ParseFloat(text, 64)
	switch {
	case err != nil || !strings.ContainsAny(text, ".eE"):
		return json.Number(text)
	case f == math.Trunc(f) && math.Abs(f) < 1<<53:
		return json.Number(strconv.FormatInt(int64(f), 10))
	}
	return json.Number(strconv.FormatFloat(f, 'g', -1, 64))
}

// decimalNumber is a number as JSON writes it.
var decimalNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]{1,3})?$`)

func (b *builder) mapping(at *node, values []*ast.MappingValueNode, path string, depth int) (*node, error) {
	at.shape = mappingShape
	for _, v := range values {
		key := place(v.Key)
		refuse := func(reason string) (*node, error) {
			return nil, &Error{File: b.file, Line: key.line, Column: key.column, Path: path, Reason: reason}
		}
		name, ok := v.Key.(*ast.StringNode)
		if !ok {
			return refuse(fmt.Sprintf("key %s: want text; merge keys, tags and other keys are not used here", v.Key.GetToken().Value))
		}
		if at.get(name.Value) != nil {
			return refuse(fmt.Sprintf("key %q is given twice", name.Value))
		}
		child, err := b.build(v.Value, join(path, name.Value), depth+1)
		if err != nil {
			return nil, err
		}
		at.fields = append(at.fields, field{name: name.Value, line: key.line, column: key.column, node: child})
	}
	return at, nil
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

// join is the path of a key: "spec.work", and quoted where the key is no plain word.
func join(path, key string) string {
	if !plainKey.MatchString(key) {
		return path + "[" + strconv.Quote(key) + "]"
	}
	if path == "" {
		return key
	}
	return path + "." + key
}

var plainKey = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]*$`)
