package share

import "math"

// finishTime minimises rho = max_j (t_j + n_j/theta_j)/(tau_j + n_j/iso_j). Rho can
// be had if every theta_j reaches n_j/(rho·d_j − t_j), d_j the denominator. The prices
// of the level to which all can be lifted towards that at some rho bound rho from below
// for every rho: Σ worth_j·need_j(rho) is no more than all capacity supports. Solving
// for the bound and starting there again is Newton's method; the point gives rho from above.
func finishTime(pack bool) func(*Problem, Options) (Answer, error) {
	return func(p *Problem, o Options) (Answer, error) {
		f := finish{p: p, d: make([]float64, len(p.Jobs))}
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
		return f.solve(pack, o)
	}
}

type finish struct {
	p *Problem
	d []float64 // tau_j + n_j/iso_j
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
	if len(p.Jobs) == 0 {
		return best, nil
	}
	rounds := 0
	for rho := best.Objective; rounds < finishRounds; rounds++ {
		need := make([]float64, len(p.Jobs))
		for j := range need {
			need[j] = f.need(j, rho)
		}
		r := p.solve(demand{throughput: p.throughput, gain: gains, follow: need, packed: pack}, o.settings())
		if r.theta == nil {
			break
		}
		// At equal rho a vertex is better: it splits fewer jobs than the isolated shares do.
		if got := f.rho(r.theta); got <= best.Objective*(1+finishTol(o)/2) {
			best = answerOf(r, got, low)
			best.repriced(1 / f.gain(r.worth, got))
		}
		if r.worth != nil {
			low = max(low, f.bound(r.worth, r.support, low, best.Objective))
		}
		if distance(best.Objective, low) <= finishTol(o) || low <= rho && rounds > 0 && distance(rho, low) < 1e-13 {
			rounds++
			break
		}
		rho = max(low, rho*1e-6)
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

// need is the throughput that job j must have for rho.
func (f *finish) need(j int, rho float64) float64 {
	job := f.p.Jobs[j]
	if job.Steps == 0 {
		return 0
	}
	return job.Steps / (rho*f.d[j] - job.Elapsed)
}

// gain is by how much the level to which all needs can be lifted grows with rho.
func (f *finish) gain(worth []float64, rho float64) float64 {
	sum := 0.0
	for j, v := range worth {
		if job := f.p.Jobs[j]; v > 0 && job.Steps > 0 {
			left := rho*f.d[j] - job.Elapsed
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

// floor is what no share can beat: each job alone on its fastest type.
func (f *finish) floor() float64 {
	theta := make([]float64, len(f.p.Jobs))
	for j := range theta {
		theta[j] = f.p.fastest(j)
	}
	if len(f.p.Pairs) > 0 { // a partner on the same workers slows, but is not forbidden to speed up
		for _, q := range f.p.Pairs {
			for w, v := range q.Throughput {
				if f.p.Types[w].Workers > 0 {
					theta[q.A], theta[q.B] = max(theta[q.A], v[0]), max(theta[q.B], v[1])
				}
			}
		}
	}
	return f.rho(theta)
}

// bound is the least rho ≥ low at which the needs, by their worth, fit the support.
func (f *finish) bound(worth []float64, support, low, high float64) float64 {
	fits := func(rho float64) bool {
		sum := 0.0
		for j, v := range worth {
			if v > 0 && f.p.Jobs[j].Steps > 0 {
				d := rho*f.d[j] - f.p.Jobs[j].Elapsed
				if d <= 0 {
					return false
				}
				sum += v * f.p.Jobs[j].Steps / d
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
