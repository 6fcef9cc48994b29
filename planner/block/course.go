package block

import "math"

// courseEvery is the number of bends between two states that a course remembers.
const courseEvery = 64

// course is where the jobs' reach goes as the level rises, each job until it reaches the most it
// can have alone: a broken line, whose rates are asked for at each bend.
type course struct {
	next  func(frozen []bool) []float64
	most  []float64 // per job, what it can have alone
	bends []float64 // levels at which a job stops, ascending from where the course starts
	marks []state   // at every courseEvery-th bend
	ended bool      // the last bend stops the last job
}

// state is a course at one of its bends: each job's reach, and its rate from there.
type state struct {
	bend   int
	reach  []float64
	frozen []bool
	rates  []float64
}

// newCourse starts at a level, from what the jobs have there.
func newCourse(next func([]bool) []float64, from float64, base, most []float64, frozen []bool) *course {
	c := &course{next: next, most: most, bends: []float64{from}}
	s := state{reach: append([]float64(nil), base...), frozen: append([]bool(nil), frozen...)}
	s.rates = c.live(s.frozen)
	c.marks = []state{s}
	return c
}

// live are the rates of the jobs that are not frozen.
func (c *course) live(frozen []bool) []float64 {
	rates := c.next(frozen)
	for j, f := range frozen {
		if f {
			rates[j] = 0
		}
	}
	return rates
}

func (s *state) clone() state {
	return state{s.bend, append([]float64(nil), s.reach...), append([]bool(nil), s.frozen...), append([]float64(nil), s.rates...)}
}

// step takes s to its next bend, and reports how far that is; +Inf: no job is lifted.
func (c *course) step(s *state) float64 {
	far := math.Inf(1)
	for j, r := range s.rates {
		if r > 0 {
			far = min(far, (c.most[j]-s.reach[j])/r)
		}
	}
	if math.IsInf(far, 1) {
		return far
	}
	far = max(far, 0)
	for j, r := range s.rates {
		if r == 0 {
			continue
		}
		s.reach[j] += far * r
		if s.reach[j] >= c.most[j]*(1-stopTol) {
			s.reach[j], s.frozen[j] = c.most[j], true
		}
	}
	s.rates = c.live(s.frozen)
	s.bend++
	return far
}

// stopTol is the part of what a job can have alone that it may lack when it stops.
const stopTol = 1e-13

// extend goes on to the next mark, and reports whether there is one.
func (c *course) extend() bool {
	if c.ended {
		return false
	}
	s := c.marks[len(c.marks)-1].clone()
	for range courseEvery {
		far := c.step(&s)
		if math.IsInf(far, 1) {
			c.ended = true
			break
		}
		c.bends = append(c.bends, c.bends[len(c.bends)-1]+far)
	}
	c.marks = append(c.marks, s)
	return true
}

// at is the state at a bend.
func (c *course) at(bend int) state {
	for c.last() < bend && c.extend() {
	}
	bend = min(bend, c.last())
	s := c.marks[min(bend/courseEvery, len(c.marks)-1)]
	for n := len(c.marks) - 1; s.bend > bend && n >= 0; n-- {
		s = c.marks[n]
	}
	if s.bend == bend {
		return s
	}
	s = s.clone()
	for s.bend < bend {
		c.step(&s)
	}
	return s
}

// last is the number of the last bend known.
func (c *course) last() int { return len(c.bends) - 1 }

// after is what the jobs have at a level from bend s on.
func (c *course) after(s *state, level float64) []float64 {
	reach := append([]float64(nil), s.reach...)
	for j, r := range s.rates {
		reach[j] += r * (level - c.bends[s.bend])
	}
	return reach
}
