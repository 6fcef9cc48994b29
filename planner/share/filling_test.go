package share

import (
	"math"
	"testing"

	"github.com/goodfleet/goodfleet/planner/block"
	"pgregory.net/rapid"
)

// TestNoJobGrowsUnlessALowerOneShrinks lifts each job of a filled point alone while all others keep
// what they have, but what is above its level: it cannot grow.
func TestNoJobGrowsUnlessALowerOneShrinks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawIll(rapid.Uint64().Draw(t, "seed"), rapid.IntRange(0, farKinds-1).Draw(t, "kind"))
		name := rapid.SampledFrom([]string{"water_filling_sum", "water_filling_packed"}).Draw(t, "policy")
		p = firstJobs(p, 6)
		if name == "water_filling_sum" {
			p.Pairs = nil
		}
		y, _ := Find(name)
		a, err := y.Share(p, Options{})
		if err != nil || a.Status != "optimal" {
			t.Fatalf("%v, %s with a gap of %g", err, a.Status, a.Gap)
		}
		level := func(j int) float64 { return a.Vector[j] * float64(p.Jobs[j].Scale) / p.Jobs[j].Weight }
		for j := range p.Jobs {
			if p.equal(j) == 0 {
				continue
			}
			// What little all others give may be much to a job that is fast where they are slow: it
			// then grows with what they give.
			const give = 1e-13
			more, much := p.alone(t, &a, j, level, give)-a.Vector[j], p.alone(t, &a, j, level, 1000*give)-a.Vector[j]
			if more > 1e-5*a.Vector[j] && much < 10*more {
				t.Fatalf("job %d has u = %.12g and could have %.12g", j, a.Vector[j], a.Vector[j]+more)
			}
		}
	})
}

// alone is the most that u of job j can be where no other falls below its level, or gives more than a part.
func (p *Problem) alone(t *rapid.T, a *Answer, j int, level func(int) float64, give float64) float64 {
	d := demand{throughput: p.throughput, gain: make([]float64, len(p.Jobs)), floor: make([]float64, len(p.Jobs)), follow: make([]float64, len(p.Jobs)), packed: true}
	for i := range p.Jobs {
		if i != j && a.Theta[i] > 0 {
			d.floor[i] = a.Theta[i] * min(1, level(j)/level(i)) * (1 - give)
		}
	}
	d.follow[j] = p.equal(j)
	r, ok := p.wide(&d, settings{gap: 1e-9})
	if !ok || r.status == block.Infeasible || math.IsNaN(r.objective) {
		t.Fatalf("job %d: %v", j, r.status)
	}
	return r.objective
}
