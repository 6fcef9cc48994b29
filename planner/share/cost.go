package share

import "github.com/goodfleet/goodfleet/planner/block"

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

// floors are the throughputs that deadlines ask for; one that has passed, or nearly so, asks for
// more than any, marked by a negative number.
func (p *Problem) floors() []float64 {
	f := make([]float64, len(p.Jobs))
	for j, job := range p.Jobs {
		switch {
		case !job.hasDeadline() || job.Steps == 0:
		case job.Deadline > 0 && job.Steps/job.Deadline <= speeds.most:
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
