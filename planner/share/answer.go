package share

import (
	"math"

	"github.com/goodfleet/goodfleet/planner/block"
)

// Answer is what a policy gives to each job.
type Answer struct {
	Policy    string
	Status    string // optimal, feasible, infeasible, unbounded; limit: no point was found that keeps all deadlines
	Objective float64
	Unit      string // of the objective; "": a plain number
	Bound     float64
	Gap       float64
	Share     [][]float64 // job × type
	PairShare []float64   // pair × type, flat; nil: nothing shared
	Vector    []float64   // water filling: theta_j / E_j
	Conflict  []int       // infeasible: jobs whose deadlines cannot all be met; limit: jobs that miss theirs
	Price     []float64   // per type, of one more worker, in units of the objective: see Explanation; nil: unknown
	Theta     []float64   // per job, steps/s
	Need      []float64   // per job, the steps/s that its row asks for: deadline or level; nil: none
	Level     bool        // Need follows the objective
	Left      []int       // jobs that can run nowhere, left out of the objective
	Rounds    int         // programs solved
}

// Options say how near to the optimum an answer must be.
type Options struct {
	Power *float64 // of the power mean; nil: −1
	Gap   float64  // relative; 0: 1e-9, and 1e-7 of the power mean

	// Interior leaves the point as the interior method finds it, amid all that are about
	// as good, as Gavel's solver did. Else, of the best points, one of most second gain.
	// Pairs are not looked at.
	Interior bool
}

// power is that of the mean.
func (o Options) power() float64 {
	if o.Power != nil {
		return *o.Power
	}
	return defaultPower
}

func (o Options) settings() settings {
	if o.Gap > 0 {
		return settings{gap: o.Gap, interior: o.Interior}
	}
	return settings{gap: 1e-9, interior: o.Interior}
}

// answerOf turns a plan into an answer with its own objective and bound.
func answerOf(r plan, objective, bound float64) Answer {
	a := Answer{Objective: objective, Bound: bound, Share: r.x, PairShare: r.pairs, Theta: r.theta, Price: r.prices,
		Need: r.need, Level: r.level, Conflict: r.conflict, Rounds: 1}
	a.Gap = distance(objective, bound)
	switch r.status {
	case block.Optimal:
		a.Status = "optimal"
	case block.Infeasible:
		a.Status = "infeasible"
	case block.Unbounded:
		a.Status = "unbounded"
	default:
		a.Status = "feasible"
	}
	return a
}

// distance is the relative distance of a value from its bound; 1 if either is infinite.
func distance(value, bound float64) float64 {
	size := max(math.Abs(value), math.Abs(bound))
	switch {
	case size == 0:
		return 0
	case math.IsInf(size, 1) || math.IsNaN(size):
		return 1
	}
	return math.Abs(bound-value) / size
}

// exact is the answer of a rule that solves no program: what it says is its bound.
func exact(p *Problem, x [][]float64, objective float64) Answer {
	a := Answer{Status: "optimal", Objective: objective, Bound: objective, Share: x, Theta: make([]float64, len(p.Jobs))}
	for j := range p.Jobs {
		a.Theta[j] = dot(p.Jobs[j].Throughput, x[j])
	}
	return a
}

// repriced multiplies prices by what a unit of the program's objective is of the answer's.
func (a *Answer) repriced(factor float64) {
	for w := range a.Price {
		if a.Price[w] *= factor; math.IsNaN(a.Price[w]) || math.IsInf(a.Price[w], 0) {
			a.Price = nil
			return
		}
	}
}

// unsign turns each -0, which rounding and changes of sign leave, into 0.
func (a *Answer) unsign() {
	a.Objective, a.Bound = unsigned(a.Objective), unsigned(a.Bound)
	for _, list := range append([][]float64{a.PairShare, a.Vector, a.Price, a.Theta, a.Need}, a.Share...) {
		for i, v := range list {
			list[i] = unsigned(v)
		}
	}
}

func unsigned(v float64) float64 {
	if v == 0 {
		return 0
	}
	return v
}

// nothing is a share of zero for every job.
func (p *Problem) nothing() [][]float64 {
	x := make([][]float64, len(p.Jobs))
	for j := range x {
		x[j] = make([]float64, len(p.Types))
	}
	return x
}
