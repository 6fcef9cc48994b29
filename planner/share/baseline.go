package share

import (
	"math/rand/v2"
)

// isolated gives each job its n-th of every type: a static partition. The objective of
// the baselines is Σ theta/E, which they do not optimise.
func isolated(p *Problem, _ Options) (Answer, error) {
	x := p.nothing()
	for j := range x {
		x[j] = p.isolatedShare(j)
	}
	return p.baseline(x), nil
}

// proportional gives each job time on every type in proportion to its workers, all the
// time if the fleet is large enough and the same part of it for all if not.
func proportional(p *Problem, _ Options) (Answer, error) {
	all, demand := p.workers(), 0.0
	for _, job := range p.Jobs {
		demand += float64(job.Scale)
	}
	x := p.nothing()
	for j := range x {
		for w, t := range p.Types {
			if all > 0 {
				x[j][w] = float64(t.Workers) / all * min(1, all/demand)
			}
		}
	}
	return p.baseline(x), nil
}

func (p *Problem) baseline(x [][]float64) Answer {
	a := exact(p, x, 0)
	a.Objective = p.normalized(a.Theta)
	a.Bound = a.Objective
	return a
}

// normalized is Σ theta_j/E_j over the jobs that can run.
func (p *Problem) normalized(theta []float64) float64 {
	total := 0.0
	for j, v := range theta {
		if e := p.equal(j); e > 0 {
			total += v / e
		}
	}
	return total
}

// streamGandiva is the random stream of Gandiva's pairing; the seed is fixed.
const streamGandiva = 0x9a4d

// gandiva splits time equally over jobs while all fit at once. When they do not, it
// tries random partners of equal scale and keeps two on the same workers if on every
// type they lose nothing together: their throughputs, each relative to its own alone,
// add to at least 1. Time is then split equally over what stands, pairs and singles.
func gandiva(p *Problem, _ Options) (Answer, error) {
	demand := 0
	for _, job := range p.Jobs {
		demand += job.Scale
	}
	if float64(demand) <= p.workers() || len(p.Pairs) == 0 {
		return isolated(p, Options{})
	}
	r := rand.New(rand.NewPCG(0, streamGandiva))
	taken := make([]bool, len(p.Jobs))
	var kept []int
	for _, k := range r.Perm(len(p.Pairs)) {
		q := p.Pairs[k]
		if !taken[q.A] && !taken[q.B] && p.loseNothing(q) {
			taken[q.A], taken[q.B] = true, true
			kept = append(kept, k)
		}
	}
	combinations := float64(len(p.Jobs) - len(kept))
	x, pairs := p.nothing(), make([]float64, len(p.Pairs)*len(p.Types))
	theta := make([]float64, len(p.Jobs))
	part := func(scale, w int) float64 {
		return min(float64(p.Types[w].Workers)/(combinations*float64(scale)), float64(p.Types[w].Workers)/p.workers())
	}
	for j, job := range p.Jobs {
		for w := range p.Types {
			if !taken[j] {
				x[j][w] = part(job.Scale, w)
				theta[j] += x[j][w] * job.Throughput[w]
			}
		}
	}
	for _, k := range kept {
		q := p.Pairs[k]
		for w := range p.Types {
			v := part(p.Jobs[q.A].Scale, w)
			pairs[k*len(p.Types)+w] = v
			theta[q.A] += v * q.Throughput[w][0]
			theta[q.B] += v * q.Throughput[w][1]
		}
	}
	a := exact(p, x, 0)
	a.PairShare, a.Theta = pairs, theta
	a.Objective = p.normalized(theta)
	a.Bound = a.Objective
	return a, nil
}

func (p *Problem) loseNothing(q Pair) bool {
	for w, v := range q.Throughput {
		a, b := p.Jobs[q.A].Throughput[w], p.Jobs[q.B].Throughput[w]
		if a <= 0 || b <= 0 || v[0] <= 0 || v[1] <= 0 || v[0]/a+v[1]/b < 1 {
			return false
		}
	}
	return true
}
