package block

import (
	"slices"
)

// impossible lists the jobs whose floor is out of reach even alone.
func (p *Program) impossible() []int {
	var list []int
	for j := range p.Jobs() {
		if f := p.floor(j); f > 0 && p.fastest(j) < f*(1-1e-12) {
			list = append(list, j)
		}
	}
	return list
}

// unfollowed reports whether no job holds the level down.
func (p *Program) unfollowed() bool {
	for j := range p.Jobs() {
		if p.follow(j) > 0 {
			return false
		}
	}
	return true
}

// stuckAtZero reports whether a job that must follow the level cannot run at all.
func (p *Program) stuckAtZero() bool {
	for j := range p.Jobs() {
		if p.follow(j) > 0 && p.floor(j) == 0 && !p.runs(j) {
			return true
		}
	}
	return false
}

// runs reports whether job j has a usable column of any speed.
func (p *Program) runs(j int) bool {
	for i := p.First[j]; i < p.First[j+1]; i++ {
		if p.speed(i) > 0 && p.usable(i) {
			return true
		}
	}
	return false
}

// conflict finds jobs whose floors cannot all be met, by the level to which all
// floors can be lifted together; nil if that is the whole of each.
func (p *Program) conflict(o Options) []int {
	if p.Floor == nil {
		return nil
	}
	q := *p
	q.Level = true
	q.Follow = slices.Clone(p.Floor)
	q.Floor = nil
	if q.unfollowed() {
		return nil
	}
	var t Solution
	t.X = make([]float64, p.Columns())
	q.sift(&t, Options{Gap: 1e-9, Iterations: o.iterations()})
	if t.Bound >= 1-1e-9 {
		return nil
	}
	_, w := q.certify(t.Prices, 0)
	most := 0.0
	for j := range q.Jobs() {
		most = max(most, w.nu[j]*q.follow(j))
	}
	var list []int
	for j := range q.Jobs() {
		if w.nu[j]*q.follow(j) > 1e-7*most {
			list = append(list, j)
		}
	}
	return list
}
