package goodput

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// Sample is the measured time of passes on one allocation at one local batch.
type Sample struct {
	Nodes       int
	Replicas    int
	AtomicBatch int     // samples of a pass on a replica
	AccumSec    float64 // mean time of a pass without synchronization
	OptimSec    float64 // mean time of a pass with it
	Count       int     // passes behind the means; 0: 1
}

// SampleError is a sample that cannot be used.
type SampleError struct {
	Row    int    // from 0
	Field  string // in the names of examples: "accum_time"
	Reason string
}

// Error names the row, the field and the reason.
func (e *SampleError) Error() string {
	return fmt.Sprintf("samples[%d].%s: %s", e.Row, e.Field, e.Reason)
}

// Bounds of a time that can have been measured, in seconds: beyond them the
// logarithms and powers of the fit say nothing.
const (
	leastSec = 1e-9
	mostSec  = 1e9
)

// check says what is wrong with s; field is "" when nothing is.
func (s Sample) check() (field, reason string) {
	for _, q := range []struct {
		name  string
		value int
	}{{"nodes", s.Nodes}, {"replicas", s.Replicas}, {"atomic_bsz", s.AtomicBatch}} {
		if q.value < 1 || q.value > maxCount {
			return q.name, fmt.Sprintf("%d: want 1 to %d", q.value, maxCount)
		}
	}
	if s.Nodes > s.Replicas {
		return "nodes", fmt.Sprintf("%d: want at most the %d replicas", s.Nodes, s.Replicas)
	}
	if s.Count < 0 {
		return "count", fmt.Sprintf("%d: want at least 1", s.Count)
	}
	for _, q := range []struct {
		name string
		sec  float64
	}{{"accum_time", s.AccumSec}, {"optim_time", s.OptimSec}} {
		if math.IsNaN(q.sec) || q.sec < leastSec || q.sec > mostSec {
			return q.name, fmt.Sprintf("%g: want a time of %g to %g seconds", q.sec, leastSec, mostSec)
		}
	}
	return "", ""
}

// checkSamples returns ErrNoSamples or a *SampleError.
func checkSamples(samples []Sample) error {
	if len(samples) == 0 {
		return ErrNoSamples
	}
	for i, s := range samples {
		if field, reason := s.check(); field != "" {
			return &SampleError{i, field, reason}
		}
	}
	return nil
}

// sampleKey is what samples are of the same thing by.
type sampleKey struct{ nodes, replicas, atomic int }

func (s Sample) key() sampleKey { return sampleKey{s.Nodes, s.Replicas, s.AtomicBatch} }

// MergeSamples makes one sample of all those of the same allocation and local
// batch, with mean times, ordered by replicas, nodes and batch. The fit does not
// weigh samples, so a place measured often must not count often.
func MergeSamples(samples []Sample) []Sample {
	byKey := make(map[sampleKey]Sample, len(samples))
	for _, s := range samples {
		s.Count = max(s.Count, 1)
		if old, ok := byKey[s.key()]; ok {
			n := float64(old.Count + s.Count)
			s.AccumSec += (old.AccumSec - s.AccumSec) * float64(old.Count) / n
			s.OptimSec += (old.OptimSec - s.OptimSec) * float64(old.Count) / n
			s.Count += old.Count
		}
		byKey[s.key()] = s
	}
	merged := make([]Sample, 0, len(byKey))
	for _, s := range byKey {
		merged = append(merged, s)
	}
	slices.SortFunc(merged, func(a, b Sample) int {
		return cmp.Or(cmp.Compare(a.Replicas, b.Replicas), cmp.Compare(a.Nodes, b.Nodes), cmp.Compare(a.AtomicBatch, b.AtomicBatch))
	})
	return merged
}

// coverage is what kinds of places a set of samples has seen.
type coverage struct {
	atomics     int // distinct local batches
	severalNode bool
	oneNode     bool // several replicas on one node
	beyondTwo   bool
	maxReplicas int
	meanAccum   float64

	slopeN, slopeR bool // different replica counts, some beyond two, over several nodes; on one
}

func cover(samples []Sample) coverage {
	var c coverage
	atomics := make(map[int]bool)
	counts := [2]map[int]bool{{}, {}}
	for _, s := range samples {
		atomics[s.AtomicBatch] = true
		c.severalNode = c.severalNode || s.Nodes > 1
		c.oneNode = c.oneNode || s.Nodes == 1 && s.Replicas > 1
		c.beyondTwo = c.beyondTwo || s.Replicas > 2
		c.maxReplicas = max(c.maxReplicas, s.Replicas)
		c.meanAccum += s.AccumSec / float64(len(samples))
		if s.Replicas > 1 {
			counts[min(s.Nodes-1, 1)][s.Replicas] = true
		}
	}
	c.atomics = len(atomics)
	c.slopeR, c.slopeN = len(counts[0]) > 1, len(counts[1]) > 1
	return c
}
