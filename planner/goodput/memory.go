package goodput

import (
	"fmt"
	"math"
)

// Memory tells which local batch fits an accelerator: by what the job is known to
// take, and by what happened on accelerators of some size. The zero value knows
// nothing and bounds nothing. All sizes are of one accelerator.
type Memory struct {
	StateGiB  float64 // parameters, gradients, optimizer state; counts only with SampleGiB
	SampleGiB float64 // activations of one sample; 0: not known
	Tried     []Try
}

// Try is what became of a local batch on an accelerator.
type Try struct {
	MemGiB float64
	Batch  int
	Fits   bool // false: it ran out of memory
}

// usableMemory is the share of the memory that is left to the job.
const usableMemory = 0.9

// check says what is wrong; field is its path below the memory.
func (m Memory) check() (field, reason string) {
	bad := func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) || v < 0 }
	switch {
	case bad(m.StateGiB):
		return "stateGiB", fmt.Sprintf("%g: want a finite number, at least 0", m.StateGiB)
	case bad(m.SampleGiB):
		return "sampleGiB", fmt.Sprintf("%g: want a finite number, at least 0", m.SampleGiB)
	}
	for i, t := range m.Tried {
		if bad(t.MemGiB) || t.MemGiB == 0 {
			return fmt.Sprintf("tried[%d].memGiB", i), fmt.Sprintf("%g: want a positive number", t.MemGiB)
		}
		if t.Batch < 1 || t.Batch > maxCount {
			return fmt.Sprintf("tried[%d].batch", i), fmt.Sprintf("%d: want 1 to %d", t.Batch, maxCount)
		}
	}
	return "", ""
}

// Observe is m with one more try.
func (m Memory) Observe(t Try) Memory {
	m.Tried = append(m.Tried[:len(m.Tried):len(m.Tried)], t)
	return m
}

// MaxLocal is the largest local batch to run on an accelerator of memGiB; 0: none
// fits. ok is false when nothing bounds it.
//
// What did not fit on at least as much memory does not fit here, and what fitted
// on at most as much does. Between the two the bound is the larger of what
// fitted and half of what did not: each failure costs a restart, so the gap is
// closed in a few of them.
func (m Memory) MaxLocal(memGiB float64) (batch int, ok bool) {
	batch = maxCount
	if m.SampleGiB > 0 {
		room := (usableMemory*memGiB - m.StateGiB) / m.SampleGiB
		batch, ok = int(max(0, min(math.Floor(room+ceilSlack), maxCount))), true
	}
	fitted, failed := 0, math.MaxInt
	for _, t := range m.Tried {
		switch {
		case t.Fits && t.MemGiB <= memGiB:
			fitted = max(fitted, t.Batch)
		case !t.Fits && t.MemGiB >= memGiB:
			failed = min(failed, t.Batch)
		}
	}
	if failed < math.MaxInt {
		// A failure at or below what fitted is of a bad moment, or a leak: the lower counts.
		fitted = min(fitted, failed-1)
		batch, ok = min(batch, max(fitted, failed/2)), true
	}
	if ok {
		batch = max(batch, fitted)
	}
	return batch, ok
}
