package block

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// TestFewJobsAreSplitWhereNoVertexIsMet asks for vertices of programs too large for pivots, at
// gaps which the point is not always within before the last step, over needs that lie up to
// eight orders of magnitude apart, as those of a makespan do.
func TestFewJobsAreSplitWhereNoVertexIsMet(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	for _, types := range []int{3, 6} {
		for _, orders := range []float64{0, 3, 8} {
			for _, templates := range []int{0, 12} {
				p := fleet(vertexJobs+500, types, uint64(types)+1, true, templates)
				for j := range p.Follow {
					p.Follow[j] *= math.Pow(10, -orders*rng.Float64())
				}
				most := 0.0 // second objective
				for _, gap := range []float64{1e-6, 1e-9} {
					t.Run(fmt.Sprintf("%d types, %g orders, %d templates, gap %g", types, orders, templates, gap), func(t *testing.T) {
						s := Solve(p, Options{Gap: gap, Vertex: true, Second: true})
						if s.Gap > 2*gap || s.Violation > feasibleTol {
							t.Errorf("%v, gap %g, violation %g", s.Status, s.Gap, s.Violation)
						}
						if g := gained(p, s.X); g < most*(1-1e-5) {
							t.Errorf("%g gained, and %g at a wider gap", g, most)
						}
						most = max(most, gained(p, s.X))
						if n := p.split(&s); n > types+1 {
							t.Errorf("%d of %d jobs are split over %d types", n, p.Jobs(), types)
						}
					})
				}
			}
		}
	}
}

// TestTidyKeepsWhatItIsGiven spreads a vertex's jobs over types of equal speed, of which no
// program needs to know, and counts them after.
func TestTidyKeepsWhatItIsGiven(t *testing.T) {
	p := New([]float64{300, 300, 300})
	rng := rand.New(rand.NewPCG(3, 3))
	for range 1000 {
		speed := math.Pow(10, 4*rng.Float64())
		for w := range int32(3) {
			p.Column(1, speed, []int32{w}, []float64{1})
		}
		p.Job(0, speed)
	}
	s := Solve(p.asLevel(), Options{Gap: 1e-9})
	before := p.split(&s)
	level := s.Level
	p.tidy(&s, Options{Gap: 1e-9})
	if n := p.split(&s); before < 900 || n > 4 || s.Gap > 1e-9 || s.Violation > exactTol || s.Level < level*(1-1e-9) {
		t.Errorf("%d jobs were split, %d are; gap %g, violation %g, level %g of %g", before, n, s.Gap, s.Violation, s.Level, level)
	}
}

// asLevel makes p a program of a level.
func (p *Program) asLevel() *Program {
	p.Level = true
	return p
}
