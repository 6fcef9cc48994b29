package sim

import (
	"math"
	"time"

	"github.com/goodfleet/goodfleet/autoscale"
	"github.com/goodfleet/goodfleet/provider"
)

// unending is the work of a job that never ends of itself.
const unending = math.MaxFloat64

// phase is what the processes of a gang do.
type phase uint8

const (
	restoring phase = iota + 1 // start, read the checkpoint
	computing                  // progress
	saving                     // write a checkpoint; progress stands
	ending                     // write the last one
	finished                   // no processes any more
)

// runSpec is what the course of a run depends on.
type runSpec struct {
	perHour       float64 // true speed, samples per hour
	work          float64 // samples of the whole job
	safe          float64 // samples in the checkpoint that it starts from
	restore, save time.Duration
	every         time.Duration // computing time between checkpoints; 0: none
}

// run is one generation of a gang: a chain of phases, each with its exact end.
type run struct {
	runSpec
	gang  autoscale.Gang
	phase phase
	began time.Time // of the phase
	ends  time.Time // of the phase; zero: never
	seen  float64   // samples done when the phase began
	state autoscale.GangState
	since time.Time // of the state
}

// newRun starts a run at an instant.
func newRun(g autoscale.Gang, spec runSpec, now time.Time) *run {
	x := &run{runSpec: spec, gang: g, seen: spec.safe}
	x.enter(restoring, now, now.Add(spec.restore))
	x.become(autoscale.GangStarting, now)
	x.advance(now)
	return x
}

func (x *run) live() bool { return x.phase != finished }

// advance runs the phases that end by an instant.
func (x *run) advance(to time.Time) {
	for x.phase != finished && !x.ends.IsZero() && !x.ends.After(to) {
		x.next()
	}
}

// next goes from the end of a phase into the one that follows.
func (x *run) next() {
	at := x.ends
	switch x.phase {
	case restoring:
		x.become(autoscale.GangRunning, at)
		x.compute(at)
	case computing:
		if x.doneAt(x.began).Equal(at) {
			x.seen, x.safe = x.work, x.work
			x.finish(autoscale.GangDone, at)
			return
		}
		x.seen = x.seenAt(at)
		x.enter(saving, at, at.Add(x.save))
	case saving:
		x.safe = x.seen
		x.compute(at)
	case ending:
		x.safe = x.seen
		x.finish(autoscale.GangStopped, at)
	}
}

// compute begins a stretch of progress, which ends with a checkpoint or with the
// work, whichever is first.
func (x *run) compute(at time.Time) {
	ends := x.doneAt(at)
	if x.every > 0 {
		if due := at.Add(x.every); ends.IsZero() || due.Before(ends) {
			ends = due
		}
	}
	x.enter(computing, at, ends)
}

// doneAt is when the work is done if progress began at an instant and never
// stood; zero when that lies beyond what a time can hold.
func (x *run) doneAt(began time.Time) time.Time {
	left := math.Ceil(max(0, x.work-x.seen) / x.perHour * float64(time.Hour))
	if left > float64(math.MaxInt64)/2 {
		return time.Time{}
	}
	return began.Add(time.Duration(left))
}

// seenAt is how many samples are done at an instant of the present phase.
func (x *run) seenAt(now time.Time) float64 {
	if x.phase != computing {
		return x.seen
	}
	return min(x.work, x.seen+x.perHour*now.Sub(x.began).Hours())
}

// stop writes a last checkpoint and ends. A save under way becomes the last one;
// a run that has done nothing new has nothing to write.
func (x *run) stop(now time.Time) {
	x.advance(now)
	switch x.phase {
	case restoring:
		x.finish(autoscale.GangStopped, now)
	case computing:
		x.seen = x.seenAt(now)
		x.enter(ending, now, now.Add(x.save))
		x.become(autoscale.GangStopping, now)
		x.advance(now)
	case saving:
		x.phase = ending
		x.become(autoscale.GangStopping, now)
	}
}

// kill ends the run at once; lose does so because a machine went away.
func (x *run) kill(now time.Time) { x.drop(autoscale.GangStopped, now) }
func (x *run) lose(now time.Time) { x.drop(autoscale.GangLost, now) }

func (x *run) drop(state autoscale.GangState, now time.Time) {
	x.advance(now)
	if x.live() {
		x.seen = x.safe
		x.finish(state, now)
	}
}

// over is when the run ends if it is left alone. ok is false when a checkpoint
// comes first, or nothing does.
func (x *run) over() (at time.Time, ok bool) {
	switch x.phase {
	case ending:
		return x.ends, true
	case computing:
		if done := x.doneAt(x.began); !x.ends.IsZero() && done.Equal(x.ends) {
			return done, true
		}
	}
	return time.Time{}, false
}

func (x *run) enter(p phase, at, ends time.Time) { x.phase, x.began, x.ends = p, at, ends }

func (x *run) become(state autoscale.GangState, at time.Time) { x.state, x.since = state, at }

func (x *run) finish(state autoscale.GangState, at time.Time) {
	x.enter(finished, at, time.Time{})
	x.become(state, at)
}

func (x *run) on(instance provider.InstanceID) bool {
	for _, node := range x.gang.Nodes {
		if node.Instance == instance {
			return true
		}
	}
	return false
}

func (x *run) progress(now time.Time) autoscale.Progress {
	return autoscale.Progress{
		Job: x.gang.Job, Generation: x.gang.Generation, State: x.state,
		Safe: x.safe, Seen: x.seenAt(now), Since: x.since, Gang: &x.gang,
	}
}
