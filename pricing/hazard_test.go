package pricing

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"

	"github.com/goodfleet/goodfleet/provider"
)

// TestAStayMeetsLossesAsPlayed draws pools by the law that is believed, plays a stay in
// each, and counts losses over the hours that were had.
func TestAStayMeetsLossesAsPlayed(t *testing.T) {
	const pools = 400_000
	for _, tt := range []struct{ shape, mean, stay float64 }{
		{0.5, 0.6, 0.25}, {0.5, 0.6, 4}, {0.5, 0.1, 24}, {1, 0.3, 6}, {2.5, 1.2, 2}, {0.5, 0.6, 100}, {0.5, 0.3, 1000},
	} {
		r := rand.New(rand.NewPCG(7, 0x6f_76_65_72))
		law := distuv.Gamma{Alpha: tt.shape, Beta: tt.shape / tt.mean, Src: r}
		lost, up := 0.0, 0.0
		for range pools {
			life := math.Inf(1)
			if rate := law.Rand(); rate > 0 {
				life = r.ExpFloat64() / rate
			}
			if life < tt.stay {
				lost++
			}
			up += min(life, tt.stay)
		}
		h := Hazard{PoolPerHour: tt.mean, Shape: tt.shape, Rate: tt.shape / tt.mean}.Over(tt.stay)
		if want := lost / up; math.Abs(h.PoolPerHour/want-1) > 0.01 {
			t.Errorf("%+v: %g losses per hour up, played %g", tt, h.PoolPerHour, want)
		}
	}
}

// TestAStayMeetsLossesByIntegral holds Over against its definition by quadrature, with
// known losses beside those that are believed.
func TestAStayMeetsLossesByIntegral(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		shape := rapid.OneOf(rapid.Just(1.0), rapid.Float64Range(0.1, 4)).Draw(t, "shape")
		mean := rapid.Float64Range(0.001, 5).Draw(t, "mean")
		known := rapid.Float64Range(0, 2).Draw(t, "known")
		stay := rapid.Float64Range(0.01, 200).Draw(t, "hours")
		b := shape / mean
		stays := func(x float64) float64 { return math.Pow(b/(b+x), shape) }
		// In x = b·(e^u − 1) the integrand is smooth over all of the range.
		up := quad.Fixed(func(u float64) float64 { return stays(b*math.Expm1(u)) * b * math.Exp(u) }, 0, math.Log1p(stay/b), 60, nil, 0)
		h := Hazard{PoolPerHour: mean + known, Shape: shape, Rate: b, OnePerHour: 0.01}
		got := h.Over(stay)
		if want := known + (1-stays(stay))/up; math.Abs(got.PoolPerHour-want) > 1e-8*want {
			t.Fatalf("%g losses per hour up, by integral %g", got.PoolPerHour, want)
		}
		if got.PoolPerHour > h.PoolPerHour*(1+1e-12) || got.OnePerHour != h.OnePerHour || got.Shape != 0 || got.Rate != 0 {
			t.Fatalf("%+v of %+v: want no more losses, and nothing else changed", got, h)
		}
		if again := got.Over(stay); again != got {
			t.Fatalf("what is known changed: %+v of %+v", again, got)
		}
		if short := h.Over(1e-9); math.Abs(short.PoolPerHour/h.PoolPerHour-1) > 1e-6 {
			t.Fatalf("a moment meets %g losses per hour, want the mean %g", short.PoolPerHour, h.PoolPerHour)
		}
	})
}

// TestTwoStaysAreOneLongOne: what is believed after a stay without a loss goes on where
// the law had come to, so that planning anew on the way expects what was expected.
func TestTwoStaysAreOneLongOne(t *testing.T) {
	o := provider.Offering{Cloud: "aws", Region: "mars-north-1", Zone: "m1", Type: "p3.2xlarge", Market: provider.Spot}
	start := time.Date(2023, 3, 1, 0, 0, 0, 0, time.UTC)
	z := NewHazards(HazardConfig{HalfLife: 1e6 * time.Hour})
	before := z.Of(o, start)
	z.Observe(o.Pool(), start, start.Add(3*time.Hour), false)
	after := z.Of(o, start.Add(3*time.Hour))
	// Of a stay of h hours, survival s = 1 − L·up, and L·up is what is lost.
	lost := func(h Hazard, hours float64) (lost, up float64) {
		stays := math.Pow(h.Rate/(h.Rate+hours), h.Shape)
		return 1 - stays, (1 - stays) / h.Over(hours).PoolPerHour
	}
	l3, u3 := lost(before, 3)
	l5, u5 := lost(after, 5)
	l8, u8 := lost(before, 8)
	if got := l3 + (1-l3)*l5; math.Abs(got-l8) > 1e-4 {
		t.Errorf("lost within 3 and then 5 hours with probability %g, within 8 with %g", got, l8)
	}
	if got := u3 + (1-l3)*u5; math.Abs(got-u8) > 1e-3 {
		t.Errorf("up for %g hours in two stays, for %g in one", got, u8)
	}
}
