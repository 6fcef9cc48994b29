package planner

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// improvementByIntegral is the mean of max(0, kappa − cost) over the belief.
func improvementByIntegral(t Trial) float64 {
	const steps = 40_000
	sum, weight := 0.0, 0.0
	for i := range steps {
		x := -8 + 16*(float64(i)+0.5)/steps
		density := math.Exp(-x * x / 2)
		sum += density * max(0, t.Kappa-math.Exp(t.LogCost+t.LogSD*x))
		weight += density
	}
	return sum / weight
}

func TestImprovementOfATrialIsItsMean(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		trial := Trial{
			Kappa:   rapid.Float64Range(0.01, 10).Draw(t, "kappa"),
			LogCost: rapid.Float64Range(-3, 3).Draw(t, "log cost"),
			LogSD:   rapid.Float64Range(0.01, 1).Draw(t, "log sd"),
		}
		got, want := trial.Improvement(), improvementByIntegral(trial)
		if math.Abs(got-want) > 1e-4*trial.Kappa {
			t.Fatalf("improvement %g, the integral is %g", got, want)
		}
	})
}

func TestTrialPaysWhenMuchWorkIsLeft(t *testing.T) {
	// A type believed to cost the same, within a factor: by luck it is cheaper.
	trial := Trial{Jobs: 1, Work: 1e6, Kappa: 1e-4, LogCost: math.Log(1e-4), LogSD: 0.5, Rate: 10, Boot: 0.1, Profile: 0.2, ValueOfTime: 5, Resume: 0.2}
	if trial.Worth() <= 0 {
		t.Errorf("worth %g USD, want it to pay: 100 USD of work are left", trial.Worth())
	}
	trial.Work = 1e4
	if trial.Worth() >= 0 {
		t.Errorf("worth %g USD, want it not to pay: 1 USD of work is left", trial.Worth())
	}
	trial.Jobs = 100
	if trial.Worth() <= 0 {
		t.Errorf("worth %g USD, want it to pay: what one job finds out serves a hundred", trial.Worth())
	}
	trial.LogSD = 0
	if got := trial.Improvement(); math.Abs(got) > 1e-18 {
		t.Errorf("improvement %g of what is known to cost the same", got)
	}
}
