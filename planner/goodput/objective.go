package goodput

import "math"

// Weights of the published objective's priors.
const (
	gammaWeight = 1e-3
	ratioWeight = 1e-2
)

// objective is the published one over a set of samples, as a function of u: the
// logarithms of the alphas and betas, and gamma itself. With smooth > 0 it takes
// sqrt(mean square + smooth²) for each root mean square, which has a derivative
// at an exact fit too.
type objective struct {
	rows   []objectiveRow
	smooth float64
}

type objectiveRow struct {
	atomic   float64
	beyond   float64 // replicas beyond two
	sync     uint8   // 0: one replica, 1: one node, 2: several nodes
	logAccum float64
	logOptim float64
}

func newObjective(samples []Sample) *objective {
	o := &objective{rows: make([]objectiveRow, len(samples))}
	for i, s := range samples {
		row := objectiveRow{
			atomic: float64(s.AtomicBatch), beyond: beyondTwo(s.Replicas),
			logAccum: math.Log(s.AccumSec), logOptim: math.Log(s.OptimSec),
		}
		switch {
		case s.Nodes > 1:
			row.sync = 2
		case s.Replicas > 1:
			row.sync = 1
		}
		o.rows[i] = row
	}
	return o
}

// toLog and fromLog change between Theta and u.
func toLog(t Theta) [7]float64 {
	u := t.Array()
	for i := range iGamma {
		u[i] = math.Log(max(u[i], minTerm))
	}
	return u
}

func fromLog(u [7]float64) Theta {
	for i := range iGamma {
		u[i] = math.Exp(u[i])
	}
	return thetaOf(u)
}

// passes are the model's logarithms of the times of one row, and the derivatives
// of that of the optimizer's pass by u. The derivatives of the accumulation pass
// are shareA and 1 − shareA, by alpha_c and beta_c.
func (r *objectiveRow) passes(t Theta) (logAccum, logOptim, shareA float64, by [7]float64) {
	compute := t.AlphaC + t.BetaC*r.atomic
	shareA = t.AlphaC / compute
	alpha, beta, iAlpha := 0.0, 0.0, iAlphaC
	switch r.sync {
	case 1:
		alpha, beta, iAlpha = t.AlphaR, t.BetaR*r.beyond, iAlphaR
	case 2:
		alpha, beta, iAlpha = t.AlphaN, t.BetaN*r.beyond, iAlphaN
	}
	sync := max(alpha+beta, math.SmallestNonzeroFloat64) // a theta that was given may say that it is free
	if r.sync == 0 {
		sync = localSync
	}
	logAccum = math.Log(compute)
	logSync := math.Log(sync)
	// With d = ln(low/high), the sum of powers is high^gamma·(1 + exp(gamma·d)).
	logHigh, d := max(logAccum, logSync), -math.Abs(logAccum-logSync)
	x := math.Exp(t.Gamma * d)
	bend := math.Log1p(x) / t.Gamma
	logOptim = logHigh + bend
	ofLow := x / (1 + x)
	ofCompute, ofSync := 1-ofLow, ofLow
	if logSync > logAccum {
		ofCompute, ofSync = ofLow, 1-ofLow
	}
	by[iAlphaC], by[iBetaC] = ofCompute*shareA, ofCompute*(1-shareA)
	if r.sync != 0 {
		by[iAlpha], by[iAlpha+1] = ofSync*alpha/sync, ofSync*beta/sync
	}
	by[iGamma] = (ofLow*d - bend) / t.Gamma
	return logAccum, logOptim, shareA, by
}

// at is the objective at u; grad receives its derivatives by u if it is not nil.
func (o *objective) at(u [7]float64, grad *[7]float64) float64 {
	t := fromLog(u)
	n := float64(len(o.rows))
	var sum1, sum2 float64
	var grad1, grad2 [7]float64
	for i := range o.rows {
		r := &o.rows[i]
		logAccum, logOptim, shareA, by := r.passes(t)
		e1, e2 := logAccum-r.logAccum, logOptim-r.logOptim
		sum1 += e1 * e1
		sum2 += e2 * e2
		grad1[iAlphaC] += e1 * shareA
		grad1[iBetaC] += e1 * (1 - shareA)
		for k := range by {
			grad2[k] += e2 * by[k]
		}
	}
	rms1, rms2 := math.Sqrt(sum1/n+o.smooth*o.smooth), math.Sqrt(sum2/n+o.smooth*o.smooth)
	ratioN, ratioR := t.BetaN/t.AlphaN, t.BetaR/t.AlphaR
	if grad != nil {
		*grad = [7]float64{}
		for k := range grad {
			if rms1 > 0 {
				grad[k] += grad1[k] / (n * rms1)
			}
			if rms2 > 0 {
				grad[k] += grad2[k] / (n * rms2)
			}
		}
		grad[iGamma] += 2 * gammaWeight * (t.Gamma - 1)
		grad[iAlphaN] -= 2 * ratioWeight * ratioN * ratioN
		grad[iBetaN] += 2 * ratioWeight * ratioN * ratioN
		grad[iAlphaR] -= 2 * ratioWeight * ratioR * ratioR
		grad[iBetaR] += 2 * ratioWeight * ratioR * ratioR
	}
	return rms1 + rms2 + gammaWeight*(t.Gamma-1)*(t.Gamma-1) + ratioWeight*(ratioN*ratioN+ratioR*ratioR)
}

// Objective is the published fitting objective at t: the root mean square errors
// of the logarithms of the two pass times, and the priors on gamma and on the
// ratios of the retrogression terms. It returns the errors of Fit.
func Objective(t Theta, samples []Sample) (float64, error) {
	if err := checkSamples(samples); err != nil {
		return 0, err
	}
	if field, reason := t.check(); field != "" {
		return 0, &FieldError{field, reason}
	}
	return newObjective(samples).at(toLog(t), nil), nil
}
