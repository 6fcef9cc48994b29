package sim

import (
	"math"
	"time"

	"github.com/goodfleet/goodfleet/autoscale"
	"github.com/goodfleet/goodfleet/planner"
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
	standing                   // whole steps are done; the next begins with the next round
	finished                   // no processes any more
)

// runSpec is what the course of a run depends on.
type runSpec struct {
	legs          []leg                // true speeds, by progress
	more          func() []leg         // what comes after legs; nil: nothing
	failed        *planner.Measurement // it runs out of memory after it has restored; nil: it does not
	work          float64              // samples of the whole job
	safe          float64              // samples in the checkpoint that it starts from
	restore, save time.Duration
	every         time.Duration // computing time between checkpoints; 0: none
	step          float64       // samples of a step of which only whole ones are done in a turn; 0: it goes on as it comes
	turn          time.Time     // end of the first turn
}

// run is one generation of a gang: a chain of phases, each with its exact end.
type run struct {
	runSpec
	gang  autoscale.Gang
	phase phase
	began time.Time       // of the phase
	ends  time.Time       // of the phase; zero: never
	seen  float64         // samples done when the phase began
	due   time.Time       // of the next checkpoint; zero: none
	quota float64         // samples done at the end of the turn; 0: it has none
	leg   int             // that it is on, or was on last
	ran   []time.Duration // progress on each leg, before the phase began
	told  int             // measurements in the last Progress
	state autoscale.GangState
	since time.Time // of the state
}

// newRun starts a run at an instant.
func newRun(g autoscale.Gang, spec runSpec, now time.Time) *run {
	x := &run{runSpec: spec, gang: g, seen: spec.safe, ran: make([]time.Duration, len(spec.legs))}
	for x.leg+1 < len(x.legs) && x.legs[x.leg].to <= x.seen {
		x.leg++
	}
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
		if x.failed != nil {
			x.finish(autoscale.GangFailed, at)
			return
		}
		x.become(autoscale.GangRunning, at)
		x.compute(at)
	case computing:
		if x.last() && x.doneAt(x.began).Equal(at) {
			x.seen, x.safe = x.work, x.work
			x.finish(autoscale.GangDone, at)
			return
		}
		if x.quota > 0 && x.quotaAt(x.began).Equal(at) {
			x.seen = x.quota
			x.enter(standing, at, time.Time{})
			return
		}
		x.seen = x.seenAt(at)
		if !x.last() && x.doneAt(x.began).Equal(at) {
			x.seen = x.legs[x.leg].to
			x.enter(saving, at, at) // so that its time counts for the leg that ends
			x.leg++
			x.goFurther()
			x.stretch(at)
			return
		}
		x.enter(saving, at, at.Add(x.save))
	case saving:
		x.safe = x.seen
		x.compute(at)
	case ending:
		x.safe = x.seen
		x.finish(autoscale.GangStopped, at)
	}
}

// goFurther has the next legs told, when those known are at their end. When there are none
// the last one goes on.
func (x *run) goFurther() {
	if x.leg < len(x.legs) {
		return
	}
	legs := x.more()
	if len(legs) == 0 {
		x.leg--
		x.legs[x.leg].to, x.more = math.Inf(1), nil
		return
	}
	x.legs, x.ran = append(x.legs, legs...), append(x.ran, make([]time.Duration, len(legs))...)
}

// compute begins a stretch of progress, which ends with a checkpoint or with the
// work, whichever is first.
func (x *run) compute(at time.Time) {
	x.due = time.Time{}
	if x.every > 0 {
		x.due = at.Add(x.every)
	}
	x.stretch(at)
}

// stretch goes on computing until the next checkpoint, or the end of the leg.
func (x *run) stretch(at time.Time) {
	ends := x.doneAt(at)
	if !x.due.IsZero() && (ends.IsZero() || x.due.Before(ends)) {
		ends = x.due
	}
	x.quota = 0
	if x.step > 0 {
		x.quota = x.seen + max(0, x.step*math.Floor(x.legs[x.leg].perHour*x.turn.Sub(at).Hours()/x.step))
		if stands := x.quotaAt(at); x.quota < x.work && (ends.IsZero() || stands.Before(ends)) {
			ends = stands
		} else {
			x.quota = 0
		}
	}
	x.enter(computing, at, ends)
}

// quotaAt is when the whole steps of a turn are done if progress began at an instant;
// with none to be done, the end of the turn.
func (x *run) quotaAt(began time.Time) time.Time {
	if x.quota <= x.seen {
		return x.turn
	}
	return began.Add(time.Duration(math.Ceil((x.quota - x.seen) / x.legs[x.leg].perHour * float64(time.Hour))))
}

// goOn begins a turn.
func (x *run) goOn(now, ends time.Time) {
	x.turn = ends
	if x.step == 0 {
		return
	}
	switch x.phase {
	case standing:
		x.compute(now)
	case computing:
		x.seen = x.seenAt(now)
		x.stretch(now)
	}
}

// standsAt is when it has done what it does in this turn.
func (x *run) standsAt() time.Time {
	at := x.turn
	switch {
	case x.phase == standing:
		return x.began
	case x.phase == computing && x.quota > 0:
		at = x.quotaAt(x.began)
	case x.phase == computing && x.last():
		at = x.doneAt(x.began)
	}
	if at.IsZero() || at.After(x.turn) {
		return x.turn
	}
	return at
}

// last reports whether the work is done at the end of the leg.
func (x *run) last() bool {
	return x.leg == len(x.legs)-1 && x.more == nil || x.legs[x.leg].to >= x.work
}

// doneAt is when the leg, or the work, is done if progress began at an instant and
// never stood; zero when that lies beyond what a time can hold.
func (x *run) doneAt(began time.Time) time.Time {
	left := math.Ceil(max(0, min(x.work, x.legs[x.leg].to)-x.seen) / x.legs[x.leg].perHour * float64(time.Hour))
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
	return min(x.work, x.legs[x.leg].to, x.seen+x.legs[x.leg].perHour*now.Sub(x.began).Hours())
}

// stop writes a last checkpoint and ends. A save under way becomes the last one;
// a run that has done nothing new has nothing to write.
func (x *run) stop(now time.Time) {
	x.advance(now)
	switch x.phase {
	case restoring:
		x.finish(autoscale.GangStopped, now)
	case computing, standing:
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
		if done := x.doneAt(x.began); x.last() && !x.ends.IsZero() && done.Equal(x.ends) {
			return done, true
		}
	}
	return time.Time{}, false
}

func (x *run) enter(p phase, at, ends time.Time) {
	if x.phase == computing {
		x.ran[x.leg] += at.Sub(x.began)
	}
	x.phase, x.began, x.ends = p, at, ends
}

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
		Safe: x.safe, Seen: x.seenAt(now), Since: x.since, Gang: &x.gang, Measured: x.measured(now),
	}
}

// measureAfter is how long a trainer runs at a batch until it tells what it measured.
const measureAfter = time.Minute

// measured is what was measured on each leg up to now.
func (x *run) measured(now time.Time) []planner.Measurement {
	if x.failed != nil && x.state == autoscale.GangFailed {
		return []planner.Measurement{*x.failed}
	}
	var list []planner.Measurement
	for i := range x.legs[:min(x.leg+1, len(x.legs))] {
		if x.ranOn(i, now) >= measureAfter {
			m := x.legs[i].measured
			if i < x.leg {
				m.Steps = nil // told while they were taken
			}
			list = append(list, m)
		}
	}
	return list
}

// measuredBy counts them.
func (x *run) measuredBy(now time.Time) (n int) {
	for i := range x.legs[:min(x.leg+1, len(x.legs))] {
		if x.ranOn(i, now) >= measureAfter {
			n++
		}
	}
	return n
}

// ranOn is for how long it made progress on a leg up to now.
func (x *run) ranOn(i int, now time.Time) time.Duration {
	if i == x.leg && x.phase == computing {
		return x.ran[i] + now.Sub(x.began)
	}
	return x.ran[i]
}
