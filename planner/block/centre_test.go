package block

import (
	"math"
	"testing"
)

// started is the scaled program of p at the start for the prices of a solved one.
func started(p *Program) *interior {
	s := Solve(p, Options{Gap: 1e-6})
	sc := p.scale(p.everyone(), nil, 1)
	it := newInterior(sc)
	it.start(sc.scalePrices(s.Prices, p))
	return it
}

func TestStartFromPricesMissesOnlyCapacity(t *testing.T) {
	for _, floors := range []bool{true, false} {
		p := fleet(300, 5, 8, false, 0)
		if !floors {
			clear(p.Floor)
			for i := range p.Gain {
				p.Gain[i] = -1 / p.Gain[i]
			}
		}
		it := started(p)
		mu := it.s[0] * it.mu[0]
		for i := range it.n {
			if it.x[i] <= 0 || math.Abs(it.x[i]*it.z[i]-mu) > 1e-9*mu {
				t.Fatalf("floors %v, column %d: x %g, product %g, want %g", floors, i, it.x[i], it.x[i]*it.z[i], mu)
			}
		}
		for j := range it.m {
			time := it.s[j]
			for i := it.p.First[j]; i < it.p.First[j+1]; i++ {
				time += it.x[i]
			}
			if math.Abs(time-1) > 1e-3 {
				t.Errorf("floors %v, job %d: time %g, want 1", floors, j, time)
			}
			if it.p.has[j] {
				if d := it.p.reach(it.x, j) - it.w[j] - it.p.floor(j); math.Abs(d) > 1e-3 {
					t.Errorf("floors %v, job %d: misses its floor by %g", floors, j, d)
				}
			}
		}
		left := make([]float64, it.k)
		it.shortage(left)
		for r, d := range left {
			if math.Abs(d) > 0.1 {
				t.Errorf("floors %v, row %d: %g of it is missing", floors, r, d)
			}
		}
	}
}

func TestSingleColumnsStepAsTheGeneralLoopsDo(t *testing.T) {
	for _, level := range []bool{true, false} {
		p := fleet(40, 4, 3, level, 0)
		sc := p.scale(p.everyone(), nil, 1)
		if !sc.single {
			t.Fatal("columns on one type each are not seen as single")
		}
		general := *sc
		general.single = false
		a, b := newInterior(sc), newInterior(&general)
		a.begin()
		b.begin()
		for n := range 5 {
			a.iterate(a.measure())
			b.iterate(b.measure())
			for i := range a.x {
				if math.Abs(a.x[i]-b.x[i]) > 1e-9 || math.Abs(a.dz[i]-b.dz[i]) > 1e-6*(1+math.Abs(b.dz[i])) {
					t.Fatalf("level %v, iteration %d, column %d: x %g and %g, dz %g and %g", level, n, i, a.x[i], b.x[i], a.dz[i], b.dz[i])
				}
			}
		}
	}
}

func TestColumnsOnOneTypeTwiceAreNotSingle(t *testing.T) {
	p := New([]float64{1, 1})
	p.Column(1, 1, []int32{0}, []float64{1})
	p.Column(2, 1, []int32{0}, []float64{2})
	p.Job(0, 0)
	if p.scale(p.everyone(), nil, 1).single {
		t.Error("two columns of a job on one type: the triangle would miss their product")
	}
}
