package share

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
)

// The documents as they are written; pointers tell absent from zero.
type (
	problemFile struct {
		Cluster  map[string]any        `json:"cluster"`
		Prices   map[string]any        `json:"prices"`
		Jobs     []json.RawMessage     `json:"jobs"`
		Pairs    []json.RawMessage     `json:"pairs"`
		Entities map[string]entityFile `json:"entities"`
	}
	jobFile struct {
		ID         json.RawMessage `json:"id"`
		Scale      *float64        `json:"scale_factor"`
		Weight     *float64        `json:"weight"`
		Steps      *float64        `json:"steps_left"`
		Throughput map[string]any  `json:"throughput"`
		Elapsed    float64         `json:"elapsed_s"`
		Isolated   float64         `json:"isolated_elapsed_s"`
		Deadline   *float64        `json:"slo_left_s"`
	}
	pairFile struct {
		Jobs       []json.RawMessage `json:"jobs"`
		Throughput map[string]any    `json:"throughput"`
	}
	entityFile struct {
		Weight *float64          `json:"weight"`
		Policy string            `json:"policy"`
		Jobs   []json.RawMessage `json:"jobs"`
	}
)

// Parse reads a problem from JSON. Fields that only describe a job are passed over.
// An error is a *FieldError with the path of the first value that is missing, of the
// wrong kind or out of range.
func Parse(text []byte) (*Problem, error) {
	var f problemFile
	if err := decode(text, &f, ""); err != nil {
		return nil, err
	}
	p := &Problem{}
	types, err := f.types(p)
	if err != nil {
		return nil, err
	}
	jobs := make(map[string]int, len(f.Jobs))
	if f.Jobs == nil {
		return nil, fieldErr("is missing", "jobs")
	}
	for i, raw := range f.Jobs {
		if err := p.readJob(raw, i, types, jobs); err != nil {
			return nil, err
		}
	}
	seen := make(map[[2]int]bool, len(f.Pairs))
	for i, raw := range f.Pairs {
		if err := p.readPair(raw, i, types, jobs, seen); err != nil {
			return nil, err
		}
	}
	if err := p.readEntities(f.Entities, jobs); err != nil {
		return nil, err
	}
	return p, nil
}

// decode reads one JSON value and turns errors of the decoder into paths.
func decode(text []byte, into any, path string) error {
	d := json.NewDecoder(bytes.NewReader(text))
	err := d.Decode(into)
	if err == nil {
		if _, next := d.Token(); !errors.Is(next, io.EOF) {
			return &FieldError{path, fmt.Sprintf("something follows the document at byte %d", d.InputOffset())}
		}
		return nil
	}
	var kind *json.UnmarshalTypeError
	if errors.As(err, &kind) {
		return &FieldError{join(path, kind.Field), fmt.Sprintf("%s: want %s", kind.Value, wanted(kind))}
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return &FieldError{path, "the document ends early"}
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
	if len(f.Cluster) == 0 {
		return nil, fieldErr("is missing", "cluster")
	}
	types := make(map[string]int, len(f.Cluster))
	for _, name := range slices.Sorted(maps.Keys(f.Cluster)) {
		n, err := number(f.Cluster[name], "cluster.%s", name)
		if err != nil {
			return nil, err
		}
		if n < 0 || n != math.Trunc(n) || n > 1e9 {
			return nil, fieldErr(fmt.Sprintf("%g: want a whole number of workers, at least 0", n), "cluster.%s", name)
		}
		t := Type{Name: name, Workers: int(n), Price: -1}
		if given, ok := f.Prices[name]; ok && given != nil {
			price, err := number(given, "prices.%s", name)
			if err != nil {
				return nil, err
			}
			if price < 0 {
				return nil, fieldErr(fmt.Sprintf("%g: want at least 0", price), "prices.%s", name)
			}
			t.Price = price
		}
		types[name] = len(p.Types)
		p.Types = append(p.Types, t)
	}
	for _, name := range slices.Sorted(maps.Keys(f.Prices)) {
		if _, ok := types[name]; !ok {
			return nil, fieldErr("there is no such type in cluster", "prices.%s", name)
		}
	}
	return types, nil
}

// number reads a value that must be a number.
func number(v any, path string, args ...any) (float64, error) {
	n, ok := v.(float64)
	if !ok {
		return 0, fieldErr("want a number", path, args...)
	}
	return n, nil
}

// identity reads an id: a text, or a number as it is written.
func identity(raw json.RawMessage, path string) (string, error) {
	var text string
	var number json.Number
	if len(raw) == 0 {
		return "", fieldErr("is missing", "%s", path)
	}
	if raw[0] == '"' && json.Unmarshal(raw, &text) == nil {
		return text, nil
	}
	if json.Unmarshal(raw, &number) == nil && number != "" {
		return number.String(), nil
	}
	return "", fieldErr(fmt.Sprintf("%.20s: want a number or a text", raw), "%s", path)
}

func (p *Problem) readJob(raw json.RawMessage, i int, types, jobs map[string]int) error {
	path := fmt.Sprintf("jobs[%d]", i)
	var f jobFile
	if err := decode(raw, &f, path); err != nil {
		return err
	}
	id, err := identity(f.ID, path+".id")
	if err != nil {
		return err
	}
	if first, twice := jobs[id]; twice {
		return fieldErr(fmt.Sprintf("%q is also the id of jobs[%d]", id, first), "%s.id", path)
	}
	jobs[id] = i
	j := Job{ID: id, Scale: 1, Weight: 1, Throughput: make([]float64, len(types)), Elapsed: f.Elapsed, Isolated: f.Isolated, Deadline: math.NaN()}
	if f.Scale != nil {
		if *f.Scale < 1 || *f.Scale != math.Trunc(*f.Scale) || *f.Scale > 1e9 {
			return fieldErr(fmt.Sprintf("%g: want a whole number of workers, at least 1", *f.Scale), "%s.scale_factor", path)
		}
		j.Scale = int(*f.Scale)
	}
	if f.Weight != nil {
		if j.Weight = *f.Weight; j.Weight <= 0 {
			return fieldErr(fmt.Sprintf("%g: want more than 0", j.Weight), "%s.weight", path)
		}
	}
	if f.Steps == nil {
		return fieldErr("is missing", "%s.steps_left", path)
	}
	if j.Steps = *f.Steps; j.Steps < 0 {
		return fieldErr(fmt.Sprintf("%g: want at least 0", j.Steps), "%s.steps_left", path)
	}
	if f.Elapsed < 0 || f.Isolated < 0 {
		return fieldErr("want times of at least 0", "%s.elapsed_s, isolated_elapsed_s", path)
	}
	if f.Deadline != nil {
		j.Deadline = *f.Deadline
	}
	if f.Throughput == nil {
		return fieldErr("is missing", "%s.throughput", path)
	}
	for _, name := range slices.Sorted(maps.Keys(f.Throughput)) {
		w, ok := types[name]
		if !ok {
			return fieldErr("there is no such type in cluster", "%s.throughput.%s", path, name)
		}
		if f.Throughput[name] == nil {
			continue
		}
		if j.Throughput[w], err = number(f.Throughput[name], "%s.throughput.%s", path, name); err != nil {
			return err
		}
		if j.Throughput[w] < 0 {
			return fieldErr(fmt.Sprintf("%g: want at least 0", j.Throughput[w]), "%s.throughput.%s", path, name)
		}
	}
	p.Jobs = append(p.Jobs, j)
	return nil
}

// known reads an id that a job must have.
func known(raw json.RawMessage, path string, jobs map[string]int) (int, error) {
	id, err := identity(raw, path)
	if err != nil {
		return 0, err
	}
	j, ok := jobs[id]
	if !ok {
		return 0, fieldErr(fmt.Sprintf("there is no job %q", id), "%s", path)
	}
	return j, nil
}

func (p *Problem) readPair(raw json.RawMessage, i int, types, jobs map[string]int, seen map[[2]int]bool) error {
	path := fmt.Sprintf("pairs[%d]", i)
	var f pairFile
	if err := decode(raw, &f, path); err != nil {
		return err
	}
	if len(f.Jobs) != 2 {
		return fieldErr(fmt.Sprintf("%d jobs: want two", len(f.Jobs)), "%s.jobs", path)
	}
	a, err := known(f.Jobs[0], path+".jobs[0]", jobs)
	if err != nil {
		return err
	}
	b, err := known(f.Jobs[1], path+".jobs[1]", jobs)
	if err != nil {
		return err
	}
	key := [2]int{min(a, b), max(a, b)}
	switch {
	case a == b:
		return fieldErr("a job with itself", "%s.jobs", path)
	case seen[key]:
		return fieldErr("the same two jobs as an earlier pair", "%s.jobs", path)
	case p.Jobs[a].Scale != p.Jobs[b].Scale:
		return fieldErr(fmt.Sprintf("scale factors %d and %d: want equal ones", p.Jobs[a].Scale, p.Jobs[b].Scale), "%s.jobs", path)
	}
	seen[key] = true
	q := Pair{A: a, B: b, Throughput: make([][2]float64, len(types))}
	for _, name := range slices.Sorted(maps.Keys(f.Throughput)) {
		w, ok := types[name]
		v, list := f.Throughput[name].([]any)
		switch {
		case !ok:
			return fieldErr("there is no such type in cluster", "%s.throughput.%s", path, name)
		case f.Throughput[name] == nil:
			continue
		case !list || len(v) != 2:
			return fieldErr("want a list of two numbers", "%s.throughput.%s", path, name)
		}
		for i := range v {
			if q.Throughput[w][i], err = number(v[i], "%s.throughput.%s[%d]", path, name, i); err != nil {
				return err
			}
			if q.Throughput[w][i] < 0 {
				return fieldErr(fmt.Sprintf("%g: want at least 0", q.Throughput[w][i]), "%s.throughput.%s[%d]", path, name, i)
			}
		}
	}
	p.Pairs = append(p.Pairs, q)
	return nil
}

func (p *Problem) readEntities(files map[string]entityFile, jobs map[string]int) error {
	member := make([]string, len(p.Jobs))
	for _, name := range slices.Sorted(maps.Keys(files)) {
		f := files[name]
		path := "entities." + name
		e := Entity{Name: name, Weight: 1, FIFO: f.Policy == "fifo"}
		if f.Policy != "" && f.Policy != "fifo" && f.Policy != "fairness" {
			return fieldErr(fmt.Sprintf("%q: want fairness or fifo", f.Policy), "%s.policy", path)
		}
		if f.Weight != nil {
			if e.Weight = *f.Weight; e.Weight <= 0 {
				return fieldErr(fmt.Sprintf("%g: want more than 0", e.Weight), "%s.weight", path)
			}
		}
		for i, raw := range f.Jobs {
			at := fmt.Sprintf("%s.jobs[%d]", path, i)
			j, err := known(raw, at, jobs)
			if err != nil {
				return err
			}
			if member[j] != "" {
				return fieldErr(fmt.Sprintf("job %q is already in entity %s", p.Jobs[j].ID, member[j]), "%s", at)
			}
			member[j] = name
			e.Jobs = append(e.Jobs, j)
		}
		slices.Sort(e.Jobs)
		p.Entities = append(p.Entities, e)
	}
	if len(files) > 0 {
		for j, name := range member {
			if name == "" {
				return fieldErr(fmt.Sprintf("job %q is in no entity", p.Jobs[j].ID), "entities")
			}
		}
	}
	return nil
}
