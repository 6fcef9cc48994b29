package goodput

import (
	"fmt"
	"math"
)

// Bounds of Theta, as published.
const (
	minTerm  = 1e-8 // of every alpha and beta
	minGamma = 1
	maxGamma = 10
)

// localSync is the synchronization time of a single replica as AdaptDL computes
// it; the paper says 0.
const localSync = 1e-8 + 1e-8*1e-8

// Theta holds the parameters of the time of a step, with the names of the paper's
// code: c is computation, r synchronization on one node, n over several. Alphas
// and betas are in seconds (beta_c per sample, the other betas per replica beyond
// the second); gamma says how far computation and synchronization overlap: not at
// all at 1, wholly as it grows.
type Theta struct {
	AlphaC, BetaC float64
	AlphaN, BetaN float64
	AlphaR, BetaR float64
	Gamma         float64
}

// thetaNames are the parameters in the published order.
var thetaNames = [7]string{"alpha_c", "beta_c", "alpha_n", "beta_n", "alpha_r", "beta_r", "gamma"}

// Indexes of thetaNames.
const (
	iAlphaC = iota
	iBetaC
	iAlphaN
	iBetaN
	iAlphaR
	iBetaR
	iGamma
)

// Array lists the parameters in the published order: alpha_c, beta_c, alpha_n,
// beta_n, alpha_r, beta_r, gamma.
func (t Theta) Array() [7]float64 {
	return [7]float64{t.AlphaC, t.BetaC, t.AlphaN, t.BetaN, t.AlphaR, t.BetaR, t.Gamma}
}

// thetaOf is the inverse of Array.
func thetaOf(a [7]float64) Theta {
	return Theta{AlphaC: a[0], BetaC: a[1], AlphaN: a[2], BetaN: a[3], AlphaR: a[4], BetaR: a[5], Gamma: a[6]}
}

// check says what is wrong with a parameter; field is its name.
func (t Theta) check() (field, reason string) {
	for i, v := range t.Array() {
		switch {
		case math.IsNaN(v) || math.IsInf(v, 0):
			return thetaNames[i], fmt.Sprintf("%g: want a finite number", v)
		case i == iGamma && (v < minGamma || v > maxGamma):
			return thetaNames[i], fmt.Sprintf("%g: want 1 to 10", v)
		case v < 0:
			return thetaNames[i], fmt.Sprintf("%g: want at least 0", v)
		}
	}
	if t.AlphaC+t.BetaC == 0 {
		return thetaNames[iAlphaC], "computation takes no time: alpha_c and beta_c are both 0"
	}
	return "", ""
}

// ComputeSec is the time of one forward and backward pass over a batch of atomic
// samples on each replica.
func (t Theta) ComputeSec(atomic int) float64 { return t.AlphaC + t.BetaC*float64(atomic) }

// SyncSec is the time that the replicas need to exchange gradients.
func (t Theta) SyncSec(nodes, replicas int) float64 {
	switch {
	case nodes > 1:
		return t.AlphaN + t.BetaN*beyondTwo(replicas)
	case replicas > 1:
		return t.AlphaR + t.BetaR*beyondTwo(replicas)
	}
	return localSync
}

// beyondTwo is the number of replicas that the retrogression terms count.
func beyondTwo(replicas int) float64 { return max(float64(replicas-2), 1e-8) }

// overlap joins computation and synchronization: (a^gamma + b^gamma)^(1/gamma),
// in the form that neither overflows nor loses the smaller one, with each power as
// exp of log, which takes a third of the time of math.Pow.
func overlap(a, b, gamma float64) float64 {
	low, high := min(a, b), max(a, b)
	if low <= 0 {
		return high
	}
	ratio := math.Exp(gamma * math.Log(low/high))
	return high * math.Exp(math.Log(1+ratio)/gamma)
}

// OptimSec is the time of a pass that ends with an optimizer step.
func (t Theta) OptimSec(nodes, replicas, atomic int) float64 {
	return overlap(t.ComputeSec(atomic), t.SyncSec(nodes, replicas), t.Gamma)
}

// StepSec is the time of an optimizer step with accum passes of accumulation
// before the last one.
func (t Theta) StepSec(nodes, replicas, atomic, accum int) float64 {
	return float64(accum)*t.ComputeSec(atomic) + t.OptimSec(nodes, replicas, atomic)
}
