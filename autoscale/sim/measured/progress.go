package measured

import "math"

// Batch is how a gang makes a step: Accum passes that only add up gradients and one with
// synchronization, each of Atomic samples on every replica.
type Batch struct {
	Atomic, Accum int
}

// Total is the samples of a step.
func (b Batch) Total(replicas int) int { return replicas * b.Atomic * (b.Accum + 1) }

// Fixed is how a gang makes steps of a given total batch: in as few passes as fit the
// accelerator, but in two or more on one replica that goes beyond M0, for want of
// gradients to compare. No step goes beyond the largest batch that was trained with.
// ok is false when the batch is too small for the gang.
func (a *Application) Fixed(accelerator string, replicas, total int) (b Batch, ok bool) {
	l, ok := a.Limits(accelerator)
	if !ok || replicas < 1 || total < replicas {
		return Batch{}, false
	}
	each := (total + replicas - 1) / replicas
	passes := (each + l.MaxLocal - 1) / l.MaxLocal
	if replicas == 1 && total > a.M0() {
		passes = max(passes, 2)
	}
	atomic := min((each+passes-1)/passes, a.Most()/(replicas*passes))
	return Batch{Atomic: atomic, Accum: passes - 1}, atomic > 0
}

// PerSec is the progress of a gang in an epoch, samples of M0 a second. ok is false
// where it cannot run.
func (a *Application) PerSec(accelerator string, nodes, replicas, epoch int, b Batch) (perSec float64, ok bool) {
	step, accum, ok := a.Pass(accelerator, nodes, replicas, b.Atomic)
	if !ok {
		return 0, false
	}
	total := b.Total(replicas)
	gain := a.Noise(total, epoch).Gain(float64(total) / float64(a.M0()))
	return gain * float64(a.M0()) / (step + float64(b.Accum)*accum) / a.slow, true
}

// Hours is how long a whole run takes on a gang that never changes, with the batch that
// choose names at the begin of each epoch. It is infinite where it cannot run.
func (a *Application) Hours(accelerator string, nodes, replicas int, choose func(epoch int, last Batch) Batch) float64 {
	sec, done := 0.0, 0.0
	var b Batch
	for epoch := range a.Epochs() {
		b = choose(epoch, b)
		perSec, ok := a.PerSec(accelerator, nodes, replicas, epoch, b)
		if !ok {
			return math.Inf(1)
		}
		sec += max(0, a.End(epoch)-done) / perSec
		done = max(done, a.End(epoch))
	}
	return sec / 3600
}
