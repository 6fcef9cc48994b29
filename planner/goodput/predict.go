package goodput

import (
	"math"
	"slices"
)

// Basis is what the synchronization time of a prediction comes from.
type Basis uint8

const (
	// FromFit: samples of this type and kind of allocation, or a theta that was given.
	FromFit Basis = iota + 1
	// FromTransfer: measured on other types of the same kind of accelerator.
	FromTransfer
	// FromRing: the time of an all-reduce over the published bandwidth.
	FromRing
	// FromOptimism: nothing; what was not measured is taken to cost next to nothing,
	// so that it is tried.
	FromOptimism
)

var basisNames = [...]string{FromFit: "fit", FromTransfer: "transfer", FromRing: "ring", FromOptimism: "optimism"}

// String returns the basis's word.
func (b Basis) String() string {
	if b < FromFit || b > FromOptimism {
		return "unknown"
	}
	return basisNames[b]
}

// Prediction is what a profile says of one allocation.
type Prediction struct {
	Choice
	LogSD    float64 // standard deviation of the logarithm of Goodput
	Basis    Basis
	MaxLocal int  // largest local batch there, where the type or its memory bounds it below what the job allows; 0: they do not
	Measured bool // the type and the number of replicas on that many nodes were measured
}

// PredictorConfig says how a profile is used where it has not measured.
type PredictorConfig struct {
	// Hardware looks up what is published of an accelerator; nil: nothing is. Types
	// that the job never ran on are predicted only with it.
	Hardware func(accelerator string) (h Hardware, ok bool)
	// Bought is set where growth costs money: synchronization that was not measured
	// is then taken to last as long as a ring would, rather than to be free.
	Bought      bool
	MinReplicas int // that the job runs on anyway, whatever was measured
	// Tables keep what was searched, at the cost of up to 1 % of the goodput; nil:
	// every prediction is searched. They are shared by those who ask one after the other.
	Tables *Tables
}

// Predictor answers for all types by one profile. It does not change once built,
// and is safe for concurrent use if it has no tables.
type Predictor struct {
	profile  *Profile
	cfg      PredictorConfig
	profiled int  // the most replicas that the job ran on, on any type
	limited  bool // whether that bounds what may be tried
}

// NewPredictor prepares predictions from p, which must not change any more. A
// profile with a table predicts nothing: its throughputs are its goodputs.
func NewPredictor(p *Profile, cfg PredictorConfig) *Predictor {
	r := &Predictor{profile: p, cfg: cfg, limited: true}
	for _, t := range p.Types {
		r.profiled = max(r.profiled, t.MaxReplicas)
		r.limited = r.limited && t.MaxReplicas > 0
	}
	return r
}

// At predicts the best batch on replicas accelerators over nodes machines. ok is
// false where the job cannot run, nothing is known, or the allocation has more
// than twice the replicas that the job ever ran on.
func (r *Predictor) At(accelerator string, nodes, replicas int) (p Prediction, ok bool) {
	m, e, ok := r.model(accelerator, &nodes, replicas)
	if !ok {
		return p, false
	}
	if r.cfg.Tables != nil {
		p.Choice, ok = r.cfg.Tables.Best(m, nodes, replicas)
	} else {
		p.Choice, ok = m.Best(Clamp, nodes, replicas)
	}
	if !ok {
		return Prediction{}, false
	}
	if m.Limits.MaxLocal < r.profile.Limits.whole().MaxLocal {
		p.MaxLocal = m.Limits.MaxLocal
	}
	p.Basis = e.basis
	p.LogSD = e.logSD(nodes, replicas, p.Atomic)
	if own, known := r.profile.Type(accelerator); known {
		p.Measured = slices.ContainsFunc(own.Samples, func(s Sample) bool { return s.Nodes == nodes && s.Replicas == replicas })
	}
	return p, true
}

// Model is the model that At searches, for batches other than the best. ok is
// false where At's is, but for a batch that fits.
func (r *Predictor) Model(accelerator string, nodes, replicas int) (m Model, ok bool) {
	m, _, ok = r.model(accelerator, &nodes, replicas)
	return m, ok
}

// model puts a model together for an allocation, and makes one node of a slice.
func (r *Predictor) model(accelerator string, nodes *int, replicas int) (m Model, e estimate, ok bool) {
	if *nodes < 1 || replicas < *nodes {
		return m, e, false
	}
	hardware, published := r.hardware(accelerator)
	own, known := r.profile.Type(accelerator)
	if !known && !published {
		return m, e, false
	}
	kind := hardware.Kind
	if known {
		kind = own.Kind
	}
	if kind == KindTPU {
		*nodes = 1
	}
	if m.Limits, ok = r.limits(own, hardware, replicas); !ok {
		return m, e, false
	}
	if r.profile.Noise != nil {
		m.Noise = *r.profile.Noise
	} else {
		m.Noise = UnknownNoise
		m.Limits.MaxBatch = m.Limits.InitialBatch // what a larger batch is worth is not known
	}
	e, ok = r.theta(own, kind, hardware, *nodes, replicas)
	m.Theta = e.theta
	return m, e, ok
}

func (r *Predictor) hardware(accelerator string) (h Hardware, ok bool) {
	if r.cfg.Hardware == nil {
		return Hardware{}, false
	}
	return r.cfg.Hardware(accelerator)
}

// limits are those of the job on one type; ok is false when replicas are too many
// or no batch fits the memory.
func (r *Predictor) limits(own *TypeProfile, h Hardware, replicas int) (l Limits, ok bool) {
	l = r.profile.Limits.whole()
	if own != nil && own.MaxLocal > 0 {
		l.MaxLocal = min(l.MaxLocal, own.MaxLocal)
	}
	if h.MemGiB > 0 {
		if fits, bounded := r.profile.Memory.MaxLocal(h.MemGiB); bounded {
			l.MaxLocal = min(l.MaxLocal, fits)
		}
	}
	if l.MaxLocal < l.MinLocal {
		return l, false
	}
	if r.limited && replicas > l.MaxReplicas(r.profiled, r.cfg.MinReplicas, 0) {
		return l, false
	}
	return l, l.MinLocal*replicas <= l.MaxBatch
}

// estimate is a theta put together for one allocation, with what is not certain
// about its two parts.
type estimate struct {
	theta             Theta
	basis             Basis
	fitted            *Uncertainty // of the whole; nil: by the two below
	computeSD, syncSD float64
}

// logSD is the standard deviation of the logarithm of the step time, to which
// each part adds as much as it takes of the step.
func (e *estimate) logSD(nodes, replicas, atomic int) float64 {
	if e.fitted != nil {
		return e.fitted.LogSD(e.theta, nodes, replicas, atomic)
	}
	o := newObjective([]Sample{{Nodes: nodes, Replicas: replicas, AtomicBatch: atomic, AccumSec: 1, OptimSec: 1}})
	_, _, _, by := o.rows[0].passes(e.theta)
	ofCompute := by[iAlphaC] + by[iBetaC]
	ofSync := by[iAlphaN] + by[iBetaN] + by[iAlphaR] + by[iBetaR]
	if e.basis != FromFit {
		ofSync = max(ofSync, unseenShare) // the estimate itself may be far too small
	}
	return math.Hypot(ofCompute*e.computeSD, ofSync*e.syncSD)
}

// unseenShare is the part of a step that synchronization may take where its time
// was not measured.
const unseenShare = 0.3

// theta puts together what is known for an allocation.
func (r *Predictor) theta(own *TypeProfile, kind string, h Hardware, nodes, replicas int) (e estimate, ok bool) {
	spread := nodes > 1
	e.basis = FromFit
	switch {
	case own != nil:
		e.theta = own.Theta
		e.computeSD = max(own.uncertainty.Residual, leastResidual)
		if replicas == 1 || own.knows(spread) {
			if len(own.Samples) > 0 {
				e.fitted = &own.uncertainty
			} else {
				e.syncSD = e.computeSD
			}
			return e, true
		}
	default:
		if !r.computeOf(&e, kind, h) {
			return e, false
		}
		if replicas == 1 {
			return e, true
		}
	}
	if !r.carry(&e, own, kind, h, spread) {
		e.basis, e.syncSD = FromOptimism, optimismSD
	}
	if e.basis == FromOptimism && r.cfg.Bought {
		if sec, known := h.ringSec(r.profile.GradientBytes, nodes, replicas); known && sec > e.theta.SyncSec(nodes, replicas) {
			e.basis, e.syncSD = FromRing, ringSD
			e.setSync(spread, sec, 0)
		}
	}
	return e, true
}

func (e *estimate) setSync(spread bool, alpha, beta float64) {
	if spread {
		e.theta.AlphaN, e.theta.BetaN = alpha, beta
	} else {
		e.theta.AlphaR, e.theta.BetaR = alpha, beta
	}
}

// computeOf estimates the computation of a type that was never measured, as the
// geometric mean over the types of its kind that were, each scaled by memory
// bandwidth.
func (r *Predictor) computeOf(e *estimate, kind string, h Hardware) bool {
	var alpha, beta, gamma, n float64
	for i := range r.profile.Types {
		t := &r.profile.Types[i]
		from, published := r.hardware(t.Accelerator)
		if kind != KindGPU || t.Kind != kind || !published || from.MemBytesPerSec <= 0 || h.MemBytesPerSec <= 0 {
			continue
		}
		scale := ratioPower(from.MemBytesPerSec, h.MemBytesPerSec, computeExponent)
		alpha += math.Log(max(t.Theta.AlphaC*scale, minTerm))
		beta += math.Log(max(t.Theta.BetaC*scale, minTerm))
		gamma += t.Theta.Gamma
		n++
	}
	if n == 0 {
		return false
	}
	e.computeSD = computeSD
	e.theta = Theta{
		AlphaC: math.Exp(alpha / n), BetaC: math.Exp(beta / n), Gamma: gamma / n,
		AlphaN: minTerm, BetaN: minTerm, AlphaR: minTerm, BetaR: minTerm,
	}
	return true
}

// carry estimates synchronization by the types of the same kind that measured it:
// the geometric mean of theirs, each scaled by the ratio of computation times and
// a little by that of the links. It returns false when there is none.
func (r *Predictor) carry(e *estimate, own *TypeProfile, kind string, h Hardware, spread bool) bool {
	var alpha, beta, gamma, n float64
	for i := range r.profile.Types {
		t := &r.profile.Types[i]
		if kind != KindGPU || t == own || t.Kind != kind || !t.knows(spread) {
			continue
		}
		from, _ := r.hardware(t.Accelerator)
		atomic := r.usualBatch(own, t)
		scale := e.theta.ComputeSec(atomic) / t.Theta.ComputeSec(atomic) *
			ratioPower(from.linkOf(spread), h.linkOf(spread), linkExponent)
		a, b := t.Theta.AlphaR, t.Theta.BetaR
		if spread {
			a, b = t.Theta.AlphaN, t.Theta.BetaN
		}
		alpha += math.Log(max(a*scale, minTerm))
		beta += math.Log(max(b*scale, minTerm))
		gamma += t.Theta.Gamma
		n++
	}
	if n == 0 {
		return false
	}
	e.setSync(spread, math.Exp(alpha/n), math.Exp(beta/n))
	e.theta.Gamma = gamma / n
	e.basis, e.syncSD = FromTransfer, transferSD
	return true
}

// usualBatch is a local batch at which two types are compared: the geometric mean
// of those measured on the first that has samples, else what the limits suggest.
func (r *Predictor) usualBatch(types ...*TypeProfile) int {
	for _, t := range types {
		if t == nil || len(t.Samples) == 0 {
			continue
		}
		sum := 0.0
		for _, s := range t.Samples {
			sum += math.Log(float64(s.AtomicBatch))
		}
		return int(math.Round(math.Exp(sum / float64(len(t.Samples)))))
	}
	l := r.profile.Limits.whole()
	return int(math.Ceil(math.Sqrt(float64(l.MinLocal) * float64(l.MaxLocal))))
}
