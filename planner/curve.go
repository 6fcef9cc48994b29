package planner

import "github.com/goodfleet/goodfleet/planner/throughput"

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
	return Speed{Goodput: perSec * 3600, Estimated: estimated}, true
}

// ProfileOf is the profile behind a curve of TableCurve, so that a job can be
// written down. ok is false for any other curve.
func ProfileOf(c Curve) (p throughput.Profile, ok bool) {
	curve, ok := c.(profileCurve)
	return curve.profile, ok
}
