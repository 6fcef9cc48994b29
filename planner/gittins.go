package planner

import "math"

// Gittins is the Gittins index of the work that a job has left: the largest chance of
// ending per sample of work put in, over every amount d that could be put in,
//
//	sup over d of P(S − x ≤ d | S > x) / E[min(S − x, d) | S > x],
//
// with S the whole work and x what is done, per sample. Of work that is known it is
// one over what is left. Work that is not known is that of a job of the family which took
// more than x (JobState.Alike), each as likely. Where there are none it is lognormal as in
// Remaining, with median one hour at reference samples per hour, and x is taken in steps:
// jobs of that law are served in turn, since the index of one that runs falls, and no turn
// is to be shorter than all before it. A limit ends either at the latest there.
// A job that is done has the index of a single sample.
//
// Serving the largest index first has the least mean time of all rules that learn
// nothing of sizes but what is done (Gittins, J. R. Stat. Soc. B 41, 1979).
func Gittins(s *JobState, reference float64) float64 {
	w := s.Job.Work
	left := max(w.Samples-s.Done, 1)
	if w.Kind == WorkExact {
		return 1 / left
	}
	if rest := s.rests(); len(rest) > 0 {
		return gittinsOf(rest)
	}
	x := stepDown(s.Done, reference)
	t := truncated{mu: math.Log(reference), x: x}
	most := math.Exp(t.mu+sigmaWork*6) + x // beyond it the chance to end is past 1 − 1e-9
	best := 0.0
	if w.Kind == WorkLimit {
		most = left
		best = 1 / t.mean(left)
	}
	// The hazard of a lognormal rises, then falls, and the index of an amount rises
	// exactly as long as the hazard at its end is above it: there is one peak.
	lo, hi := math.Log(most*1e-9), math.Log(most)
	const golden = 0.6180339887498949
	a, b := hi-golden*(hi-lo), lo+golden*(hi-lo)
	fa, fb := t.index(math.Exp(a)), t.index(math.Exp(b))
	for range 100 {
		if fa > fb {
			hi, b, fb = b, a, fa
			a = hi - golden*(hi-lo)
			fa = t.index(math.Exp(a))
		} else {
			lo, a, fa = a, b, fb
			b = lo + golden*(hi-lo)
			fb = t.index(math.Exp(b))
		}
	}
	return max(best, fa, fb)
}

// firstStep is the work below which all jobs of unknown work are new, in hours at the
// reference.
const firstStep = 1.0 / 16

// stepDown is what is done in steps: samples of the reference's hours times a power of
// two, rounded down; next to nothing below the first step.
func stepDown(done, reference float64) float64 {
	if done < firstStep*reference {
		return reference * 1e-9
	}
	return reference * math.Exp2(math.Floor(math.Log2(done/reference)))
}

// sigmaWork is the standard deviation of the logarithm of work that is not known.
const sigmaWork = 1.5

// truncated is the lognormal law of a job's work given that it passed x samples.
type truncated struct{ mu, x float64 }

// alive is P(S > y).
func (t truncated) alive(y float64) float64 { return tailNormal((math.Log(y) - t.mu) / sigmaWork) }

// mean is E[min(S − x, d) | S > x], samples.
func (t truncated) mean(d float64) float64 {
	if d < 1e-4*t.x { // the difference below would be rounding
		return d * (1 + t.alive(t.x+d)/t.alive(t.x)) / 2
	}
	return (t.limited(t.x+d) - t.limited(t.x)) / t.alive(t.x)
}

// limited is E[min(S, y)].
func (t truncated) limited(y float64) float64 {
	z := (math.Log(y) - t.mu) / sigmaWork
	return math.Exp(t.mu+sigmaWork*sigmaWork/2)*tailNormal(sigmaWork-z) + y*tailNormal(z)
}

// index is P(S − x ≤ d | S > x) / E[min(S − x, d) | S > x].
func (t truncated) index(d float64) float64 {
	return -math.Expm1(math.Log(t.alive(t.x+d)/t.alive(t.x))) / t.mean(d)
}

// rests are what the job still takes if it takes what each of its family took that took
// more than it has done, ascending, and no more than its limit.
func (s *JobState) rests() []float64 {
	var list []float64
	for _, w := range s.Alike {
		if s.Job.Work.Kind == WorkLimit {
			w = min(w, s.Job.Work.Samples)
		}
		if rest := w - s.Done; rest > 0 {
			list = append(list, max(rest, 1))
		}
	}
	return list
}

// gittinsOf is the index of a rest that is one of an ascending list, each as likely: the
// best amount to put in is one of them.
func gittinsOf(rests []float64) float64 {
	best, sum := 0.0, 0.0
	for i, d := range rests {
		sum += d
		best = max(best, float64(i+1)/(sum+float64(len(rests)-i-1)*d))
	}
	return best
}
