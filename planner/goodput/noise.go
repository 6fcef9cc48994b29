package goodput

import "math"

// Noise is the gradient statistics of a job at one point of its training: the
// squared norm of the true gradient, and the variance of a gradient taken over a
// batch of M0 samples. Only their ratio counts; its unit differs between models.
type Noise struct {
	Sqr, Var float64
}

// UnknownNoise stands for a job that has not told its statistics: every sample
// counts in full, whatever the batch. It is what the published scheduler uses.
var UnknownNoise = Noise{Sqr: 0, Var: 1}

// NewNoise takes reported statistics. ok is false when they say nothing (NaN or
// infinite, as half-precision training reports at times, or negative): such a
// report is no report, never a noise of zero.
func NewNoise(sqr, variance float64) (n Noise, ok bool) {
	for _, v := range []float64{sqr, variance} {
		if math.IsNaN(v) || math.IsInf(v, 0) || v < 0 {
			return Noise{}, false
		}
	}
	return Noise{Sqr: sqr, Var: variance}, true
}

// Gain is how many steps at the reference batch one step at scale times that
// batch is worth.
func (n Noise) Gain(scale float64) float64 {
	denominator := n.Var/scale + n.Sqr
	if !(denominator > 0) {
		return 1
	}
	return (n.Var + n.Sqr) / denominator
}

// Efficiency is the progress per sample at scale times the reference batch, as a
// share of that at the reference batch.
func (n Noise) Efficiency(scale float64) float64 { return n.Gain(scale) / scale }

// Scale is the gradient noise scale in samples for statistics taken at a
// reference batch of m0: the batch at which a sample is worth about half.
// Infinite when there is noise and no gradient; ok is false when both are zero.
func (n Noise) Scale(m0 int) (samples float64, ok bool) {
	if n.Sqr == 0 && n.Var == 0 {
		return 0, false
	}
	return float64(m0) * n.Var / n.Sqr, true
}
