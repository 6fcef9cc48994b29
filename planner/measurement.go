package planner

import "github.com/goodfleet/goodfleet/planner/goodput"

// Measurement is what was measured of a gang at one place: one of a throughput, of
// pass times, and of a lack of memory. Noise and Steps may come with any of them.
type Measurement struct {
	Gang        int64   `json:"gang"` // generation of the gang
	Accelerator string  `json:"accelerator"`
	Kind        string  `json:"kind"`             // "gpu" or "tpu"
	MemGiB      float64 `json:"memGiB,omitempty"` // of one accelerator; 0: not known
	Nodes       int     `json:"nodes"`
	Replicas    int     `json:"replicas"`

	SamplesPerSec float64 `json:"samplesPerSec,omitempty"` // of the whole job

	AtomicBatch int     `json:"atomicBatch,omitempty"` // samples of a pass on a replica
	AccumSec    float64 `json:"accumSec,omitempty"`    // mean time of a pass without synchronization
	OptimSec    float64 `json:"optimSec,omitempty"`    // mean time of a pass with it and the optimizer's step
	Passes      int     `json:"passes,omitempty"`      // behind the means; 0: 1

	OutOfMemory bool `json:"outOfMemory,omitempty"` // AtomicBatch did not fit; 0: nothing did

	Noise *goodput.Noise `json:"noise,omitempty"` // as the trainer estimates it
	Steps []goodput.Step `json:"-"`               // since the last measurement, to estimate it by
}

// sample is the pass times of m. ok is false when it has none.
func (m Measurement) sample() (s goodput.Sample, ok bool) {
	if m.OutOfMemory || m.AccumSec == 0 && m.OptimSec == 0 {
		return goodput.Sample{}, false
	}
	return goodput.Sample{
		Nodes: m.Nodes, Replicas: m.Replicas, AtomicBatch: m.AtomicBatch, AccumSec: m.AccumSec, OptimSec: m.OptimSec, Count: m.Passes,
	}, true
}

// MeasuredPlace is of what gang, where and at what batch something was measured.
type MeasuredPlace struct {
	gang                   int64
	accelerator            string
	nodes, replicas, batch int
	outOfMemory            bool
}

// Place is that of m: a later measurement of the same takes its stead.
func (m Measurement) Place() MeasuredPlace {
	return MeasuredPlace{m.Gang, m.Accelerator, m.Nodes, m.Replicas, m.AtomicBatch, m.OutOfMemory}
}
