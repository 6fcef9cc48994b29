package block

// Settings of meeting needs, relative.
const (
	meetMost = 1e-6 // miss of a need that is made up for
	spareTol = 1e-5 // reach beyond its need from which a job gives of it
)

// meet makes up for what jobs miss of what they need at the level t by the distance of x from its
// optimum. What that takes beyond the capacity the jobs give that have more than they need.
func (p *Program) meet(x []float64, t float64) {
	used := make([]float64, len(p.Capacity))
	spare := make([]bool, p.Jobs())
	for j := range p.Jobs() {
		need := p.floor(j) + p.follow(j)*t
		reach := p.reach(x, j)
		spare[j] = reach >= need*(1+spareTol)
		if reach < need && reach >= need*(1-meetMost) {
			p.lift(x, j, need, reach)
		}
		for i := p.First[j]; i < p.First[j+1]; i++ {
			for k := p.Entry[i]; x[i] > 0 && k < p.Entry[i+1]; k++ {
				used[p.Row[k]] += p.Use[k] * x[i]
			}
		}
	}
	for r, c := range p.Capacity {
		if used[r] <= c {
			continue
		}
		given := 0.0
		p.spared(x, spare, int32(r), func(i int32, use float64) { given += use * x[i] })
		if given*spareTol/2 < used[r]-c {
			continue // too much for those that have more
		}
		p.spared(x, spare, int32(r), func(i int32, _ float64) { x[i] *= 1 - (used[r]-c)/given })
	}
}

// lift raises what job j reaches to need: by more of its own types, or, where that would take more
// than its time, by time on its fastest type instead of on the slowest that it has.
func (p *Program) lift(x []float64, j int, need, reach float64) {
	time, fast, slow := 0.0, int32(-1), int32(-1)
	for i := p.First[j]; i < p.First[j+1]; i++ {
		time += x[i]
		if p.usable(i) && (fast < 0 || p.speed(i) > p.speed(fast)) {
			fast = i
		}
		if x[i] > 0 && (slow < 0 || p.speed(i) < p.speed(slow)) {
			slow = i
		}
	}
	if by := need / reach; time*by <= 1 {
		for i := p.First[j]; i < p.First[j+1]; i++ {
			x[i] *= by
		}
		return
	}
	if v := min(1-time, (need-reach)/p.speed(fast)); v > 0 {
		x[fast] += v
		reach += v * p.speed(fast)
	}
	if faster := p.speed(fast) - p.speed(slow); faster > 0 && reach < need {
		v := min(x[slow], (need-reach)/faster)
		x[slow] -= v
		x[fast] += v
	}
}

// spared calls f with the columns in row r of jobs that have more than they need.
func (p *Program) spared(x []float64, spare []bool, r int32, f func(i int32, use float64)) {
	for j, s := range spare {
		for i := p.First[j]; s && i < p.First[j+1]; i++ {
			for k := p.Entry[i]; x[i] > 0 && k < p.Entry[i+1]; k++ {
				if p.Row[k] == r && p.Use[k] > 0 {
					f(i, p.Use[k])
				}
			}
		}
	}
}
