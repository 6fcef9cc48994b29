package block

import (
	"math"

	"github.com/goodfleet/goodfleet/planner/linear"
)

// Status says how a solve ended.
type Status = linear.Status

// The ends of a solve.
const (
	Optimal    = linear.Optimal
	Feasible   = linear.Limit // a point with a proven gap above the one asked for
	Infeasible = linear.Infeasible
	Unbounded  = linear.Unbounded
)

// Options say how far to go. The zero value asks for a point within 1e-6.
type Options struct {
	Gap        float64   // relative distance of point and bound that is close enough
	Iterations int       // of the interior point method, each time it runs; 0: 100
	Pivots     int       // of the simplex method; 0: by size
	Vertex     bool      // move to a vertex, where few jobs are split; of over 4000 jobs, nearly to one
	Second     bool      // at a level: the vertex with the most gain among the best; of over 4000 jobs within 1e-6 where a job alone caps the level
	Prices     []float64 // of the last round: certified first, and where sifting begins
	Level      float64   // of the last round, if the objective is the level; 0: not known
	Point      []float64 // of the last round, with the columns of this one: where a job alone caps the level
	Fresh      []bool    // jobs that changed since: what Point says of them is not used
}

func (o Options) gap() float64 {
	if o.Gap > 0 {
		return o.Gap
	}
	return 1e-6
}

func (o Options) iterations() int {
	if o.Iterations > 0 {
		return o.Iterations
	}
	return 100
}

// Solution is a point with its proof.
type Solution struct {
	Status     Status
	X          []float64 // per column, the share of time
	Level      float64   // t, if the objective is the level
	Objective  float64
	Bound      float64   // no point does better
	Gap        float64   // |Bound − Objective| relative to the larger
	Prices     []float64 // per capacity row, in units of the objective
	Worth      []float64 // per job, of one unit of its speed in units of the objective
	Conflict   []int     // Infeasible: jobs whose floors cannot all be met
	Violation  float64   // by how much X misses a row, relative to its size
	Iterations int       // of the interior point method
	Pivots     int       // of the simplex method
	Columns    int       // that the last program kept after sifting
	Warm       bool      // the last round's prices led to it
}

// close sets objective and gap from X and Bound.
func (s *Solution) close(p *Program, want float64) {
	gain, level, violation := p.weigh(s.X)
	s.Objective, s.Violation = gain, violation
	if p.Level {
		s.Level = level
		s.Objective = level
	}
	s.Gap = relative(s.Bound, s.Objective)
	if p.Size > 0 && !p.Level {
		s.Gap = min(s.Gap, math.Abs(s.Bound-s.Objective)/p.Size)
	}
	if s.Gap > want && !p.Level && math.Abs(s.Bound-s.Objective) <= addTol*p.terms(s.X) {
		s.Gap = 0
	}
	if s.Status = Feasible; s.Gap <= want && s.Violation <= feasibleTol {
		s.Status = Optimal
	}
}

// addTol is the part of the sizes of the terms of a sum that is rounding, where gains and losses
// cancel.
const addTol = 1e-13

// terms is the sum of the sizes of what an objective of gains adds up.
func (p *Program) terms(x []float64) float64 {
	sum := 0.0
	for i, v := range x {
		if v != 0 {
			sum += math.Abs(p.Gain[i] * v)
		}
	}
	return sum
}

// feasibleTol is the relative miss of a row that a point may have: the interior
// point method ends near 1e-9, and shares are used as fractions of minutes.
const feasibleTol = 1e-7

// relative is the distance of a bound from a value, relative to the larger; a bound below
// the value counts as none apart by as much as rows may be missed, and no further.
func relative(bound, value float64) float64 {
	d := math.Abs(bound - value)
	size := max(math.Abs(bound), math.Abs(value))
	if bound <= value && d <= 10*feasibleTol*size {
		return 0
	}
	if size == 0 || math.IsInf(size, 1) {
		return d
	}
	return d / size
}
