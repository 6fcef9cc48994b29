package goodput_test

import (
	"fmt"

	"github.com/goodfleet/goodfleet/planner/goodput"
)

func ExampleModel_Best() {
	m := goodput.Model{
		Theta:  goodput.Theta{AlphaC: 0.064, BetaC: 0.0045, AlphaN: 0.32, BetaN: 0.0062, AlphaR: 0.075, BetaR: 0.00087, Gamma: 2.5},
		Noise:  goodput.Noise{Sqr: 0.35, Var: 20},
		Limits: goodput.Limits{InitialBatch: 200, MaxBatch: 12800, MinLocal: 20, MaxLocal: 200, Accumulation: true},
	}
	for _, replicas := range []int{1, 4, 16, 64} {
		best, _ := m.Best(goodput.Clamp, (replicas+3)/4, replicas)
		fmt.Printf("%2d accelerators: batch %5d = %d × %d × %d, %.0f samples of progress/s\n",
			replicas, best.Batch, replicas, best.Atomic, best.Accum+1, best.Goodput)
	}
	// Output:
	//  1 accelerators: batch   200 = 1 × 200 × 1, 207 samples of progress/s
	//  4 accelerators: batch   780 = 4 × 195 × 1, 789 samples of progress/s
	// 16 accelerators: batch  2848 = 16 × 178 × 1, 2535 samples of progress/s
	// 64 accelerators: batch 10176 = 64 × 159 × 1, 5584 samples of progress/s
}

func ExampleFit() {
	samples := []goodput.Sample{
		{Nodes: 1, Replicas: 1, AtomicBatch: 32, AccumSec: 0.20, OptimSec: 0.20},
		{Nodes: 1, Replicas: 1, AtomicBatch: 64, AccumSec: 0.36, OptimSec: 0.36},
		{Nodes: 1, Replicas: 2, AtomicBatch: 64, AccumSec: 0.36, OptimSec: 0.40},
		{Nodes: 1, Replicas: 4, AtomicBatch: 64, AccumSec: 0.36, OptimSec: 0.42},
	}
	fit, err := goodput.Fit(samples, goodput.FitOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("a pass over 48 samples takes %.2f s\n", fit.Theta.ComputeSec(48))
	fmt.Printf("mean error %.0f %%, %v, not identified: %v\n", 100*fit.MeanError, fit.Status, fit.Unidentified)
	// Output:
	// a pass over 48 samples takes 0.28 s
	// mean error 0 %, converged, not identified: [alpha_n beta_n]
}
