package throughput

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// Measurement is one speed of a job of a table.
type Measurement struct {
	Model string
	Batch int // samples per replica and step; 0: the model has none
	Entry
}

// Completion estimates speeds that a table lacks from those that it has: of the
// same job elsewhere, of the same model at other batches, and of other jobs on the
// same accelerators. It does not change once built.
//
// The logarithm of the speed per replica is taken for a Gaussian process over jobs
// and places. Its covariance is a sum: jobs have a level; accelerators have one,
// which differs by model and batch; what is lost by scaling out grows with the
// doublings of replicas and with the spread over machines, by model, batch and
// accelerator. A factorization of the table's matrix would have to find all this
// out from the numbers alone.
type Completion struct {
	known   []Measurement
	cov     covariances
	process *kriging
	mean    float64
	names   map[string]bool // models and accelerators that something is known of
}

// covariances are the variances of the process, and the reach over batches in
// powers of e. They were chosen by the likelihood of Gavel's published table.
type covariances struct {
	Model, Job                                    float64
	Accelerator, AcceleratorModel, AcceleratorJob float64
	Scale, ScaleModel, ScaleAccelerator           float64
	Spread, SpreadModel, SpreadAccelerator        float64
	Noise, Reach                                  float64
}

var gavelCovariances = covariances{
	Model: 9, Job: 0.7, Accelerator: 0.4, AcceleratorModel: 0.006, AcceleratorJob: 0.24,
	Scale: 0.023, ScaleModel: 0.015, ScaleAccelerator: 0.05, Spread: 0.026, SpreadModel: 0.022, SpreadAccelerator: 0.1,
	Noise: 0.003, Reach: 10,
}

// near is the likeness of two batches of the same model.
func (c *covariances) near(a, b Measurement) float64 {
	if a.Batch == 0 || b.Batch == 0 {
		return 1
	}
	return math.Exp(-math.Abs(math.Log(float64(a.Batch)/float64(b.Batch))) / c.Reach)
}

// of is the covariance of the logarithms of two speeds per replica, without noise.
func (c *covariances) of(a, b Measurement) float64 {
	doublings := math.Log2(float64(min(a.Replicas, b.Replicas)))
	spread := 0.0
	if a.Nodes > 1 && b.Nodes > 1 {
		spread = 1 + doublings/3
	}
	sum := c.Scale*doublings + c.Spread*spread
	accelerator := a.Accelerator == b.Accelerator
	if accelerator {
		sum += c.Accelerator
	}
	if a.Model != b.Model {
		return sum
	}
	near := c.near(a, b)
	sum += c.Model + c.Job*near + c.ScaleModel*doublings*near + c.SpreadModel*spread*near
	if accelerator {
		sum += c.AcceleratorModel + c.AcceleratorJob*near + c.ScaleAccelerator*doublings*near + c.SpreadAccelerator*spread*near
	}
	return sum
}

// logEach is the logarithm of the speed per replica.
func (m Measurement) logEach() float64 { return math.Log(m.SamplesPerSec / float64(m.Replicas)) }

// check returns an *EntryError for a measurement that cannot be used.
func (m Measurement) check(i int) error {
	refuse := func(field, reason string) error { return &EntryError{i, field, reason} }
	switch {
	case m.Model == "":
		return refuse("model", "is empty")
	case m.Batch < 0:
		return refuse("batch", fmt.Sprintf("%d: want at least 0", m.Batch))
	case m.Accelerator == "":
		return refuse("accelerator", "is empty")
	case m.Replicas < 1:
		return refuse("replicas", fmt.Sprintf("%d: want at least 1", m.Replicas))
	case m.Nodes < 0 || m.Nodes > m.Replicas:
		return refuse("nodes", fmt.Sprintf("%d: want 0 to the %d replicas", m.Nodes, m.Replicas))
	case math.IsNaN(m.SamplesPerSec) || math.IsInf(m.SamplesPerSec, 0) || m.SamplesPerSec <= 0:
		return refuse("samplesPerSec", fmt.Sprintf("%g: want a positive number", m.SamplesPerSec))
	}
	return nil
}

// Complete learns from the speeds that are known. It returns an *EntryError for
// the first that cannot be used, and an error when there are none.
func Complete(known []Measurement) (*Completion, error) { return complete(known, gavelCovariances) }

func complete(known []Measurement, cov covariances) (*Completion, error) {
	if len(known) == 0 {
		return nil, fmt.Errorf("completion of a table: nothing is known")
	}
	c := &Completion{known: slices.Clone(known), cov: cov, names: make(map[string]bool)}
	for i, m := range c.known {
		if err := m.check(i); err != nil {
			return nil, err
		}
		c.names["model "+m.Model], c.names["accelerator "+m.Accelerator] = true, true
		c.mean += m.logEach() / float64(len(known))
	}
	values := make([]float64, len(known))
	for i, m := range c.known {
		values[i] = m.logEach() - c.mean
	}
	var err error
	c.process, err = newKriging(values, func(i, j int) float64 { return cov.of(c.known[i], c.known[j]) }, func(int) float64 { return cov.Noise })
	if err != nil {
		return nil, fmt.Errorf("completion of a table: %w", err)
	}
	return c, nil
}

// Estimate is the speed of a job on replicas accelerators over nodes machines, and
// the standard deviation of its logarithm. ok is false when nothing is known of the
// model or of the accelerator. What was measured comes out nearly as it went in.
func (c *Completion) Estimate(model string, batch int, accelerator string, nodes, replicas int) (samplesPerSec, logSD float64, ok bool) {
	if replicas < 1 || nodes < 1 || nodes > replicas || !c.names["model "+model] || !c.names["accelerator "+accelerator] {
		return 0, 0, false
	}
	at := Measurement{Model: model, Batch: batch, Entry: Entry{Accelerator: accelerator, Nodes: nodes, Replicas: replicas}}
	mean, sd := c.process.at(c.cov.of(at, at), func(i int) float64 { return c.cov.of(at, c.known[i]) })
	return math.Exp(mean+c.mean) * float64(replicas), math.Hypot(sd, math.Sqrt(c.cov.Noise)), true
}

// Profile is the speeds of one job: those measured, and estimates at the places
// given that were not.
func (c *Completion) Profile(model string, batch int, places []Entry) (Profile, error) {
	cfg := ProfileConfig{Name: JobType(model, batch)}
	if batch == 0 {
		cfg.Name = model
	}
	type place struct {
		accelerator string
		replicas    int
		spread      bool
	}
	measured := make(map[place]bool)
	for _, m := range c.known {
		if m.Model == model && m.Batch == batch {
			cfg.Entries = append(cfg.Entries, m.Entry)
			for _, spread := range m.spreads() {
				measured[place{m.Accelerator, m.Replicas, spread}] = true
			}
		}
	}
	for _, e := range places {
		if e.Nodes == 0 {
			e.Nodes = 1
		}
		key := place{e.Accelerator, e.Replicas, e.Nodes > 1}
		if measured[key] {
			continue
		}
		if speed, _, ok := c.Estimate(model, batch, e.Accelerator, e.Nodes, e.Replicas); ok {
			measured[key] = true
			e.SamplesPerSec, e.Estimated = speed, true
			cfg.Entries = append(cfg.Entries, e)
		}
	}
	slices.SortFunc(cfg.Entries, func(a, b Entry) int {
		return cmp.Or(cmp.Compare(a.Accelerator, b.Accelerator), cmp.Compare(a.Replicas, b.Replicas), cmp.Compare(a.Nodes, b.Nodes))
	})
	return NewProfile(cfg)
}
