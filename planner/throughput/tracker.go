package throughput

import (
	"fmt"
	"maps"
	"math"
	"slices"
)

// Variances of the logarithm of a speed that is believed over that which is seen,
// set by hand: an estimate is off for a job as a whole, for one of its
// accelerators, and at each place; a measured speed drifts a little. A TPU tells
// nothing of a GPU.
const (
	jobError         = 0.3 * 0.3
	acceleratorError = 0.25 * 0.25
	placeError       = 0.2 * 0.2
	measuredError    = 0.1 * 0.1
	seenError        = 0.05 * 0.05 // of one observation
	wrongDeviations  = 2           // from this many standard deviations on a belief was wrong
)

// Tracker corrects the speeds of a profile by those that are seen while the job
// runs: an estimate moves toward what is seen, and with it, less, the estimates
// that are likely wrong for the same reason. It is not safe for concurrent use.
type Tracker struct {
	profile Profile
	places  []Entry      // that something was seen of
	index   map[cell]int // into places
	errors  []float64    // mean of ln(seen/believed) at each
	counts  []float64    // observations behind it
	process *kriging     // over errors; nil: nothing was seen
}

// Correction tells that a speed was seen that the profile did not expect.
type Correction struct {
	Accelerator string
	Nodes       int
	Replicas    int
	Believed    float64 // samples per second, before
	Seen        float64
	Now         float64 // believed, with what was seen
}

// String is the correction as an event says it.
func (c Correction) String() string {
	return fmt.Sprintf("%d × %s on %d machines: expected %.4g samples/s, saw %.4g, now expect %.4g",
		c.Replicas, c.Accelerator, c.Nodes, c.Believed, c.Seen, c.Now)
}

// NewTracker begins with what a profile believes.
func NewTracker(p Profile) *Tracker { return &Tracker{profile: p, index: make(map[cell]int)} }

// Clone is a tracker that goes on by itself from here.
func (t *Tracker) Clone() *Tracker {
	c := *t
	c.index = maps.Clone(t.index)
	c.places, c.errors, c.counts = slices.Clone(t.places), slices.Clone(t.errors), slices.Clone(t.counts)
	return &c
}

// Profile is what the tracker began with.
func (t *Tracker) Profile() Profile { return t.profile }

// Seen reports whether something was seen on an accelerator.
func (t *Tracker) Seen(accelerator string) bool {
	return slices.ContainsFunc(t.places, func(e Entry) bool { return e.Accelerator == accelerator })
}

// LogSD is the standard deviation of the logarithm of a speed that is believed
// before anything is seen.
func LogSD(estimated bool) float64 {
	at := Entry{Replicas: 1, Estimated: estimated}
	return math.Sqrt(errorsCovary(at, at))
}

// errorsCovary is the covariance of the errors of two beliefs.
func errorsCovary(a, b Entry) float64 {
	same := a.Accelerator == b.Accelerator && a.Replicas == b.Replicas && (a.Nodes > 1) == (b.Nodes > 1)
	if !a.Estimated || !b.Estimated {
		if same {
			return measuredError
		}
		return 0
	}
	sum := 0.0
	if same {
		sum += placeError
	}
	if a.Accelerator == b.Accelerator {
		return sum + jobError + acceleratorError
	}
	first, known := LookupAccelerator(a.Accelerator)
	second, alsoKnown := LookupAccelerator(b.Accelerator)
	if known && alsoKnown && first.Kind == second.Kind {
		sum += jobError
	}
	return sum
}

// Speed is that of the profile, corrected; estimated is false where the place was
// seen. ok is false where nothing is known and nothing was seen.
func (t *Tracker) Speed(accelerator string, nodes, replicas int) (samplesPerSec float64, estimated, ok bool) {
	samplesPerSec, _, estimated, ok = t.Belief(accelerator, nodes, replicas)
	return samplesPerSec, estimated, ok
}

// Belief is Speed with the standard deviation of its logarithm.
func (t *Tracker) Belief(accelerator string, nodes, replicas int) (samplesPerSec, sd float64, estimated, ok bool) {
	speed, estimated, ok := t.profile.Speed(accelerator, nodes, replicas)
	if !ok {
		return 0, 0, false, false
	}
	at := Entry{Accelerator: accelerator, Replicas: replicas, Nodes: nodes, Estimated: estimated}
	if t.process == nil {
		return speed, math.Sqrt(errorsCovary(at, at)), estimated, true
	}
	shift, sd := t.process.at(errorsCovary(at, at), func(i int) float64 { return errorsCovary(at, t.places[i]) })
	if _, seen := t.index[cell{accelerator, replicas, nodes > 1}]; seen {
		estimated = false
	}
	return speed * math.Exp(shift), sd, estimated, true
}

// Observe takes over a speed that was seen. wrong is true when it was not expected:
// then the correction is worth an event. A place that the profile knows nothing of
// is refused with an *EntryError, as is a speed that is none.
func (t *Tracker) Observe(e Entry) (c Correction, wrong bool, err error) {
	if e.Nodes == 0 {
		e.Nodes = 1
	}
	if math.IsNaN(e.SamplesPerSec) || math.IsInf(e.SamplesPerSec, 0) || e.SamplesPerSec <= 0 {
		return c, false, &EntryError{0, "samplesPerSec", fmt.Sprintf("%g: want a positive number", e.SamplesPerSec)}
	}
	believed, sd, _, ok := t.Belief(e.Accelerator, e.Nodes, e.Replicas)
	if !ok {
		return c, false, &EntryError{0, "accelerator", fmt.Sprintf("%d replicas on %d machines of %q: nothing was believed of them", e.Replicas, e.Nodes, e.Accelerator)}
	}
	first, estimated, _ := t.profile.Speed(e.Accelerator, e.Nodes, e.Replicas)
	off := math.Log(e.SamplesPerSec / first)
	key := cell{e.Accelerator, e.Replicas, e.Nodes > 1}
	i, seen := t.index[key]
	if !seen {
		i = len(t.places)
		t.index[key] = i
		e.Estimated = estimated
		t.places, t.errors, t.counts = append(t.places, e), append(t.errors, 0), append(t.counts, 0)
	}
	t.counts[i]++
	t.errors[i] += (off - t.errors[i]) / t.counts[i]
	t.process, err = newKriging(t.errors,
		func(i, j int) float64 { return errorsCovary(t.places[i], t.places[j]) },
		func(i int) float64 { return seenError / t.counts[i] })
	if err != nil {
		return c, false, fmt.Errorf("correct %s: %w", t.profile.Name(), err)
	}
	c = Correction{Accelerator: e.Accelerator, Nodes: e.Nodes, Replicas: e.Replicas, Believed: believed, Seen: e.SamplesPerSec}
	c.Now, _, _ = t.Speed(e.Accelerator, e.Nodes, e.Replicas)
	return c, math.Abs(math.Log(e.SamplesPerSec/believed)) > wrongDeviations*math.Hypot(sd, math.Sqrt(seenError)), nil
}
