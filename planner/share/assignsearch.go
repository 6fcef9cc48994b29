package share

import (
	"math"
	"slices"

	"github.com/goodfleet/goodfleet/planner/whole"
)

// search is an assignment in the sense of a maximum: the sum of what each job counts.
type search struct {
	a        *Assignment
	capacity []float64   // less what pinned jobs have
	worths   [][]float64 // of each option; NaN: unusable, or more than there is
	best     []float64   // per job, the most that it can count
	bound    float64     // no choice counts more
	noise    float64     // what the bound and the sum that it is above may lose by rounding
}

func newSearch(a *Assignment, capacity []float64) *search {
	s := &search{a: a, capacity: capacity, worths: make([][]float64, len(a.Requests)), best: make([]float64, len(a.Requests))}
	for j := range a.Requests {
		q := &a.Requests[j]
		s.worths[j] = a.worths(q)
		if q.Pinned {
			s.best[j] = s.worths[j][q.Current]
			continue
		}
		s.best[j] = a.none()
		for i, c := range q.Options {
			if float64(c.GPUs) > capacity[c.Type] {
				s.worths[j][i] = math.NaN()
			}
			if v := s.worths[j][i]; v > s.best[j] {
				s.best[j] = v
			}
		}
	}
	return s
}

// counts is what job j counts with option i, or with none (-1).
func (s *search) counts(j, i int) float64 {
	if i < 0 {
		return s.a.none()
	}
	return s.worths[j][i]
}

// value is what a choice counts.
func (s *search) value(choice []int) float64 {
	sum := 0.0
	for j, i := range choice {
		sum += s.counts(j, i)
	}
	return sum
}

// lacks is by how much a choice counts less than the best of each job.
func (s *search) lacks(choice []int) float64 {
	sum := 0.0
	for j, i := range choice {
		sum += s.best[j] - s.counts(j, i)
	}
	return sum
}

// rounding is what a sum over all jobs and types may lose of what its terms come to.
func (s *search) rounding(terms float64) float64 {
	return roundMost * float64(len(s.best)+len(s.capacity)+8) * 0x1p-52 * terms
}

// roundMost is how many roundings there may be to a term.
const roundMost = 4

// run finds a choice and its bound, first with a bonus for kept configs and each job counted
// from none. If that leaves a gap that is the bonus or rounding, the choice is proved
// from the best of each job, without a bonus. A gap below rounding is none.
func (s *search) run(out *Assigned, l whole.Limits) (prices []float64) {
	r := s.first(out, l)
	if distance(s.a.objective(s.value(out.Choice)), s.a.objective(s.bound)) > want(l) && (r.Proved || r.Gap <= roughGap) {
		s.again(out, l)
	}
	if value := s.value(out.Choice); s.bound <= value+s.noise {
		s.bound = value
	}
	return r.Prices
}

// roughGap is the gap of a first choice, relative to what it counts over none, from which it
// may be the best.
const roughGap = 1e-6

// first chooses by what each option adds over none, with a bonus for what is kept.
func (s *search) first(out *Assigned, l whole.Limits) whole.Result {
	a := s.a
	largest := 1.0
	for _, v := range s.best {
		largest = max(largest, v)
	}
	bonus := max(keepBonus*largest, 0x1p-50*math.Abs(a.none()))
	p, index := s.program(func(j, i int) float64 {
		v := s.worths[j][i] - a.none()
		if i == a.Requests[j].Current {
			v += bonus
		}
		return v
	})
	inner := l
	inner.Gap, p.Scale = a.relative(want(l), s.best)
	inner.Gap *= 1 - keepPart
	for j, q := range a.Requests {
		if q.Pinned {
			p.Offset += s.best[j]
		} else {
			p.Offset += a.none()
		}
	}
	r := whole.Solve(&p, inner)
	fit(&p, r.Choice)
	terms := 0.0
	for _, v := range s.best {
		terms += max(math.Abs(v), math.Abs(a.none()))
	}
	s.noise = s.rounding(terms)
	kept := 0.0
	for j, c := range r.Choice {
		if c >= 0 {
			if out.Choice[j] = index[j][c]; out.Choice[j] == a.Requests[j].Current {
				kept += bonus
			}
		}
	}
	s.bound = s.value(out.Choice) + max(0, r.Bound-worthOf(&p, r.Choice)) + kept + s.noise
	s.noise *= 2
	s.bound = min(s.bound, s.value(out.Choice)+s.lacks(out.Choice))
	out.Nodes += r.Nodes
	r.Gap = distance(worthOf(&p, r.Choice), r.Bound)
	return r
}

// again proves a choice, or finds a better one, by how much each option falls short of the
// job's best. No better choice has an option that falls as short as the whole choice does; where
// that is so of none, a job counts that much less without config. All that is added up
// is then of the size of what the choice lacks, in which it is counted, and not of what a job
// without config counts.
func (s *search) again(out *Assigned, l whole.Limits) {
	a := s.a
	most := s.lacks(out.Choice) * (1 + 1e-9)
	if !(most > 0) {
		return
	}
	p, index := s.program(func(j, i int) float64 {
		return min((s.best[j]-a.none())/most, 1) - (s.best[j]-s.worths[j][i])/most
	})
	now, have := 0.0, s.value(out.Choice)
	for j, i := range out.Choice {
		if i >= 0 && !a.Requests[j].Pinned {
			now += p.Options[j][slices.Index(index[j], i)].Value
		}
	}
	objective := a.objective(have)
	l.Gap = want(l)
	p.Scale = max(math.Abs(objective)/a.slope(objective)/most, math.SmallestNonzeroFloat64)
	r := whole.Solve(&p, l)
	fit(&p, r.Choice)
	out.Nodes += r.Nodes
	s.bound = min(s.bound, have+max(0, r.Bound-now)*most)
	terms := r.Bound * most
	choice := slices.Clone(out.Choice)
	for j, c := range r.Choice {
		terms += math.Abs(s.counts(j, choice[j]))
		if !a.Requests[j].Pinned {
			choice[j] = -1
		}
		if c >= 0 {
			choice[j] = index[j][c]
		}
	}
	s.noise = s.rounding(terms)
	if s.value(choice) > have+s.noise {
		out.Choice = choice
		s.bound = max(s.bound, s.value(choice))
	}
}

// program states the choice of the jobs that are not pinned by what each usable option is
// worth over none, and tells which options of each job it holds.
func (s *search) program(worth func(j, i int) float64) (p whole.Problem, index [][]int) {
	p = whole.Problem{Options: make([][]whole.Option, len(s.worths)), Capacity: s.capacity}
	index = make([][]int, len(s.worths))
	for j, q := range s.a.Requests {
		for i, c := range q.Options {
			if !q.Pinned && !math.IsNaN(s.worths[j][i]) {
				p.Options[j] = append(p.Options[j], whole.Option{Row: c.Type, Units: float64(c.GPUs), Value: worth(j, i)})
				index[j] = append(index[j], i)
			}
		}
	}
	return p, index
}

// fit takes the config from the last jobs of a row that holds more than it can. The search
// is held to its rows; an answer that gives accelerators out twice would be worse than one
// that leaves some idle.
func fit(p *whole.Problem, choice []int) {
	left := slices.Clone(p.Capacity)
	for j, c := range choice {
		if c < 0 {
			continue
		}
		o := p.Options[j][c]
		if left[o.Row] < o.Units {
			choice[j] = -1
			continue
		}
		left[o.Row] -= o.Units
	}
}

// worthOf is the value of a choice.
func worthOf(p *whole.Problem, choice []int) float64 {
	sum := 0.0
	for j, c := range choice {
		if c >= 0 {
			sum += p.Options[j][c].Value
		}
	}
	return sum
}
