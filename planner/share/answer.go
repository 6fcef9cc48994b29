package share

import (
	"math"

	"github.com/goodfleet/goodfleet/planner/block"
)

// Answer is what a policy gives to each job.
type Answer struct {
	Policy    string
	Status    string // optimal, feasible, infeasible
	Objective float64
	Bound     float64
	Gap       float64
	Share     [][]float64 // job × type
	PairShare []float64   // pair × type, flat; nil: nothing shared
	Vector    []float64   // water filling: theta_j / E_j
	Conflict  []int       // infeasible: jobs whose deadlines cannot all be met
	Price     []float64   // per type: what one more worker would add to the objective; nil: no program
	Theta     []float64   // per job, steps/s
	Left      []int       // jobs that can run nowhere, left out of the objective
	Rounds    int         // programs solved
}

// Options say how near to the optimum an answer must be.
type Options struct {
	Gap float64 // relative; 0: 1e-9
}

func (o Options) settings() settings {
	if o.Gap > 0 {
		return settings{o.Gap}
	}
	return settings{1e-9}
}

// answerOf turns a plan into an answer with its own objective and bound.
func answerOf(r plan, objective, bound float64) Answer {
	a := Answer{Objective: objective, Bound: bound, Share: r.x, PairShare: r.pairs, Theta: r.theta, Price: r.prices, Conflict: r.conflict, Rounds: 1}
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

// distance is the relative distance of a value from its bound.
func distance(value, bound float64) float64 {
	size := max(math.Abs(value), math.Abs(bound))
	if size == 0 || math.IsInf(size, 1) || math.IsNaN(size) {
		return 0
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

// nothing is a share of zero for every job.
func (p *Problem) nothing() [][]float64 {
	x := make([][]float64, len(p.Jobs))
	for j := range x {
		x[j] = make([]float64, len(p.Types))
	}
	return x
}
