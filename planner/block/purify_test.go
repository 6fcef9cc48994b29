package block

import (
	"math"
	"testing"
)

func TestThinnedGainsKeepFloorsAndSplitFewJobs(t *testing.T) {
	for _, templates := range []int{0, 12} {
		p := fleet(600, 5, 9, false, templates)
		s := Solve(p, Options{Gap: 1e-9})
		if !p.thin(&s, Options{Gap: 1e-6}) {
			t.Fatalf("%d templates: the interior point stayed", templates)
		}
		if s.Status != Optimal || s.Gap > 1e-6 || s.Violation > feasibleTol {
			t.Errorf("%d templates: %v, gap %g, violation %g", templates, s.Status, s.Gap, s.Violation)
		}
		if n := excess(p, s.X, s.Level); n > len(p.Capacity)+1 {
			t.Errorf("%d templates: %d shares too many for %d rows", templates, n, len(p.Capacity))
		}
	}
}

// gained is the second objective of x.
func gained(p *Program, x []float64) float64 {
	sum := 0.0
	for i, v := range x {
		sum += p.Gain[i] * v
	}
	return sum
}

func TestSecondObjectiveInsideIsThatOfTheVertex(t *testing.T) {
	p := fleet(400, 5, 3, true, 0) // a job that cannot go faster caps the level
	want := Solve(p, Options{Gap: 1e-9, Vertex: true, Second: true})
	got := Solve(p, Options{Gap: 1e-6})
	if !p.idle(&got, Options{}) {
		t.Fatal("no job caps the level: nothing would be tested")
	}
	p.secondInside(&got, Options{Gap: 1e-6, Vertex: true, Second: true})
	if got.Gap > 1e-6 || got.Violation > feasibleTol {
		t.Errorf("gap %g, violation %g", got.Gap, got.Violation)
	}
	if a, b := gained(p, got.X), gained(p, want.X); math.Abs(a-b) > 1e-5*b {
		t.Errorf("second objective %g, want %g", a, b)
	}
	if n := excess(p, got.X, got.Level); n > len(p.Capacity)+1 {
		t.Errorf("%d shares too many for %d rows", n, len(p.Capacity))
	}
}
