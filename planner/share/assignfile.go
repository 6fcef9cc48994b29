package share

import (
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
		Options []struct {
			Type    string   `json:"type"`
			GPUs    *float64 `json:"gpus"`
			Goodput *float64 `json:"goodput"`
		} `json:"options"`
		Current *float64 `json:"current"`
		Restart *struct {
			Age   float64 `json:"age_s"`
			Count float64 `json:"count"`
			Cost  float64 `json:"cost_s"`
		} `json:"restart"`
		Pinned bool `json:"pinned"`
	}
)

// ParseAssignment reads an assignment to be made by a rule from JSON. An error is a
// *FieldError.
func ParseAssignment(text []byte, rule Rule) (*Assignment, error) {
	var f assignFile
	if err := decode(text, &f, ""); err != nil {
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
	case f.Lambda != nil && *f.Lambda < 0:
		return nil, fieldErr(fmt.Sprintf("%g: want at least 0", *f.Lambda), "lambda")
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
		a.Requests = append(a.Requests, q)
	}
	return a, nil
}

func readRequest(raw json.RawMessage, path string, types map[string]int) (Request, error) {
	var f requestFile
	if err := decode(raw, &f, path); err != nil {
		return Request{}, err
	}
	id, err := identity(f.ID, path+".id")
	if err != nil {
		return Request{}, err
	}
	q := Request{ID: id, MinGPUs: 1, Current: -1, Pinned: f.Pinned}
	if f.MinGPUs != nil {
		if q.MinGPUs = *f.MinGPUs; q.MinGPUs <= 0 {
			return Request{}, fieldErr(fmt.Sprintf("%g: want more than 0", q.MinGPUs), "%s.min_gpus", path)
		}
	}
	if f.Options == nil {
		return Request{}, fieldErr("is missing", "%s.options", path)
	}
	for i, o := range f.Options {
		k, ok := types[o.Type]
		switch {
		case !ok:
			return Request{}, fieldErr(fmt.Sprintf("there is no type %q in capacity", o.Type), "%s.options[%d].type", path, i)
		case o.GPUs == nil:
			return Request{}, fieldErr("is missing", "%s.options[%d].gpus", path, i)
		case *o.GPUs < 1 || *o.GPUs != math.Trunc(*o.GPUs) || *o.GPUs > most:
			return Request{}, fieldErr(fmt.Sprintf("%g: want a whole number of at least 1", *o.GPUs), "%s.options[%d].gpus", path, i)
		}
		c := Config{Type: k, GPUs: int(*o.GPUs)}
		if o.Goodput != nil {
			c.Goodput = *o.Goodput
		}
		q.Options = append(q.Options, c)
	}
	if f.Current != nil {
		if c := *f.Current; c != math.Trunc(c) || c < 0 || int(c) >= len(q.Options) {
			return Request{}, fieldErr(fmt.Sprintf("%g: want an index into options, of which there are %d, or null", c, len(q.Options)), "%s.current", path)
		}
		q.Current = int(*f.Current)
	}
	if r := f.Restart; r != nil {
		if r.Age < 0 || r.Count < 0 || r.Cost < 0 {
			return Request{}, fieldErr("want numbers of at least 0", "%s.restart", path)
		}
		q.Restart = Restart{AgeSec: r.Age, CostSec: r.Cost, Count: r.Count}
	}
	if q.Pinned && (q.Current < 0 || !(q.Options[q.Current].Goodput > 0)) {
		return Request{}, fieldErr("true, but current names no usable option", "%s.pinned", path)
	}
	return q, nil
}
