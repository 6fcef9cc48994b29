package goodput

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"slices"
)

// Profile is what is known of one job: the batches that it allows, the noise of
// its gradients, and its step times on each accelerator type that it ran on. Or,
// for a job that does not adapt, a table of throughputs.
type Profile struct {
	Name          string
	Limits        Limits
	Noise         *Noise  // nil: not known, and the batch stays at M0
	Course        []Phase // of Noise later in training, by From; a prediction looks at Noise alone
	GradientBytes float64 // that each replica exchanges in a step; 0: not known
	Memory        Memory
	Types         []TypeProfile // by accelerator, each once
	Table         []TableEntry  // instead of Types
}

// Phase is a part of training, from so many samples of progress on to the next, with
// noise of its own.
type Phase struct {
	From  float64
	Noise Noise
}

// TypeProfile is what is known of a job on one accelerator type.
type TypeProfile struct {
	Accelerator string
	Kind        string // "gpu" or "tpu"
	MaxLocal    int    // local batch that fits; 0: no more is known than the limits
	MaxReplicas int    // the most that the job has run on; 0: as Theta is given without limit
	Theta       Theta
	Held        []string // parameters that Theta's samples said nothing of
	Samples     []Sample // what Theta was fitted to; none: it was given
	given       *Theta   // before there were samples: its word counts where they say nothing; nil: none was
	uncertainty Uncertainty
	seen        coverage
}

// TableEntry is one measured throughput of a job that does not adapt.
type TableEntry struct {
	Accelerator   string
	Replicas      int
	Nodes         int // 1: on one machine; 2 or more: spread; 0: either
	SamplesPerSec float64
	Estimated     bool
}

// NewTypeProfile fits samples of one accelerator type. A TPU slice is one node
// however many hosts it has. It returns the errors of Fit.
func NewTypeProfile(accelerator, kind string, samples []Sample) (TypeProfile, FitResult, error) {
	t := TypeProfile{Accelerator: accelerator, Kind: kind}
	res, err := t.refit(samples, FitOptions{})
	return t, res, err
}

// Add takes over new samples and fits anew, from the last fit. A local batch that
// is already there at the same place becomes a mean of both. A theta that was given
// without samples counts as its word on the places that were not measured.
func (t TypeProfile) Add(samples ...Sample) (TypeProfile, FitResult, error) {
	if err := checkSamples(samples); err != nil {
		return t, FitResult{}, err
	}
	if len(t.Samples) == 0 && t.Theta != (Theta{}) {
		given := t.Theta
		t.given = &given
	}
	opts := FitOptions{}
	if len(t.Samples) > 0 {
		// The last optimum is near the new one, unless something of a new kind was seen.
		start := t.Theta
		opts.Start = &start
		all := slices.Concat(t.Samples, samples)
		opts.Quick = cover(append(all, t.word(all)...)).sameKinds(t.seen)
	}
	res, err := t.refit(slices.Concat(t.Samples, samples), opts)
	return t, res, err
}

func (t *TypeProfile) refit(samples []Sample, opts FitOptions) (FitResult, error) {
	if err := checkSamples(samples); err != nil {
		return FitResult{}, err
	}
	t.Samples = MergeSamples(slicesAsOne(t.Kind, samples))
	rows := slices.Concat(t.Samples, t.word(t.Samples))
	res, err := Fit(rows, opts)
	if err != nil {
		return FitResult{}, err
	}
	if t.given == nil || t.MaxReplicas > 0 { // a theta given without limit holds without one
		t.MaxReplicas = max(t.MaxReplicas, cover(t.Samples).maxReplicas)
	}
	t.Theta, t.Held = res.Theta, res.Unidentified
	t.uncertainty, t.seen = res.Uncertainty, cover(rows)
	return res, nil
}

// word is what the given theta says of kinds of places that samples do not tell,
// around their local batch, with all times longer by as much as computation takes
// longer than it said.
func (t *TypeProfile) word(samples []Sample) []Sample {
	if t.given == nil {
		return nil
	}
	seen := cover(samples)
	atomic, ratio := 0.0, 0.0
	for _, s := range samples {
		atomic += math.Log(float64(s.AtomicBatch)) / float64(len(samples))
		ratio += math.Log(s.AccumSec/t.given.ComputeSec(s.AtomicBatch)) / float64(len(samples))
	}
	usual, longer := int(math.Round(math.Exp(atomic))), math.Exp(ratio)
	var list []Sample
	for _, p := range []Place{{1, 1}, {1, 2}, {1, 4}, {1, 8}, {2, 2}, {2, 4}, {2, 8}, {4, 16}} {
		switch {
		case t.MaxReplicas > 0 && p.Replicas > t.MaxReplicas,
			t.Kind == KindTPU && p.Nodes > 1,
			p.Replicas == 1 && seen.atomics > 1,
			p.Replicas > 1 && p.Nodes == 1 && seen.slopeR,
			p.Nodes > 1 && seen.slopeN,
			slices.ContainsFunc(samples, func(s Sample) bool { return s.Nodes == p.Nodes && s.Replicas == p.Replicas }):
			continue
		}
		for _, m := range []int{max(1, usual/2), 2 * usual} {
			s := Sample{
				Nodes: p.Nodes, Replicas: p.Replicas, AtomicBatch: m,
				AccumSec: longer * t.given.ComputeSec(m), OptimSec: longer * t.given.OptimSec(p.Nodes, p.Replicas, m),
			}
			if field, _ := s.check(); field == "" {
				list = append(list, s)
			}
		}
	}
	return list
}

// slicesAsOne takes a TPU slice for one node.
func slicesAsOne(kind string, samples []Sample) []Sample {
	if kind != KindTPU {
		return samples
	}
	samples = slices.Clone(samples)
	for i := range samples {
		samples[i].Nodes = 1
	}
	return samples
}

// learn fills in what follows from samples and theta, which both were given.
func (t *TypeProfile) learn() {
	t.Samples = slicesAsOne(t.Kind, t.Samples)
	t.seen = cover(t.Samples)
	_, held := boundsOf(t.seen)
	t.Held = unidentified(t.seen, held)
	t.MaxReplicas = max(t.MaxReplicas, t.seen.maxReplicas)
	t.uncertainty = uncertaintyOf(newObjective(t.Samples), t.Theta, t.seen, t.Held)
}

// knows reports whether synchronization of that kind was measured, or given.
func (t *TypeProfile) knows(spread bool) bool {
	name := thetaNames[iAlphaR]
	if spread {
		name = thetaNames[iAlphaN]
	}
	return !slices.Contains(t.Held, name)
}

// sameKinds reports whether nothing of a kind is seen in c that was not in old.
func (c coverage) sameKinds(old coverage) bool {
	return (c.atomics > 1) == (old.atomics > 1) && c.severalNode == old.severalNode && c.oneNode == old.oneNode &&
		c.beyondTwo == old.beyondTwo && c.slopeN == old.slopeN && c.slopeR == old.slopeR
}

// Type is what is known on an accelerator. ok is false when that is nothing.
func (p *Profile) Type(accelerator string) (t *TypeProfile, ok bool) {
	for i := range p.Types {
		if p.Types[i].Accelerator == accelerator {
			return &p.Types[i], true
		}
	}
	return nil, false
}

// Put replaces or adds what is known on a type, and keeps the types in order.
func (p *Profile) Put(t TypeProfile) {
	if old, ok := p.Type(t.Accelerator); ok {
		*old = t
		return
	}
	p.Types = append(p.Types, t)
	slices.SortFunc(p.Types, func(a, b TypeProfile) int { return cmp.Compare(a.Accelerator, b.Accelerator) })
}

// Equal reports whether p and q were written alike, but for their noise.
func (p *Profile) Equal(q *Profile) bool {
	a, b := *p, *q
	a.Noise, b.Noise = nil, nil
	first, err := a.MarshalJSON()
	if err != nil {
		return false
	}
	second, err := b.MarshalJSON()
	return err == nil && bytes.Equal(first, second)
}

// check returns an *InputError for the first value that cannot be, by its path
// below the profile's spec.
func (p *Profile) check() error {
	refuse := func(path, format string, args ...any) error {
		return &InputError{path, fmt.Sprintf(format, args...)}
	}
	if (len(p.Types) == 0) == (len(p.Table) == 0) {
		return refuse("types", "want either types or a table")
	}
	if len(p.Table) > 0 {
		return nil
	}
	if field, reason := p.Limits.check(); field != "" {
		return refuse("batch."+batchFields[field], "%s", reason)
	}
	if field, reason := p.Memory.check(); field != "" {
		return refuse("memory."+field, "%s", reason)
	}
	for i, t := range p.Types {
		path := fmt.Sprintf("types[%d]", i)
		switch {
		case t.Accelerator == "":
			return refuse(path+".accelerator", "is empty")
		case t.Kind != KindGPU && t.Kind != KindTPU:
			return refuse(path+".kind", "%q: want gpu or tpu", t.Kind)
		case slices.ContainsFunc(p.Types[:i], func(o TypeProfile) bool { return o.Accelerator == t.Accelerator }):
			return refuse(path+".accelerator", "%q: is given twice", t.Accelerator)
		}
		if field, reason := t.Theta.check(); field != "" {
			return refuse(path+".theta."+field, "%s", reason)
		}
	}
	return nil
}

// batchFields are the names of limits in a profile document.
var batchFields = map[string]string{"m0": "initial", "max_batch": "max", "min_local": "minLocal", "max_local": "maxLocal"}
