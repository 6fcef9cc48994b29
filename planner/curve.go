package planner

import (
	"slices"

	"github.com/goodfleet/goodfleet/planner/throughput"
)

// profileCurve is the speeds of a throughput profile as a Curve.
type profileCurve struct{ profile throughput.Profile }

// TableCurve makes a curve of measured or estimated throughputs: goodput equals
// throughput, since the batch of such a job is fixed.
func TableCurve(p throughput.Profile) Curve { return profileCurve{p} }

// Speed turns samples per second into samples per hour.
func (c profileCurve) Speed(accelerator string, nodes, replicas int) (Speed, bool) {
	perSec, estimated, ok := c.profile.Speed(accelerator, nodes, replicas)
	if !ok {
		return Speed{}, false
	}
	return Speed{Goodput: perSec * 3600, Estimated: estimated, LogSD: throughput.LogSD(estimated)}, true
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
