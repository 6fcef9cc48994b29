package block

import (
	"math"
)

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
