package pricing

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"gonum.org/v1/gonum/integrate/quad"
	"pgregory.net/rapid"
)

func newTestSource(seed uint64) rand.Source { return rand.NewPCG(seed, 1) }

// usefulByIntegral is useful/paid from its definition: the mean of what a life of
// t hours saves, over the mean life. The integrand jumps when a checkpoint is
// done, so it is integrated piece by piece.
func usefulByIntegral(l, s, d, tau float64, covered bool) float64 {
	density := func(t float64) float64 { return l * math.Exp(-l*t) }
	sum := 0.0
	for k := 0; ; k++ {
		from := s + float64(k)*(tau+d)
		if l*(from-s) > 40 { // what is left weighs less than e^−40
			return sum * l
		}
		sum += quad.Fixed(func(t float64) float64 {
			if covered {
				return density(t) * (t - s) * tau / (tau + d)
			}
			return density(t) * float64(k) * tau
		}, from, from+tau+d, 30, nil, 0)
	}
}

// integralTolerance is relative: Gauss's rule of 30 points on pieces no longer
// than a few mean lives.
const integralTolerance = 1e-7

func TestUsefulPaidMatchesIntegral(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := rapid.Float64Range(0.01, 3).Draw(t, "l")
		s := rapid.IntRange(0, 120).Draw(t, "restart minutes")
		d := rapid.IntRange(0, 20).Draw(t, "save minutes")
		tau := rapid.IntRange(1, 240).Draw(t, "every minutes")
		covered := rapid.Bool().Draw(t, "covered")
		minutes := func(n int) time.Duration { return time.Duration(n) * time.Minute }
		got := UsefulPaid(l, minutes(s), minutes(d), minutes(tau), covered)
		want := usefulByIntegral(l, float64(s)/60, float64(d)/60, float64(tau)/60, covered)
		if math.Abs(got-want) > integralTolerance*want {
			t.Fatalf("useful/paid %g, by integral %g", got, want)
		}
	})
}

// TestUsefulSharesMatchSimulation lives through 200,000 exponential lives.
func TestUsefulSharesMatchSimulation(t *testing.T) {
	const (
		l, restart, save, every, down = 0.4, 0.2, 0.05, 0.5, 1.5 // per hour, hours
		lives                         = 200_000
	)
	rng := rand.New(rand.NewPCG(7, 3))
	var paid, wall, covered, uncovered float64
	for range lives {
		life := rng.ExpFloat64() / l
		paid += life
		wall += life + rng.ExpFloat64()*down
		if left := life - restart; left > 0 {
			covered += left * every / (every + save)
			uncovered += math.Floor(left/(every+save)) * every
		}
	}
	hours := func(h float64) time.Duration { return time.Duration(h * float64(time.Hour)) }
	for _, test := range []struct {
		name    string
		covered bool
		useful  float64
	}{{"with notice", true, covered}, {"without", false, uncovered}} {
		a := UsefulPaid(l, hours(restart), hours(save), hours(every), test.covered)
		// Half a percent is four standard errors of the mean of these lives.
		if got := test.useful / paid; math.Abs(got/a-1) > 0.005 {
			t.Errorf("%s: simulated useful/paid %g, formula %g", test.name, got, a)
		}
		if got, want := test.useful/wall, UsefulWall(a, l, hours(down)); math.Abs(got/want-1) > 0.005 {
			t.Errorf("%s: simulated useful/wall %g, formula %g", test.name, got, want)
		}
	}
}

func TestUsefulPaidLimits(t *testing.T) {
	const h, m = time.Hour, time.Minute
	for _, test := range []struct {
		name        string
		l           float64
		s, d, every time.Duration
		covered     bool
		want        float64
	}{
		{"no losses", 0, h, m, 29 * m, false, 29.0 / 30},
		{"no losses, covered", 0, h, m, 29 * m, true, 29.0 / 30},
		{"next to no losses", 1e-14, h, m, 29 * m, false, 29.0 / 30},
		{"nothing to save", 0.5, h, 0, 29 * m, true, math.Exp(-0.5)},
		{"every step saved for nothing", 0.5, h, 0, 0, false, math.Exp(-0.5)},
		{"saving all the time", 0.5, h, m, 0, false, 0},
		{"hopeless", 1e6, h, m, h, false, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := UsefulPaid(test.l, test.s, test.d, test.every, test.covered); math.Abs(got-test.want) > 1e-9 {
				t.Errorf("useful/paid %g, want %g", got, test.want)
			}
		})
	}
}

// TestUsefulPaidIsMonotone: more losses, longer restarts, longer saves and the
// lack of a notice never help, and a share stays a share.
func TestUsefulPaidIsMonotone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		minutes := func(name string, lo, hi int) time.Duration {
			return time.Duration(rapid.IntRange(lo, hi).Draw(t, name)) * time.Minute
		}
		l := rapid.Float64Range(0, 5).Draw(t, "l")
		s, d, tau := minutes("s", 0, 300), minutes("d", 0, 60), minutes("tau", 1, 600)
		a := UsefulPaid(l, s, d, tau, false)
		if !(a >= 0 && a <= 1) {
			t.Fatalf("share %g", a)
		}
		const slack = 1e-12 // of rounding
		for name, worse := range map[string]float64{
			"more losses":    UsefulPaid(l*1.1+0.01, s, d, tau, false),
			"longer restart": UsefulPaid(l, s+time.Minute, d, tau, false),
			"longer save":    UsefulPaid(l, s, d+time.Minute, tau, false),
		} {
			if worse > a+slack {
				t.Fatalf("%s: %g, was %g", name, worse, a)
			}
		}
		if covered := UsefulPaid(l, s, d, tau, true); covered < a-slack {
			t.Fatalf("with notice %g, without %g", covered, a)
		}
		if wall := UsefulWall(a, l, 2*time.Hour); wall > a {
			t.Fatalf("useful/wall %g over useful/paid %g", wall, a)
		}
	})
}

func TestCheckpointEveryIsYoungsRuleWithinBounds(t *testing.T) {
	for _, test := range []struct {
		name string
		save time.Duration
		l    float64
		want time.Duration
	}{
		{"rule", 30 * time.Second, 0.15, 20 * time.Minute}, // sqrt(2·(1/120)/0.15) = 1/3 h
		{"no losses", time.Minute, 0, MaxCheckpointEvery},
		{"rare losses", time.Minute, 1e-9, MaxCheckpointEvery},
		{"free save", 0, 0.3, MinCheckpointEvery},
		{"save longer than the rule", 3 * time.Hour, 10, 3 * time.Hour},
		{"save longer than the bound", 5 * time.Hour, 0, 5 * time.Hour},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := CheckpointEvery(test.save, test.l)
			if diff := got - test.want; diff.Abs() > time.Second {
				t.Errorf("every %v, want %v", got, test.want)
			}
		})
	}
}

// TestCheckpointEveryIsNearTheBestInterval: where losses are rare against the
// save, no other interval is better than the rule's by half a percent.
func TestCheckpointEveryIsNearTheBestInterval(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		save := time.Duration(rapid.IntRange(10, 120).Draw(t, "save seconds")) * time.Second
		l := rapid.Float64Range(0.02, 0.5).Draw(t, "l")
		tau := CheckpointEvery(save, l)
		got := UsefulPaid(l, 0, save, tau, false)
		for _, factor := range []float64{0.25, 0.5, 0.8, 1.25, 2, 4} {
			other := time.Duration(float64(tau) * factor)
			if better := UsefulPaid(l, 0, save, other, false); better > got*1.005 {
				t.Fatalf("every %v gives %g, every %v gives %g", tau, got, other, better)
			}
		}
	})
}
