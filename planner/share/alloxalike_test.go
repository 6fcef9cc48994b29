package share

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// TestAlloXOfJobsAlikeEnds draws jobs of few kinds: between those alike every exchange costs nothing,
// and a path that is shorter by rounding alone could lead round in a circle.
func TestAlloXOfJobsAlikeEnds(t *testing.T) {
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 5))
		p := &Problem{}
		for w := range 2 + rng.IntN(5) {
			p.Types = append(p.Types, Type{Name: fmt.Sprint(w), Workers: 1 + rng.IntN(3)})
		}
		kinds := make([][]float64, 2+rng.IntN(5))
		for k := range kinds {
			for range p.Types {
				kinds[k] = append(kinds[k], 0.1+10*rng.Float64())
			}
		}
		works := []float64{1e3 * rng.Float64(), 1e4 * rng.Float64(), 1e5 * rng.Float64()}
		for j := range 60 + rng.IntN(60) {
			p.Jobs = append(p.Jobs, Job{ID: fmt.Sprint(j), Scale: 1, Weight: 1, Steps: works[rng.IntN(3)], Throughput: kinds[rng.IntN(len(kinds))]})
		}
		y, _ := Find("allox")
		a, err := y.Share(p, Options{})
		if err != nil || a.Status != "optimal" || a.Gap > 1e-9 {
			t.Errorf("seed %d, %d jobs of %d kinds: %s, gap %g, %v", seed, len(p.Jobs), len(kinds), a.Status, a.Gap, err)
		}
	}
}
