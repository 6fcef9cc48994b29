package share

import (
	"math"
	"slices"

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
	Price     []float64 // per type, by how much one more accelerator would improve the objective
	Conflict  []int     // infeasible: the pinned jobs that do not fit
	Nodes     int
}

// keepBonus makes a job keep its config on a tie: it is too small to decide anything else.
const keepBonus = 1e-12

const (
	// roundOff is what a value may lose by rounding, as a part of it: what an option adds over
	// none is a difference.
	roundOff = 1e-16
	// roundMost is the gap up to which an answer is optimal whose gap is rounding alone.
	roundMost = 1e-7
)

// wholeGap is the part of the gap asked for to which Pollux's sum over none is solved:
// the objective is a power of it, and may change faster.
const wholeGap = 0.02

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
	worths := make([][]float64, n)
	for j := range a.Requests {
		q := &a.Requests[j]
		out.Choice[j] = -1
		worths[j] = a.worths(q)
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
	p, index, bonus := a.whole(worths, capacity)
	inner := l
	if a.Rule == Pollux {
		inner.Gap = want(l) * wholeGap / max(1, math.Abs(a.none()))
	} else {
		inner.Gap, p.Offset = want(l)*(1-keepPart), a.offset(worths)
	}
	r := whole.Solve(&p, inner)
	fit(&p, r.Choice)
	value, loose := 0.0, 0.0 // loose: what the bound does not see
	for j, c := range r.Choice {
		if c >= 0 {
			if out.Choice[j] = index[j][c]; out.Choice[j] == a.Requests[j].Current {
				loose += bonus
			}
			loose += roundOff * math.Abs(p.Options[j][c].Value)
		}
		if c = out.Choice[j]; c >= 0 {
			value += worths[j][c]
		} else {
			value += a.none()
		}
	}
	search := max(0, r.Bound-worthOf(&p, r.Choice))
	out.Objective, out.Bound = a.objective(value), a.objective(min(value+search+loose, a.alone(worths)))
	out.Gap = distance(out.Objective, out.Bound)
	out.Nodes = r.Nodes
	for _, price := range r.Prices {
		out.Price = append(out.Price, price*a.slope(out.Objective))
	}
	out.Status = "feasible"
	if closed := distance(out.Objective, a.objective(value+search)) <= want(l); out.Gap <= want(l) || closed && out.Gap <= roundMost {
		out.Status = "optimal"
	}
	return out
}

// whole states the choice of the jobs that are not pinned by what each option adds over
// none, and tells which options of each job it holds.
// bonus is what an option has for being kept.
func (a *Assignment) whole(worths [][]float64, capacity []float64) (p whole.Problem, index [][]int, bonus float64) {
	largest := 1.0
	for _, list := range worths {
		for _, v := range list {
			if !math.IsNaN(v) {
				largest = max(largest, v)
			}
		}
	}
	bonus = keepBonus * largest
	p = whole.Problem{Options: make([][]whole.Option, len(worths)), Capacity: capacity}
	index = make([][]int, len(worths))
	for j := range a.Requests {
		q := &a.Requests[j]
		for i, c := range q.Options {
			if q.Pinned || math.IsNaN(worths[j][i]) {
				continue
			}
			v := worths[j][i] - a.none()
			if i == q.Current {
				v += bonus
			}
			p.Options[j] = append(p.Options[j], whole.Option{Row: c.Type, Units: float64(c.GPUs), Value: v})
			index[j] = append(index[j], i)
		}
	}
	return p, index, bonus
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

// fit takes the config from the last jobs of a row that holds more than it can. The search
// is held to its rows; an answer that gives accelerators out twice would be worse than one
// that leaves some idle.
func fit(p *whole.Problem, choice []int) {
	left := slices.Clone(p.Capacity)
	for j, c := range choice {
		if c < 0 {
			continue
		}
		o := p.Options[j][c]
		if left[o.Row] < o.Units {
			choice[j] = -1
			continue
		}
		left[o.Row] -= o.Units
	}
}

// worthOf is the value of a choice.
func worthOf(p *whole.Problem, choice []int) float64 {
	sum := 0.0
	for j, c := range choice {
		if c >= 0 {
			sum += p.Options[j][c].Value
		}
	}
	return sum
}

// alone is what no choice exceeds: each job has the best of its options.
func (a *Assignment) alone(worths [][]float64) float64 {
	sum := 0.0
	for j, q := range a.Requests {
		if q.Pinned {
			sum += worths[j][q.Current]
			continue
		}
		most := a.none()
		for _, v := range worths[j] {
			if !math.IsNaN(v) {
				most = max(most, v)
			}
		}
		sum += most
	}
	return sum
}

// offset is what the objective is if no job that has a choice gets a config.
func (a *Assignment) offset(worths [][]float64) float64 {
	sum := 0.0
	for j, q := range a.Requests {
		if q.Pinned {
			sum += worths[j][q.Current]
		} else {
			sum += a.none()
		}
	}
	return sum
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
