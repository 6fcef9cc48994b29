package planner_test

import (
	"math"
	"testing"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/planner/goodput"
)

// resnet is a job measured on T4, of which one V100 is known too.
func resnet(t *testing.T) *goodput.Profile {
	t.Helper()
	p, err := goodput.ParseProfile([]byte(`{"apiVersion": "goodfleet/v1", "kind": "Profile", "metadata": {"name": "resnet50"}, "spec": {
		"batch": {"initial": 200, "max": 12800, "minLocal": 20, "maxLocal": 200, "accumulation": true}, "noise": {"sqr": 0.35, "var": 20},
		"types": [{"accelerator": "T4", "maxReplicas": 16,
				"theta": {"alpha_c": 0.064, "beta_c": 0.0045, "alpha_n": 0.32, "beta_n": 0.0062, "alpha_r": 0.075, "beta_r": 0.00087, "gamma": 2.5}},
			{"accelerator": "V100", "samples": [{"nodes": 1, "replicas": 1, "atomic_bsz": 50, "accum_time": 0.1, "optim_time": 0.1},
				{"nodes": 1, "replicas": 1, "atomic_bsz": 200, "accum_time": 0.31, "optim_time": 0.32}]}]}}`))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestGoodputCurveTakesTheBestBatch(t *testing.T) {
	p := resnet(t)
	curve, err := planner.GoodputCurve(p, planner.Growth{})
	if err != nil {
		t.Fatal(err)
	}
	got, ok := curve.Speed("T4", 4, 16)
	m := goodput.Model{Theta: p.Types[0].Theta, Noise: *p.Noise, Limits: p.Limits}
	best, _ := m.Best(goodput.Clamp, 4, 16)
	if !ok || math.Abs(got.Goodput-3600*best.Goodput) > 1e-6 || got.Batch != best.Batch || got.Estimated {
		t.Errorf("%+v, ok %v; want %+v an hour", got, ok, best)
	}
	for _, c := range []struct {
		accelerator string
		replicas    int
		ok          bool
		estimated   bool
	}{
		{"V100", 1, true, false},
		{"V100", 8, true, true},
		{"A100", 8, true, true},
		{"T4", 64, false, false}, // four times what was measured
		{"TPU v5e", 8, false, false},
		{"A9000", 1, false, false},
	} {
		got, ok := curve.Speed(c.accelerator, 1, c.replicas)
		if ok != c.ok || got.Estimated != c.estimated || ok && !(got.Goodput > 0 && got.LogSD > 0) {
			t.Errorf("%d %s: %+v, ok %v", c.replicas, c.accelerator, got, ok)
		}
	}
	if back, ok := planner.GoodputProfileOf(curve); !ok || back != p {
		t.Error("the profile did not come back")
	}
}

func TestProfileWithATableIsATableCurve(t *testing.T) {
	p := &goodput.Profile{Name: "lm", Table: []goodput.TableEntry{{Accelerator: "V100", Replicas: 2, Nodes: 1, SamplesPerSec: 10}}}
	curve, err := planner.GoodputCurve(p, planner.Growth{})
	if err != nil {
		t.Fatal(err)
	}
	if got, ok := curve.Speed("V100", 1, 2); !ok || got.Goodput != 36000 {
		t.Errorf("%+v, ok %v; want 36000 samples an hour", got, ok)
	}
	if _, ok := planner.ProfileOf(curve); !ok {
		t.Error("it has no throughput profile")
	}
	if _, ok := planner.GoodputProfileOf(curve); ok {
		t.Error("a table has a goodput profile")
	}
	p.Table = append(p.Table, p.Table[0])
	if _, err := planner.GoodputCurve(p, planner.Growth{}); err == nil {
		t.Error("a table with the same row twice was taken")
	}
}
