package share

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/goodfleet/goodfleet/planner/whole"
)

// Assignment is Sia's problem: one whole config per job, or none.
type Assignment struct {
	Power    float64 // p, not 0: fairness; below 0 the sum is minimised
	Lambda   float64 // what a job without config counts
	Types    []Type  // accelerators, sorted by name
	Requests []Request
}

// Request is a job with its configs.
type Request struct {
	ID      string
	MinGPUs float64
	Options []Config
	Current int // index of the config it has; -1: none
	Restart Restart
	Pinned  bool // keeps Current whatever it costs
}

// Config is accelerators of one type and the goodput there; 0 or less: unusable.
type Config struct {
	Type    int
	GPUs    int
	Goodput float64
}

// Restart is what a change of config costs: the worth of every other config is scaled
// by max(age − count·cost, 0)/(age + cost). The zero value costs nothing.
type Restart struct {
	AgeSec, CostSec float64
	Count           float64
}

// Factor is the share of a new config's worth that is left after the change; 1 for a
// job younger than one restart.
func (r Restart) Factor() float64 {
	if r.AgeSec < r.CostSec || r.AgeSec+r.CostSec == 0 {
		return 1
	}
	return max(r.AgeSec-r.Count*r.CostSec, 0) / (r.AgeSec + r.CostSec)
}

// Assigned is the answer to an Assignment.
type Assigned struct {
	Status    string // optimal, feasible, infeasible
	Objective float64
	Bound     float64
	Gap       float64
	Choice    []int     // per job, index of the option; -1: none
	Price     []float64 // per type, what one more accelerator would add (p > 0) or take off
	Conflict  []int     // infeasible: the pinned jobs that do not fit
	Nodes     int
}

// worths are Sia's w: the normalised goodput after restarts, to the power p.
// Absent (NaN) where the config is unusable.
func (a *Assignment) worths(q *Request) []float64 {
	least := math.Inf(1)
	for _, c := range q.Options {
		if c.Goodput > 0 {
			least = min(least, c.Goodput)
		}
	}
	w := make([]float64, len(q.Options))
	for i, c := range q.Options {
		w[i] = math.NaN()
		if !(c.Goodput > 0) {
			continue
		}
		v := q.MinGPUs * c.Goodput / least
		if q.Current >= 0 && i != q.Current {
			v *= q.Restart.Factor()
		}
		if w[i] = math.Pow(v, a.Power); math.IsInf(w[i], 0) {
			w[i] = math.NaN()
		}
	}
	return w
}

// keepBonus makes a job keep its config on a tie: it is too small to decide anything else.
const keepBonus = 1e-12

// wholeGap is the part of the gap asked for that the sum of whole values may have: it
// counts lambda for every job, and so is larger than the objective.
const wholeGap = 0.02

func want(l whole.Limits) float64 {
	if l.Gap > 0 {
		return l.Gap
	}
	return 1e-9
}

// Solve chooses the configs. Each job without one counts lambda: taken off the sum for
// p > 0, added to it for p < 0.
func (a *Assignment) Solve(l whole.Limits) Assigned {
	sense := 1.0
	if a.Power < 0 {
		sense = -1
	}
	n := len(a.Requests)
	out := Assigned{Choice: make([]int, n)}
	capacity := make([]float64, len(a.Types))
	for k, t := range a.Types {
		capacity[k] = float64(t.Workers)
	}
	constant, scale := 0.0, 1.0
	var pinned []int
	worth := make([][]float64, n)
	for j := range a.Requests {
		q := &a.Requests[j]
		out.Choice[j] = -1
		worth[j] = a.worths(q)
		constant -= a.Lambda // as if none were served, in the sense of a maximum
		if q.Pinned {
			out.Choice[j] = q.Current
			c := q.Options[q.Current]
			capacity[c.Type] -= float64(c.GPUs)
			constant += a.Lambda + sense*worth[j][q.Current]
			pinned = append(pinned, j)
		}
		for _, w := range worth[j] {
			if !math.IsNaN(w) {
				scale = max(scale, sense*w+a.Lambda)
			}
		}
	}
	for k, left := range capacity {
		if left < 0 {
			out.Status = "infeasible"
			for _, j := range pinned {
				if q := a.Requests[j]; q.Options[q.Current].Type == k {
					out.Conflict = append(out.Conflict, j)
				}
			}
			out.Choice = make([]int, n)
			for j := range out.Choice {
				out.Choice[j] = -1
			}
			return out
		}
	}
	p := whole.Problem{Options: make([][]whole.Option, n), Capacity: capacity}
	index := make([][]int, n)
	for j := range a.Requests {
		q := &a.Requests[j]
		if q.Pinned {
			continue
		}
		for i, c := range q.Options {
			if math.IsNaN(worth[j][i]) {
				continue
			}
			v := sense*worth[j][i] + a.Lambda
			if i == q.Current {
				v += keepBonus * scale
			}
			p.Options[j] = append(p.Options[j], whole.Option{Row: c.Type, Units: float64(c.GPUs), Value: v})
			index[j] = append(index[j], i)
		}
	}
	inner := l
	inner.Gap = wholeGap * want(l)
	r := whole.Solve(&p, inner)
	value := constant
	for j, c := range r.Choice {
		if c >= 0 {
			out.Choice[j] = index[j][c]
			value += sense*worth[j][index[j][c]] + a.Lambda
		}
	}
	out.Objective, out.Bound = sense*value, sense*max(value, r.Bound+constant)
	out.Gap = distance(out.Objective, out.Bound)
	out.Price, out.Nodes = r.Prices, r.Nodes
	out.Status = "feasible"
	if out.Gap <= want(l) {
		out.Status = "optimal"
	}
	return out
}

// The documents as they are written.
type (
	assignFile struct {
		Power    *float64          `json:"p"`
		Lambda   *float64          `json:"lambda"`
		Capacity map[string]any    `json:"capacity"`
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

// ParseAssignment reads an assignment from JSON. An error is a *FieldError.
func ParseAssignment(text []byte) (*Assignment, error) {
	var f assignFile
	if err := decode(text, &f, ""); err != nil {
		return nil, err
	}
	a := &Assignment{Lambda: 1.1}
	switch {
	case f.Power == nil:
		return nil, fieldErr("is missing", "p")
	case *f.Power == 0:
		return nil, fieldErr("0: want another number; the sum of logarithms is no power", "p")
	case f.Lambda != nil && *f.Lambda < 0:
		return nil, fieldErr(fmt.Sprintf("%g: want at least 0", *f.Lambda), "lambda")
	case len(f.Capacity) == 0:
		return nil, fieldErr("is missing", "capacity")
	case f.Jobs == nil:
		return nil, fieldErr("is missing", "jobs")
	}
	a.Power = *f.Power
	if f.Lambda != nil {
		a.Lambda = *f.Lambda
	}
	types := make(map[string]int)
	for _, name := range slices.Sorted(maps.Keys(f.Capacity)) {
		n, err := number(f.Capacity[name], "capacity.%s", name)
		if err != nil {
			return nil, err
		}
		if n < 0 || n != math.Trunc(n) || n > 1e9 {
			return nil, fieldErr(fmt.Sprintf("%g: want a whole number of accelerators, at least 0", n), "capacity.%s", name)
		}
		types[name] = len(a.Types)
		a.Types = append(a.Types, Type{Name: name, Workers: int(n), Price: -1})
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
		case *o.GPUs < 1 || *o.GPUs != math.Trunc(*o.GPUs) || *o.GPUs > 1e9:
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
