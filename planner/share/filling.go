package share

import (
	"math"

	"github.com/goodfleet/goodfleet/planner/block"
)

// Settings of filling level by level.
const (
	floorSlack = 1e-13 // by which what was reached may be missed, for rounding
	holdLeast  = 1e-9  // share of a level's price from which a job may hold it down
	holdSure   = 1e-3  // and, with equal shares as unit, from which it does
	growLeast  = 1e-7  // of what it has, by which a job must be able to grow
)

// waterFilling lifts u_j = theta_j/E_j of all jobs at the rates weight/scale until some
// can grow no more, then the others, and so on. With entities an entity's weight is
// split over its jobs that still grow, by their weights, or goes to the first of them.
func waterFilling(pack bool) func(*Problem, Options) (Answer, error) {
	return func(p *Problem, o Options) (Answer, error) {
		d := demand{throughput: p.throughput, follow: make([]float64, len(p.Jobs)), gain: make([]float64, len(p.Jobs)), packed: pack && len(p.Pairs) > 0}
		equal := make([]float64, len(p.Jobs))
		var left []int
		for j := range p.Jobs {
			if equal[j] = p.equal(j); equal[j] > 0 {
				d.gain[j] = 1 / equal[j]
			} else {
				left = append(left, j)
			}
		}
		inDoubles := p.fillVertices
		if d.packed {
			inDoubles = p.fillPacked
		}
		s := o.settings()
		inWide := func(d *demand, equal []float64) Answer {
			r, excess, rounds, ok := p.fillLevels(d, equal, s)
			if !ok {
				return Answer{Gap: math.Inf(1)}
			}
			a := p.filled(d, r, equal, excess*p.lifts())
			a.Rounds = rounds
			return a
		}
		ways := []func(*demand, []float64) Answer{inDoubles}
		switch {
		case p.widely(&d) && p.far(&d):
			ways = []func(*demand, []float64) Answer{inWide, inDoubles}
		case p.widely(&d):
			ways = append(ways, inWide)
		}
		a := Answer{Gap: math.Inf(1)}
		for _, fill := range ways {
			if b := fill(&d, equal); b.Gap < a.Gap {
				a = b
			}
			if a.Gap <= max(s.gap, roundingGap) {
				break
			}
		}
		a.Left = left
		return a, nil
	}
}

// fillVertices fills in double precision: by whole levels, or, of few jobs or where a level is not
// found, by one simplex method that goes from job to job.
func (p *Problem) fillVertices(d *demand, equal []float64) Answer {
	f := block.Fill(p.blocks(d), func(frozen []bool) []float64 {
		rates := p.rates(frozen)
		for j := range rates {
			rates[j] *= equal[j]
		}
		return rates
	})
	r := plan{status: f.Status, x: p.nothing(), theta: make([]float64, len(p.Jobs)), pivots: f.Pivots}
	i := 0
	for j := range p.Jobs {
		part := p.part(j)
		for w := range p.Types {
			if v := p.throughput(j, w); v > 0 {
				r.x[j][w] = part * f.X[i]
				r.theta[j] += v * r.x[j][w]
				i++
			}
		}
	}
	excess := f.Excess
	if f.Status != block.Optimal { // a level is not found
		excess = math.Inf(1)
	}
	a := p.filled(d, r, equal, excess*p.lifts())
	a.Rounds = f.Rounds
	return a
}

// lifts is the sum of the rates at which all jobs begin.
func (p *Problem) lifts() float64 { return sum(p.rates(make([]bool, len(p.Jobs)))) }

// filled is the answer of a filled point, at which the sum of all u might be higher by more.
func (p *Problem) filled(d *demand, r plan, equal []float64, more float64) Answer {
	vector, total, alone := make([]float64, len(p.Jobs)), 0.0, 0.0
	peak := p.peaks(d)
	for j, e := range equal {
		if e > 0 {
			vector[j] = r.theta[j] / e
			alone += peak[j] / e
		}
		total += vector[j]
	}
	a := answerOf(r, total, min(alone, total+more)) // all that is sure is each job's peak
	a.Need, a.Level, a.Vector = nil, false, vector
	return a
}

// peaks are the most that each job can have if all others give way, alone or in a pair.
func (p *Problem) peaks(d *demand) []float64 {
	most := make([]float64, len(p.Jobs))
	for j := range most {
		most[j] = p.fastest(j)
	}
	for _, q := range p.pairsOf(d) {
		for w, v := range q.Throughput {
			if p.Types[w].Workers > 0 {
				most[q.A], most[q.B] = max(most[q.A], v[0]), max(most[q.B], v[1])
			}
		}
	}
	return most
}

// pairsOf are the pairs that d may use.
func (p *Problem) pairsOf(d *demand) []Pair {
	if d.packed {
		return p.Pairs
	}
	return nil
}

// fillLevels fills level by level, each a program of its own in wide numbers. ok is false if a level is not found.
func (p *Problem) fillLevels(d *demand, equal []float64, s settings) (r plan, excess float64, rounds int, ok bool) {
	frozen, base, peak := make([]bool, len(p.Jobs)), make([]float64, len(p.Jobs)), p.peaks(d)
	for j, e := range equal {
		frozen[j] = e <= 0
	}
	for rounds <= 2*len(p.Jobs) {
		level := *d
		level.floor, level.follow = make([]float64, len(p.Jobs)), make([]float64, len(p.Jobs))
		live := false
		for j, rate := range p.rates(frozen) {
			level.floor[j] = base[j] * (1 - floorSlack)
			if !frozen[j] && rate > 0 {
				level.follow[j], live = rate*equal[j], true
			}
		}
		if !live {
			return r, excess, rounds, rounds > 0
		}
		rounds++
		if r, ok = p.wide(&level, s); !ok || r.status == block.Infeasible {
			return r, excess, rounds, false
		}
		excess += max(0, r.bound-r.objective)
		holds, heaviest, many := 0.0, -1, 0
		for j, rate := range level.follow {
			if rate == 0 {
				continue
			}
			base[j] += r.objective * rate
			many++
			if hold := r.worth[j] * rate; hold > holds {
				holds, heaviest = hold, j
			}
		}
		for j, rate := range level.follow {
			hold := r.worth[j] * rate
			frozen[j] = frozen[j] || j == heaviest || rate > 0 && base[j] >= peak[j]*(1-floorSlack) ||
				hold > holdLeast && (hold*float64(many) > holdSure || !p.grows(d, base, j))
		}
	}
	return r, excess, rounds, false
}

// grows reports whether job j can have more than its base while all others keep theirs. What
// little they give for rounding may be much to a job that is fast where they are slow: that
// grows with what they give, and does not count.
func (p *Problem) grows(d *demand, base []float64, j int) bool {
	more := func(give float64) float64 {
		alone := *d
		alone.floor, alone.follow = make([]float64, len(p.Jobs)), make([]float64, len(p.Jobs))
		for i, b := range base {
			alone.floor[i] = b * (1 - give)
		}
		alone.floor[j], alone.follow[j] = 0, base[j]
		r, ok := p.wide(&alone, settings{gap: 1e-9})
		if !ok || r.status == block.Infeasible {
			return 0
		}
		return r.objective - 1
	}
	little := more(floorSlack)
	return little > growLeast && more(1000*floorSlack) < 10*little
}

// widely reports whether wide numbers can solve d.
func (p *Problem) widely(d *demand) bool {
	rows := 2*len(p.Jobs) + len(p.Types)
	return rows*(rows+(len(p.Jobs)+len(p.pairsOf(d)))*len(p.Types)) <= finerSize
}

// rates are how fast each job's u may grow while the others do.
func (p *Problem) rates(frozen []bool) []float64 {
	rates := make([]float64, len(p.Jobs))
	if len(p.Entities) == 0 {
		for j, job := range p.Jobs {
			if !frozen[j] {
				rates[j] = job.Weight / float64(job.Scale)
			}
		}
		return rates
	}
	for _, e := range p.Entities {
		total := 0.0
		for _, j := range e.Jobs {
			if !frozen[j] {
				total += p.Jobs[j].Weight
			}
		}
		for _, j := range e.Jobs {
			if frozen[j] {
				continue
			}
			if e.FIFO {
				rates[j] = e.Weight / float64(p.Jobs[j].Scale)
				break
			}
			rates[j] = e.Weight * p.Jobs[j].Weight / total / float64(p.Jobs[j].Scale)
		}
	}
	return rates
}
