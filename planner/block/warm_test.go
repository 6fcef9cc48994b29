package block

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// change redraws the speeds of every n-th job.
func change(p *Program, n int, seed uint64) (*Program, []bool) { return changeFrom(p, 0, n, seed) }

func changeFrom(p *Program, first, n int, seed uint64) (*Program, []bool) {
	r := rand.New(rand.NewPCG(seed, 11))
	q := *p
	q.Speed, q.Gain = append([]float64(nil), p.Speed...), append([]float64(nil), p.Gain...)
	fresh := make([]bool, p.Jobs())
	for j := first; j < p.Jobs(); j += n {
		fresh[j] = true
		for i := p.First[j]; i < p.First[j+1]; i++ {
			f := math.Exp(0.3 * r.NormFloat64())
			q.Speed[i] *= f
			if p.Level {
				q.Gain[i] *= f
			}
		}
	}
	return &q, fresh
}

// However much changed since, a start from the last round ends as true as a cold one; where
// little did, at once.
func TestLastRoundsPricesLeadToTheNextPoint(t *testing.T) {
	for _, kind := range []string{"level", "scarce", "gain"} {
		for seed, every := range map[uint64]int{1: 50, 2: 50, 3: 5, 4: 1, 5: 3000} {
			p := fleet(1500, 6, seed, kind == "level", 0)
			if kind == "scarce" {
				p = scarce(1500, 6, seed, 0)
			}
			first := Solve(p, Options{Gap: 1e-5})
			q, fresh := change(p, every, seed)
			exact := Solve(q, Options{Gap: 1e-9, Vertex: true})
			size := math.Abs(exact.Objective)
			for _, known := range []float64{0, first.Level} {
				s := Solve(q, Options{Gap: 1e-4, Prices: first.Prices, Level: known, Point: first.X, Fresh: fresh})
				if s.Status != Optimal || s.Gap > 1e-4 || s.Violation > feasibleTol || !s.Warm && every >= 50 {
					t.Errorf("%s, every %dth: %v, warm %v, gap %g, violation %g", kind, every, s.Status, s.Warm, s.Gap, s.Violation)
				}
				if s.Bound < exact.Objective-1e-7*size || s.Objective > exact.Bound+1e-7*size || s.Bound-s.Objective > 1.001e-4*size {
					t.Errorf("%s, every %dth: objective %g and bound %g around %g", kind, every, s.Objective, s.Bound, exact.Objective)
				}
			}
		}
	}
}

func TestSolveIsDeterministic(t *testing.T) {
	p := fleet(400, 8, 6, true, 20)
	a, b := Solve(p, Options{Vertex: true, Second: true}), Solve(p, Options{Vertex: true, Second: true})
	for i := range a.X {
		if math.Float64bits(a.X[i]) != math.Float64bits(b.X[i]) {
			t.Fatalf("column %d: %g and %g", i, a.X[i], b.X[i])
		}
	}
}

func TestJobsWithoutFloorsConverge(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 6))
	var capacity []float64
	for range 20 {
		capacity = append(capacity, math.Floor(1200*(0.6+0.8*r.Float64())/5))
	}
	p := New(capacity)
	for range 1200 {
		bend := 0.35 + 0.6*r.Float64()
		for k := range capacity {
			own := math.Exp(0.25*r.NormFloat64()) * (1 + float64(k%5))
			for _, units := range []float64{1, 4, 16} {
				p.Column(1.1-math.Pow(4*own*math.Pow(units, bend), -0.5), 0, []int32{int32(k)}, []float64{units})
			}
		}
		p.Job(0, 0)
	}
	s := Solve(p, Options{Gap: 1e-6})
	if s.Status != Optimal || s.Gap > 1e-6 || s.Iterations > 120 {
		t.Errorf("%v, gap %g after %d iterations", s.Status, s.Gap, s.Iterations)
	}
}

// TestGainsThatCancelAreProved solves programs whose best is nothing: all that is left of gains
// and losses is rounding.
func TestGainsThatCancelAreProved(t *testing.T) {
	for _, scale := range []float64{1e-9, 1, 3, 1e9} {
		p := New([]float64{1})
		p.Column(-2*scale, 6, []int32{0}, []float64{4})
		p.Column(scale, 3, []int32{0}, []float64{4})
		p.Job(1, 0)
		for _, vertex := range []bool{false, true} {
			s := Solve(p, Options{Gap: 1e-9, Vertex: vertex})
			if s.Status != Optimal || math.Abs(s.Objective) > 1e-9*scale {
				t.Errorf("scale %g, vertex %v: %v at %g, gap %g", scale, vertex, s.Status, s.Objective, s.Gap)
			}
		}
	}
}

// TestPricesOfBeforeDoNotHideWhatCannotBe asks for what no share can give, with the prices and the
// point of a round in which it could.
func TestPricesOfBeforeDoNotHideWhatCannotBe(t *testing.T) {
	for _, level := range []bool{true, false} {
		p := fleet(1500, 4, 3, level, 0)
		last := Solve(p, Options{Gap: 1e-5})
		for _, spoil := range []func(q *Program){
			func(q *Program) { q.Floor[7] = 2 * q.fastest(7) },
			func(q *Program) { clear(q.Speed[q.First[7]:q.First[8]]) },
			func(q *Program) { clear(q.Capacity) },
			func(q *Program) { clear(q.Follow) },
		} {
			q := *p
			q.Floor, q.Speed, q.Capacity, q.Follow = slices.Clone(p.Floor), slices.Clone(p.Speed), slices.Clone(p.Capacity), slices.Clone(p.Follow)
			if q.Floor == nil {
				q.Floor = make([]float64, q.Jobs())
			}
			spoil(&q)
			cold := Solve(&q, Options{Gap: 1e-5})
			fresh := make([]bool, q.Jobs())
			fresh[7] = true
			warm := Solve(&q, Options{Gap: 1e-5, Prices: last.Prices, Level: last.Level, Point: last.X, Fresh: fresh})
			if warm.Status != cold.Status || warm.Status == Optimal && math.Abs(warm.Objective-cold.Objective) > 1e-5*math.Abs(cold.Objective) {
				t.Errorf("level %v: %v %g, cold %v %g", level, warm.Status, warm.Objective, cold.Status, cold.Objective)
			}
		}
	}
}
