package measured

import "github.com/goodfleet/goodfleet/planner"

// Rigid is a job that keeps its number of replicas and its total batch to the end.
type Rigid struct {
	Of    *Application
	Batch int // total, samples

	// InSteps has Speed tell steps of the job's own batch in place of progress, as
	// schedulers see it that know no efficiency.
	InSteps bool
}

// Speed is what it does in its first epoch: it is known once it has run.
func (r Rigid) Speed(accelerator string, nodes, replicas int) (planner.Speed, bool) {
	perSec, ok := r.EpochPerSec(accelerator, nodes, replicas, 0)
	if b, fits := r.Of.Fixed(accelerator, replicas, r.Batch); ok && fits && r.InSteps {
		step, accum, _ := r.Of.Pass(accelerator, nodes, replicas, b.Atomic)
		perSec = 1 / (step + float64(b.Accum)*accum) / r.Of.slow
	}
	return planner.Speed{Goodput: perSec * 3600, Batch: r.Batch}, ok
}

// EpochPerSec is its progress in an epoch, samples of M0 a second.
func (r Rigid) EpochPerSec(accelerator string, nodes, replicas, epoch int) (float64, bool) {
	b, ok := r.Of.Fixed(accelerator, replicas, r.Batch)
	if !ok {
		return 0, false
	}
	return r.Of.PerSec(accelerator, nodes, replicas, epoch, b)
}

var _ planner.Curve = Rigid{}
