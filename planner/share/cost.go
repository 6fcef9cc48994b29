package share

import (
	"github.com/goodfleet/goodfleet/planner/block"
)

// costDemand maximises Σ throughput/price·x.
func costDemand(p *Problem) (demand, error) {
	if err := p.needPrices(); err != nil {
		return demand{}, err
	}
	d, _ := throughputDemand(p)
	d.worth = make([]float64, len(p.Types))
	for w, t := range p.Types {
		d.worth[w] = 1 / t.Price
	}
	return d, nil
}

// costSLODemand is costDemand with the deadlines.
func costSLODemand(p *Problem) (demand, error) {
	d, err := costDemand(p)
	d.floor = p.floors()
	return d, err
}

// spendDemand minimises Σ scale·price·x with the deadlines.
func spendDemand(p *Problem) (demand, error) {
	d := demand{throughput: p.throughput, cost: make([]float64, len(p.Types)), floor: p.floors()}
	for w, t := range p.Types {
		if t.Price < 0 {
			return demand{}, fieldErr("is missing, and the policy needs it", "prices.%s", t.Name)
		}
		d.cost[w] = t.Price
	}
	return d, nil
}

// floors are the throughputs that deadlines ask for; one that has passed asks for more
// than any, marked by a negative number.
func (p *Problem) floors() []float64 {
	f := make([]float64, len(p.Jobs))
	for j, job := range p.Jobs {
		switch {
		case !job.hasDeadline() || job.Steps == 0:
		case job.Deadline > 0:
			f[j] = job.Steps / job.Deadline
		default:
			f[j] = -1
		}
	}
	return f
}

// late lists the jobs with work left whose deadline has passed.
func (p *Problem) late(floor []float64) []int {
	var list []int
	for j, f := range floor {
		if f < 0 {
			list = append(list, j)
		}
	}
	return list
}

// minSpend is the least spend, in USD per hour, that meets the deadlines.
func minSpend(pack bool) func(*Problem, Options) (Answer, error) {
	return func(p *Problem, o Options) (Answer, error) {
		a, err := p.maximise(spendDemand, pack, o)
		a.Objective, a.Bound = 0-a.Objective, 0-a.Bound
		return a, err
	}
}

// irreducible shrinks a conflict to jobs that could all be met if any of them were
// dropped, as far as dropping one after the other finds it.
func (p *Problem) irreducible(d demand, conflict []int, o Options) []int {
	const most = 60 // each try is a program; a larger conflict is told as found
	if len(conflict) > most {
		return conflict
	}
	needs := d
	kept := make([]bool, len(p.Jobs))
	for _, j := range conflict {
		kept[j] = true
	}
	needs.follow, needs.gain, needs.worth, needs.cost = nil, nil, nil, nil
	for _, j := range conflict {
		kept[j] = false
		needs.floor = make([]float64, len(p.Jobs))
		for i, k := range kept {
			if k {
				needs.floor[i] = d.floor[i]
			}
		}
		if p.solve(needs, o.settings()).status != block.Infeasible {
			kept[j] = true
		}
	}
	var list []int
	for j, k := range kept {
		if k {
			list = append(list, j)
		}
	}
	return list
}

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
		r := p.solve(d, o.settings())
		if r.theta == nil || len(r.conflict) > 0 {
			break
		}
		bound = min(bound, ratio+max(0, r.bound)/spend)
		if got := sum(r.theta) / p.cost(&r); got > ratio {
			best = answerOf(r, got, bound)
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
				return exact(p, x, ratio)
			}
		}
	}
	return exact(p, x, 0)
}
