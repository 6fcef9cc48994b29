package share

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// The documents as they are written; pointers tell absent from zero.
type (
	problemFile struct {
		cluster, prices, entities fields
		jobs, pairs               []byte // lists; nil: absent
	}
	jobFile struct {
		id                   []byte
		scale, weight, steps *float64
		elapsed, isolated    float64
		deadline             *float64
		throughput           []float64 // nil: absent
	}
	pairFile struct {
		Jobs       []json.RawMessage `json:"jobs"`
		Throughput fields            `json:"throughput"`
	}
	entityFile struct {
		Weight *float64          `json:"weight"`
		Policy string            `json:"policy"`
		Jobs   []json.RawMessage `json:"jobs"`
	}
)

// Parse reads a problem from JSON. What only describes is passed over: name, note and
// source, and a job's model. An error is a *FieldError with the path of the first field
// that is unknown or twice there, or value that is missing, of the wrong kind or out of range.
func Parse(text []byte) (*Problem, error) {
	f, err := sections(text)
	if err != nil {
		return nil, err
	}
	p := &Problem{}
	types, err := f.types(p)
	if err != nil {
		return nil, err
	}
	if f.jobs == nil {
		return nil, fieldErr("is missing", "jobs")
	}
	jobs := make(map[string]int)
	if err := p.readJobs(f.jobs, types, jobs); err != nil {
		return nil, err
	}
	seen := make(map[[2]int]bool)
	if f.pairs != nil {
		rest := space(f.pairs[1:])
		for i := 0; rest[0] != ']'; i++ {
			raw, after := value(rest)
			if err := p.readPair(raw, i, types, jobs, seen); err != nil {
				return nil, err
			}
			rest = next(after)
		}
	}
	if err := p.readEntities(f.entities, jobs); err != nil {
		return nil, err
	}
	return p, nil
}

// sections takes a document apart. Its text is checked once, and then read in place: 10,000
// jobs over 30 types are 9 MB.
func sections(text []byte) (f problemFile, err error) {
	text = bytes.TrimPrefix(text, []byte("\ufeff")) // as Windows writes it
	if !json.Valid(text) {
		var any json.RawMessage
		return f, decode(text, &any, "")
	}
	if text = space(text); text[0] != '{' {
		if k := kind(text); k != "null" {
			return f, &FieldError{"", k + ": want an object"}
		}
		return f, nil
	}
	list, err := members(text)
	if err != nil {
		return f, err
	}
	var seen [][]byte
	for _, m := range list {
		if seen, err = oneOf(seen, m.name, "", []string{"cluster", "prices", "jobs", "pairs", "entities", "name", "note", "source"}); err != nil {
			return f, err
		}
		switch name := string(m.name); name {
		case "cluster":
			f.cluster, err = m.object()
		case "prices":
			f.prices, err = m.object()
		case "entities":
			f.entities, err = m.object()
		case "jobs":
			f.jobs, err = m.list()
		case "pairs":
			f.pairs, err = m.list()
		}
		if err != nil {
			return f, err
		}
	}
	return f, nil
}

// object takes a value apart that must be an object; null is none.
func (f field) object() (fields, error) {
	switch k := kind(f.value); k {
	case "null":
		return nil, nil
	case "object":
		return members(f.value)
	default:
		return nil, &FieldError{string(f.name), k + ": want an object"}
	}
}

// list is a value that must be a list; nil for null.
func (f field) list() ([]byte, error) {
	switch k := kind(f.value); k {
	case "null":
		return nil, nil
	case "array":
		return f.value, nil
	default:
		return nil, &FieldError{string(f.name), k + ": want a list"}
	}
}

// decode reads one JSON value and turns errors of the decoder into paths.
func decode(text []byte, into any, path string) error {
	text = bytes.TrimPrefix(text, []byte("\ufeff")) // as Windows writes it
	err := json.Unmarshal(text, into)
	if err == nil {
		return nil
	}
	var kind *json.UnmarshalTypeError
	if errors.As(err, &kind) {
		return &FieldError{join(path, kind.Field), fmt.Sprintf("%.30s: want %s", strings.TrimPrefix(kind.Value, "number "), wanted(kind))}
	}
	var syntax *json.SyntaxError
	switch {
	case len(bytes.TrimSpace(text)) == 0:
		return &FieldError{path, "is empty: want a JSON document"}
	case errors.As(err, &syntax):
		line := 1 + bytes.Count(text[:syntax.Offset], []byte{'\n'})
		return &FieldError{path, fmt.Sprintf("line %d: no JSON: %s", line, err)}
	}
	return &FieldError{path, err.Error()}
}

func join(path, field string) string {
	if path == "" || field == "" {
		return path + field
	}
	return path + "." + field
}

// wanted names the kind of value that a field takes.
func wanted(e *json.UnmarshalTypeError) string {
	if strings.HasPrefix(e.Value, "number ") {
		return finiteWord
	}
	switch e.Type.String() {
	case "float64", "int":
		return "a number"
	case "string":
		return "a text"
	case "bool":
		return "true or false"
	}
	if e.Type.Kind().String() == "slice" {
		return "a list"
	}
	return "an object"
}

// types reads cluster and prices, and returns the index of each type.
func (f *problemFile) types(p *Problem) (map[string]int, error) {
	if len(f.cluster) == 0 {
		return nil, fieldErr("is missing", "cluster")
	}
	types := make(map[string]int, len(f.cluster))
	if err := f.cluster.twice("cluster"); err != nil {
		return nil, err
	}
	if err := f.prices.twice("prices"); err != nil {
		return nil, err
	}
	for _, m := range f.cluster {
		n, err := count(m, "cluster", "workers")
		if err != nil {
			return nil, err
		}
		p.Types = append(p.Types, Type{Name: string(m.name), Workers: n, Price: -1})
	}
	slices.SortFunc(p.Types, func(a, b Type) int { return cmp.Compare(a.Name, b.Name) })
	for w, t := range p.Types {
		types[t.Name] = w
	}
	for _, m := range f.prices {
		w, ok := types[string(m.name)]
		if !ok {
			return nil, fieldErr("there is no such type in cluster", "prices.%s", m.name)
		}
		if m.null() {
			continue
		}
		price, err := number(m.value, "prices.%s", m.name)
		if err != nil {
			return nil, err
		}
		if reason := dollars.refuse(price); reason != "" {
			return nil, fieldErr(reason, "prices.%s", m.name)
		}
		p.Types[w].Price = price
	}
	return types, nil
}

// most is the largest number of workers, accelerators or replicas.
const most = 1e9

// count reads how many workers there are of a type.
func count(m field, path, what string) (int, error) {
	if len(m.name) == 0 {
		return 0, fieldErr("has a type without a name", "%s", path)
	}
	if err := nameOf(string(m.name), "%s", path); err != nil {
		return 0, err
	}
	n, err := number(m.value, "%s.%s", path, m.name)
	if err != nil {
		return 0, err
	}
	if n < 0 || n != math.Trunc(n) || n > most {
		return 0, fieldErr(fmt.Sprintf("%g: want a whole number of %s, 0 to 1e9", n, what), "%s.%s", path, m.name)
	}
	return int(n), nil
}

// identity reads an id: a text, or a number as it is written.
func identity(raw json.RawMessage, path string) (string, error) {
	var text string
	var number json.Number
	if len(raw) == 0 {
		return "", fieldErr("is missing", "%s", path)
	}
	if raw[0] == '"' && json.Unmarshal(raw, &text) == nil {
		if text == "" {
			return "", fieldErr(`"": want a name`, "%s", path)
		}
		return text, nameOf(text, "%s", path)
	}
	if json.Unmarshal(raw, &number) == nil && number != "" {
		return number.String(), nil
	}
	return "", fieldErr(fmt.Sprintf("%.20s: want a number or a text", raw), "%s", path)
}
