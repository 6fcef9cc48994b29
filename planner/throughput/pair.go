package throughput

import (
	"fmt"
	"math"
	"slices"
)

// Sharer is a job that shares an accelerator.
type Sharer struct {
	Model string
	Batch int // 0: the model has none
}

// Sharing is what a job keeps of its speed beside another on one accelerator.
type Sharing struct {
	Job, With   Sharer
	Accelerator string
	Share       float64 // of its speed alone, in (0, 1]; pairs that do not fit are left out
}

// PairCompletion estimates how jobs share accelerators from the pairs that were
// measured. It does not change once built.
//
// The share is taken for a Gaussian process: what a job suffers and what it does
// to others, each by model and batch and by accelerator, and what is peculiar to
// two models.
type PairCompletion struct {
	known   []Sharing
	process *kriging
	mean    float64
	names   map[string]bool // models and accelerators that something is known of
}

// pairVariances were chosen by the likelihood of a quarter of Gavel's published
// pairs.
type pairVariances struct {
	Accelerator, Suffers, Does, SuffersThere, DoesThere, Both, BothThere, Noise, Reach float64
}

var gavelPairVariances = pairVariances{
	Accelerator: 0.0002, Suffers: 0.004, Does: 0.004, SuffersThere: 0.006, DoesThere: 0.006, Both: 0.0033, BothThere: 0.005, Noise: 0.0003, Reach: 2,
}

func (a Sharer) near(b Sharer, reach float64) float64 {
	switch {
	case a.Model != b.Model:
		return 0
	case a.Batch == 0 || b.Batch == 0:
		return 1
	}
	return math.Exp(-math.Abs(math.Log(float64(a.Batch)/float64(b.Batch))) / reach)
}

func (v *pairVariances) of(a, b Sharing) float64 {
	job, with := a.Job.near(b.Job, v.Reach), a.With.near(b.With, v.Reach)
	sum := v.Suffers*job + v.Does*with + v.Both*job*with
	if a.Accelerator == b.Accelerator {
		sum += v.Accelerator + v.SuffersThere*job + v.DoesThere*with + v.BothThere*job*with
	}
	return sum
}

// check returns an *EntryError for a pair that cannot be used.
func (s Sharing) check(i int) error {
	switch {
	case s.Job.Model == "" || s.With.Model == "":
		return &EntryError{i, "model", "is empty"}
	case s.Job.Batch < 0 || s.With.Batch < 0:
		return &EntryError{i, "batch", fmt.Sprintf("%d: want at least 0", min(s.Job.Batch, s.With.Batch))}
	case s.Accelerator == "":
		return &EntryError{i, "accelerator", "is empty"}
	case math.IsNaN(s.Share) || s.Share <= 0 || s.Share > 1:
		return &EntryError{i, "share", fmt.Sprintf("%g: want more than 0, at most 1; leave out pairs that do not fit", s.Share)}
	}
	return nil
}

// CompletePairs learns from the pairs that are known. It returns an *EntryError
// for the first that cannot be used, and an error when there are none.
func CompletePairs(known []Sharing) (*PairCompletion, error) {
	v := &gavelPairVariances
	if len(known) == 0 {
		return nil, fmt.Errorf("completion of pairs: nothing is known")
	}
	c := &PairCompletion{known: slices.Clone(known), names: make(map[string]bool)}
	for i, s := range c.known {
		if err := s.check(i); err != nil {
			return nil, err
		}
		c.names["model "+s.Job.Model], c.names["model "+s.With.Model], c.names["accelerator "+s.Accelerator] = true, true, true
		c.mean += s.Share / float64(len(known))
	}
	values := make([]float64, len(known))
	for i, s := range c.known {
		values[i] = s.Share - c.mean
	}
	var err error
	c.process, err = newKriging(values, func(i, j int) float64 { return v.of(c.known[i], c.known[j]) }, func(int) float64 { return v.Noise })
	if err != nil {
		return nil, fmt.Errorf("completion of pairs: %w", err)
	}
	return c, nil
}

// Estimate is the share of its speed that a job keeps beside another, within 0 and
// 1, and its standard deviation. ok is false when nothing is known of one of the
// models or of the accelerator. Whether both fit the memory is not its question.
func (c *PairCompletion) Estimate(job, with Sharer, accelerator string) (share, sd float64, ok bool) {
	if !c.names["model "+job.Model] || !c.names["model "+with.Model] || !c.names["accelerator "+accelerator] {
		return 0, 0, false
	}
	at := Sharing{Job: job, With: with, Accelerator: accelerator}
	v := &gavelPairVariances
	mean, sd := c.process.at(v.of(at, at), func(i int) float64 { return v.of(at, c.known[i]) })
	return min(max(mean+c.mean, 0), 1), math.Hypot(sd, math.Sqrt(v.Noise)), true
}
