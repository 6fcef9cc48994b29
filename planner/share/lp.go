package share

import (
	"math"

	"github.com/goodfleet/goodfleet/planner/block"
)

// demand is what a policy asks of the shares, for the solver. Job j reaches
// theta_j = Σ throughput·x; the objective is either the level t to which all follow,
// or Σ_j gain_j·Σ_w worth_w·throughput·x − Σ cost_w·scale·x.
type demand struct {
	throughput func(j, w int) float64
	gain       []float64 // per job
	worth      []float64 // per type; nil: 1
	cost       []float64 // per type, worker and unit of time; nil: 0
	floor      []float64 // per job, of theta; nil: none
	follow     []float64 // per job: theta_j ≥ floor_j + follow_j·t; nil: maximise gain
	packed     bool      // pairs may share workers
	size       float64   // of an objective of gains: what a gap is relative to, at least
}

// plan is the point that a demand gets.
type plan struct {
	status    block.Status
	x         [][]float64 // job × type, alone
	pairs     []float64   // pair × type, flat
	theta     []float64   // per job, steps/s
	objective float64     // of the demand, level or gain
	bound     float64
	gap       float64
	prices    []float64 // per type, of one worker, in units of the objective
	worth     []float64 // per job, of one unit of theta
	support   float64   // Σ worth·theta is never more than this
	need      []float64 // per job, what its row asks of theta; nil: nothing
	level     bool      // that follows the objective
	conflict  []int
	iteration int
	pivots    int
}

// settings that all policies share.
type settings struct {
	gap      float64
	interior bool
}

// true throughput of job j on type w.
func (p *Problem) throughput(j, w int) float64 { return p.Jobs[j].Throughput[w] }

// solve answers a demand.
func (p *Problem) solve(d demand, s settings) plan {
	if d.packed && len(p.Pairs) > 0 {
		return p.solvePacked(d, s)
	}
	b := p.blocks(&d)
	sol := block.Solve(b, block.Options{Gap: s.gap, Vertex: !s.interior, Second: !s.interior})
	r := plan{status: sol.Status, objective: sol.Objective, bound: sol.Bound, gap: sol.Gap, prices: sol.Prices,
		worth: sol.Worth, conflict: sol.Conflict, iteration: sol.Iterations, pivots: sol.Pivots}
	r.x, r.theta = make([][]float64, len(p.Jobs)), make([]float64, len(p.Jobs))
	i := 0
	for j := range p.Jobs {
		r.x[j] = make([]float64, len(p.Types))
		part := p.part(j)
		for w := range p.Types {
			if v := d.throughput(j, w); v > 0 {
				r.x[j][w] = part * sol.X[i]
				r.theta[j] += v * r.x[j][w]
				i++
			}
		}
	}
	if r.worth != nil && sol.Prices != nil {
		r.support = b.Support(sol.Prices, r.worth)
	}
	r.need, r.level = d.needs(r.objective), d.follow != nil
	return p.finer(&d, r, s)
}

// needs is what each job's row asks of its throughput at an objective; nil: nothing.
func (d *demand) needs(objective float64) []float64 {
	switch {
	case d.follow != nil:
		need := make([]float64, len(d.follow))
		for j := range need {
			need[j] = at(d.floor, j) + d.follow[j]*objective
		}
		return need
	case d.floor != nil:
		return d.floor
	}
	return nil
}

// blocks states a demand as a program: one column per job and type where it runs, the share
// over the job's part.
func (p *Problem) blocks(d *demand) *block.Program {
	capacity := make([]float64, len(p.Types))
	for w, t := range p.Types {
		capacity[w] = float64(t.Workers)
	}
	b := block.New(capacity)
	b.Level, b.Size = d.follow != nil, d.size
	for j := range p.Jobs {
		part := p.part(j)
		for w := range p.Types {
			if v := d.throughput(j, w); v > 0 {
				b.Column(part*p.value(d, j, w, v), part*v, []int32{int32(w)}, []float64{part * float64(p.Jobs[j].Scale)})
			}
		}
		b.Job(at(d.floor, j), at(d.follow, j))
	}
	return b
}

// value is the objective of a unit of time of job j alone on type w at throughput v.
func (p *Problem) value(d *demand, j, w int, v float64) float64 {
	worth := 1.0
	if d.worth != nil {
		worth = d.worth[w]
	}
	return at(d.gain, j)*worth*v - at(d.cost, w)*float64(p.Jobs[j].Scale)
}

func at(list []float64, i int) float64 {
	if list == nil {
		return 0
	}
	return list[i]
}

// cost is Σ price·scale·x of a plan, in USD per hour; a pair pays once.
func (p *Problem) cost(r *plan) float64 {
	sum := 0.0
	for j := range r.x {
		for w, x := range r.x[j] {
			sum += p.Types[w].Price * float64(p.Jobs[j].Scale) * x
		}
	}
	for k, x := range r.pairs {
		q := p.Pairs[k/len(p.Types)]
		sum += p.Types[k%len(p.Types)].Price * float64(p.Jobs[q.A].Scale) * x
	}
	return sum
}

// infeasible is the answer when the jobs listed cannot all have what they need.
func infeasible(conflict []int) plan {
	return plan{status: block.Infeasible, conflict: conflict, bound: math.Inf(-1)}
}
