package share

import "github.com/goodfleet/goodfleet/planner/block"

// ratioRounds limits Dinkelbach's method; it takes three to six.
const ratioRounds = 40

// costRatio maximises Σ theta / Σ scale·price·x with the deadlines, in steps/s per USD/h,
// by Dinkelbach's method: at a ratio r that some point reaches, the most of
// Σ theta − r·spend leads to a better point, or shows that r is the best.
func costRatio(p *Problem, o Options) (Answer, error) {
	if err := p.needPrices(); err != nil {
		return Answer{}, err
	}
	d, _ := throughputDemand(p)
	d.floor = p.floors()
	if late := p.late(d.floor); len(late) > 0 {
		return answerOf(infeasible(late), 0, 0), nil
	}
	bound, free := p.bestRatio(d.floor)
	if free {
		return p.onlyBest(bound), nil
	}
	least, err := p.maximise(spendDemand, false, o)
	if err != nil || least.Status == "infeasible" {
		return least, err
	}
	spend := -least.Bound // no point that meets the deadlines spends less
	best := answerOf(plan{status: block.Optimal, x: least.Share, theta: least.Theta}, sum(least.Theta)/-least.Objective, 0)
	d.cost = make([]float64, len(p.Types))
	rounds := 1
	for ; rounds < ratioRounds; rounds++ {
		ratio := best.Objective
		for w, t := range p.Types {
			d.cost[w] = ratio * t.Price
		}
		d.size = sum(best.Theta)
		r := p.solve(d, o.settings())
		if r.theta == nil || len(r.conflict) > 0 {
			break
		}
		bound = min(bound, ratio+max(0, r.bound)/spend)
		if got := sum(r.theta) / p.cost(&r); got >= ratio {
			best = answerOf(r, got, bound)
			best.repriced(1 / p.cost(&r))
		}
		if distance(best.Objective, bound) <= max(o.settings().gap, 1e-9) || best.Objective <= ratio {
			break
		}
	}
	best.Bound, best.Rounds = max(bound, best.Objective), rounds
	best.Gap = distance(best.Objective, best.Bound)
	best.Status = "feasible"
	if best.Gap <= 1e-7 {
		best.Status = "optimal"
	}
	return best, nil
}

func sum(list []float64) float64 {
	total := 0.0
	for _, v := range list {
		total += v
	}
	return total
}

// bestRatio is the best throughput per price of any job on any type, and whether no
// deadline stands in the way of taking just that.
func (p *Problem) bestRatio(floor []float64) (ratio float64, free bool) {
	free = true
	for j, job := range p.Jobs {
		free = free && floor[j] == 0
		for w, t := range p.Types {
			if t.Workers > 0 {
				ratio = max(ratio, job.Throughput[w]/(t.Price*float64(job.Scale)))
			}
		}
	}
	return ratio, free
}

// onlyBest runs the one job and type of the best ratio, as long as the workers last.
func (p *Problem) onlyBest(ratio float64) Answer {
	x := p.nothing()
	for j, job := range p.Jobs {
		for w, t := range p.Types {
			if v := job.Throughput[w]; v > 0 && t.Workers > 0 && v/(t.Price*float64(job.Scale)) >= ratio {
				x[j][w] = min(1, float64(t.Workers)/float64(job.Scale))
				a := exact(p, x, ratio)
				a.Price = make([]float64, len(p.Types)) // more workers make no better ratio
				return a
			}
		}
	}
	return exact(p, x, 0)
}
