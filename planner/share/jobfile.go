package share

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
)

func (p *Problem) readJob(raw json.RawMessage, i int, types, jobs map[string]int) error {
	path := fmt.Sprintf("jobs[%d]", i)
	var f jobFile
	if err := decode(raw, &f, path); err != nil {
		return err
	}
	if err := onlyFields(raw, path, "id", "scale_factor", "weight", "steps_left", "throughput", "elapsed_s", "isolated_elapsed_s", "slo_left_s", "model", "name", "note"); err != nil {
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
		if *f.Scale < 1 || *f.Scale != math.Trunc(*f.Scale) || *f.Scale > most {
			return fieldErr(fmt.Sprintf("%g: want a whole number of workers, 1 to 1e9", *f.Scale), "%s.scale_factor", path)
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
	if f.Elapsed < 0 {
		return fieldErr(fmt.Sprintf("%g: want at least 0", f.Elapsed), "%s.elapsed_s", path)
	}
	if f.Isolated < 0 {
		return fieldErr(fmt.Sprintf("%g: want at least 0", f.Isolated), "%s.isolated_elapsed_s", path)
	}
	if f.Deadline != nil {
		j.Deadline = *f.Deadline
	}
	if f.Throughput == nil {
		return fieldErr("is missing", "%s.throughput", path)
	}
	seen := make([]bool, len(types))
	for _, m := range f.Throughput {
		w, ok := types[string(m.name)]
		switch {
		case !ok:
			return fieldErr("there is no such type in cluster", "%s.throughput.%s", path, m.name)
		case seen[w]:
			return fieldErr("is there twice", "%s.throughput.%s", path, m.name)
		}
		if seen[w] = true; m.null() {
			continue
		}
		if j.Throughput[w], err = speed(m.value, "%s.throughput.%s", path, m.name); err != nil {
			return err
		}
	}
	p.Jobs = append(p.Jobs, j)
	return nil
}

// speed reads a throughput.
func speed(text []byte, path string, args ...any) (float64, error) {
	v, err := number(text, path, args...)
	if err == nil && v < 0 {
		return 0, fieldErr(fmt.Sprintf("%g: want at least 0", v), path, args...)
	}
	return v, err
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
