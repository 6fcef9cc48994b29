package sim

import (
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"

	"github.com/goodfleet/goodfleet/autoscale"
	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/planner/goodput"
)

// Elastic is what a job that adapts really does.
type Elastic struct {
	// Profile holds its true step times on every type that it can run on. Types that
	// it lacks are carried over from others, as a planner would.
	Profile *goodput.Profile

	// Stages are its gradient noise in the course of training, by progress from 0;
	// none: that of Profile all along. At each the trainer chooses its batch anew.
	Stages []Stage
}

// Stage is a part of training with the same gradient noise.
type Stage struct {
	From  float64 // samples done
	Noise goodput.Noise
}

// Leg is a part of a job's course at one speed. The last has no end.
type Leg struct {
	To       float64 // samples done when it ends
	PerSec   float64 // samples of progress a second
	Measured planner.Measurement
}

// leg is a part of a run at one speed and batch.
type leg struct {
	to       float64 // samples done when it ends; +Inf for the last
	perHour  float64
	measured planner.Measurement // what a report says of it
}

// streamMeasure keeps the scatter of measurements apart from all other randomness.
const streamMeasure = 0x6d_65_61_73

// course is the true course of a gang of a job: its legs in order. failed is set
// where the gang runs out of memory as soon as it has started.
func (r *Runner) course(job *planner.Job, g autoscale.Gang, accelerator string) (legs []leg, failed *planner.Measurement, err error) {
	none := fmt.Errorf("cannot run on %d × %s over %d machines", g.Config.Replicas, accelerator, g.Config.Nodes)
	rng := r.scatter(g)
	if r.cfg.Truth.Legs != nil {
		if told, known := r.cfg.Truth.Legs(job, g.Config, accelerator, r.safe[job.ID]); known {
			return legsOf(told, r.cfg.Truth.More == nil, none)
		}
	}
	truth, elastic := r.elastic(job)
	if !elastic {
		speed, ok := r.speed(job, g.Config, accelerator)
		if !ok || !(speed.Goodput > 0) {
			return nil, nil, none
		}
		if !r.fits(job, accelerator, 0) {
			return nil, &planner.Measurement{OutOfMemory: true}, nil
		}
		return []leg{{math.Inf(1), speed.Goodput, planner.Measurement{SamplesPerSec: speed.Goodput / 3600 * rng()}}}, nil, nil
	}
	stages := truth.Stages
	if len(stages) == 0 {
		noise := goodput.UnknownNoise
		if truth.Profile.Noise != nil {
			noise = *truth.Profile.Noise
		}
		stages = []Stage{{Noise: noise}}
	}
	for i, s := range stages {
		to := math.Inf(1)
		if i+1 < len(stages) {
			to = stages[i+1].From
		}
		l, local, ok := adapt(truth.Profile, s.Noise, g.Config, accelerator)
		if !ok {
			return nil, nil, none
		}
		if !r.fits(job, accelerator, local) {
			return nil, &planner.Measurement{AtomicBatch: local, OutOfMemory: true}, nil
		}
		l.to = to
		l.measured.AccumSec *= rng()
		l.measured.OptimSec *= rng()
		legs = append(legs, l)
	}
	return legs, nil, nil
}

// legsOf are told legs; none is the error when there are none, or one that never ends.
func legsOf(told []Leg, all bool, none error) ([]leg, *planner.Measurement, error) {
	for _, l := range told {
		if !(l.PerSec > 0) {
			return nil, nil, none
		}
	}
	legs := toldLegs(told)
	if len(legs) == 0 {
		return nil, nil, none
	}
	if all {
		legs[len(legs)-1].to = math.Inf(1)
	}
	return legs, nil, nil
}

func toldLegs(told []Leg) []leg {
	var legs []leg
	for _, l := range told {
		legs = append(legs, leg{to: l.To, perHour: l.PerSec * 3600, measured: l.Measured})
	}
	return legs
}

// adapt is a job at its best batch on a config: the trainer chooses it, within what
// it was told to fit.
func adapt(truth *goodput.Profile, noise goodput.Noise, c planner.Config, accelerator string) (l leg, local int, ok bool) {
	p := *truth
	p.Noise = &noise
	if c.MaxLocal > 0 && (p.Limits.MaxLocal == 0 || c.MaxLocal < p.Limits.MaxLocal) {
		p.Limits.MaxLocal = c.MaxLocal
	}
	predictor := planner.GoodputPredictor(&p, planner.Growth{Bought: true, MinReplicas: c.Replicas})
	m, ok := predictor.Model(accelerator, c.Nodes, c.Replicas)
	if !ok {
		return leg{}, 0, false
	}
	best, ok := m.Best(goodput.Clamp, c.Nodes, c.Replicas)
	if !ok {
		return leg{}, 0, false
	}
	l.perHour = best.Goodput * 3600
	l.measured = planner.Measurement{
		AtomicBatch: best.Atomic, AccumSec: m.Theta.ComputeSec(best.Atomic), OptimSec: m.Theta.OptimSec(c.Nodes, c.Replicas, best.Atomic),
	}
	if truth.Noise != nil { // else nothing of it is reported
		// The expected norms of a mean over count samples, each of the local batch.
		count := float64(c.Replicas * (best.Accum + 1))
		one := noise.Var * float64(p.Limits.InitialBatch) / float64(best.Atomic)
		step := goodput.Step{Replicas: c.Replicas, AtomicBatch: best.Atomic, Accum: best.Accum}
		step.Steps = max(1, int(measureAfter.Seconds()/m.Theta.StepSec(c.Nodes, c.Replicas, best.Atomic, best.Accum))) // of the last minute
		if count == 1 {
			count = 2 // of two steps
		}
		step.SqrOfMean, step.MeanOfSqr = noise.Sqr+one/count, noise.Sqr+one
		l.measured.Steps = []goodput.Step{step}
	}
	return l, best.Atomic, true
}

// elastic is what a job that adapts really does. ok is false for any other job.
func (r *Runner) elastic(job *planner.Job) (e Elastic, ok bool) {
	if r.cfg.Truth.Elastic != nil {
		return r.cfg.Truth.Elastic(job)
	}
	if r.cfg.Truth.Speed != nil {
		return Elastic{}, false
	}
	p, ok := planner.GoodputProfileOf(job.Curve)
	if !ok {
		return Elastic{}, false
	}
	return ElasticOf(p), true
}

// ElasticOf is what a job does whose profile, with the course of its noise, is true.
func ElasticOf(p *goodput.Profile) Elastic {
	e := Elastic{Profile: p}
	if p.Noise == nil || len(p.Course) == 0 {
		return e
	}
	e.Stages = []Stage{{Noise: *p.Noise}}
	for _, f := range p.Course {
		e.Stages = append(e.Stages, Stage(f))
	}
	return e
}

// trueSpeed is what a job that adapts really does on a config at its progress, in
// samples per hour. ok is false for any other job, and where it cannot run.
func (r *Runner) trueSpeed(job *planner.Job, c planner.Config, accelerator string) (perHour float64, ok bool) {
	truth, elastic := r.elastic(job)
	if !elastic || truth.Profile == nil {
		return 0, false
	}
	noise := goodput.UnknownNoise
	if truth.Profile.Noise != nil {
		noise = *truth.Profile.Noise
	}
	for _, s := range truth.Stages {
		if s.From <= r.progressOf(job.ID) {
			noise = s.Noise
		}
	}
	l, _, ok := adapt(truth.Profile, noise, c, accelerator)
	return l.perHour, ok
}

// progressOf is how many samples of a job are done, by a checkpoint or not.
func (r *Runner) progressOf(job planner.JobID) float64 {
	if at, found := r.find(job); found && r.runs[at].live() {
		return r.runs[at].seenAt(r.now)
	}
	return r.safe[job]
}

// fits reports whether a local batch fits an accelerator.
func (r *Runner) fits(job *planner.Job, accelerator string, local int) bool {
	return r.cfg.Truth.Fits == nil || r.cfg.Truth.Fits(job, accelerator, local)
}

// scatter draws the factors that the measurements of a gang are off by.
func (r *Runner) scatter(g autoscale.Gang) func() float64 {
	sd := r.cfg.Truth.Scatter
	if sd == 0 {
		return func() float64 { return 1 }
	}
	name := fnv.New64a()
	_, _ = name.Write([]byte(g.Job)) // never fails
	rng := rand.New(rand.NewPCG(r.cfg.Seed^name.Sum64(), streamMeasure+uint64(g.Generation)<<32))
	return func() float64 { return math.Exp(sd * rng.NormFloat64()) }
}
