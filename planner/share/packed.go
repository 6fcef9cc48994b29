package share

import (
	"math"

	"github.com/goodfleet/goodfleet/planner/block"
	"github.com/goodfleet/goodfleet/planner/linear"
)

// Settings of the programs with pairs, scaled like those of package block.
const (
	packedRounds  = 400     // programs, each with the columns that the last one missed
	packedPerJob  = 4       // columns that a job adds in one round
	packedStart   = 1e-7    // shares of the start point below this are left out
	packedEarn    = 1e-10   // scaled reduced cost below which a column adds nothing
	packedPivots  = 400_000 // most pivots; of small programs those that a program of its rows could need
	packedFew     = 2_000   // pivots of any program
	packedPerRow  = 300     // and more for each row
	packedEnough  = 1e-6    // gap that is proved before the last columns are sought
	packedPatient = 512     // jobs up to which they are
)

// pairing is a program with pairs: rows are each job's time, each job's throughput, each type's
// workers; columns are single jobs and pairs on a type, and the level. Pairs tie the
// rows of two jobs together, so no job can be eliminated alone; the simplex method
// holds a sparse basis instead and takes columns in as their prices ask for them.
type pairing struct {
	p      *Problem
	d      *demand
	types  int
	part   []float64 // of a job's time that its columns' unit is
	speed  []float64 // unit of throughput per job
	gain   float64   // unit of the objective
	level  float64
	lp     *linear.Program
	s      *linear.Simplex
	wide   *linear.Point // where the program was solved again in wide numbers; nil: not
	single []int32       // job × type → column, -1
	pair   []int32       // pair × type → column, -1
	t      int           // the level's column
	cost   float64       // its cost, so that duals are near 1
}

// solvePacked answers a demand in which pairs may share workers.
func (p *Problem) solvePacked(d demand, s settings) plan {
	alone := d
	alone.packed = false
	first := p.solve(alone, settings{gap: max(s.gap, 1e-7)})
	f := newPairing(p, &d)
	if f == nil {
		return first
	}
	feasible := len(first.conflict) == 0 && first.x != nil
	f.begin(&first, feasible)
	r := f.run(s)
	if feasible && r.status == block.Feasible && first.objective > r.objective {
		f.alone(&r, &first, s)
	}
	return p.finer(&d, r, s)
}

func newPairing(p *Problem, d *demand) *pairing {
	m, n := len(p.Jobs), len(p.Types)
	f := &pairing{p: p, d: d, types: n, part: make([]float64, m), speed: make([]float64, m), gain: 0, level: 1, t: -1, cost: 1}
	for j := range m {
		f.part[j] = p.part(j)
		for w, t := range p.Types {
			if t.Workers > 0 {
				f.speed[j] = max(f.speed[j], f.part[j]*d.throughput(j, w))
				f.gain = max(f.gain, f.part[j]*math.Abs(p.value(d, j, w, d.throughput(j, w))))
			}
		}
	}
	for k, q := range p.Pairs {
		for w, v := range q.Throughput {
			if p.Types[w].Workers > 0 {
				part := f.part[q.A] // and of q.B, whose scale is the same
				f.speed[q.A], f.speed[q.B] = max(f.speed[q.A], part*v[0]), max(f.speed[q.B], part*v[1])
				f.gain = max(f.gain, part*math.Abs(f.pairValue(k, w)))
			}
		}
	}
	if f.gain == 0 {
		f.gain = 1
	}
	bound := make([]float64, 2*m+n)
	follows := false
	for j := range m {
		if f.speed[j] == 0 {
			f.speed[j] = 1
		}
		bound[j] = 1
		bound[m+j] = -at(d.floor, j) / f.speed[j]
		follows = follows || at(d.follow, j) > 0
	}
	for w, t := range p.Types {
		bound[2*m+w] = 1
		if t.Workers == 0 {
			bound[2*m+w] = 0
		}
	}
	f.lp = linear.NewProgram(bound)
	if d.follow != nil {
		if !follows {
			return nil
		}
		f.addLevel()
	}
	f.single, f.pair = make([]int32, m*n), make([]int32, len(p.Pairs)*n)
	for i := range f.single {
		f.single[i] = -1
	}
	for i := range f.pair {
		f.pair[i] = -1
	}
	return f
}

// addLevel adds the column of the level, at the rates of the demand.
func (f *pairing) addLevel() {
	most := 0.0
	for j, rate := range f.d.follow {
		most = max(most, rate/f.speed[j])
	}
	f.level, f.cost = 1/most, 1
	var rows []int32
	var values []float64
	for j, rate := range f.d.follow {
		if rate > 0 {
			rows, values = append(rows, int32(len(f.d.follow)+j)), append(values, rate/f.speed[j]*f.level)
			f.cost++
		}
	}
	f.t = f.lp.Add(f.cost, rows, values)
	f.gain = f.level / f.cost
}

func (f *pairing) pairValue(k, w int) float64 {
	q := f.p.Pairs[k]
	worth := 1.0
	if f.d.worth != nil {
		worth = f.d.worth[w]
	}
	v := q.Throughput[w]
	return worth*(at(f.d.gain, q.A)*v[0]+at(f.d.gain, q.B)*v[1]) - at(f.d.cost, w)*float64(f.p.Jobs[q.A].Scale)
}

// begin takes all single columns and the answer without pairs as the start.
func (f *pairing) begin(first *plan, feasible bool) {
	m := len(f.p.Jobs)
	for j := range m {
		for w, t := range f.p.Types {
			v := f.d.throughput(j, w)
			if v <= 0 || t.Workers == 0 {
				continue
			}
			cost := 0.0
			if f.d.follow == nil {
				cost = f.part[j] * f.p.value(f.d, j, w, v) / f.gain
			}
			f.single[j*f.types+w] = int32(f.lp.Add(cost,
				[]int32{int32(j), int32(m + j), int32(2*m + w)},
				[]float64{1, -f.part[j] * v / f.speed[j], f.part[j] * float64(f.p.Jobs[j].Scale) / float64(t.Workers)}))
		}
	}
	f.s = linear.NewSimplex(f.lp)
	if !feasible {
		return
	}
	x := make([]float64, f.lp.Columns())
	for j := range m {
		for w := range f.p.Types {
			if c, v := f.single[j*f.types+w], first.x[j][w]/f.part[j]; c >= 0 && v > packedStart {
				x[c] = v
			}
		}
	}
	if f.t >= 0 {
		x[f.t] = first.objective / f.level
	}
	f.s.Start(x)
}

// run solves, prices all pairs, adds those that earn, until the bound is met.
func (f *pairing) run(s settings) plan {
	m := len(f.p.Jobs)
	r := plan{bound: math.Inf(1)}
	patient := m <= packedPatient
	pivots := min(packedPivots, packedFew+packedPerRow*len(f.lp.Bound))
	for round := 0; ; round++ {
		status := f.s.Primal(pivots - f.s.Iteration)
		infeasible := status == linear.Infeasible
		if status != linear.Optimal && !infeasible {
			if _, bound := f.price(false); bound < r.bound { // it holds at any prices
				r.bound = bound
			}
			r.objective = f.s.Objective() * f.gain
			r.status = block.Feasible
			break
		}
		added, bound := f.price(infeasible)
		if infeasible && added == 0 {
			return plan{status: block.Infeasible, conflict: f.conflict(), bound: math.Inf(-1)}
		}
		if !infeasible {
			if bound < r.bound { // no NaN, where nothing follows
				r.bound = bound
			}
			r.objective = f.s.Objective() * f.gain
			r.gap = distance(r.objective, r.bound)
			r.status = block.Optimal
			if added == 0 || r.gap <= s.gap || !patient && r.gap <= packedEnough {
				break
			}
			r.status = block.Feasible
		}
		if round == packedRounds {
			break
		}
	}
	f.read(&r)
	f.lift(&r, s)
	return r
}

func (f *pairing) add(i int) {
	m := len(f.p.Jobs)
	k, w := i/f.types, i%f.types
	q := f.p.Pairs[k]
	v, part := q.Throughput[w], f.part[q.A]
	cost := 0.0
	if f.d.follow == nil {
		cost = part * f.pairValue(k, w) / f.gain
	}
	f.pair[i] = int32(f.lp.Add(cost,
		[]int32{int32(q.A), int32(q.B), int32(m + q.A), int32(m + q.B), int32(2*m + w)},
		[]float64{1, 1, -part * v[0] / f.speed[q.A], -part * v[1] / f.speed[q.B], part * float64(f.p.Jobs[q.A].Scale) / float64(f.p.Types[w].Workers)}))
}

// alone takes the point without pairs, where the search for pairs ended at a worse one.
func (f *pairing) alone(r, first *plan, s settings) {
	r.x, r.theta, r.objective = first.x, first.theta, first.objective
	clear(r.pairs)
	r.need = f.d.needs(r.objective)
	if r.gap = distance(r.objective, r.bound); r.gap <= s.gap {
		r.status = block.Optimal
	}
}

// read copies the point and its prices.
func (f *pairing) read(r *plan) {
	m, n := len(f.p.Jobs), f.types
	r.x, r.pairs = f.p.nothing(), make([]float64, len(f.pair))
	r.theta, r.worth, r.prices = make([]float64, m), make([]float64, m), make([]float64, n)
	for i, c := range f.single {
		if c >= 0 {
			x := f.part[i/n] * min(max(f.value(c), 0), 1)
			r.x[i/n][i%n] = x
			r.theta[i/n] += x * f.d.throughput(i/n, i%n)
		}
	}
	for i, c := range f.pair {
		if c >= 0 {
			q := f.p.Pairs[i/n]
			x := f.part[q.A] * min(max(f.value(c), 0), 1)
			r.pairs[i] = x
			r.theta[q.A] += x * q.Throughput[i%n][0]
			r.theta[q.B] += x * q.Throughput[i%n][1]
		}
	}
	r.need, r.level = f.d.needs(r.objective), f.d.follow != nil
	for j := range m {
		r.worth[j] = max(0, f.dual(m+j)) * f.gain / f.speed[j]
	}
	for w, t := range f.p.Types {
		if t.Workers > 0 {
			r.prices[w] = max(0, f.dual(2*m+w)) * f.gain / float64(t.Workers)
		}
	}
	r.support = f.support(r)
	r.pivots = f.s.Iteration
}
