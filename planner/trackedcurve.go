package planner

import (
	"slices"

	"github.com/goodfleet/goodfleet/planner/throughput"
)

// trackedCurve is the speeds of a table, corrected by what was seen. What is known of pairs stays
// as it was given.
type trackedCurve struct {
	given   Curve
	tracker *throughput.Tracker // does not change any more
	barred  []bar
	known   map[spot]told // what was asked for so far
}

type spot struct {
	accelerator     string
	nodes, replicas int
}

type told struct {
	speed Speed
	ok    bool
}

func newTrackedCurve(t *throughput.Tracker, barred []bar, given Curve) *trackedCurve {
	return &trackedCurve{given: given, tracker: t, barred: barred, known: map[spot]told{}}
}

// Speed turns samples per second into samples per hour.
func (c *trackedCurve) Speed(accelerator string, nodes, replicas int) (Speed, bool) {
	at := spot{accelerator, nodes, replicas}
	answer, again := c.known[at]
	if !again {
		if perSec, sd, estimated, ok := c.tracker.Belief(accelerator, nodes, replicas); ok && !c.bars(accelerator) {
			answer = told{Speed{Goodput: perSec * 3600, Estimated: estimated, LogSD: sd}, true}
		}
		c.known[at] = answer
	}
	return answer.speed, answer.ok
}

func (c *trackedCurve) beside(family, accelerator string, nodes, replicas int) (Speed, bool) {
	if c.bars(accelerator) {
		return Speed{}, false
	}
	return Beside(c.given, family, accelerator, nodes, replicas)
}

// bars reports whether the job runs out of memory on an accelerator, since it did
// there or on one with as much.
func (c *trackedCurve) bars(accelerator string) bool {
	return slices.ContainsFunc(c.barred, func(b bar) bool {
		if b.accelerator == accelerator {
			return true
		}
		a, ok := throughput.LookupAccelerator(accelerator)
		return ok && b.memGiB > 0 && a.MemGiB <= b.memGiB
	})
}

// knows reports whether some speed on an accelerator was measured or seen.
func (c *trackedCurve) knows(accelerator string) bool {
	return !c.tracker.Profile().Guesses() || c.tracker.Profile().Measured(accelerator) || c.tracker.Seen(accelerator)
}
