package sim

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/goodfleet/goodfleet/autoscale"
	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/provider"
)

// remembered is how long an ended gang is still told of in Progress: long enough
// for any loop that missed rounds, short enough for a trace of a year.
const remembered = 24 * time.Hour

// Truth is what really happens where it differs from what the planner believes.
// A nil function means that the belief is true.
type Truth struct {
	// Speed is what job really does on a config whose machines hold accelerator.
	Speed func(job *planner.Job, c planner.Config, accelerator string) (planner.Speed, bool)

	// Elastic is what a job that adapts really does; ok is false for one that does
	// not. It goes before Speed.
	Elastic func(job *planner.Job) (e Elastic, ok bool)

	// Legs is the course of a gang of job, which has done so many samples, where it is
	// known in parts; ok is false for a job of which it is not. It goes before Elastic.
	Legs func(job *planner.Job, c planner.Config, accelerator string, done float64) (legs []Leg, ok bool)

	// More is what comes after the legs of Legs, and of More, for the present gang of job;
	// none when they go to the end. Nil: Legs tells all.
	More func(job *planner.Job) []Leg

	// Fits reports whether a local batch really fits an accelerator: where it does
	// not, a gang runs out of memory at its start. local is 0 for a job that does not
	// adapt.
	Fits func(job *planner.Job, accelerator string, local int) bool

	// Scatter is the standard deviation of the logarithm of measured times and speeds
	// around the true ones.
	Scatter float64

	// Step is how many samples a rigid job does in one step. In lockstep it does whole
	// steps only, as many as fit into a round. Nil, and an answer of 0: samples are
	// continuous.
	Step func(job *planner.Job) float64

	// Work is how many samples job really takes. It must be given for jobs whose
	// work is not known: without it they never end.
	Work func(job *planner.Job) float64
}

// RunnerConfig is what a Runner is built from.
type RunnerConfig struct {
	Start     time.Time
	Catalogue *provider.Catalogue // tells the accelerator of a config
	Truth     Truth
	Seed      uint64           // of the scatter of measurements
	Transfer  planner.Transfer // moving data and checkpoints between regions; zero: at no cost

	// Every is the time between two checkpoints of a job that leaves it open
	// (Checkpoint.Every is 0), for a gang at its start. Nil, and an answer of 0,
	// mean that the job writes none until it is stopped.
	Every func(job *planner.Job, g autoscale.Gang, now time.Time) time.Duration
}

// Runner is simulated progress: an autoscale.Runner in virtual time. It is told
// the time by Advance and the loss of machines by Lose; it is not safe for
// concurrent use.
type Runner struct {
	cfg  RunnerConfig
	now  time.Time
	jobs map[planner.JobID]*planner.Job
	safe map[planner.JobID]float64 // samples in the job's checkpoint
	runs []*run                    // last generation of each job, by job
	gone map[provider.InstanceID]bool

	places map[planner.JobID]provider.Offering // where each job ran last

	turn  time.Time // end of the present round in lockstep; zero: there is none
	ended bool      // a gang has ended at once since it was last asked
	news  bool      // a gang has ended by itself since the last round
}

// NewRunner builds a runner that stands at cfg.Start with no gangs.
func NewRunner(cfg RunnerConfig) (*Runner, error) {
	if cfg.Catalogue == nil {
		return nil, fmt.Errorf("runner: no catalogue")
	}
	return &Runner{
		cfg:  cfg,
		now:  cfg.Start,
		jobs: make(map[planner.JobID]*planner.Job),
		safe: make(map[planner.JobID]float64),
		gone: make(map[provider.InstanceID]bool),

		places: make(map[planner.JobID]provider.Offering),
	}, nil
}

// Add makes jobs known, so that their gangs can be started.
func (r *Runner) Add(jobs ...*planner.Job) {
	for _, job := range jobs {
		r.jobs[job.ID] = job
	}
}

// Start begins a gang at the runner's time. The same generation again is no
// error and changes nothing; an older one is ignored. A gang with a machine that
// is already lost is lost at once.
func (r *Runner) Start(_ context.Context, g autoscale.Gang) error {
	job, ok := r.jobs[g.Job]
	if !ok {
		return fmt.Errorf("start %s: no such job", g.Job)
	}
	at, found := r.find(g.Job)
	if found {
		last := r.runs[at]
		switch {
		case last.gang.Generation >= g.Generation:
			return nil
		case last.live():
			return fmt.Errorf("start %s: generation %d still runs", g.Job, last.gang.Generation)
		}
	}
	began, err := r.begin(job, g)
	if err != nil {
		return fmt.Errorf("start %s: %w", g.Job, err)
	}
	if found {
		r.runs[at] = began
	} else {
		r.runs = slices.Insert(r.runs, at, began)
	}
	if slices.ContainsFunc(g.Nodes, func(n autoscale.GangNode) bool { return r.gone[n.Instance] }) {
		began.lose(r.now)
	}
	return nil
}

// begin builds the run of a gang that starts now.
func (r *Runner) begin(job *planner.Job, g autoscale.Gang) (*run, error) {
	t, ok := r.cfg.Catalogue.Lookup(g.Config.Cloud, g.Config.Type)
	if !ok {
		return nil, fmt.Errorf("type %s/%s is not in the catalogue", g.Config.Cloud, g.Config.Type)
	}
	legs, failed, err := r.course(job, g, t.Accelerator)
	if err != nil {
		return nil, err
	}
	work := job.Work.Samples
	if r.cfg.Truth.Work != nil {
		work = r.cfg.Truth.Work(job)
	} else if job.Work.Kind == planner.WorkUnknown {
		work = unending
	}
	every := job.Checkpoint.Every
	if every == 0 && r.cfg.Every != nil {
		every = r.cfg.Every(job, g, r.now)
	}
	var more func() []leg
	if r.cfg.Truth.More != nil && !math.IsInf(legs[len(legs)-1].to, 1) {
		more = func() []leg { return toldLegs(r.cfg.Truth.More(job)) }
	}
	return newRun(g, runSpec{
		legs: legs, more: more, failed: failed, work: work, safe: r.safe[job.ID],
		restore: job.Checkpoint.Restore + r.bring(job, g.Offering), save: job.Checkpoint.Save, every: every,
		step: r.step(job), turn: r.turn,
	}, r.now), nil
}

// step is Truth.Step.
func (r *Runner) step(job *planner.Job) float64 {
	if r.cfg.Truth.Step == nil {
		return 0
	}
	return r.cfg.Truth.Step(job)
}

// beginTurn lets every gang go on until the end of a round in lockstep.
func (r *Runner) beginTurn(ends time.Time) {
	r.turn = ends
	for _, x := range r.runs {
		if x.live() {
			x.goOn(r.now, ends)
		}
	}
}

// turnOver is when the last gang has done what it does in this round. ok is false when
// none runs.
func (r *Runner) turnOver() (at time.Time, ok bool) {
	for _, x := range r.runs {
		if !x.live() {
			continue
		}
		if ends := x.standsAt(); !ok || ends.After(at) {
			at, ok = ends, true
		}
	}
	return at, ok
}

// endedAtOnce reports whether a gang was told to stop, and has, since it was last asked.
func (r *Runner) endedAtOnce() bool {
	ended := r.ended
	r.ended = false
	return ended
}

// bring moves what a job needs to the region that it starts in: its data, unless
// it ran there last, and its checkpoint from where it ran last. It returns the
// time that takes; the loop books the money.
func (r *Runner) bring(job *planner.Job, to provider.Offering) time.Duration {
	last, ran := r.places[job.ID]
	r.places[job.ID] = to
	if ran && last.Cloud == to.Cloud && last.Region == to.Region {
		return 0
	}
	_, hours := r.cfg.Transfer.Move(job.Data.Size, job.Data.Cloud, job.Data.Region, to.Cloud, to.Region)
	if ran {
		_, more := r.cfg.Transfer.Move(job.Checkpoint.Size, last.Cloud, last.Region, to.Cloud, to.Region)
		hours += more
	}
	return time.Duration(hours * float64(time.Hour))
}

// Live counts the gangs that have not ended.
func (r *Runner) Live() int {
	n := 0
	for _, x := range r.runs {
		if x.live() {
			n++
		}
	}
	return n
}

// Gangs lists the gangs that have not ended, by job.
func (r *Runner) Gangs() []autoscale.Gang {
	var gangs []autoscale.Gang
	for _, x := range r.runs {
		if x.live() {
			gangs = append(gangs, x.gang)
		}
	}
	return gangs
}

func (r *Runner) speed(job *planner.Job, c planner.Config, accelerator string) (planner.Speed, bool) {
	if r.cfg.Truth.Speed != nil {
		return r.cfg.Truth.Speed(job, c, accelerator)
	}
	if job.Curve == nil {
		return planner.Speed{}, false
	}
	if with, ok := r.jobs[c.With]; ok {
		return planner.Beside(job.Curve, with.Family, accelerator, c.Nodes, c.Replicas)
	}
	return job.Curve.Speed(accelerator, c.Nodes, c.Replicas)
}

// Stop ends a gang at the runner's time: after one last checkpoint (StopSave) or
// at once, with the loss of what no checkpoint holds (StopKill). A generation
// that does not run is no error.
func (r *Runner) Stop(_ context.Context, job planner.JobID, generation int64, mode autoscale.StopMode) error {
	at, found := r.find(job)
	if !found || r.runs[at].gang.Generation != generation || !r.runs[at].live() {
		return nil
	}
	if mode == autoscale.StopSave {
		r.runs[at].stop(r.now)
	} else {
		r.runs[at].kill(r.now)
	}
	r.keep(r.runs[at])
	r.ended = r.ended || !r.runs[at].live()
	return nil
}

// Progress tells of the last gang of each job, by job; ended ones for a day.
func (r *Runner) Progress(context.Context) ([]autoscale.Progress, error) {
	r.runs = slices.DeleteFunc(r.runs, func(x *run) bool { return !x.live() && r.now.Sub(x.since) > remembered })
	list := make([]autoscale.Progress, len(r.runs))
	for i, x := range r.runs {
		list[i] = x.progress(r.now)
		x.told = len(list[i].Measured)
	}
	return list, nil
}

// measures reports whether a gang has measured what Progress has not told yet, or
// measures all the time.
func (r *Runner) measures() bool {
	return slices.ContainsFunc(r.runs, func(x *run) bool {
		return x.live() && (x.legs[x.leg].measured.Steps != nil || x.failed != nil || x.measuredBy(r.now) != x.told)
	})
}

// Advance moves the runner's time; an earlier one than it has is ignored.
func (r *Runner) Advance(to time.Time) {
	if !to.After(r.now) {
		return
	}
	r.now = to
	for _, x := range r.runs {
		if x.live() {
			x.advance(to)
			r.keep(x)
			r.news = r.news || !x.live()
		}
	}
}

// Lose tells that a machine went away at an instant: every gang with a node on
// it is lost, with its work since the last checkpoint.
func (r *Runner) Lose(instance provider.InstanceID, at time.Time) {
	r.Advance(at)
	r.gone[instance] = true
	for _, x := range r.runs {
		if x.live() && x.on(instance) {
			x.lose(at)
			r.keep(x)
		}
	}
}

// NextEvent is the next instant at which a gang is done or has stopped, if it
// is left alone. ok is false when there is none.
func (r *Runner) NextEvent() (at time.Time, ok bool) {
	for _, x := range r.runs {
		if ends, has := x.over(); has && (!ok || ends.Before(at)) {
			at, ok = ends, true
		}
	}
	return at, ok
}

// Safe is how many samples the checkpoint of a job holds.
func (r *Runner) Safe(job planner.JobID) float64 { return r.safe[job] }

// keep remembers the checkpoint of a run beyond its end.
func (r *Runner) keep(x *run) { r.safe[x.gang.Job] = x.safe }

func (r *Runner) find(job planner.JobID) (int, bool) {
	return slices.BinarySearchFunc(r.runs, job, func(x *run, id planner.JobID) int { return cmp.Compare(x.gang.Job, id) })
}
