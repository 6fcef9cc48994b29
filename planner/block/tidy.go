package block

import "slices"

// tidy moves the point of s to one of few split jobs where the way to it left more: where
// pivots ended before they met a vertex, or prices chose two types within rounding. Neither
// the level nor, but for the better, the gain changes beyond the gap asked for.
func (p *Program) tidy(s *Solution, o Options) {
	if s.Violation > feasibleTol || p.split(s) <= len(p.Capacity)+1 {
		return
	}
	t := *s
	t.X = slices.Clone(s.X)
	level := 0.0
	if p.Level {
		level = s.Level
	}
	p.purify(t.X, level)
	p.repair(t.X)
	t.close(p, o.gap())
	if t.Violation <= max(s.Violation, exactTol) && t.Gap <= max(s.Gap, o.gap()) {
		*s = t
	}
}

// split counts the jobs that have more types than their rows call for: one, or two where
// time and need are both used up.
func (p *Program) split(s *Solution) int {
	u := purification{p: p, x: s.X}
	if p.Level {
		u.t = s.Level
	}
	count := 0
	for j := range p.Jobs() {
		types := 0
		for i := p.First[j]; i < p.First[j+1]; i++ {
			if s.X[i] > 0 {
				types++
			}
		}
		if types < 2 {
			continue
		}
		if time, reach := u.room(int32(j)); types > 2 || time > heldTol || reach > heldTol {
			count++
		}
	}
	return count
}
