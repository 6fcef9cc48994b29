package share

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
)

// The documents as they are written.
type (
	assignFile struct {
		Power    *float64          `json:"p"`
		Lambda   *float64          `json:"lambda"`
		Capacity fields            `json:"capacity"`
		Jobs     []json.RawMessage `json:"jobs"`
	}
	requestFile struct {
		ID      json.RawMessage `json:"id"`
		MinGPUs *float64        `json:"min_gpus"`
		Options json.RawMessage `json:"options"`
		Current *float64        `json:"current"`
		Restart json.RawMessage `json:"restart"`
		Pinned  bool            `json:"pinned"`
	}
	restartFile struct {
		Age   float64 `json:"age_s"`
		Count float64 `json:"count"`
		Cost  float64 `json:"cost_s"`
	}
	configFile struct {
		Type    string   `json:"type"`
		GPUs    *float64 `json:"gpus"`
		Goodput *float64 `json:"goodput"`
	}
)

// ParseAssignment reads an assignment to be made by a rule from JSON. An error is a
// *FieldError.
func ParseAssignment(text []byte, rule Rule) (*Assignment, error) {
	var f assignFile
	if err := decode(text, &f, ""); err != nil {
		return nil, err
	}
	if err := onlyFields(text, "", "name", "p", "lambda", "capacity", "jobs"); err != nil {
		return nil, err
	}
	a := &Assignment{Rule: rule, Power: defaultPower, Lambda: 1.1}
	switch {
	case f.Power == nil && rule == Sia:
		return nil, fieldErr("is missing", "p")
	case f.Power != nil && *f.Power == 0 && rule == Sia:
		return nil, fieldErr("0: want another number; the sum of logarithms is no power", "p")
	case f.Power != nil && rule == Sia && math.Abs(*f.Power) > mostSiaPower:
		return nil, fieldErr(fmt.Sprintf("%g: want -%d to %d", *f.Power, mostSiaPower, mostSiaPower), "p")
	case f.Power != nil && rule == Pollux && (*f.Power < leastWholePower || *f.Power > mostPower):
		return nil, fieldErr(fmt.Sprintf("%g: want %d to %d", *f.Power, leastWholePower, mostPower), "p")
	case f.Lambda != nil && lambdas.refuse(*f.Lambda) != "":
		return nil, fieldErr(lambdas.refuse(*f.Lambda), "lambda")
	case len(f.Capacity) == 0:
		return nil, fieldErr("is missing", "capacity")
	case f.Jobs == nil:
		return nil, fieldErr("is missing", "jobs")
	}
	if f.Power != nil {
		a.Power = *f.Power
	}
	if f.Lambda != nil {
		a.Lambda = *f.Lambda
	}
	if err := f.Capacity.twice("capacity"); err != nil {
		return nil, err
	}
	for _, m := range f.Capacity {
		n, err := count(m, "capacity", "accelerators")
		if err != nil {
			return nil, err
		}
		a.Types = append(a.Types, Type{Name: string(m.name), Workers: n, Price: -1})
	}
	slices.SortFunc(a.Types, func(a, b Type) int { return cmp.Compare(a.Name, b.Name) })
	types := make(map[string]int, len(a.Types))
	for k, t := range a.Types {
		types[t.Name] = k
	}
	seen := make(map[string]int)
	for i, raw := range f.Jobs {
		q, err := readRequest(raw, fmt.Sprintf("jobs[%d]", i), types)
		if err != nil {
			return nil, err
		}
		if first, twice := seen[q.ID]; twice {
			return nil, fieldErr(fmt.Sprintf("%q is also the id of jobs[%d]", q.ID, first), "jobs[%d].id", i)
		}
		seen[q.ID] = i
		if err := a.countable(&q, i); err != nil {
			return nil, err
		}
		a.Requests = append(a.Requests, q)
	}
	return a, nil
}

// countable refuses the first option that counts more than sums of such hold. Options that count
// less than any number, as goodput of nothing to a power below 0, are no choice.
func (a *Assignment) countable(q *Request, j int) error {
	least := math.Inf(1)
	for _, c := range q.Options {
		if c.Goodput > 0 {
			least = min(least, c.Goodput)
		}
	}
	for i, c := range q.Options {
		if v := q.MinGPUs * c.Goodput / least; c.Goodput > 0 && a.worth(v) > mostWorth {
			return fieldErr(fmt.Sprintf("%g: by min_gpus and the least of the options that is %g; want at most 1e200 of it to the power p, %g", c.Goodput, v, a.Power),
				"jobs[%d].options[%d].goodput", j, i)
		}
	}
	return nil
}

func readRequest(raw json.RawMessage, path string, types map[string]int) (Request, error) {
	var f requestFile
	if err := decode(raw, &f, path); err != nil {
		return Request{}, err
	}
	if err := onlyFields(raw, path, "id", "min_gpus", "options", "current", "restart", "pinned"); err != nil {
		return Request{}, err
	}
	id, err := identity(f.ID, path+".id")
	if err != nil {
		return Request{}, err
	}
	q := Request{ID: id, MinGPUs: 1, Current: -1, Pinned: f.Pinned}
	if f.MinGPUs != nil {
		q.MinGPUs = *f.MinGPUs
		if reason := fewest.refuse(q.MinGPUs); reason != "" {
			return Request{}, fieldErr(reason, "%s.min_gpus", path)
		}
	}
	if q.Options, err = readConfigs(f.Options, path+".options", types); err != nil {
		return Request{}, err
	}
	if f.Current != nil {
		if c := *f.Current; c != math.Trunc(c) || c < 0 || int(c) >= len(q.Options) {
			return Request{}, fieldErr(fmt.Sprintf("%g: want an index into options, of which there are %d, or null", c, len(q.Options)), "%s.current", path)
		}
		q.Current = int(*f.Current)
	}
	if q.Restart, err = readRestart(f.Restart, path+".restart"); err != nil {
		return Request{}, err
	}
	if q.Pinned && (q.Current < 0 || !(q.Options[q.Current].Goodput > 0)) {
		return Request{}, fieldErr("true, but current names no usable option", "%s.pinned", path)
	}
	return q, nil
}

// readRestart reads what a change of config costs; null or absent: nothing.
func readRestart(raw json.RawMessage, path string) (Restart, error) {
	if raw == nil {
		return Restart{}, nil
	}
	var r restartFile
	if err := decode(raw, &r, path); err != nil {
		return Restart{}, err
	}
	if err := onlyFields(raw, path, "age_s", "count", "cost_s"); err != nil {
		return Restart{}, err
	}
	for _, v := range []struct {
		name  string
		value float64
		can   span
	}{{"age_s", r.Age, spells}, {"count", r.Count, restarts}, {"cost_s", r.Cost, spells}} {
		if reason := v.can.refuse(v.value); reason != "" {
			return Restart{}, fieldErr(reason, "%s.%s", path, v.name)
		}
	}
	return Restart{AgeSec: r.Age, CostSec: r.Cost, Count: r.Count}, nil
}

// readConfigs reads a list of options at once; only if one is of the wrong kind or has a
// field of another name, each for itself, to tell which.
func readConfigs(raw json.RawMessage, path string, types map[string]int) ([]Config, error) {
	if raw == nil || kind(raw) == "null" {
		return nil, fieldErr("is missing", "%s", path)
	}
	var files []configFile
	strict := json.NewDecoder(bytes.NewReader(raw))
	strict.DisallowUnknownFields()
	if strict.Decode(&files) != nil {
		var list []json.RawMessage
		if err := decode(raw, &list, path); err != nil {
			return nil, err
		}
		for i := range list {
			var f configFile
			at := fmt.Sprintf("%s[%d]", path, i)
			if err := decode(list[i], &f, at); err != nil {
				return nil, err
			}
			if err := onlyFields(list[i], at, "type", "gpus", "goodput"); err != nil {
				return nil, err
			}
		}
	}
	configs := make([]Config, len(files))
	for i, f := range files {
		k, ok := types[f.Type]
		switch {
		case f.Type == "":
			return nil, fieldErr("is missing", "%s[%d].type", path, i)
		case !ok:
			return nil, fieldErr(fmt.Sprintf("there is no type %q in capacity", f.Type), "%s[%d].type", path, i)
		case f.GPUs == nil:
			return nil, fieldErr("is missing", "%s[%d].gpus", path, i)
		case *f.GPUs < 1 || *f.GPUs != math.Trunc(*f.GPUs) || *f.GPUs > most:
			return nil, fieldErr(fmt.Sprintf("%g: want a whole number of accelerators, 1 to 1e9", *f.GPUs), "%s[%d].gpus", path, i)
		}
		configs[i] = Config{Type: k, GPUs: int(*f.GPUs)}
		if f.Goodput != nil && *f.Goodput > 0 {
			configs[i].Goodput = *f.Goodput
			if reason := goodputs.refuse(*f.Goodput); reason != "" {
				return nil, fieldErr(reason, "%s[%d].goodput", path, i)
			}
		}
	}
	return configs, nil
}
