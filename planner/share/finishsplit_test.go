package share

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// TestFewJobsAreSplitWhereOneHoldsRho draws jobs that waited: mostly one of them holds rho, whatever
// the others get, and these are to be at a vertex of what is asked of them at that rho.
func TestFewJobsAreSplitWhereOneHoldsRho(t *testing.T) {
	held := 0
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 8))
		p := &Problem{}
		for w := range 2 + rng.IntN(4) {
			p.Types = append(p.Types, Type{Name: fmt.Sprint(w), Workers: 4 + rng.IntN(20)})
		}
		for j := range 30 + rng.IntN(40) {
			job := Job{ID: fmt.Sprint(j), Scale: 1, Weight: 1, Steps: 1e3 + 1e5*rng.Float64(), Elapsed: 1e5 * rng.Float64(), Isolated: 1e5 * rng.Float64()}
			for range p.Types {
				job.Throughput = append(job.Throughput, 1+9*rng.Float64())
			}
			p.Jobs = append(p.Jobs, job)
		}
		checkSplit(t, p, "finish_time_fairness", fmt.Sprintf("seed %d", seed))
		y, _ := Find("finish_time_fairness")
		a, err := y.Share(p, Options{})
		if err != nil {
			t.Fatal(err)
		}
		at := 0
		for j, job := range p.Jobs {
			rho := (job.Elapsed + job.Steps/a.Need[j]) / (job.Isolated + job.Steps/p.isolated(j))
			if rho < a.Objective*(1-1e-6) || rho > a.Objective*(1+1e-6) {
				t.Errorf("seed %d: job %d needs what gives it %g, and rho is %g", seed, j, rho, a.Objective)
			}
			if a.Theta[j] <= a.Need[j]*(1+1e-7) {
				at++
			}
		}
		if at == 1 {
			held++
		}
	}
	t.Logf("in %d of 60 one job alone is at rho", held)
}
