package goodput

import (
	"fmt"
	"math"
)

// Model predicts one job on one accelerator type.
type Model struct {
	Theta  Theta
	Noise  Noise
	Limits Limits
}

// FieldError is a value that no model can be made of.
type FieldError struct {
	Field  string // in the names of examples and profiles: "alpha_c", "max_batch"
	Reason string
}

// Error names the field and the reason.
func (e *FieldError) Error() string { return e.Field + ": " + e.Reason }

// Check returns a *FieldError for the first value that cannot be.
func (m Model) Check() error {
	field, reason := m.Theta.check()
	if field == "" {
		field, reason = m.Limits.check()
	}
	if field == "" {
		if _, ok := NewNoise(m.Noise.Sqr, 0); !ok {
			field, reason = "sqr", fmt.Sprintf("%g: want a finite number, at least 0", m.Noise.Sqr)
		} else if _, ok := NewNoise(0, m.Noise.Var); !ok {
			field, reason = "var", fmt.Sprintf("%g: want a finite number, at least 0", m.Noise.Var)
		}
	}
	if field != "" {
		return &FieldError{field, reason}
	}
	return nil
}

// Point is what a model says of one allocation and batch.
type Point struct {
	ComputeSec float64 // of one pass
	SyncSec    float64
	StepSec    float64 // of an optimizer step
	Throughput float64 // samples per second
	Efficiency float64 // progress per sample
	Goodput    float64 // samples of progress per second
}

// At evaluates the model for nodes and replicas, each taking accum passes of
// atomic samples and one more with the optimizer step. The efficiency of a batch
// below M0 comes out above 1, which nothing supports: callers keep to batches of
// at least M0.
func (m *Model) At(nodes, replicas, atomic, accum int) Point {
	p := Point{
		ComputeSec: m.Theta.ComputeSec(atomic),
		SyncSec:    m.Theta.SyncSec(nodes, replicas),
	}
	p.StepSec = float64(accum)*p.ComputeSec + overlap(p.ComputeSec, p.SyncSec, m.Theta.Gamma)
	batch := float64(replicas) * float64(atomic) * float64(accum+1)
	p.Throughput = batch / p.StepSec
	p.Efficiency = m.Noise.Efficiency(batch / float64(m.Limits.InitialBatch))
	p.Goodput = p.Throughput * p.Efficiency
	return p
}

// Variant is how a search treats a local batch outside its bounds.
type Variant uint8

const (
	// Clamp moves it to the bound, as AdaptDL's released scheduler does. A single
	// replica without accumulation then keeps the initial batch.
	Clamp Variant = iota + 1
	// Reject gives the candidate a goodput of zero, as the code behind the paper's
	// results does.
	Reject
)

var variantNames = [...]string{Clamp: "clamp", Reject: "reject"}

// String returns the variant's word.
func (v Variant) String() string {
	if v < Clamp || v > Reject {
		return fmt.Sprintf("variant(%d)", uint8(v))
	}
	return variantNames[v]
}

// ParseVariant reads the word that String writes.
func ParseVariant(s string) (Variant, error) {
	for v := Clamp; v <= Reject; v++ {
		if variantNames[v] == s {
			return v, nil
		}
	}
	return 0, fmt.Errorf("variant %q: want clamp or reject", s)
}

// Choice is the batch at which an allocation makes most progress.
type Choice struct {
	Atomic  int // samples of a pass on a replica
	Accum   int // passes before the one with the optimizer step
	Batch   int // of all replicas and passes together
	Goodput float64
}

const (
	// gridPoints is the size of the published geometric grid over total batches.
	gridPoints = 50
	// ceilSlack keeps rounding of the grid from adding a sample or a pass.
	ceilSlack = 1e-8
	// pruneSlack leaves a candidate in the search whose bound is within rounding
	// of the best.
	pruneSlack = 1e-12
)

// Best searches the published grid for the batch of most goodput on replicas
// spread over nodes. Among equals the smallest batch wins. ok is false when no
// batch is possible: every candidate is out of bounds, or less than M0 in all.
func (m *Model) Best(v Variant, nodes, replicas int) (best Choice, ok bool) {
	l := m.Limits.whole()
	m0, k := float64(l.InitialBatch), float64(replicas)
	first, last := float64(max(l.InitialBatch, l.MinLocal*replicas)), float64(l.MaxBatch)
	logRatio := math.Log(last / first)
	sync := m.Theta.SyncSec(nodes, replicas)
	gamma, inverse := m.Theta.Gamma, 1/m.Theta.Gamma
	hi := float64(l.MaxLocal)
	lastAtomic, lastAccum := -1, -1
	for i := range gridPoints {
		batch := first
		switch {
		case i == gridPoints-1:
			batch = last
		case i > 0:
			batch = first * math.Exp(logRatio*float64(i)/(gridPoints-1))
		}
		local := batch / k
		accum, atomic := 0.0, 0.0
		switch {
		case l.Accumulation:
			accum = max(math.Ceil(local/hi-ceilSlack)-1, 0)
			if replicas == 1 && local > m0+ceilSlack {
				accum = max(accum, 1) // one replica cannot tell its noise from one pass
			}
			atomic = math.Ceil(local/(accum+1) - ceilSlack)
		case v == Clamp && replicas == 1:
			atomic = m0
		default:
			atomic = math.Ceil(local - ceilSlack)
		}
		inside := atomic >= float64(l.MinLocal) && atomic <= hi
		if v == Clamp {
			atomic, inside = min(max(atomic, float64(l.MinLocal)), hi), true
		}
		c := Choice{Atomic: int(atomic), Accum: int(accum)}
		if c.Atomic == lastAtomic && c.Accum == lastAccum {
			continue
		}
		lastAtomic, lastAccum = c.Atomic, c.Accum
		total := k * atomic * (accum + 1)
		c.Batch = int(total)
		if inside && total >= m0 {
			compute := m.Theta.AlphaC + m.Theta.BetaC*atomic
			low, high := min(compute, sync), max(compute, sync)
			value := total * m.Noise.Efficiency(total/m0)
			if value < best.Goodput*(accum*compute+high)*(1-pruneSlack) {
				continue // even with full overlap it is not better
			}
			if low > 0 {
				high *= math.Pow(1+math.Pow(low/high, gamma), inverse)
			}
			c.Goodput = value / (accum*compute + high)
		}
		if i == 0 || c.Goodput > best.Goodput {
			best = c
		}
	}
	return best, best.Goodput > 0
}

// Improvement is the factor by which predicted goodput has to grow before a
// running job changes its batch: less is not worth the unrest.
const Improvement = 1.05

// Keep reports whether a job that runs at current should stay there although its
// search now says best.
func (m *Model) Keep(nodes, replicas int, current, best Choice) bool {
	return best.Goodput <= Improvement*m.At(nodes, replicas, current.Atomic, current.Accum).Goodput
}
