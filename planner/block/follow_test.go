package block

import (
	"math"
	"testing"
)

// pathOf is the path of a drawn program at a level, at prices of no one's choice.
func pathOf(seed uint64, jobs, types int) *path {
	f := drawFilling(seed, plainFilling, jobs, types, 0.6)
	p := f.p
	p.Follow = f.next(make([]bool, jobs))
	for j := range jobs {
		if j%3 == 0 { // holds what it has
			p.Floor[j], p.Follow[j] = 0.2*p.fastest(j), 0
		}
	}
	it := newInterior(p.scale(p.everyone(), nil, 1))
	for r := range it.lambda {
		it.lambda[r] = float64(1+r) / float64(types)
	}
	return newPath(it)
}

func TestDualFunctionFallsAsItsGradientSays(t *testing.T) {
	const h = 1e-5
	for seed := range uint64(6) {
		for _, mu := range []float64{1e-2, 1e-4} {
			f := pathOf(seed, 30, 4)
			at := func(r int, by float64) float64 {
				keep := f.lambda[r]
				f.lambda[r] *= 1 + by
				value, ok := f.settle(mu)
				if !ok {
					t.Fatalf("seed %d, mu %g: not settled", seed, mu)
				}
				f.lambda[r] = keep
				return value
			}
			for r := range f.lambda {
				rise := (at(r, h) - at(r, -h)) / (2 * h * f.lambda[r])
				at(r, 0)
				f.shortage(f.left)
				if math.Abs(rise-f.left[r]) > 1e-3*max(1, math.Abs(rise)) {
					t.Errorf("seed %d, mu %g, row %d: by differences %g, shortage %g", seed, mu, r, rise, f.left[r])
				}
			}
			for j := range f.m {
				f.checkJob(t, j, mu)
			}
		}
	}
}

// checkJob looks whether the job's time and floor are met at its own prices.
func (f *path) checkJob(t *testing.T, j int, mu float64) {
	t.Helper()
	time, reach := f.s[j], -f.w[j]
	for i := f.p.First[j]; i < f.p.First[j+1]; i++ {
		time += f.x[i]
		reach += f.p.Speed[i] * f.x[i]
	}
	need := f.p.floor(j) + f.p.follow(j)*f.t
	if math.Abs(time-1) > 1e-5 || math.Abs(reach-need) > 1e-5 {
		t.Errorf("mu %g, job %d: time %g of 1, reach %g of %g", mu, j, time, reach, need)
	}
}

func TestTangentLeadsAlongThePath(t *testing.T) {
	for seed := range uint64(6) {
		f := pathOf(seed, 60, 5)
		const mu = 1e-4
		if !f.centre(mu) {
			t.Fatalf("seed %d: no centre", seed)
		}
		at := f.mark()
		without := f.off(0.7 * mu)
		f.back(at)
		if _, ok := f.settle(mu); !ok || !f.tangent(-0.3*mu) {
			t.Fatalf("seed %d: no tangent", seed)
		}
		if with := f.off(0.7 * mu); with > 0.1*without {
			t.Errorf("seed %d: off the path by %g, without the tangent by %g", seed, with, without)
		}
	}
}

// TestPathsEndAtTheOptimum follows the path of programs from its begin, and has the end proved.
func TestPathsEndAtTheOptimum(t *testing.T) {
	for seed := range uint64(12) {
		f := drawFilling(seed, int(seed)%2, 300, 3+int(seed%4), 0.6)
		p := f.p
		p.Follow = f.next(make([]bool, p.Jobs()))
		p.look()
		sc := p.scale(p.everyone(), nil, 1)
		it := newInterior(sc)
		if !it.follow(1e-6) {
			t.Errorf("seed %d: the path was lost", seed)
			continue
		}
		c := p.Certify(sc.unscalePrices(it.lambda, p))
		s := Solve(p, Options{Gap: 1e-9})
		if relative(c.Bound, s.Objective) > 3e-6 {
			t.Errorf("seed %d: the prices at the end prove %g, the optimum is %g", seed, c.Bound, s.Objective)
		}
	}
}
