package fake

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mathext"
)

// Weibull is the law of a length in hours: P(length > t) = exp(-(t/Scale)^Shape).
// Shape 1 is the exponential law; below 1, short lengths come in bursts between
// long ones, as the lives of spot machines do.
type Weibull struct {
	Shape float64
	Scale float64 // hours
}

// Exponential is the law of a length without memory.
func Exponential(meanHours float64) Weibull { return Weibull{Shape: 1, Scale: meanHours} }

// Mean is the expected length in hours.
func (w Weibull) Mean() float64 { return w.Scale * math.Gamma(1+1/w.Shape) }

// Survival is the probability of a length over t hours.
func (w Weibull) Survival(t float64) float64 {
	if t <= 0 {
		return 1
	}
	return math.Exp(-math.Pow(t/w.Scale, w.Shape))
}

// Quantile is the length in hours that a share u of all lengths stays below, u in [0, 1).
func (w Weibull) Quantile(u float64) float64 {
	return w.Scale * math.Pow(-math.Log1p(-u), 1/w.Shape)
}

// Residual is the quantile, in hours, of what is left of a length that is met at
// a random instant: the law with density Survival(t)/Mean, u in [0, 1).
func (w Weibull) Residual(u float64) float64 {
	if w.Shape == 1 {
		return w.Quantile(u)
	}
	return w.Scale * math.Pow(mathext.GammaIncRegInv(1/w.Shape, u), 1/w.Shape)
}

// Times is the same law with every length multiplied by factor.
func (w Weibull) Times(factor float64) Weibull {
	return Weibull{Shape: w.Shape, Scale: w.Scale * factor}
}

// Shapes outside these bounds come from a fit that went wrong: below, the mean is
// thousands of times the median; above, spells would be periodic.
const minShape, maxShape = 0.2, 10

func (w Weibull) validate() error {
	if !(w.Shape >= minShape && w.Shape <= maxShape) {
		return fmt.Errorf("shape %g: want %g to %g", w.Shape, minShape, float64(maxShape))
	}
	if !(w.Scale > 0) || math.IsInf(w.Scale, 0) {
		return fmt.Errorf("scale %g hours: want a positive number", w.Scale)
	}
	return nil
}

// Law is how a pool comes and goes: spells up and down in turn, independent of
// each other. The zero value never goes down.
type Law struct {
	Up, Down Weibull
}

// Steady reports whether the pool never goes down.
func (l Law) Steady() bool { return l == Law{} }

// UpShare is the expected share of time that the pool is up.
func (l Law) UpShare() float64 {
	if l.Steady() {
		return 1
	}
	up, down := l.Up.Mean(), l.Down.Mean()
	return up / (up + down)
}

func (l Law) validate() error {
	if l.Steady() {
		return nil
	}
	if err := l.Up.validate(); err != nil {
		return fmt.Errorf("up spells: %w", err)
	}
	if err := l.Down.validate(); err != nil {
		return fmt.Errorf("down spells: %w", err)
	}
	return nil
}
