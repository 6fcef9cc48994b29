package planner

import "math"

// Trial is the question whether to rent a type that a family of jobs never ran on,
// to find out what it does. ln of the cost of a unit of work there is believed to
// be normal with mean LogCost and standard deviation LogSD.
type Trial struct {
	Accelerator string // the type

	Jobs    float64 // jobs of the family that are still to come
	Work    float64 // of each, samples
	Kappa   float64 // least known cost of a unit of work, USD per sample
	LogCost float64 // ln of USD per sample
	LogSD   float64

	Rate        float64 // USD per hour of the machines to be tried
	Boot        float64 // h
	Profile     float64 // h that measuring takes
	ValueOfTime float64 // USD/h of the job that tries it
	Resume      float64 // h that it loses by moving there and back
}

// Improvement is what a unit of work is expected to become cheaper by, in USD per
// sample: the trial is kept only if it turns out cheaper than Kappa.
func (t Trial) Improvement() float64 {
	if !(t.LogSD > 0) {
		return max(0, t.Kappa-math.Exp(t.LogCost))
	}
	z := (math.Log(t.Kappa) - t.LogCost) / t.LogSD
	return t.Kappa*tailNormal(-z) - math.Exp(t.LogCost+t.LogSD*t.LogSD/2)*tailNormal(t.LogSD-z)
}

// Hourly is Worth per hour of the trial, in USD/h.
func (t Trial) Hourly() float64 { return t.Worth() / (t.Boot + t.Profile) }

// Worth is what the trial brings on average less what it costs, in USD. It pays
// when that is positive.
func (t Trial) Worth() float64 {
	return t.Jobs*t.Work*t.Improvement() - t.Rate*(t.Boot+t.Profile) - t.ValueOfTime*t.Resume
}
