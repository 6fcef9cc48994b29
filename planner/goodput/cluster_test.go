package goodput

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

func TestPowerMeanGoesFromTheLeastToTheMost(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Float64Range(0.01, 100), 1, 8).Draw(t, "values")
		least, most := math.Inf(1), 0.0
		for _, v := range values {
			least, most = min(least, v), max(most, v)
		}
		before := least * (1 - 1e-9)
		for _, p := range []float64{-2000, -10, -1, -0.5, 0, 0.5, 1, 2, 2000} {
			v := PowerMean(values, p, 0)
			if math.IsNaN(v) || v < before*(1-1e-9) || v > most*(1+1e-9) {
				t.Fatalf("mean %g of exponent %g, that of the exponent before is %g, the most %g", v, p, before, most)
			}
			before = v
		}
		if v := PowerMean(values, -2000, 0); v > least*1.01 {
			t.Fatalf("mean %g of exponent -2000, want the least, %g", v, least)
		}
	})
	if v := PowerMean(nil, -1, 0); v != 0 {
		t.Errorf("mean %g of nothing", v)
	}
}

func TestRestartFactorOfAJobWithoutAge(t *testing.T) {
	if v := RestartFactor(0, 0, 0); v != 0 {
		t.Errorf("factor %g, want 0", v)
	}
}

func TestUtilityOfNoNodes(t *testing.T) {
	if v := Utility([]float64{1}, 0); v != 0 {
		t.Errorf("utility %g, want 0", v)
	}
}

func TestDesiredNodes(t *testing.T) {
	for _, c := range []struct {
		name    string
		front   []FrontPoint
		current int
		want    int
	}{
		{"nothing to run: as it is", nil, 3, 3},
		{"in the band: as it is", []FrontPoint{{1, 1, 0.9}, {2, 3, 0.5}}, 3, 3},
		{"the best performer decides, not the last", []FrontPoint{{2, 2, 0.6}, {1, 3, 0.9}}, 3, 3},
		{"busy: grows to the middle", []FrontPoint{{1, 2, 0.9}, {2, 4, 0.7}, {3, 8, 0.52}, {4, 16, 0.36}}, 2, 8},
		{"idle: shrinks", []FrontPoint{{1, 1, 0.55}, {1.1, 4, 0.2}}, 4, 1},
		{"all below the band: as it is", []FrontPoint{{1, 1, 0.3}, {2, 2, 0.2}}, 2, 2},
		{"too small even for the least", []FrontPoint{{5, 4, 0.5}}, 1, 4},
		{"of two alike the larger", []FrontPoint{{1, 1, 0.9}, {2, 2, 0.5}, {2.1, 4, 0.5000001}}, 1, 4},
	} {
		if got := DesiredNodes(c.front, c.current, PublishedBand); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

func TestPaperNodesGrowsToHalfOfIdealScaling(t *testing.T) {
	m := imagenetOnT4()
	wanted, fraction, ok := m.PaperNodes(Clamp, PublishedGrowth, 4, 1, 64)
	if !ok || fraction < 0.9 {
		t.Fatalf("fraction %g at one node, ok %v", fraction, ok)
	}
	one, _ := m.Best(Clamp, 1, 1)
	at := func(n int) float64 {
		best, _ := m.Best(Clamp, n, 4*n)
		return math.Abs(best.Goodput/float64(4*n)/one.Goodput - 0.5)
	}
	for n := 1; n <= 64; n++ {
		if at(n) < at(wanted) {
			t.Errorf("%d nodes are nearer to the target than %d", n, wanted)
		}
	}
	if again, _, _ := m.PaperNodes(Clamp, PublishedGrowth, 4, wanted, 64); again != wanted {
		t.Errorf("grew from %d to %d", wanted, again)
	}
	m.Limits = Limits{InitialBatch: 100, MaxLocal: 10}
	if _, _, ok := m.PaperNodes(Clamp, PublishedGrowth, 4, 1, 8); ok {
		t.Error("a job that cannot run on one accelerator has no fraction")
	}
}

func TestSpeedupsRemember(t *testing.T) {
	m := imagenetOnT4()
	s, ok := NewSpeedups(m, Clamp, 1, 1)
	if !ok {
		t.Fatal("the base cannot run")
	}
	if v := s.Of(0, 0); v != 0 {
		t.Errorf("speedup %g of nothing", v)
	}
	if v := s.Of(1, 1); v != 1 {
		t.Errorf("speedup %g of the base", v)
	}
	first := s.Of(4, 16)
	if first <= 1 || s.Of(4, 16) != first || len(s.known) != 2 {
		t.Errorf("speedup %g, then %g, with %d remembered", first, s.Of(4, 16), len(s.known))
	}
}

func TestWorkersKeepHalfOfIdealScaling(t *testing.T) {
	m := imagenetOnT4()
	m.Limits.MaxBatch = 800
	s, _ := NewSpeedups(m, Clamp, 1, 1)
	wanted := s.Workers(0, 1, 40)
	if wanted < 2 || wanted == 40 {
		t.Fatalf("%d workers, want some", wanted)
	}
	if s.Of(wanted, wanted)/float64(wanted) < 0.5 || s.Of(wanted+1, wanted+1)/float64(wanted+1) >= 0.5 {
		t.Errorf("%d workers are not the most of half efficiency", wanted)
	}
	if got := s.Workers(wanted-1, 1, 40); got != wanted-1 && float64(1) < workerChange*float64(wanted-1) {
		t.Errorf("%d workers, want %d as one more changes too little", got, wanted-1)
	}
	if got := s.Workers(1, 1, 40); got != wanted {
		t.Errorf("%d workers from 1, want %d", got, wanted)
	}
}
