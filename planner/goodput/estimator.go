package goodput

import "math"

// Smoothing of the reported gradient statistics, as AdaptDL does it.
const (
	noiseSmooth = 0.999
	leastVar    = 1e-6
)

// Step is what a trainer sees of its gradients in one optimizer step. A sample is
// the gradient of one pass on one replica.
type Step struct {
	Replicas    int
	AtomicBatch int
	Accum       int     // passes before the one with the optimizer step
	SqrOfMean   float64 // squared norm of the mean over the samples
	MeanOfSqr   float64 // mean of the samples' squared norms
	Steps       int     // like it, of which these are the means; 0: 1
	// With one replica and no accumulation there is one sample only; the two values
	// are then taken over the gradients of this step and the one before.
}

// NoiseEstimator turns what is seen in each step into Noise: the unbiased
// estimates of each step, smoothed over samples. The zero value is not usable;
// see NewNoiseEstimator.
type NoiseEstimator struct {
	initialBatch int
	sqr, noise   float64 // smoothed, not yet corrected for the start at 0
	weight       float64 // the same mean of 1
	pairs        bool    // some of what is smoothed comes from pairs of steps
}

// NewNoiseEstimator estimates the noise of a job with that initial batch.
func NewNoiseEstimator(initialBatch int) *NoiseEstimator {
	return &NoiseEstimator{initialBatch: initialBatch}
}

// Add takes over one step. A step whose norms are not finite, as happens when the
// loss scale of half-precision training is too large, is passed over; it returns
// whether the step counted.
//
// Estimates from pairs of steps are biased, as the parameters moved in between:
// the first step with several samples afterwards begins anew.
func (e *NoiseEstimator) Add(s Step) bool {
	if s.Replicas < 1 || s.AtomicBatch < 1 || s.Accum < 0 || s.Steps < 0 {
		return false
	}
	for _, v := range []float64{s.SqrOfMean, s.MeanOfSqr} {
		if math.IsNaN(v) || math.IsInf(v, 0) || v < 0 {
			return false
		}
	}
	count := float64(s.Replicas) * float64(s.Accum+1)
	scale := count * float64(s.AtomicBatch) / float64(e.initialBatch)
	if count == 1 {
		count, scale, e.pairs = 2, 2*scale, true
	} else if e.pairs {
		*e = NoiseEstimator{initialBatch: e.initialBatch}
	}
	keep := math.Pow(noiseSmooth, scale*float64(max(s.Steps, 1)))
	e.sqr = keep*e.sqr + (1-keep)*(count*s.SqrOfMean-s.MeanOfSqr)/(count-1)
	e.noise = keep*e.noise + (1-keep)*(s.MeanOfSqr-s.SqrOfMean)*scale/(count-1)
	e.weight = keep*e.weight + (1 - keep)
	return true
}

// Clone is an estimator that goes on by itself from here.
func (e *NoiseEstimator) Clone() *NoiseEstimator {
	c := *e
	return &c
}

// Noise is the estimate so far. ok is false before the first step.
func (e *NoiseEstimator) Noise() (n Noise, ok bool) {
	if e.weight == 0 {
		return Noise{}, false
	}
	return NewNoise(max(e.sqr/e.weight, 0), max(e.noise/e.weight, leastVar))
}
