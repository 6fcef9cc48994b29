package share

// Forms of max-min fairness.
type form uint8

const (
	aware    form = iota // by true throughputs
	agnostic             // as if all types were alike
	sharing              // aware, and pairs may share workers
)

// maxMin is least attained service: maximise min_j s_j/(w_j·E_j)·theta_j. A job that
// can run nowhere is left out: no share could help it.
func maxMin(f form) func(*Problem, Options) (Answer, error) {
	return func(p *Problem, o Options) (Answer, error) {
		d := demand{throughput: p.throughput, packed: f == sharing}
		equal := p.equal
		if f == agnostic {
			d.throughput = func(int, int) float64 { return 1 }
			equal = func(int) float64 { return 1 }
			if p.workers() == 0 {
				equal = func(int) float64 { return 0 }
			}
		}
		d.gain, d.follow = make([]float64, len(p.Jobs)), make([]float64, len(p.Jobs))
		var left []int
		for j, job := range p.Jobs {
			e := equal(j)
			if e <= 0 {
				left = append(left, j)
				continue
			}
			d.gain[j] = 1 / e
			d.follow[j] = job.Weight * e / float64(job.Scale)
		}
		if len(left) == len(p.Jobs) {
			a := exact(p, p.nothing(), 0)
			a.Left = left
			return a, nil
		}
		if f == agnostic {
			r := p.dealt(p.oneType().solve(d, o.settings()))
			a := answerOf(r, r.objective, r.bound)
			a.Left = left
			p.trueSpeeds(&a)
			return a, nil
		}
		r := p.solve(d, o.settings())
		a := answerOf(r, r.objective, r.bound)
		a.Left = left
		return a, nil
	}
}

// oneType is p with the workers of all types as one, for those who see no difference.
func (p *Problem) oneType() *Problem {
	q := *p
	q.Types = []Type{{Name: "any", Workers: int(p.workers())}}
	q.Pairs = nil
	return &q
}

// dealtTol is the part of the last type's workers that rounding may lack at the end of dealing.
const dealtTol = 1e-9

// dealt deals a plan of oneType out: job after job from the types in their order, so that no
// more jobs are split than there are types. What rounding of the large jobs took from the room
// of the last ones, which may be small, they have all the same.
func (p *Problem) dealt(r plan) plan {
	if r.theta == nil {
		return r
	}
	x, w, room := p.nothing(), 0, 0.0
	if len(p.Types) > 0 {
		room = float64(p.Types[0].Workers)
	}
	last := len(p.Types) - 1
	for last > 0 && p.Types[last].Workers == 0 {
		last--
	}
	for j, job := range p.Jobs {
		need := r.x[j][0] * float64(job.Scale)
		for need > 0 && w < len(p.Types) {
			take := min(need, room)
			if w == last && need-room <= dealtTol*float64(p.Types[w].Workers) {
				take = need
			}
			x[j][w] += take / float64(job.Scale)
			need -= take
			if room -= take; room <= 0 && (w < last || need > 0) {
				if w++; w < len(p.Types) {
					room = float64(p.Types[w].Workers)
				}
			}
		}
	}
	r.x = x
	if r.prices != nil {
		prices := make([]float64, len(p.Types))
		for w := range prices {
			prices[w] = r.prices[0]
		}
		r.prices = prices
	}
	return r
}

// trueSpeeds turns time, which is all that agnostic fairness knows, into throughput.
func (p *Problem) trueSpeeds(a *Answer) {
	for j := range a.Theta {
		time, theta := a.Theta[j], dot(p.Jobs[j].Throughput, a.Share[j])
		if a.Theta[j] = theta; time > 0 {
			a.Need[j] *= theta / time
		}
	}
}

// makespan minimises M with theta_j ≥ n_j/M, by the largest z = 1/M.
func makespan(pack bool) func(*Problem, Options) (Answer, error) {
	return func(p *Problem, o Options) (Answer, error) {
		d := demand{throughput: p.throughput, gain: make([]float64, len(p.Jobs)), follow: make([]float64, len(p.Jobs)), packed: pack}
		var never []int
		work, quickest := false, p.quickest(pack)
		for j, job := range p.Jobs {
			if d.follow[j] = job.Steps; job.Steps > 0 {
				work = true
				if quickest[j] <= 0 {
					never = append(never, j)
				}
			}
			if e := p.equal(j); e > 0 {
				d.gain[j] = 1 / e
			}
		}
		if len(never) > 0 {
			return answerOf(infeasible(never), 0, 0), nil
		}
		if !work {
			return exact(p, p.nothing(), 0), nil
		}
		r := p.solve(d, o.settings())
		a := answerOf(r, 1/r.objective, 1/r.bound)
		a.repriced(a.Objective * a.Objective)
		return a, nil
	}
}
