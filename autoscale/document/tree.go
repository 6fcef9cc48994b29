package document

import (
	"errors"
	"fmt"
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
	maxNodes = 1 << 21 // after aliases are followed
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
	if data, err = Text(file, data); err != nil {
		return nil, err
	}
	tokens := lexer.Tokenize(string(data))
	if deep := tooDeep(tokens); deep != nil {
		return nil, &Error{File: file, Line: deep.Line, Column: deep.Column, Reason: fmt.Sprintf("is nested more than %d deep", maxDepth)}
	}
	b := builder{file: file}
	for _, part := range split(tokens) {
		last = part[0].Position
		parsed, err := parser.Parse(part, 0)
		if err != nil {
			return nil, syntaxError(file, last, err)
		}
		if len(parsed.Docs) != 1 || parsed.Docs[0].Body == nil {
			return nil, &Error{File: file, Line: last.Line, Column: last.Column, Reason: "cannot be read as one document"}
		}
		b.anchors = map[string]ast.Node{}
		root, err := b.build(parsed.Docs[0].Body, nil, 0)
		if err != nil {
			return nil, err
		}
		if root.shape != scalarShape || root.value != nil {
			roots = append(roots, root)
		}
	}
	return roots, nil
}

// split cuts the tokens of a file into those of its documents, without comments
// and without documents that hold nothing. The parser takes one at a time: given
// all, it loses what follows an empty document.
func split(tokens token.Tokens) []token.Tokens {
	var parts []token.Tokens
	var part token.Tokens
	flush := func() {
		if len(part) > 0 {
			part[0].Prev, part[len(part)-1].Next = nil, nil
			parts = append(parts, part)
		}
		part = nil
	}
	for _, tk := range tokens {
		switch tk.Type {
		case token.DocumentHeaderType, token.DocumentEndType:
			flush()
		case token.CommentType:
		default:
			if len(part) > 0 {
				part[len(part)-1].Next, tk.Prev = tk, part[len(part)-1]
			}
			part = append(part, tk)
		}
	}
	flush()
	return parts
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
func syntaxError(file string, begin *token.Position, err error) error {
	e := &Error{File: file, Line: begin.Line, Column: begin.Column, Reason: "is no YAML"}
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
