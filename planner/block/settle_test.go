package block

import (
	"math"
	"testing"
)

func TestSettledPointsAreVerticesOfTheBestValue(t *testing.T) {
	for _, c := range []struct {
		name string
		p    *Program
	}{{"levels", scarce(1500, 6, 2, 0)}, {"gains", fleet(1500, 6, 2, false, 0)}, {"gains of equal jobs", fleet(1500, 6, 2, false, 300)}} {
		s := Solution{X: make([]float64, c.p.Columns())}
		c.p.sift(&s, Options{Gap: 1e-4})
		rough := s.Gap
		if !c.p.settle(&s, Options{Gap: 1e-8}) || s.Gap > 1e-8 || s.Violation > feasibleTol {
			t.Errorf("%s: gap %g after %g, violation %g", c.name, s.Gap, rough, s.Violation)
		}
		want := Solve(c.p, Options{Gap: 1e-9})
		if math.Abs(s.Objective-want.Objective) > 2e-8*math.Abs(want.Objective) {
			t.Errorf("%s: objective %.12g, want %.12g", c.name, s.Objective, want.Objective)
		}
		if n := excess(c.p, s.X, s.Level); n > len(c.p.Capacity)+1 {
			t.Errorf("%s: %d shares too many for %d rows", c.name, n, len(c.p.Capacity))
		}
	}
}

func TestSettlingEqualJobsLosesNothing(t *testing.T) {
	p := scarce(1500, 6, 2, 4) // four kinds of jobs, which prices do not decide
	s := Solution{X: make([]float64, p.Columns())}
	p.sift(&s, Options{Gap: 1e-4})
	rough := s.Gap
	p.settle(&s, Options{Gap: 1e-8})
	if s.Gap > rough || s.Violation > feasibleTol {
		t.Errorf("gap %g after %g, violation %g", s.Gap, rough, s.Violation)
	}
}

// A choice is the best point of its job among all pairs of its columns.
func TestChoicesAreTheBestOfAllPairsOfColumns(t *testing.T) {
	p := fleet(60, 5, 4, false, 0)
	s := Solve(p, Options{})
	h := p.hulls(s.Prices)
	for j := range p.Jobs() {
		earn := h.earnings(j)
		got, at := p.best(earn, j, p.floor(j))
		value, reach := 0.0, 0.0
		for _, u := range []struct {
			i int32
			x float64
		}{{got.i, got.xi}, {got.k, got.xk}} {
			if u.i >= 0 {
				value += u.x * earn[u.i-p.First[j]]
				reach += u.x * p.Speed[u.i]
			}
		}
		if reach < p.floor(j)*(1-1e-12) {
			t.Fatalf("job %d reaches %g of %g", j, reach, p.floor(j))
		}
		best := math.Inf(-1)
		for a, u := range p.Speed[p.First[j]:p.First[j+1]] {
			if u >= p.floor(j) {
				best = max(best, earn[a], earn[a]*p.floor(j)/u)
			}
			for b, v := range p.Speed[p.First[j]:p.First[j+1]] {
				if u > p.floor(j) && v < p.floor(j) {
					x := (p.floor(j) - v) / (u - v)
					best = max(best, x*earn[a]+(1-x)*earn[b])
				}
			}
		}
		if math.Abs(value-best) > 1e-9*math.Abs(best) || math.Abs(at.value-best) > 1e-9*math.Abs(best) {
			t.Errorf("job %d: %g, said to be %g, the best pair has %g", j, value, at.value, best)
		}
	}
}

// Prices of a sample are those of the whole, up to what its jobs are not like the others:
// they were once those of its smaller capacity.
func TestSampledPricesAreNearTheWholes(t *testing.T) {
	p := fleet(3000, 8, 3, false, 0)
	want := Solve(p, Options{Gap: 1e-6}).Objective
	if got := p.Certify(p.sample(Options{})).Bound; got < want || math.Abs(got-want) > 0.05*math.Abs(want) {
		t.Errorf("the sample's prices prove %g, the best is %g", got, want)
	}
}
