package share

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
)

// readJobs reads a checked list of jobs.
func (p *Problem) readJobs(text []byte, types, jobs map[string]int) error {
	rest := space(text[1:])
	for i := 0; rest[0] != ']'; i++ {
		path := fmt.Sprintf("jobs[%d]", i)
		var f jobFile
		after, err := f.read(rest, path, types)
		if err != nil {
			return err
		}
		if err := p.addJob(&f, i, path, jobs); err != nil {
			return err
		}
		rest = next(after)
	}
	return nil
}

// jobFields are those that a job may have.
var jobFields = []string{"id", "scale_factor", "weight", "steps_left", "throughput", "elapsed_s", "isolated_elapsed_s", "slo_left_s", "model", "name", "note"}

// read takes the first value of a checked text, which must be a job, and returns what follows.
func (f *jobFile) read(text []byte, path string, types map[string]int) (rest []byte, err error) {
	switch k := kind(text); k {
	case "null":
		_, rest = value(text)
		return rest, nil
	case "object":
	default:
		return nil, &FieldError{path, k + ": want an object"}
	}
	var room [16][]byte
	seen := room[:0]
	rest = space(text[1:])
	for rest[0] != '}' {
		name, after, err := member(rest)
		if err != nil {
			return nil, err
		}
		if seen, err = oneOf(seen, name, path, jobFields); err != nil {
			return nil, err
		}
		if after, err = f.take(string(name), after, path, types); err != nil {
			return nil, err
		}
		rest = next(after)
	}
	return rest[1:], nil
}

// take reads the field of a job that a checked text begins with, and returns what follows.
func (f *jobFile) take(name string, text []byte, path string, types map[string]int) (rest []byte, err error) {
	if name == "throughput" {
		return f.readThroughput(text, path, types)
	}
	raw, rest := value(text)
	var number *float64
	switch name {
	case "id":
		f.id = raw
		return rest, nil
	case "model", "name", "note":
		return rest, nil
	}
	if number, err = optional(raw, path, name); err != nil {
		return nil, err
	}
	switch name {
	case "scale_factor":
		f.scale = number
	case "weight":
		f.weight = number
	case "steps_left":
		f.steps = number
	case "slo_left_s":
		f.deadline = number
	case "elapsed_s":
		f.elapsed = orZero(number)
	case "isolated_elapsed_s":
		f.isolated = orZero(number)
	}
	return rest, nil
}

func orZero(v *float64) float64 {
	if v == nil {
		return 0
	}
	return *v
}

func (f *jobFile) readThroughput(text []byte, path string, types map[string]int) (rest []byte, err error) {
	switch k := kind(text); k {
	case "null":
		_, rest = value(text)
		return rest, nil
	case "object":
	default:
		return nil, fieldErr(k+": want an object", "%s.throughput", path)
	}
	f.throughput = make([]float64, len(types))
	for w := range f.throughput {
		f.throughput[w] = math.NaN()
	}
	rest = space(text[1:])
	for rest[0] != '}' {
		name, after, err := member(rest)
		if err != nil {
			return nil, err
		}
		raw, after := value(after)
		w, ok := types[string(name)]
		switch {
		case !ok:
			return nil, fieldErr("there is no such type in cluster", "%s.throughput.%s", path, name)
		case !math.IsNaN(f.throughput[w]):
			return nil, fieldErr("is there twice", "%s.throughput.%s", path, name)
		}
		if f.throughput[w] = 0; raw[0] != 'n' {
			v, reason := finite(raw)
			if reason == "" {
				reason = speeds.refuse(v)
			}
			if reason != "" {
				return nil, fieldErr(reason, "%s.throughput.%s", path, name)
			}
			f.throughput[w] = v
		}
		rest = next(after)
	}
	for w, v := range f.throughput {
		if math.IsNaN(v) {
			f.throughput[w] = 0
		}
	}
	return rest[1:], nil
}

// addJob checks what a job says.
func (p *Problem) addJob(f *jobFile, i int, path string, jobs map[string]int) error {
	id, err := identity(f.id, path+".id")
	if err != nil {
		return err
	}
	if first, twice := jobs[id]; twice {
		return fieldErr(fmt.Sprintf("%q is also the id of jobs[%d]", id, first), "%s.id", path)
	}
	jobs[id] = i
	j := Job{ID: id, Scale: 1, Weight: 1, Throughput: f.throughput, Elapsed: f.elapsed, Isolated: f.isolated, Deadline: math.NaN()}
	if f.scale != nil {
		if *f.scale < 1 || *f.scale != math.Trunc(*f.scale) || *f.scale > most {
			return fieldErr(fmt.Sprintf("%g: want a whole number of workers, 1 to 1e9", *f.scale), "%s.scale_factor", path)
		}
		j.Scale = int(*f.scale)
	}
	if f.weight != nil {
		j.Weight = *f.weight
	}
	if f.steps == nil {
		return fieldErr("is missing", "%s.steps_left", path)
	}
	j.Steps = *f.steps
	for _, v := range []struct {
		name  string
		value float64
		can   span
	}{{"weight", j.Weight, weights}, {"steps_left", j.Steps, works}, {"elapsed_s", f.elapsed, spells}, {"isolated_elapsed_s", f.isolated, spells}} {
		if reason := v.can.refuse(v.value); reason != "" {
			return fieldErr(reason, "%s.%s", path, v.name)
		}
	}
	if f.deadline != nil {
		if j.Deadline = *f.deadline; j.Deadline > mostDeadline {
			return fieldErr(fmt.Sprintf("%g: want at most 1e12 s, or none", j.Deadline), "%s.slo_left_s", path)
		}
	}
	if f.throughput == nil {
		return fieldErr("is missing", "%s.throughput", path)
	}
	p.Jobs = append(p.Jobs, j)
	return nil
}

// speed reads a throughput.
func speed(text []byte, path string, args ...any) (float64, error) {
	v, err := number(text, path, args...)
	if err != nil {
		return 0, err
	}
	if reason := speeds.refuse(v); reason != "" {
		return 0, fieldErr(reason, path, args...)
	}
	return v, nil
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
	if err := onlyFields(raw, path, "jobs", "throughput"); err != nil {
		return err
	}
	if len(f.Jobs) != 2 {
		return fieldErr(fmt.Sprintf("%d in all: want two jobs", len(f.Jobs)), "%s.jobs", path)
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
	if err := f.Throughput.twice(path + ".throughput"); err != nil {
		return err
	}
	q := Pair{A: a, B: b, Throughput: make([][2]float64, len(types))}
	for _, m := range f.Throughput {
		w, ok := types[string(m.name)]
		if !ok {
			return fieldErr("there is no such type in cluster", "%s.throughput.%s", path, m.name)
		}
		if m.null() {
			continue
		}
		var two []json.RawMessage
		if json.Unmarshal(m.value, &two) != nil || len(two) != 2 {
			return fieldErr("want a list of two numbers", "%s.throughput.%s", path, m.name)
		}
		for i := range two {
			if q.Throughput[w][i], err = speed(two[i], "%s.throughput.%s[%d]", path, m.name, i); err != nil {
				return err
			}
		}
	}
	p.Pairs = append(p.Pairs, q)
	return nil
}

func (p *Problem) readEntities(files fields, jobs map[string]int) error {
	if err := files.twice("entities"); err != nil {
		return err
	}
	member := make([]string, len(p.Jobs))
	slices.SortFunc(files, func(a, b field) int { return bytes.Compare(a.name, b.name) })
	for _, m := range files {
		name := string(m.name)
		path := "entities." + name
		if err := nameOf(name, "entities"); err != nil {
			return err
		}
		var f entityFile
		if err := decode(m.value, &f, path); err != nil {
			return err
		}
		if err := onlyFields(m.value, path, "weight", "policy", "jobs"); err != nil {
			return err
		}
		e := Entity{Name: name, Weight: 1, FIFO: f.Policy == "fifo"}
		if f.Policy != "" && f.Policy != "fifo" && f.Policy != "fairness" {
			return fieldErr(fmt.Sprintf("%q: want fairness or fifo", f.Policy), "%s.policy", path)
		}
		if f.Weight != nil {
			e.Weight = *f.Weight
			if reason := weights.refuse(e.Weight); reason != "" {
				return fieldErr(reason, "%s.weight", path)
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
