package goodput

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// Uncertainty says how far a prediction of a fit may be off. Its zero value knows
// nothing and adds nothing.
type Uncertainty struct {
	Residual float64 // standard deviation of the logarithm of a measured pass time around the model
	cov      *mat.SymDense
}

// Standard deviations that a parameter is taken to have before samples are seen:
// of the logarithms of alphas and betas, and of gamma. They are wide guesses, so
// that a few samples outweigh them.
const (
	priorLogSD   = 1.5
	priorGammaSD = 2
)

// leastResidual is the error of a model that met all its samples: measured step
// times scatter by some percent from run to run.
const leastResidual = 0.02

// uncertaintyOf takes the inverse of the Gauss-Newton matrix of both errors at t
// for the covariance of the parameters.
func uncertaintyOf(o *objective, t Theta, seen coverage, unseen []string) Uncertainty {
	n := len(o.rows)
	info := mat.NewSymDense(7, nil)
	sum := 0.0
	for i := range o.rows {
		r := &o.rows[i]
		logAccum, logOptim, shareA, by := r.passes(t)
		e1, e2 := logAccum-r.logAccum, logOptim-r.logOptim
		sum += e1*e1 + e2*e2
		info.SymRankOne(info, 1, mat.NewVecDense(7, by[:]))
		info.SymRankOne(info, 1, mat.NewVecDense(7, []float64{shareA, 1 - shareA, 0, 0, 0, 0, 0}))
	}
	moved := 7 - len(unseen)
	residual := max(math.Sqrt(sum/float64(max(2*n-moved, 1))), leastResidual)
	info.ScaleSym(1/(residual*residual), info)
	for i, name := range thetaNames {
		sd := priorLogSD
		if i == iGamma {
			sd = priorGammaSD
		}
		if slices.Contains(unseen, name) && i != iGamma && i != iAlphaC {
			// The samples pin a held term at its bound; what is known of it is the prior.
			for k := range 7 {
				info.SetSym(i, k, 0)
			}
		}
		info.SetSym(i, i, info.At(i, i)+1/(sd*sd))
	}
	var factor mat.Cholesky
	if !factor.Factorize(info) {
		return Uncertainty{Residual: residual}
	}
	cov := mat.NewSymDense(7, nil)
	if factor.InverseTo(cov) != nil {
		return Uncertainty{Residual: residual}
	}
	return Uncertainty{Residual: residual, cov: cov}
}

// LogSD is the standard deviation of the logarithm of the predicted time of an
// optimizer pass, as of what will be measured.
func (u Uncertainty) LogSD(t Theta, nodes, replicas, atomic int) float64 {
	variance := u.Residual * u.Residual
	if u.cov != nil {
		o := newObjective([]Sample{{Nodes: nodes, Replicas: replicas, AtomicBatch: atomic, AccumSec: 1, OptimSec: 1}})
		_, _, _, by := o.rows[0].passes(t)
		slope := mat.NewVecDense(7, by[:])
		variance += mat.Inner(slope, u.cov, slope)
	}
	return math.Sqrt(variance)
}
