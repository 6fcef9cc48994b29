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

// imagenetOnT4 is a fit to public measurements of ResNet-50 on T4 accelerators.
func imagenetOnT4() Model {
	return Model{
		Theta:  Theta{AlphaC: 0.0644, BetaC: 0.0045, AlphaN: 0.32, BetaN: 0.0062, AlphaR: 0.075, BetaR: 0.00087, Gamma: 2.5},
		Noise:  Noise{Sqr: 0.35, Var: 20},
		Limits: Limits{InitialBatch: 200, MaxBatch: 12800, MinLocal: 20, MaxLocal: 200, Accumulation: true},
	}
}

// drawModels draws models like it, all different.
func drawModels(n int, seed uint64) []Model {
	rng := rand.New(rand.NewPCG(seed, 1))
	models := make([]Model, n)
	for i := range models {
		m := imagenetOnT4()
		a := m.Theta.Array()
		for k := range iGamma {
			a[k] *= math.Exp(rng.NormFloat64())
		}
		a[iGamma] = 1 + 3*rng.Float64()
		m.Theta = thetaOf(a)
		m.Noise.Var *= math.Exp(2 * rng.NormFloat64())
		models[i] = m
	}
	return models
}

// sixtyPlaces are 60 allocations of up to 64 replicas.
func sixtyPlaces() []Place {
	var places []Place
	for _, perNode := range []int{1, 2, 4, 8} {
		for nodes := 1; nodes <= 15; nodes++ {
			places = append(places, Place{nodes, min(nodes*perNode, 64)})
		}
	}
	return places
}
