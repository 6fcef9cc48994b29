package goodput

import (
	"math"
	"math/rand/v2"
	"testing"
)

// gradients draws samples of a gradient: a known mean, and noise whose variance
// falls with the batch of a pass.
type gradients struct {
	rng  *rand.Rand
	mean []float64
	sd   float64 // of one component, at a batch of one sample
}

func newGradients(seed uint64) *gradients {
	g := &gradients{rng: rand.New(rand.NewPCG(seed, 3)), mean: make([]float64, 50), sd: 4}
	for i := range g.mean {
		g.mean[i] = 0.3 * math.Sin(float64(i))
	}
	return g
}

func (g *gradients) draw(atomic int) []float64 {
	v := make([]float64, len(g.mean))
	for i := range v {
		v[i] = g.mean[i] + g.sd/math.Sqrt(float64(atomic))*g.rng.NormFloat64()
	}
	return v
}

func square(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x * x
	}
	return sum
}

// step is what a trainer sees of some gradients.
func step(replicas, atomic, accum int, samples ...[]float64) Step {
	mean, meanOfSqr := make([]float64, len(samples[0])), 0.0
	for _, s := range samples {
		meanOfSqr += square(s) / float64(len(samples))
		for i, x := range s {
			mean[i] += x / float64(len(samples))
		}
	}
	return Step{Replicas: replicas, AtomicBatch: atomic, Accum: accum, SqrOfMean: square(mean), MeanOfSqr: meanOfSqr}
}

// within reports whether an estimate is of the gradients, up to some percent.
func (g *gradients) within(t *testing.T, e *NoiseEstimator, m0 int, tolerance float64) {
	t.Helper()
	n, ok := e.Noise()
	wantSqr, wantVar := square(g.mean), float64(len(g.mean))*g.sd*g.sd/float64(m0)
	if !ok || math.Abs(n.Sqr/wantSqr-1) > tolerance || math.Abs(n.Var/wantVar-1) > tolerance {
		t.Errorf("estimate %+v, ok %v; want sqr %g, var %g", n, ok, wantSqr, wantVar)
	}
}

func TestNoiseIsEstimatedFromReplicasAndPasses(t *testing.T) {
	const m0 = 32
	for _, c := range []struct{ replicas, atomic, accum int }{{4, 8, 0}, {1, 16, 3}, {2, 64, 1}} {
		g, e := newGradients(1), NewNoiseEstimator(m0)
		if _, ok := e.Noise(); ok {
			t.Error("an estimate without a step")
		}
		for range 4000 {
			samples := make([][]float64, c.replicas*(c.accum+1))
			for i := range samples {
				samples[i] = g.draw(c.atomic)
			}
			if !e.Add(step(c.replicas, c.atomic, c.accum, samples...)) {
				t.Fatal("a step did not count")
			}
		}
		g.within(t, e, m0, 0.1)
	}
}

func TestNoiseOfASingleReplicaComesFromPairsOfSteps(t *testing.T) {
	const m0 = 32
	g, e := newGradients(2), NewNoiseEstimator(m0)
	last := g.draw(m0)
	for range 4000 {
		next := g.draw(m0)
		e.Add(step(1, m0, 0, last, next))
		last = next
	}
	g.within(t, e, m0, 0.15)
	// The first step with several samples begins anew.
	for i := range g.mean {
		g.mean[i] *= 10
	}
	samples := [][]float64{g.draw(1024), g.draw(1024), g.draw(1024), g.draw(1024)}
	e.Add(step(4, 1024, 0, samples...))
	if n, _ := e.Noise(); math.Abs(n.Sqr/square(g.mean)-1) > 0.1 {
		t.Errorf("sqr %g after the first step on four replicas, want about %g", n.Sqr, square(g.mean))
	}
}

func TestStepsThatAreNotFiniteDoNotCount(t *testing.T) {
	e := NewNoiseEstimator(32)
	for _, bad := range []float64{math.NaN(), math.Inf(1), -1} {
		if e.Add(Step{Replicas: 2, AtomicBatch: 16, SqrOfMean: bad, MeanOfSqr: 1}) || e.Add(Step{Replicas: 2, AtomicBatch: 16, SqrOfMean: 1, MeanOfSqr: bad}) {
			t.Errorf("a step with a norm of %g counted", bad)
		}
	}
	if e.Add(Step{SqrOfMean: 1, MeanOfSqr: 1}) {
		t.Error("a step of no replicas counted")
	}
	if _, ok := e.Noise(); ok {
		t.Error("an estimate of nothing")
	}
	// A mean that is longer than its samples are on average cannot be: both floors hold.
	e.Add(Step{Replicas: 2, AtomicBatch: 16, SqrOfMean: 0, MeanOfSqr: 3})
	if n, ok := e.Noise(); !ok || n.Sqr != 0 || n.Var <= 0 {
		t.Errorf("estimate %+v, ok %v; want no gradient", n, ok)
	}
	e = NewNoiseEstimator(32)
	e.Add(Step{Replicas: 2, AtomicBatch: 16, SqrOfMean: 3, MeanOfSqr: 3})
	if n, _ := e.Noise(); n.Var != leastVar {
		t.Errorf("variance %g, want the floor %g", n.Var, leastVar)
	}
}
