package planner

import (
	"slices"

	"github.com/goodfleet/goodfleet/planner/throughput"
)

// profileCurve is the speeds of a throughput profile as a Curve.
type profileCurve struct {
	profile throughput.Profile
	pairs   *throughput.Pairs // nil: nothing is known of them
}

// TableCurve makes a curve of measured or estimated throughputs: goodput equals
// throughput, since the batch of such a job is fixed.
func TableCurve(p throughput.Profile) Curve { return profileCurve{profile: p} }

// PairedCurve is TableCurve that tells too, from pairs, what the job does beside another.
func PairedCurve(p throughput.Profile, pairs *throughput.Pairs) Curve {
	return profileCurve{profile: p, pairs: pairs}
}

// Beside is the speed of a job with curve c while one of another family shares all of its
// accelerators. ok is false where the two cannot run together, or nothing is known of it.
func Beside(c Curve, family, accelerator string, nodes, replicas int) (s Speed, ok bool) {
	p, ok := c.(interface {
		beside(family, accelerator string, nodes, replicas int) (Speed, bool)
	})
	if !ok {
		return Speed{}, false
	}
	return p.beside(family, accelerator, nodes, replicas)
}

// Speed turns samples per second into samples per hour.
func (c profileCurve) Speed(accelerator string, nodes, replicas int) (Speed, bool) {
	perSec, estimated, ok := c.profile.Speed(accelerator, nodes, replicas)
	if !ok {
		return Speed{}, false
	}
	return Speed{Goodput: perSec * 3600, Estimated: estimated, LogSD: throughput.LogSD(estimated)}, true
}

// beside is the speed of a pair; where its replicas are makes no difference to a table of pairs.
func (c profileCurve) beside(family, accelerator string, _, replicas int) (Speed, bool) {
	perSec, ok := c.pairs.Beside(c.profile.Name(), family, accelerator, replicas)
	return Speed{Goodput: perSec * 3600}, ok
}

// hiddenCurve is a curve without some accelerators.
type hiddenCurve struct {
	Curve
	accelerators []string
}

// Hide is c as if nothing were known of some accelerators.
func Hide(c Curve, accelerators []string) Curve { return hiddenCurve{c, accelerators} }

// Speed knows nothing of what is hidden.
func (c hiddenCurve) Speed(accelerator string, nodes, replicas int) (Speed, bool) {
	if slices.Contains(c.accelerators, accelerator) {
		return Speed{}, false
	}
	return c.Curve.Speed(accelerator, nodes, replicas)
}

func (c hiddenCurve) beside(family, accelerator string, nodes, replicas int) (Speed, bool) {
	if slices.Contains(c.accelerators, accelerator) {
		return Speed{}, false
	}
	return Beside(c.Curve, family, accelerator, nodes, replicas)
}

func (c hiddenCurve) knows(accelerator string) bool { return Knows(c.Curve, accelerator) }

// knows reports whether some speed on an accelerator was measured.
func (c profileCurve) knows(accelerator string) bool {
	return !c.profile.Guesses() || c.profile.Measured(accelerator)
}

// Knows reports whether what c says of an accelerator rests on measurements there.
// A curve that does not tell estimates from measurements knows all that it says.
func Knows(c Curve, accelerator string) bool {
	k, ok := c.(interface{ knows(accelerator string) bool })
	return !ok || k.knows(accelerator)
}

// ProfileOf is the profile behind a curve of TableCurve, so that a job can be
// written down. ok is false for any other curve.
func ProfileOf(c Curve) (p throughput.Profile, ok bool) {
	curve, ok := c.(profileCurve)
	return curve.profile, ok
}
