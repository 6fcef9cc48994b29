package goodput

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestTablesAreWithinOnePercent(t *testing.T) {
	places := sixtyPlaces()
	tables := NewTables(Clamp, places)
	worst := 0.0
	rapid.Check(t, func(t *rapid.T) {
		m := drawModel(t)
		for i, got := range tables.Row(m) {
			want, ok := m.Best(Clamp, places[i].Nodes, places[i].Replicas)
			if !ok {
				if got.Goodput != 0 {
					t.Fatalf("%+v: %+v, and it cannot run", places[i], got)
				}
				continue
			}
			off := math.Abs(got.Goodput/want.Goodput - 1)
			worst = max(worst, off)
			// What the choice of the table gives, under the true noise.
			real := m.At(places[i].Nodes, places[i].Replicas, got.Atomic, got.Accum).Goodput
			if off > 0.01 || real < 0.99*want.Goodput {
				t.Fatalf("%+v: %+v gives %g, the best %+v", places[i], got, real, want)
			}
		}
	})
	t.Logf("largest error %.2f %%", 100*worst)
}

func TestPlacesArePowersOfTwoAndWholeMachines(t *testing.T) {
	for _, c := range []struct {
		perNode, most int
		want          []Place
	}{
		{4, 12, []Place{{1, 1}, {1, 2}, {1, 4}, {2, 8}, {3, 12}}},
		{6, 13, []Place{{1, 1}, {1, 2}, {1, 4}, {1, 6}, {2, 12}}},
		{1, 3, []Place{{1, 1}, {2, 2}, {3, 3}}},
		{8, 3, []Place{{1, 1}, {1, 2}}},
	} {
		if diff := cmp.Diff(c.want, PlacesOf(c.perNode, c.most)); diff != "" {
			t.Errorf("%d a machine, at most %d (-want +got):\n%s", c.perNode, c.most, diff)
		}
	}
}

func TestTablesKeepWhatDidNotChange(t *testing.T) {
	models := drawModels(100, 4)
	tables := NewTables(Clamp, []Place{{1, 1}, {1, 4}, {4, 16}})
	for range 2 {
		for _, m := range models {
			tables.Row(m)
		}
		tables.NextRound()
	}
	if tables.Computed() != 100 {
		t.Fatalf("%d rows computed, want 100", tables.Computed())
	}
	for i := range models {
		// A step of a thousandth of a bucket seldom leaves it.
		models[i].Noise.Var *= math.Exp(noiseStep / 1000)
	}
	models[0].Theta.AlphaC *= 2
	models[1].Limits.MaxBatch *= 2
	models[2].Noise.Var *= 2
	for _, m := range models {
		tables.Row(m)
	}
	if n := tables.Computed() - 100; n < 3 || n > 6 {
		t.Errorf("%d rows computed after three jobs changed", n)
	}
	tables.NextRound()
	tables.NextRound()
	before := tables.Computed()
	tables.Row(models[5])
	if tables.Computed() != before+1 {
		t.Error("a row that nobody asked for in two rounds was kept")
	}
}
