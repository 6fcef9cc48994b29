package share

import (
	"fmt"
	"math"
)

const (
	rowTol     = 1e-7  // relative miss of a row that is the solvers' tolerance
	valueTol   = 1e-7  // relative distance of an objective from what its shares give that is rounding
	roundedRow = 1e-14 // relative miss of a row that adding its shares in another order may make
)

// checked holds an answer to its problem, however it was found: shares from 0, each job's
// time, each type's workers, the deadlines if the policy keeps them, and the objective,
// which is what the shares give. Shares with pairs, which the simplex method leaves within its
// tolerance of a row, and others that miss one are cut to it, and what follows from
// them is computed anew; the bound stands, for no point exceeds it. If deadlines are missed
// then, no point was found: the status is "limit", and Conflict lists their jobs.
func (y Policy) checked(p *Problem, a Answer, o Options) (Answer, error) {
	if a.Share == nil || a.Status == "infeasible" {
		return a, nil
	}
	miss := y.misses(p, &a, o)
	if miss == "" {
		if y.value != nil && a.PairShare != nil && p.over(&plan{x: a.Share, pairs: a.PairShare}) > 1+roundedRow {
			p.cut(&a)
			y.revalue(p, &a, o)
		}
		return a, nil
	}
	if y.value == nil { // a procedure: nothing else tells what its shares are worth
		return Answer{}, fmt.Errorf("%s gave shares that no fleet has: %s", y.Name, miss)
	}
	p.cut(&a)
	y.revalue(p, &a, o)
	if a.Status = "feasible"; a.Gap <= o.settings().gap {
		a.Status = "optimal"
	}
	if a.Need != nil && a.Level {
		a.Need = nil // of a level that was not reached
	}
	if y.slo {
		if a.Conflict = p.missed(&a); len(a.Conflict) > 0 {
			a.Status = "limit"
		}
	}
	return a, nil
}

// revalue computes what follows from shares that were cut: objective, vector and gap.
func (y Policy) revalue(p *Problem, a *Answer, o Options) {
	a.Objective = y.value(p, a, o)
	if short := p.revector(a); a.Vector != nil {
		a.Gap = 1 - (1-a.Gap)*short
	} else {
		a.Gap = distance(a.Objective, a.Bound)
	}
}

// revector computes the vector of an answer's throughputs anew, and finds the least part that any
// job has of what it had.
func (p *Problem) revector(a *Answer) float64 {
	least := 1.0
	for j, was := range a.Vector {
		if was > 0 {
			a.Vector[j] = a.Theta[j] / p.equal(j)
			least = min(least, a.Vector[j]/was)
		}
	}
	return least
}

// misses names what an answer's shares miss; "" if they keep everything.
func (y Policy) misses(p *Problem, a *Answer, o Options) string {
	for _, shares := range append(a.Share, a.PairShare) {
		for _, x := range shares {
			if !(x >= 0) {
				return fmt.Sprintf("a share of %g", x)
			}
		}
	}
	for j, v := range p.time(a) {
		if v > 1+rowTol {
			return fmt.Sprintf("job %s runs %g of its time", p.Jobs[j].ID, v)
		}
	}
	for w, v := range p.used(a) {
		if v > float64(p.Types[w].Workers)*(1+rowTol) {
			return fmt.Sprintf("type %s: %g of %d workers", p.Types[w].Name, v, p.Types[w].Workers)
		}
	}
	theta := p.theta(a)
	for j, v := range theta {
		if math.Abs(v-a.Theta[j]) > valueTol*v {
			return fmt.Sprintf("job %s has %g steps/s, said to be %g", p.Jobs[j].ID, v, a.Theta[j])
		}
	}
	if y.slo {
		if list := p.missed(a); len(list) > 0 {
			return fmt.Sprintf("job %s misses its deadline", p.Jobs[list[0]].ID)
		}
	}
	if y.value != nil {
		if v := y.value(p, a, o); !(distance(v, a.Objective) <= valueTol) {
			return fmt.Sprintf("an objective of %g, said to be %g", v, a.Objective)
		}
	}
	return ""
}

// theta is what each job's shares add up to, in steps/s.
func (p *Problem) theta(a *Answer) []float64 {
	theta := make([]float64, len(p.Jobs))
	for j, shares := range a.Share {
		theta[j] = dot(p.Jobs[j].Throughput, shares)
	}
	for i, x := range a.PairShare {
		q, w := p.Pairs[i/len(p.Types)], i%len(p.Types)
		theta[q.A] += x * q.Throughput[w][0]
		theta[q.B] += x * q.Throughput[w][1]
	}
	return theta
}

// missed lists the jobs that are too slow for their deadline.
func (p *Problem) missed(a *Answer) []int {
	var list []int
	theta := p.theta(a)
	for j, floor := range p.floors() {
		if floor < 0 || theta[j] < floor*(1-rowTol) {
			list = append(list, j)
		}
	}
	return list
}

// cut makes shares keep time and workers: each fraction that is none becomes 0, then the
// shares on a type, and those of a job, are scaled down together to what there is.
func (p *Problem) cut(a *Answer) {
	for _, shares := range append(a.Share, a.PairShare) {
		for i, x := range shares {
			if !(x > 0) {
				shares[i] = 0
			}
		}
	}
	fit := make([]float64, len(p.Types))
	for w, v := range p.used(a) {
		if fit[w] = 1; v > float64(p.Types[w].Workers) {
			fit[w] = float64(p.Types[w].Workers) / v
		}
	}
	for _, shares := range a.Share {
		for w := range shares {
			shares[w] *= fit[w]
		}
	}
	for i := range a.PairShare {
		a.PairShare[i] *= fit[i%len(fit)]
	}
	time := p.time(a)
	for j, shares := range a.Share {
		for w := range shares {
			shares[w] /= max(1, time[j])
		}
	}
	for i := range a.PairShare {
		q := p.Pairs[i/len(p.Types)]
		a.PairShare[i] /= max(1, time[q.A], time[q.B])
	}
	a.Theta = p.theta(a)
}
