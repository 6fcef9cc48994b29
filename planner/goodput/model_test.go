package goodput

import (
	"errors"
	"math"
	"testing"

	"pgregory.net/rapid"
)

// drawTheta draws parameters over the range of public fits and beyond.
func drawTheta(t *rapid.T) Theta {
	term := func(name string, low, high float64) float64 {
		return math.Exp(rapid.Float64Range(math.Log(low), math.Log(high)).Draw(t, name))
	}
	return Theta{
		AlphaC: term("alpha_c", 1e-3, 1), BetaC: term("beta_c", 1e-7, 0.1),
		AlphaN: term("alpha_n", 1e-3, 2), BetaN: term("beta_n", 1e-6, 0.05),
		AlphaR: term("alpha_r", 1e-3, 1), BetaR: term("beta_r", 1e-6, 0.05),
		Gamma: rapid.Float64Range(1, 10).Draw(t, "gamma"),
	}
}

func drawModel(t *rapid.T) Model {
	m := Model{Theta: drawTheta(t), Noise: UnknownNoise}
	if rapid.Bool().Draw(t, "noise known") {
		m.Noise = Noise{Sqr: rapid.Float64Range(0, 10).Draw(t, "sqr"), Var: rapid.Float64Range(0, 1000).Draw(t, "var")}
	}
	l := &m.Limits
	l.InitialBatch = rapid.IntRange(1, 512).Draw(t, "m0")
	l.MaxBatch = l.InitialBatch * rapid.IntRange(1, 64).Draw(t, "times m0")
	l.MinLocal = rapid.IntRange(1, 32).Draw(t, "min local")
	l.MaxLocal = l.MinLocal + rapid.IntRange(0, 512).Draw(t, "range")
	l.Accumulation = rapid.Bool().Draw(t, "accumulation")
	return m
}

func TestStepTimeIsThePublishedFormula(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		theta := drawTheta(t)
		replicas := rapid.IntRange(1, 64).Draw(t, "replicas")
		nodes := rapid.IntRange(1, replicas).Draw(t, "nodes")
		atomic, accum := rapid.IntRange(1, 1024).Draw(t, "atomic"), rapid.IntRange(0, 8).Draw(t, "accum")
		grad := theta.AlphaC + theta.BetaC*float64(atomic)
		sync := 1e-8 + 1e-16
		switch k := math.Max(float64(replicas)-2, 1e-8); {
		case nodes > 1:
			sync = theta.AlphaN + theta.BetaN*k
		case replicas > 1:
			sync = theta.AlphaR + theta.BetaR*k
		}
		want := float64(accum)*grad + math.Pow(math.Pow(grad, theta.Gamma)+math.Pow(sync, theta.Gamma), 1/theta.Gamma)
		if got := theta.StepSec(nodes, replicas, atomic, accum); math.Abs(got-want) > 1e-13*want {
			t.Fatalf("step of %g s, want %g", got, want)
		}
	})
}

func TestOverlapSurvivesExtremes(t *testing.T) {
	for _, c := range []struct{ a, b, gamma, want float64 }{
		{3, 4, 1, 7}, {3, 4, 2, 5}, {0, 4, 3, 4}, {1e-200, 1, 10, 1}, {1e200, 1e200, 10, 1e200 * math.Pow(2, 0.1)},
	} {
		if got := overlap(c.a, c.b, c.gamma); math.Abs(got-c.want) > 1e-13*c.want {
			t.Errorf("overlap(%g, %g, %g) = %g, want %g", c.a, c.b, c.gamma, got, c.want)
		}
	}
}

func TestEfficiencyIsThatOfTheNoiseScale(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := Noise{Sqr: rapid.Float64Range(1e-3, 1e3).Draw(t, "sqr"), Var: rapid.Float64Range(1e-3, 1e3).Draw(t, "var")}
		m0 := rapid.IntRange(1, 1000).Draw(t, "m0")
		scale := rapid.Float64Range(1, 100).Draw(t, "scale")
		phi, ok := n.Scale(m0)
		want := (phi + float64(m0)) / (phi + scale*float64(m0))
		if got := n.Efficiency(scale); !ok || math.Abs(got-want) > 1e-12 {
			t.Fatalf("efficiency %g, want %g by the noise scale", got, want)
		}
		if got := n.Efficiency(1); math.Abs(got-1) > 1e-12 {
			t.Fatalf("efficiency %g at the reference batch, want 1", got)
		}
	})
	for _, scale := range []float64{1, 3, 64} {
		if got := UnknownNoise.Efficiency(scale); math.Abs(got-1) > 1e-12 {
			t.Errorf("efficiency %g of a job without statistics, want 1", got)
		}
		if got := (Noise{}).Efficiency(scale); math.Abs(got-1/scale) > 1e-12 {
			t.Errorf("efficiency %g without gradient and noise, want %g", got, 1/scale)
		}
	}
}

func TestNoiseThatSaysNothingIsUnknown(t *testing.T) {
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), -1} {
		if _, ok := NewNoise(v, 1); ok {
			t.Errorf("sqr %g was taken", v)
		}
		if _, ok := NewNoise(1, v); ok {
			t.Errorf("var %g was taken", v)
		}
	}
	if n, ok := NewNoise(0, 0); !ok || n != (Noise{}) {
		t.Error("zeros are values")
	}
	if _, ok := (Noise{}).Scale(32); ok {
		t.Error("no gradient and no noise have no scale")
	}
}

// bestByRule is the search as it was published, in its plain form.
func bestByRule(m Model, v Variant, nodes, replicas int) Choice {
	l := m.Limits
	k, lo, hi := float64(replicas), float64(l.MinLocal), float64(l.MaxLocal)
	m0, last := float64(l.InitialBatch), float64(l.MaxBatch)
	first := math.Max(m0, lo*k)
	best := Choice{Goodput: -1}
	for i := range 50 {
		b := first * math.Pow(last/first, float64(i)/49)
		if i == 49 {
			b = last
		}
		b /= k
		s, a := 0.0, math.Ceil(b-1e-8)
		if l.Accumulation {
			s = math.Ceil(b/hi-1e-8) - 1
			if replicas == 1 && b > m0+1e-8 {
				s = math.Max(s, 1)
			}
			a = math.Ceil(b/(s+1) - 1e-8)
		} else if v == Clamp && replicas == 1 {
			a = m0
		}
		inside := a >= lo && a <= hi
		if v == Clamp {
			a, inside = math.Min(math.Max(a, lo), hi), true
		}
		c := Choice{Atomic: int(a), Accum: int(s), Batch: replicas * int(a) * (int(s) + 1)}
		if inside && c.Batch >= l.InitialBatch {
			c.Goodput = m.At(nodes, replicas, c.Atomic, c.Accum).Goodput
		}
		if c.Goodput > best.Goodput*(1+1e-12) || i == 0 {
			best = c
		}
	}
	return best
}

func TestBestIsThatOfThePublishedGrid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawModel(t)
		v := rapid.SampledFrom([]Variant{Clamp, Reject}).Draw(t, "variant")
		replicas := rapid.IntRange(1, 64).Draw(t, "replicas")
		nodes := rapid.IntRange(1, replicas).Draw(t, "nodes")
		got, ok := m.Best(v, nodes, replicas)
		want := bestByRule(m, v, nodes, replicas)
		if ok != (want.Goodput > 0) || math.Abs(got.Goodput-want.Goodput) > 1e-9*want.Goodput {
			t.Fatalf("best %+v, ok %v; want %+v", got, ok, want)
		}
		if ok && math.Abs(m.At(nodes, replicas, got.Atomic, got.Accum).Goodput-got.Goodput) > 1e-9*got.Goodput {
			t.Fatalf("%+v does not give the goodput that it claims", got)
		}
		if ok && (got.Batch < m.Limits.InitialBatch || got.Batch != replicas*got.Atomic*(got.Accum+1)) {
			t.Fatalf("%+v is no batch of %d replicas", got, replicas)
		}
	})
}

// Where passes cost by the sample, synchronization is free and all samples count, a
// larger batch gains nothing: in the last digit one or another seems better.
func TestAmongEqualsTheSmallestBatchWins(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := Model{
			Theta:  Theta{BetaC: rapid.Float64Range(1e-4, 1).Draw(t, "beta_c"), Gamma: 1},
			Noise:  UnknownNoise,
			Limits: Limits{InitialBatch: 2 * rapid.IntRange(1, 250).Draw(t, "m0/2"), MaxBatch: 10_000, MaxLocal: 500, Accumulation: true},
		}
		if got, ok := m.Best(Clamp, 1, 2); !ok || got.Batch != m.Limits.InitialBatch {
			t.Fatalf("%+v, ok %v; want the initial batch of %d", got, ok, m.Limits.InitialBatch)
		}
	})
}

// The published claim is a loss of at most 0.5 % against every batch there is.
func TestBestIsNearTheExhaustiveSearch(t *testing.T) {
	m := imagenetOnT4()
	for _, replicas := range []int{1, 2, 3, 5, 8, 13, 32, 64} {
		nodes := (replicas + 3) / 4
		got, ok := m.Best(Clamp, nodes, replicas)
		most := 0.0
		for accum := range 65 {
			for atomic := m.Limits.MinLocal; atomic <= m.Limits.MaxLocal; atomic++ {
				batch := replicas * atomic * (accum + 1)
				if batch < m.Limits.InitialBatch || batch > m.Limits.MaxBatch || replicas == 1 && accum == 0 && batch > m.Limits.InitialBatch {
					continue
				}
				most = max(most, m.At(nodes, replicas, atomic, accum).Goodput)
			}
		}
		if !ok || got.Goodput < 0.995*most {
			t.Errorf("%d replicas: goodput %g, %g is possible", replicas, got.Goodput, most)
		}
	}
}

func TestOneReplicaWithoutAccumulationKeepsItsBatch(t *testing.T) {
	m := imagenetOnT4()
	m.Limits.Accumulation = false
	m.Noise = UnknownNoise
	m.Limits.MaxLocal = 0
	if got, _ := m.Best(Clamp, 1, 1); got.Batch != 200 {
		t.Errorf("batch %d, want 200", got.Batch)
	}
	if got, _ := m.Best(Reject, 1, 1); got.Batch != 12800 {
		t.Errorf("the paper's code grows it: batch %d, want 12800", got.Batch)
	}
}

func TestAllocationThatNoBatchFitsIsNone(t *testing.T) {
	m := imagenetOnT4()
	m.Limits = Limits{InitialBatch: 100, MaxLocal: 40}
	for _, v := range []Variant{Clamp, Reject} {
		if got, ok := m.Best(v, 1, 2); ok {
			t.Errorf("%v: 100 samples on two replicas of at most 40 each: %+v", v, got)
		}
		if _, ok := m.Best(v, 1, 3); !ok {
			t.Errorf("%v: three replicas can", v)
		}
	}
}

func TestRunningBatchStaysUnlessMuchIsGained(t *testing.T) {
	m := imagenetOnT4()
	best, _ := m.Best(Clamp, 4, 16)
	if !m.Keep(4, 16, best, best) {
		t.Error("the best batch was not kept")
	}
	small := Choice{Atomic: 20}
	if m.Keep(4, 16, small, best) {
		t.Errorf("goodput %g was kept, %g is possible", m.At(4, 16, 20, 0).Goodput, best.Goodput)
	}
}

func TestMaxReplicas(t *testing.T) {
	l := Limits{InitialBatch: 128, MaxBatch: 1024, MinLocal: 32}
	for _, c := range []struct {
		name                      string
		profiled, atLeast, atMost int
		want                      int
	}{
		{"a job that never ran gets one", 0, 0, 0, 1},
		{"twice what was measured", 4, 0, 0, 8},
		{"not beyond the job's own limit", 8, 0, 10, 10},
		{"not below the job's own least", 1, 6, 0, 6},
		{"not beyond what the batch feeds", 30, 0, 0, 32},
		{"nor for the job's own least", 1, 40, 0, 32},
	} {
		if got := l.MaxReplicas(c.profiled, c.atLeast, c.atMost); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

func TestModelIsRefusedByField(t *testing.T) {
	for _, c := range []struct {
		field string
		spoil func(m *Model)
	}{
		{"alpha_c", func(m *Model) { m.Theta.AlphaC = math.NaN() }},
		{"alpha_c", func(m *Model) { m.Theta.AlphaC, m.Theta.BetaC = 0, 0 }},
		{"beta_r", func(m *Model) { m.Theta.BetaR = -1 }},
		{"gamma", func(m *Model) { m.Theta.Gamma = 11 }},
		{"m0", func(m *Model) { m.Limits.InitialBatch = 0 }},
		{"max_batch", func(m *Model) { m.Limits.MaxBatch = 100 }},
		{"max_local", func(m *Model) { m.Limits.MaxLocal = 10 }},
		{"sqr", func(m *Model) { m.Noise.Sqr = math.Inf(1) }},
		{"var", func(m *Model) { m.Noise.Var = -1 }},
	} {
		m := imagenetOnT4()
		if err := m.Check(); err != nil {
			t.Fatal(err)
		}
		c.spoil(&m)
		var bad *FieldError
		if err := m.Check(); !errors.As(err, &bad) || bad.Field != c.field {
			t.Errorf("error %v, want one of %s", err, c.field)
		}
	}
}
