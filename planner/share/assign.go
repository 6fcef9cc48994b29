package share

import (
	"math"

	"github.com/goodfleet/goodfleet/planner/whole"
)

// Assignment gives each job one whole config, or none.
type Assignment struct {
	Rule     Rule
	Power    float64 // p: fairness between jobs
	Lambda   float64 // Sia: what a job without config counts
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

// Restart is what a change of config costs; the rules say how. The zero value costs nothing.
type Restart struct {
	AgeSec, CostSec float64
	Count           float64
}

// Assigned is the answer to an Assignment.
type Assigned struct {
	Status    string // optimal, feasible, infeasible
	Objective float64
	Bound     float64
	Gap       float64
	Choice    []int     // per job, index of the option; -1: none
	Price     []float64 // per type, by how much at most one more accelerator would improve the objective if configs could be shared
	Conflict  []int     // infeasible: the pinned jobs that do not fit
	Nodes     int
}

// keepBonus makes a job keep its config on a tie, of the largest worth: it is too small to
// decide anything else.
const keepBonus = 1e-12

// keepPart is the part of a gap that is left to the bonus of kept configs.
const keepPart = 0.1

func want(l whole.Limits) float64 {
	if l.Gap > 0 {
		return l.Gap
	}
	return 1e-9
}

// Solve chooses the configs that the rule is for.
func (a *Assignment) Solve(l whole.Limits) Assigned {
	n := len(a.Requests)
	out := Assigned{Choice: make([]int, n)}
	capacity := make([]float64, len(a.Types))
	for k, t := range a.Types {
		capacity[k] = float64(t.Workers)
	}
	var pinned []int
	for j := range a.Requests {
		q := &a.Requests[j]
		out.Choice[j] = -1
		if q.Pinned {
			out.Choice[j] = q.Current
			c := q.Options[q.Current]
			capacity[c.Type] -= float64(c.GPUs)
			pinned = append(pinned, j)
		}
	}
	if crowd := a.crowded(pinned, capacity); len(crowd) > 0 {
		for j := range out.Choice {
			out.Choice[j] = -1
		}
		out.Status, out.Conflict = "infeasible", crowd
		return out
	}
	s := newSearch(a, capacity)
	prices := s.run(&out, l)
	out.Objective, out.Bound = unsigned(a.objective(s.value(out.Choice))), unsigned(a.objective(s.bound))
	out.Gap = distance(out.Objective, out.Bound)
	for _, price := range prices {
		out.Price = append(out.Price, unsigned(price*a.slope(out.Objective)))
	}
	out.Status = "feasible"
	if out.Gap <= want(l) {
		out.Status = "optimal"
	}
	return out
}

// crowded lists the pinned jobs of types that cannot hold all of theirs.
func (a *Assignment) crowded(pinned []int, left []float64) []int {
	var list []int
	for _, j := range pinned {
		if q := &a.Requests[j]; left[q.Options[q.Current].Type] < 0 {
			list = append(list, j)
		}
	}
	return list
}

// worths are what each option counts, in the sense of a maximum; absent (NaN) where the
// config is unusable.
func (a *Assignment) worths(q *Request) []float64 {
	least := math.Inf(1)
	for _, c := range q.Options {
		if c.Goodput > 0 {
			least = min(least, c.Goodput)
		}
	}
	list := make([]float64, len(q.Options))
	for i, c := range q.Options {
		list[i] = math.NaN()
		if !(c.Goodput > 0) {
			continue
		}
		v := q.MinGPUs * c.Goodput / least
		if q.Current >= 0 && i != q.Current {
			v *= a.factor(q.Restart)
		}
		if v = a.worth(v); !math.IsInf(v, 0) {
			list[i] = v
		}
	}
	return list
}
