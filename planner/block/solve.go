package block

import (
	"math"
	"slices"
)

// Sizes at which a program is sifted, as found by trying: below, all columns are quicker.
const (
	siftColumns = 20_000 // programs with fewer columns are solved whole
	siftPerJob  = 8      // as are those whose jobs have fewer columns each
	sampleJobs  = 600    // jobs in the sample that gives first prices
	keepPerJob  = 5      // columns that each job keeps, and its fastest
	siftWide    = 0.1    // gap from which all columns are taken: few were the right ones
	siftRounds  = 8      // times that missed columns are added
	vertexJobs  = 4000   // jobs above which a point is thinned instead: pivots cost seconds there
	vertexTol   = 1e-9   // gap of the interior point from which a vertex is sought
)

// Solve maximises p, which must pass Check.
func Solve(p *Program, o Options) Solution {
	if err := p.Check(); err != nil {
		panic(err)
	}
	q := *p
	q.look()
	return q.solve(o)
}

func (p *Program) solve(o Options) Solution {
	s := p.seek(o)
	if o.Vertex && (s.Status == Optimal || s.Status == Feasible) {
		p.tidy(&s, o)
	}
	return s
}

// seek finds a point, and where o asks for a vertex one of few split jobs if it can.
func (p *Program) seek(o Options) Solution {
	s := Solution{Prices: make([]float64, len(p.Capacity)), Bound: math.Inf(1)}
	if o.Prices != nil && !(o.Second && p.Level) && p.warm(&s, o) {
		return s
	}
	s.X = make([]float64, p.Columns())
	if alone := p.impossible(); len(alone) > 0 {
		s.Status, s.Conflict, s.Bound = Infeasible, alone, math.Inf(-1)
		return s
	}
	if p.Level && p.unfollowed() {
		s.Status, s.Bound, s.Objective, s.Level = Unbounded, math.Inf(1), math.Inf(1), math.Inf(1)
		return s
	}
	if p.Level && p.stuckAtZero() {
		s.Bound = 0
		s.close(p, o.gap())
		return s
	}
	if p.Level { // whose prices favour few columns where most are nothing
		o.Prices = nil
	}
	if o.Vertex && p.many() {
		rough := Options{Gap: max(o.gap(), settleGap), Iterations: o.Iterations, Prices: o.Prices}
		p.sift(&s, rough)
		if !(o.Second && p.Level && p.idle(&s, o)) && p.settle(&s, o) {
			return s
		}
		if !p.Level {
			o.Prices = s.Prices
		}
	}
	if !o.Vertex || !p.many() || !p.Level || s.Gap > o.gap() {
		settled := s
		p.sift(&s, o)
		s.better(p, &settled, o.gap())
	}
	if s.Gap > o.gap() || s.Violation > feasibleTol {
		if conflict := p.conflict(o); len(conflict) > 0 {
			return Solution{Status: Infeasible, X: make([]float64, p.Columns()), Bound: math.Inf(-1), Conflict: conflict, Prices: s.Prices, Iterations: s.Iterations}
		}
	}
	switch {
	case s.Status != Optimal || o.Vertex && !p.many():
		p.vertex(&s, o)
	case o.Vertex:
		second := o.Second && p.Level
		idle := second && p.idle(&s, o)
		switch {
		case idle && p.secondInside(&s, o):
		case p.thin(&s, o):
		case second && !idle && p.secondInside(&s, o):
		case !p.Level:
			p.vertex(&s, o)
		}
	}
	return s
}

// many reports whether p is too large for pivots.
func (p *Program) many() bool { return p.Jobs() > vertexJobs && p.Speed != nil }

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

// sift solves p by growing selections of its columns.
func (p *Program) sift(s *Solution, o Options) {
	var keep []bool
	prices := o.Prices
	if p.Columns() > siftColumns && p.Columns() > siftPerJob*p.Jobs() {
		if prices == nil {
			prices = p.sample(o)
		}
		_, w := p.certify(prices, 0)
		keep = p.favoured(&w, p.everyone(), keepPerJob)
	}
	// The interior point method goes a little beyond the gap asked for: the repair costs some.
	tol := max(min(o.gap()*0.2, 1e-4), 1e-10)
	if o.Vertex && !(p.many() && p.Level) {
		tol = min(tol, vertexTol) // the nearer, the fewer pivots
	}
	s.Bound, s.Objective = math.Inf(1), math.Inf(-1)
	for range siftRounds {
		sc := p.scale(p.everyone(), keep, 1)
		it := newInterior(sc)
		if prices == nil || p.levels() || !it.start(sc.scalePrices(prices, p)) {
			it.begin()
		}
		near := it.run(tol, o.iterations())
		s.Iterations += it.iterations
		s.Columns = sc.Columns()
		x := make([]float64, p.Columns())
		for i, c := range sc.column {
			x[c] = it.x[i]
		}
		p.repair(x)
		prices = sc.unscalePrices(it.lambda, p)
		c, w := p.certify(prices, p.LevelOf(x))
		before := s.Gap
		s.take(p, x, prices, c.Bound)
		s.Worth = make([]float64, p.Jobs())
		for j := range s.Worth {
			if sc.has[j] {
				s.Worth[j] = sc.unscaleWorth(it.nu[j], j)
			}
		}
		s.close(p, o.gap())
		if s.Gap <= o.gap() || keep == nil || s.Columns == p.Columns() {
			return
		}
		added := p.addMissing(keep, &w)
		for i, k := range p.favoured(&w, p.everyone(), keepPerJob) {
			keep[i] = keep[i] || k
		}
		switch {
		case added == 0 && near && tol > vertexTol: // all that pays is there: the point is not near enough
			tol = max(0.1*tol, vertexTol)
		case added == 0 || s.Gap > siftWide || before > 0 && s.Gap > 0.9*before: // as where all jobs are alike
			keep = nil
		}
	}
}

// take keeps the better of the point it has and x, and the lower of the bounds.
func (s *Solution) take(p *Program, x, prices []float64, bound float64) {
	if bound <= s.Bound || s.Prices == nil {
		s.Bound, s.Prices = bound, prices
	}
	gain, level, violation := p.weigh(x)
	if p.Level {
		gain = level
	}
	if math.IsInf(s.Objective, -1) || violation <= feasibleTol && (gain > s.Objective || s.Violation > feasibleTol) {
		s.X = x
	}
}

// better takes the point, or the bound, of an earlier solution where that is the better.
func (s *Solution) better(p *Program, t *Solution, want float64) {
	if t.Bound < s.Bound {
		s.Bound, s.Prices, s.Worth = t.Bound, t.Prices, t.Worth
	}
	if !math.IsInf(t.Bound, 1) && t.Violation <= feasibleTol && t.Objective > s.Objective {
		s.X = t.X
	}
	s.close(p, want)
}

// sample prices capacity by a systematic sample of the jobs with their share of it: by what
// the sampled jobs' columns use, as jobs of many workers come in few.
func (p *Program) sample(o Options) []float64 {
	step := max(1, p.Jobs()/sampleJobs)
	var jobs []int32
	for j := step / 2; j < p.Jobs(); j += step {
		jobs = append(jobs, int32(j))
	}
	all, part := 0.0, 0.0
	for j := range p.Jobs() {
		all += p.appetite(j)
	}
	for _, j := range jobs {
		part += p.appetite(int(j))
	}
	share := float64(len(jobs)) / float64(p.Jobs())
	if part > 0 {
		share = part / all
	}
	sc := p.scale(jobs, nil, share)
	it := newInterior(sc)
	it.begin()
	it.run(1e-4, o.iterations())
	prices := sc.unscalePrices(it.lambda, p)
	if !p.Level { // of which prices are known up to a factor
		for r := range prices {
			prices[r] /= share
		}
	}
	return prices
}

// appetite is what a column of job j uses of capacity, on average.
func (p *Program) appetite(j int) float64 {
	sum := 0.0
	for k := p.Entry[p.First[j]]; k < p.Entry[p.First[j+1]]; k++ {
		if c := p.Capacity[p.Row[k]]; c > 0 {
			sum += p.Use[k] / c
		}
	}
	return sum / float64(max(1, p.First[j+1]-p.First[j]))
}

// unscalePrices turns prices of the scaled rows into those of p's.
func (sc *scaled) unscalePrices(lambda []float64, p *Program) []float64 {
	unit := sc.gain
	if p.Level {
		unit = sc.level
	}
	prices := make([]float64, len(lambda))
	for r, l := range lambda {
		if p.Capacity[r] > 0 {
			prices[r] = max(l, 0) * unit / p.Capacity[r]
		}
	}
	return prices
}

// scalePrices turns prices of p's rows into those of the scaled rows.
func (sc *scaled) scalePrices(prices []float64, p *Program) []float64 {
	unit := sc.gain
	if p.Level {
		unit = sc.level
	}
	lambda := make([]float64, len(prices))
	for r, price := range prices {
		lambda[r] = price * p.Capacity[r] / unit
	}
	return lambda
}

// unscaleWorth turns the scaled worth of job j's speed into that of the source.
func (sc *scaled) unscaleWorth(nu float64, j int) float64 {
	unit := sc.gain
	if sc.Level {
		unit = sc.level
	}
	return max(nu, 0) * unit / sc.speed[j]
}

// favoured marks the perJob columns of each of the jobs that earn most at the prices, and its
// fastest.
func (p *Program) favoured(w *worth, jobs []int32, perJob int) []bool {
	keep := make([]bool, p.Columns())
	var best [keepPerJob]struct {
		i int32
		d float64
	}
	for _, job := range jobs {
		j := int(job)
		n, fastest := 0, int32(-1)
		for i := p.First[j]; i < p.First[j+1]; i++ {
			if !p.usable(i) {
				continue
			}
			if fastest < 0 || p.speed(i) > p.speed(fastest) {
				fastest = i
			}
			d := p.reduced(i, j, w)
			at := n
			for at > 0 && best[at-1].d < d {
				at--
			}
			if at == perJob {
				continue
			}
			if n < perJob {
				n++
			}
			copy(best[at+1:n], best[at:n-1])
			best[at].i, best[at].d = i, d
		}
		for _, b := range best[:n] {
			keep[b.i] = true
		}
		if fastest >= 0 {
			keep[fastest] = true
		}
	}
	return keep
}

// addMissing marks the columns that would earn something, and counts them.
func (p *Program) addMissing(keep []bool, w *worth) int {
	added := 0
	for j := range p.Jobs() {
		for i := p.First[j]; i < p.First[j+1]; i++ {
			if !keep[i] && p.usable(i) && p.reduced(i, j, w) > 0 {
				keep[i] = true
				added++
			}
		}
	}
	return added
}

// repair makes x keep time and capacity exactly, by scaling jobs and rows down.
func (p *Program) repair(x []float64) {
	used := make([]float64, len(p.Capacity))
	for j := range p.Jobs() {
		time := 0.0
		for i := p.First[j]; i < p.First[j+1]; i++ {
			if v := x[i]; v < 0 {
				x[i] = 0
			} else {
				time += v
			}
		}
		time = max(time, 1)
		for i := p.First[j]; i < p.First[j+1]; i++ {
			if x[i] == 0 {
				continue
			}
			x[i] /= time
			for k := p.Entry[i]; k < p.Entry[i+1]; k++ {
				used[p.Row[k]] += p.Use[k] * x[i]
			}
		}
	}
	over := false
	for r, u := range used {
		over = over || u > p.Capacity[r]
	}
	if !over {
		return
	}
	for i := range x {
		if x[i] == 0 {
			continue
		}
		for k := p.Entry[i]; k < p.Entry[i+1]; k++ {
			if r := p.Row[k]; used[r] > p.Capacity[r] && p.Use[k] > 0 {
				x[i] *= p.Capacity[r] / used[r]
			}
		}
	}
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
