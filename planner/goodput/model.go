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
	// pruneSlack keeps rounding from putting the bound of a candidate below its goodput.
	pruneSlack = 1e-12
	// tieSlack is how much more goodput, relatively, a later candidate must have to win:
	// less is the rounding of the dozen operations that it comes of. A single replica's
	// candidates may truly differ by 1e-13. It is below pruneSlack: equals are not pruned.
	tieSlack = 4e-15
)

// Best searches the published grid for the batch of most goodput on replicas
// spread over nodes. Among equals, up to rounding, the first of the grid wins: the
// smallest batch. ok is false when no batch is possible: every candidate is out of
// bounds, or less than M0 in all.
func (m *Model) Best(v Variant, nodes, replicas int) (best Choice, ok bool) {
	g := m.grid(v, replicas)
	sync, gamma := m.Theta.SyncSec(nodes, replicas), m.Theta.Gamma
	var list [gridPoints]candidate
	n, promising := 0, 0
	rise := math.Exp(math.Ln2/gamma) - 1
	for i := range gridPoints {
		c := candidate{}
		c.atomic, c.accum = g.passes(i)
		if n > 0 && c.atomic == list[n-1].atomic && c.accum == list[n-1].accum {
			continue
		}
		c.total = g.replicas * c.atomic * (c.accum + 1)
		if c.total >= g.m0 && (g.clamp || c.atomic >= g.low && c.atomic <= g.high) {
			c.compute = m.Theta.AlphaC + m.Theta.BetaC*c.atomic
			c.progress = g.m0 * m.Noise.Gain(c.total/g.m0)
			// With r = low/high, r^gamma is at least 1 − gamma·(1 − r), and (1 + x)^(1/gamma)
			// lies above its chord over [0, 1]: no pass is shorter than this.
			low, high := min(c.compute, sync), max(c.compute, sync)
			least := high + rise*max(0, high-gamma*(high-low))
			c.bound = c.progress / (c.accum*c.compute + least) * (1 + pruneSlack)
			if c.bound > list[promising].bound {
				promising = n
			}
		}
		list[n] = c
		n++
	}
	most := list[promising].goodput(sync, gamma) // so that most others need not be computed
	value := 0.0
	best = list[0].choice(0)
	for i := range n {
		c := &list[i]
		if c.bound < most {
			continue
		}
		if v := c.goodput(sync, gamma); v > value*(1+tieSlack) {
			best, value = c.choice(v), v
			most = max(most, v)
		}
	}
	return best, value > 0
}

// candidate is one batch of a search.
type candidate struct {
	atomic, accum, total float64
	compute              float64 // time of a pass
	progress             float64 // of a step, in samples; 0 when the batch is not possible
	bound                float64 // the goodput is not higher
}

func (c *candidate) goodput(sync, gamma float64) float64 {
	if c.progress == 0 {
		return 0
	}
	return c.progress / (c.accum*c.compute + overlap(c.compute, sync, gamma))
}

func (c *candidate) choice(goodput float64) Choice {
	return Choice{Atomic: int(c.atomic), Accum: int(c.accum), Batch: int(c.total), Goodput: goodput}
}

// grid is the candidates of one search. Batches are floats: they are divided more
// often than counted.
type grid struct {
	clamp, accumulation bool
	m0, replicas        float64
	low, high           float64 // of a local batch
	first, last         float64 // total batches
	logRatio, step      float64 // of last to first; of a candidate to the one before
	batch               float64 // of the last candidate asked for
}

// exactEvery is after how many candidates a batch is computed from scratch: in
// between each follows from the one before, which loses a bit at a time.
const exactEvery = 7

func (m *Model) grid(v Variant, replicas int) grid {
	l := m.Limits.whole()
	g := grid{
		clamp: v == Clamp, accumulation: l.Accumulation,
		m0: float64(l.InitialBatch), replicas: float64(replicas), low: float64(l.MinLocal), high: float64(l.MaxLocal),
		first: float64(max(l.InitialBatch, l.MinLocal*replicas)), last: float64(l.MaxBatch),
	}
	g.logRatio = math.Log(g.last / g.first)
	g.step = math.Exp(g.logRatio / (gridPoints - 1))
	return g
}

// passes are the local batch and the accumulation of candidate i, which must be
// asked for in order.
func (g *grid) passes(i int) (atomic, accum float64) {
	switch {
	case i == 0:
		g.batch = g.first
	case i == gridPoints-1:
		g.batch = g.last
	case i%exactEvery == 0:
		g.batch = g.first * math.Exp(g.logRatio*float64(i)/(gridPoints-1))
	default:
		g.batch *= g.step
	}
	local := g.batch / g.replicas
	switch {
	case g.accumulation:
		accum = max(math.Ceil(local/g.high-ceilSlack)-1, 0)
		if g.replicas == 1 && local > g.m0+ceilSlack {
			accum = max(accum, 1) // one replica cannot tell its noise from one pass
		}
		atomic = math.Ceil(local/(accum+1) - ceilSlack)
	case g.clamp && g.replicas == 1:
		atomic = g.m0
	default:
		atomic = math.Ceil(local - ceilSlack)
	}
	if g.clamp {
		atomic = min(max(atomic, g.low), g.high)
	}
	return atomic, accum
}

// Improvement is the factor by which predicted goodput has to grow before a
// running job changes its batch: less is not worth the unrest.
const Improvement = 1.05

// Keep reports whether a job that runs at current should stay there although its
// search now says best.
func (m *Model) Keep(nodes, replicas int, current, best Choice) bool {
	return best.Goodput <= Improvement*m.At(nodes, replicas, current.Atomic, current.Accum).Goodput
}
