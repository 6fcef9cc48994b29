package share

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// TestCostRatioIsProvedWhereItsLastProgramsBestIsNothing follows Dinkelbach's method to programs
// whose gains and spend cancel, of which no gap is small beside the objective.
func TestCostRatioIsProvedWhereItsLastProgramsBestIsNothing(t *testing.T) {
	y, _ := Find("cost_ratio_slo")
	for seed := range uint64(2) {
		r := rand.New(rand.NewPCG(seed, 31))
		p := &Problem{}
		for w := range 12 {
			p.Types = append(p.Types, Type{Name: fmt.Sprint(w), Workers: 210, Price: 0.5 + 0.5*float64(w) + r.Float64()})
		}
		for j := range 4200 {
			job := Job{ID: fmt.Sprint(j), Scale: 1, Weight: 1, Steps: 1e5, Deadline: math.NaN()}
			base := math.Exp(2 * r.NormFloat64())
			for w := range p.Types {
				job.Throughput = append(job.Throughput, base*math.Exp(0.2*float64(w)+0.3*r.NormFloat64()))
			}
			if j%2 == 0 {
				job.Deadline = job.Steps / (base * (0.1 + 0.6*r.Float64()))
			}
			p.Jobs = append(p.Jobs, job)
		}
		a, err := y.Share(p, Options{Gap: 1e-6})
		if err != nil || a.Status != "optimal" || a.Gap > 1e-6 {
			t.Errorf("seed %d: %v, %s with a gap of %g after %d programs", seed, err, a.Status, a.Gap, a.Rounds)
			continue
		}
		if got := sum(a.Theta) / p.cost(&plan{x: a.Share}); math.Abs(got/a.Objective-1) > 1e-9 {
			t.Errorf("seed %d: the shares' ratio is %g, not %g", seed, got, a.Objective)
		}
	}
}
