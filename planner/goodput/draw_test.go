package goodput

import (
	"math"
	"math/rand/v2"
)

// drawSamples measures theta with relative errors of sd, on allocations of up to
// 16 replicas, four on a node.
func drawSamples(t Theta, n int, sd float64, seed uint64) []Sample {
	rng := rand.New(rand.NewPCG(seed, 2))
	samples := make([]Sample, n)
	for i := range samples {
		replicas := 1 + rng.IntN(16)
		nodes := (replicas + 3) / 4
		if replicas <= 4 && rng.IntN(3) == 0 {
			nodes = replicas
		}
		atomic := 20 + rng.IntN(181)
		samples[i] = Sample{
			Nodes: nodes, Replicas: replicas, AtomicBatch: atomic,
			AccumSec: t.ComputeSec(atomic) * math.Exp(sd*rng.NormFloat64()),
			OptimSec: t.OptimSec(nodes, replicas, atomic) * math.Exp(sd*rng.NormFloat64()),
		}
	}
	return samples
}
