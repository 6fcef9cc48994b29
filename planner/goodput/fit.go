package goodput

import (
	"errors"
	"math"
	"slices"
)

// ErrNoSamples is the answer to a fit of nothing.
var ErrNoSamples = errors.New("no samples")

// FitStatus is how a fit ended.
type FitStatus uint8

const (
	FitConverged FitStatus = iota + 1 // nothing improves it any more
	FitLimited                        // the last search stopped at the limit of steps
)

// String returns the status's word.
func (s FitStatus) String() string {
	switch s {
	case FitConverged:
		return "converged"
	case FitLimited:
		return "limited"
	}
	return "unknown"
}

// Held is a parameter that the samples could not move, with the value that it had
// during the fit.
type Held struct {
	Name  string
	Value float64
}

// FitOptions asks for a fit other than the full one.
type FitOptions struct {
	Start *Theta // where to begin beside the other starts, such as the last fit; nil: nowhere else
	Quick bool   // few starts, for a refit with a Start that is known to be good
}

// FitResult is a fit with its proof.
type FitResult struct {
	Theta     Theta
	Objective float64 // at the minimum, before the network prior was put in
	Held      []Held  // in the order of the parameters

	// Unidentified are the parameters that the samples say nothing of: those held,
	// those that only the priors set. In the order of the parameters.
	Unidentified []string
	Status       FitStatus
	Steps        int // of all starts together
	Starts       int

	MeanError     float64 // mean absolute relative error of the time of an optimizer pass
	MaxReplicas   int     // the most that a sample has
	Uncertainty   Uncertainty
	beforeNetwork Theta // Theta as it left the search
}

// Smoothing of the root mean squares: coarse while starts are compared, then so
// fine that the objective is wrong by less than 2e-6.
const (
	coarseSmooth = 1e-3
	fineSmooth   = 1e-6
)

// Limits of the searches, in steps.
const (
	coarseSteps = 150
	fineSteps   = 400
	polished    = 2 // starts that are followed to the end
)

// Fit estimates theta from samples: it minimizes the published objective (see
// Objective) within the published bounds, alphas and betas at least 1e-8 and
// gamma from 1 to 10, from several starts. Samples count alike; see MergeSamples.
//
// What the samples have not seen is held, as published: alpha_c at half the mean
// time of an accumulation pass when there is one local batch only, the terms of a
// kind of synchronization at 1e-8 when there is no such sample, the retrogression
// terms when no sample has more than two replicas. After the search, unseen
// synchronization over nodes is set to at least 1.1 times that on one node.
//
// Fit returns ErrNoSamples if there are none and a *SampleError for the first that
// has a count below one or a time that is not positive and finite. Stopping at
// the limit of steps is no error; FitResult.Status says so.
//
// Model and objective: Qiao et al., OSDI 2021, and AdaptDL's fit.
func Fit(samples []Sample, opts FitOptions) (FitResult, error) {
	if err := checkSamples(samples); err != nil {
		return FitResult{}, err
	}
	seen := cover(samples)
	bounds, held := boundsOf(seen)
	o := newObjective(samples)
	list := starts(samples, opts.Quick)
	if opts.Start != nil {
		list = append([]Theta{*opts.Start}, list...)
	}
	type end struct {
		u     [7]float64
		value float64
	}
	res := FitResult{Held: held, Unidentified: unidentified(seen, held), Starts: len(list), MaxReplicas: seen.maxReplicas}
	ends := make([]end, len(list))
	o.smooth = coarseSmooth
	for i, t := range list {
		u, value, steps, _ := descend(o.at, toLog(t), &bounds, coarseSteps)
		ends[i] = end{u, value}
		res.Steps += steps
	}
	slices.SortStableFunc(ends, func(a, b end) int {
		switch {
		case a.value < b.value:
			return -1
		case a.value > b.value:
			return 1
		}
		return 0
	})
	best := end{value: math.Inf(1)}
	for _, e := range ends[:min(polished, len(ends))] {
		o.smooth = fineSmooth
		u, _, steps, settled := descend(o.at, e.u, &bounds, fineSteps)
		res.Steps += steps
		o.smooth = 0
		if value := o.at(u, nil); value < best.value {
			best = end{u, value}
			res.Status = FitLimited
			if settled {
				res.Status = FitConverged
			}
		}
	}
	res.Objective = best.value
	res.beforeNetwork = fromLog(best.u)
	for i, v := range bounds.low { // exp(ln x) is not quite x
		if v == bounds.high[i] && i != iGamma {
			a := res.beforeNetwork.Array()
			a[i] = heldValue(held, thetaNames[i])
			res.beforeNetwork = thetaOf(a)
		}
	}
	res.Theta = withNetworkPrior(res.beforeNetwork, seen)
	res.MeanError = meanError(res.Theta, samples)
	res.Uncertainty = uncertaintyOf(o, res.beforeNetwork, seen, res.Unidentified)
	return res, nil
}

// largestTerm keeps alphas and betas within what exp can carry.
const largestTerm = 1e12

// boundsOf is the region of the search, and what is held in it.
func boundsOf(seen coverage) (box, []Held) {
	var b box
	for i := range iGamma {
		b.low[i], b.high[i] = math.Log(minTerm), math.Log(largestTerm)
	}
	b.low[iGamma], b.high[iGamma] = minGamma, maxGamma
	var held []Held
	hold := func(i int, value float64) {
		if b.low[i] < b.high[i] {
			b.low[i] = math.Log(value)
			b.high[i] = b.low[i]
			held = append(held, Held{thetaNames[i], value})
		}
	}
	if seen.atomics <= 1 {
		hold(iAlphaC, max(seen.meanAccum/2, minTerm))
	}
	if !seen.severalNode {
		hold(iAlphaN, minTerm)
	}
	if !seen.severalNode || !seen.beyondTwo {
		hold(iBetaN, minTerm)
	}
	if !seen.oneNode {
		hold(iAlphaR, minTerm)
	}
	if !seen.oneNode || !seen.beyondTwo {
		hold(iBetaR, minTerm)
	}
	return b, held
}

func heldValue(held []Held, name string) float64 {
	for _, h := range held {
		if h.Name == name {
			return h.Value
		}
	}
	return minTerm
}

// networkFactor is how much dearer the published prior takes synchronization over
// nodes than on one.
const networkFactor = 1.1

// withNetworkPrior fills in synchronization over nodes where none was seen.
func withNetworkPrior(t Theta, seen coverage) Theta {
	if !seen.severalNode {
		t.AlphaN = max(t.AlphaN, networkFactor*t.AlphaR)
		t.BetaN = max(t.BetaN, networkFactor*t.BetaR)
	}
	return t
}

// unidentified lists the parameters that the samples say nothing of.
func unidentified(seen coverage, held []Held) []string {
	var names []string
	for i, name := range thetaNames {
		unseen := slices.ContainsFunc(held, func(h Held) bool { return h.Name == name })
		switch i {
		case iBetaN:
			unseen = unseen || !seen.slopeN
		case iBetaR:
			unseen = unseen || !seen.slopeR
		case iGamma:
			unseen = !seen.oneNode && !seen.severalNode
		}
		if unseen {
			names = append(names, name)
		}
	}
	return names
}

// meanError is the mean absolute relative error of the times of optimizer passes.
func meanError(t Theta, samples []Sample) float64 {
	sum := 0.0
	for _, s := range samples {
		sum += math.Abs(t.OptimSec(s.Nodes, s.Replicas, s.AtomicBatch)/s.OptimSec - 1)
	}
	return sum / float64(len(samples))
}
