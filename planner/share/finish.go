package share

import (
	"math"
	"slices"
)

// finishTime minimises rho = max_j (t_j + n_j/theta_j)/(tau_j + n_j/iso_j). Rho can
// be had if every theta_j reaches n_j/(rho·d_j − t_j), d_j the denominator. The prices
// of the level to which all can be lifted towards that at some rho bound rho from below
// for every rho: Σ worth_j·need_j(rho) is no more than all capacity supports. Solving
// for the bound and starting there again is Newton's method; the point gives rho from above.
func finishTime(pack bool) func(*Problem, Options) (Answer, error) {
	return func(p *Problem, o Options) (Answer, error) {
		f := finish{p: p, d: make([]float64, len(p.Jobs)), soonest: make([]float64, len(p.Jobs))}
		var never []int
		for j, job := range p.Jobs {
			iso := p.isolated(j)
			if job.Steps > 0 && iso <= 0 {
				never = append(never, j)
				continue
			}
			f.d[j] = job.Isolated
			if job.Steps > 0 {
				f.d[j] += job.Steps / iso
			}
		}
		if len(never) > 0 {
			return answerOf(infeasible(never), 0, 0), nil
		}
		f.fastest()
		return f.solve(pack, o)
	}
}

type finish struct {
	p *Problem
	d []float64 // tau_j + n_j/iso_j

	// Seconds that n_j takes at least: all the time on the fastest type.
	soonest []float64
}

// finishRounds limits the outer iterations; four to eight are usual.
const finishRounds = 40

func (f *finish) solve(pack bool, o Options) (Answer, error) {
	p := f.p
	gains := make([]float64, len(p.Jobs))
	for j := range gains {
		if e := p.equal(j); e > 0 {
			gains[j] = 1 / e
		}
	}
	// The isolated shares are a point.
	x := p.nothing()
	theta := make([]float64, len(p.Jobs))
	for j := range x {
		x[j] = p.isolatedShare(j)
		theta[j] = dot(p.Jobs[j].Throughput, x[j])
	}
	best := exact(p, x, f.rho(theta))
	low := f.floor()
	if !slices.ContainsFunc(p.Jobs, func(j Job) bool { return j.Steps > 0 }) {
		return best, nil // whatever the shares, rho is what it is
	}
	rounds, above, at := 0, false, math.Inf(1) // at: the rho of whose needs the best point is
	try := func(rho float64) bool {
		need := make([]float64, len(p.Jobs))
		for j := range need {
			need[j] = f.need(j, rho)
		}
		r := p.solve(demand{throughput: p.throughput, gain: gains, follow: need, packed: pack}, o.settings())
		if r.theta == nil {
			return false
		}
		// At equal rho a vertex is better: it splits fewer jobs than the isolated shares do.
		if got := f.rho(r.theta); got <= best.Objective*(1+finishTol(o)/2) {
			best, at = answerOf(r, got, low), rho
			best.repriced(1 / f.gain(r.worth, got))
		}
		if r.worth != nil {
			low = max(low, f.bound(r.worth, r.support, low, best.Objective))
		}
		return true
	}
	for rho := best.Objective; rounds < finishRounds; rounds++ {
		if !try(rho) {
			break
		}
		if distance(best.Objective, low) <= finishTol(o) || above {
			rounds++
			break
		}
		// Where what a job needs falls steeply with rho, the bound creeps: a little above it all
		// needs may fit.
		if above = rounds > 0 && distance(rho, low) < 1e-13; above {
			rho = low * (1 + finishTol(o)/2)
		} else {
			rho = max(low, rho*1e-6)
		}
	}
	// Where one job alone holds rho, that is known at once, by the needs of another rho: at its own
	// all others are free for the second objective.
	if distance(best.Objective, low) <= finishTol(o) && distance(at, best.Objective) > finishTol(o) {
		try(best.Objective)
		rounds++
	}
	best.Bound, best.Rounds = min(low, best.Objective), rounds
	best.Gap = distance(best.Objective, best.Bound)
	best.Status = "feasible"
	if best.Gap <= 10*finishTol(o) {
		best.Status = "optimal"
	}
	return best, nil
}

func finishTol(o Options) float64 { return max(o.settings().gap, 1e-9) }

// left is how many seconds rho leaves job j for its work. No rho that can be had leaves less than
// the fastest type takes; where a job has waited so long that rounding leaves none, that is it.
func (f *finish) left(j int, rho float64) float64 {
	return max(rho*f.d[j]-f.p.Jobs[j].Elapsed, f.soonest[j])
}

// need is the throughput that job j must have for rho.
func (f *finish) need(j int, rho float64) float64 {
	job := f.p.Jobs[j]
	if job.Steps == 0 {
		return 0
	}
	return job.Steps / f.left(j, rho)
}

// gain is by how much the level to which all needs can be lifted grows with rho.
func (f *finish) gain(worth []float64, rho float64) float64 {
	sum := 0.0
	for j, v := range worth {
		if job := f.p.Jobs[j]; v > 0 && job.Steps > 0 {
			left := f.left(j, rho)
			sum += v * job.Steps * f.d[j] / (left * left)
		}
	}
	return sum
}

// rho is what throughputs give.
func (f *finish) rho(theta []float64) float64 {
	worst := 0.0
	for j, job := range f.p.Jobs {
		switch {
		case f.d[j] == 0 && job.Steps == 0:
		case job.Steps == 0:
			worst = max(worst, job.Elapsed/f.d[j])
		default:
			worst = max(worst, (job.Elapsed+job.Steps/theta[j])/f.d[j])
		}
	}
	return worst
}

// fastest sets what no share can beat: each job alone on its fastest type, or beside its best
// partner.
func (f *finish) fastest() {
	theta := f.p.quickest(true)
	for j, job := range f.p.Jobs {
		if job.Steps > 0 {
			f.soonest[j] = job.Steps / theta[j]
		}
	}
}

// floor is the least rho that each job could have alone.
func (f *finish) floor() float64 {
	worst := 0.0
	for j, job := range f.p.Jobs {
		if f.d[j] > 0 {
			worst = max(worst, (job.Elapsed+f.soonest[j])/f.d[j])
		}
	}
	return worst
}

// bound is the least rho ≥ low at which the needs, by their worth, fit the support.
func (f *finish) bound(worth []float64, support, low, high float64) float64 {
	fits := func(rho float64) bool {
		sum := 0.0
		for j, v := range worth {
			if v > 0 && f.p.Jobs[j].Steps > 0 {
				sum += v * f.need(j, rho)
			}
		}
		return sum <= support
	}
	if fits(low) {
		return low
	}
	for range 200 {
		mid := low + (high-low)/2
		if mid <= low || mid >= high {
			break
		}
		if fits(mid) {
			high = mid
		} else {
			low = mid
		}
	}
	if math.IsNaN(low) {
		return 0
	}
	return low
}
