package throughput

import (
	"fmt"
	"math"
	"slices"
)

// Roofline estimates the speed of a model class on accelerators whose peaks are
// published, after Williams, Waterman and Patterson, "Roofline: An Insightful
// Visual Performance Model", CACM 2009. With B samples per replica and step, F
// FLOP and M bytes per sample, peak P and memory bandwidth W:
//
//	compute = B · max(F/(eP·P), M/(eW·W))
//	tell    = (times · 2·Params + B·swap) · (K−1)/K / (eL·L)
//	speed   = K·B/(compute + tell)
//
// K is the number of replicas. times is 2 for an all-reduce in a ring; where the
// state is sharded it is 1 for scattering the gradients and 2 more for gathering
// the parameters in each part of the batch that fits the memory at once. L is the
// link to the peers on one machine or slice; over several machines it is the
// lesser of that and the network of the replicas of one machine together. eP, eW,
// eL are the efficiencies of the accelerator's kind.
//
// Limits: communication does not hide behind arithmetic, which is right within
// some percent on fast links and pessimistic on slow ones; the batch is fixed, so
// the estimate says nothing of how many samples a target takes (goodput); input
// pipelines, kernel launches, pipeline and tensor parallelism and contention in
// the network are left out; a class is one model at one input size. Take it
// within a factor of two, and for ratios between accelerators rather than levels.
type Roofline struct {
	class Class
}

// efficiency is the share of a published peak that training reaches.
type efficiency struct {
	flop, memory, link float64
}

// efficiencies by kind. GPU: utilizations of 35 to 60 % of the peak arithmetic
// are published for large models on A100 and H100 (MosaicML's tables); three
// quarters of the memory bandwidth is what streaming kernels see. TPU: set by
// itself, from the 50 to 60 % published with MaxText; nothing measured on GPUs
// goes in.
var efficiencies = map[string]efficiency{
	gpuKind: {flop: 0.45, memory: 0.75, link: 0.8},
	tpuKind: {flop: 0.50, memory: 0.75, link: 0.8},
}

const (
	// usableMemory is the share of the device memory that is left to the model.
	usableMemory = 0.9
	// Times that as many bytes as the parameters cross each replica's link.
	reduceTimes  = 2 // all-reduce of the gradients
	scatterTimes = 1 // of the gradients, where the state is sharded
	gatherTimes  = 2 // of the parameters, forward and backward
)

// NewRoofline estimates a class. It returns an error for a class that is missing a
// number or has one that cannot be.
func NewRoofline(c Class) (*Roofline, error) {
	for _, q := range []struct {
		name  string
		value float64
		zero  bool
	}{
		{"FLOP per sample", c.FlopPerSample, false}, {"bytes per sample", c.BytesPerSample, false}, {"batch", float64(c.Batch), false},
		{"parameters", c.Params, true}, {"state", c.StateGiB, true}, {"activations per sample", c.SampleGiB, true},
		{"exchange per sample", c.SwapPerSample, true},
	} {
		if math.IsNaN(q.value) || math.IsInf(q.value, 0) || q.value < 0 || q.value == 0 && !q.zero {
			return nil, fmt.Errorf("model class %q: %s: %g: want a positive number", c.Name, q.name, q.value)
		}
	}
	if len(c.Kinds) == 0 {
		return nil, fmt.Errorf("model class %q: holds for no kind of accelerator", c.Name)
	}
	if _, err := accelerators(); err != nil {
		return nil, err
	}
	return &Roofline{class: c}, nil
}

// Estimate is the profile of a built-in model class: every speed is estimated.
func Estimate(class string) (Profile, error) {
	c, err := ClassNamed(class)
	if err != nil {
		return Profile{}, err
	}
	r, err := NewRoofline(c)
	if err != nil {
		return Profile{}, err
	}
	return NewProfile(ProfileConfig{Name: c.Name, Roofline: r})
}

// Class is what the roofline estimates.
func (r *Roofline) Class() Class { return r.class }

// Accelerators lists, in the order of the embedded list, those that the class has
// an estimate for on some number of replicas.
func (r *Roofline) Accelerators() []string {
	list, err := accelerators()
	if err != nil {
		return nil
	}
	var names []string
	for _, name := range list.names {
		a := list.byName[name]
		if slices.Contains(r.class.Kinds, a.Kind) && (r.class.Sharded || r.class.NeedGiB(1) <= a.MemGiB) {
			names = append(names, name)
		}
	}
	return names
}

// Speed estimates the samples per second of replicas accelerators on nodes
// machines. ok is false where the accelerator's peaks are not known, the class
// holds for no such kind, or a replica needs more memory than there is.
func (r *Roofline) Speed(accelerator string, nodes, replicas int) (samplesPerSec float64, ok bool) {
	a, known := LookupAccelerator(accelerator)
	if !known || nodes < 1 || replicas < nodes || !slices.Contains(r.class.Kinds, a.Kind) || r.class.NeedGiB(replicas) > a.MemGiB {
		return 0, false
	}
	e := efficiencies[a.Kind]
	batch, k := float64(r.class.Batch), float64(replicas)
	computeSec := batch * max(r.class.FlopPerSample/(e.flop*a.PeakFlopPerSec), r.class.BytesPerSample/(e.memory*a.MemBytesPerSec))

	times := float64(reduceTimes)
	if r.class.Sharded {
		times = scatterTimes + gatherTimes*r.parts(a, replicas)
	}
	bandwidth := a.LinkBytesPerSec
	if nodes > 1 {
		bandwidth = min(bandwidth, float64(replicas/nodes)*a.NetBytesPerSec)
	}
	tellSec := (times*sentBytes*r.class.Params + batch*r.class.SwapPerSample) * (k - 1) / k / (e.link * bandwidth)

	return k * batch / (computeSec + tellSec), true
}

// parts is into how many the batch of a replica is cut so that each fits the
// memory. The state and one sample fit.
func (r *Roofline) parts(a Accelerator, replicas int) float64 {
	if r.class.SampleGiB == 0 {
		return 1
	}
	state := r.class.NeedGiB(replicas)*usableMemory - r.class.SampleGiB
	atOnce := max(1, math.Floor((usableMemory*a.MemGiB-state)/r.class.SampleGiB))
	return max(1, math.Ceil(float64(r.class.Batch)/atOnce))
}
