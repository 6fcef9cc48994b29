package share

import "math"

// valuation is the objective of an answer's shares by the formula of its policy, whatever
// program was solved.
type valuation func(p *Problem, a *Answer, o Options) float64

// slowest is the least s_j/(w_j·E_j)·theta_j of the jobs that can run.
func slowest(p *Problem, a *Answer, _ Options) float64 {
	least := math.Inf(1)
	for j, v := range p.theta(a) {
		if e := p.equal(j); e > 0 {
			least = min(least, float64(p.Jobs[j].Scale)/(p.Jobs[j].Weight*e)*v)
		}
	}
	return none(least)
}

// leastTime is slowest as if all types were alike.
func leastTime(p *Problem, a *Answer, _ Options) float64 {
	least := math.Inf(1)
	for j, shares := range a.Share {
		if p.workers() > 0 {
			time := 0.0
			for w, x := range shares {
				if p.Types[w].Workers > 0 {
					time += x
				}
			}
			least = min(least, float64(p.Jobs[j].Scale)/p.Jobs[j].Weight*time)
		}
	}
	return none(least)
}

// none is 0 where there is no job to take a minimum of.
func none(least float64) float64 {
	if math.IsInf(least, 1) {
		return 0
	}
	return least
}

// last is the largest n_j/theta_j.
func last(p *Problem, a *Answer, _ Options) float64 {
	most := 0.0
	for j, v := range p.theta(a) {
		if n := p.Jobs[j].Steps; n > 0 {
			most = max(most, n/v)
		}
	}
	return most
}

// unfairest is the largest (t_j + n_j/theta_j)/(tau_j + n_j/iso_j).
func unfairest(p *Problem, a *Answer, _ Options) float64 {
	most := 0.0
	for j, v := range p.theta(a) {
		job := p.Jobs[j]
		have, fair := job.Elapsed, job.Isolated
		if job.Steps > 0 {
			have, fair = have+job.Steps/v, fair+job.Steps/p.isolated(j)
		}
		if fair > 0 { // not so for a job without work that waited for none
			most = max(most, have/fair)
		}
	}
	return most
}

// total is Σ theta_j.
func total(p *Problem, a *Answer, _ Options) float64 { return sum(p.theta(a)) }

// normal is Σ theta_j/E_j.
func normal(p *Problem, a *Answer, _ Options) float64 { return p.normalized(p.theta(a)) }

// inOrder is Σ (m − j)·theta_j/best_j.
func inOrder(p *Problem, a *Answer, _ Options) float64 {
	sum := 0.0
	for j, v := range p.theta(a) {
		if best := p.best(j); best > 0 { // not so for a job that runs in pairs alone
			sum += float64(len(p.Jobs)-j) * v / best
		}
	}
	return sum
}

// perPrice is Σ throughput/price·x.
func perPrice(p *Problem, a *Answer, _ Options) float64 {
	sum := 0.0
	for j, shares := range a.Share {
		for w, x := range shares {
			sum += x * p.Jobs[j].Throughput[w] / p.Types[w].Price
		}
	}
	for i, x := range a.PairShare {
		v, w := p.Pairs[i/len(p.Types)].Throughput, i%len(p.Types)
		sum += x * (v[w][0] + v[w][1]) / p.Types[w].Price
	}
	return sum
}

// spent is Σ scale·price·x, in USD per hour.
func spent(p *Problem, a *Answer, _ Options) float64 {
	return p.cost(&plan{x: a.Share, pairs: a.PairShare})
}

// perSpend is Σ theta_j over what is spent.
func perSpend(p *Problem, a *Answer, o Options) float64 {
	if v := spent(p, a, o); v > 0 {
		return total(p, a, o) / v
	}
	return 0
}

// meanPower is the power mean of theta_j/iso_j + tiny of the jobs that can run.
func meanPower(p *Problem, a *Answer, o Options) float64 {
	power, n, sum := o.power(), 0, 0.0
	for j, v := range p.theta(a) {
		if iso := p.isolated(j); iso > 0 {
			sum += powerOf(tiny+v/iso, power)
			n++
		}
	}
	return meanOf(sum, n, power)
}
