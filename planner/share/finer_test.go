package share

import (
	"math"
	"slices"
	"testing"

	"github.com/goodfleet/goodfleet/planner/block"
	"pgregory.net/rapid"
)

// TestWideNumbersFindWhatDoublePrecisionDoes solves demands both ways: no point of the one is beyond
// the bound of the other.
func TestWideNumbersFindWhatDoublePrecisionDoes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawIll(rapid.Uint64().Draw(t, "seed"), rapid.IntRange(0, farKinds-1).Draw(t, "kind"))
		p.Jobs = p.Jobs[:min(5, len(p.Jobs))]
		p.Pairs = slices.DeleteFunc(p.Pairs, func(q Pair) bool { return q.B >= len(p.Jobs) })
		if rapid.Bool().Draw(t, "alone") {
			p.Pairs = nil
		}
		d, err := normalizedDemand(p)
		switch rapid.SampledFrom([]string{"sum", "spend", "level"}).Draw(t, "demand") {
		case "spend":
			d, err = spendDemand(p)
		case "level":
			d.follow = make([]float64, len(p.Jobs))
			for j := range d.follow {
				d.follow[j] = p.equal(j)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
		d.packed = len(p.Pairs) > 0
		if len(p.late(d.floor)) > 0 {
			return
		}
		want, f := p.solve(d, settings{gap: 1e-9}), newPairing(p, &d)
		f.begin(nil, false)
		got, ok := f.solveWide(settings{gap: 1e-9})
		if !ok || (got.status == block.Infeasible) != (want.status == block.Infeasible) {
			t.Fatalf("%v, want %v", got.status, want.status)
		}
		if got.status == block.Infeasible {
			return
		}
		const slack = 1e-7
		if got.objective > want.bound+slack*math.Abs(want.bound) || want.objective > got.bound+slack*math.Abs(got.bound) || distance(got.objective, got.bound) > 1e-9 {
			t.Fatalf("%.12g, bound %.12g; in double precision %.12g, bound %.12g", got.objective, got.bound, want.objective, want.bound)
		}
	})
}

// TestFarApartAnswersAreProved: of these the tolerances of double precision hid what decides.
func TestFarApartAnswersAreProved(t *testing.T) {
	for _, c := range []struct {
		policy string
		want   float64
		text   string
	}{
		{"min_spend_slo", 5e-8, `{"cluster":{"a":15},"prices":{"a":9},"jobs":[{"id":1,"scale_factor":5,"slo_left_s":1e9,"steps_left":20,"throughput":{"a":18}}]}`},
		{"min_spend_slo_packed", 5e-8, `{"cluster":{"a":15},"prices":{"a":9},"jobs":[{"id":1,"scale_factor":5,"slo_left_s":1e9,"steps_left":20,"throughput":{"a":18}},
			{"id":2,"scale_factor":5,"steps_left":1,"throughput":{"a":1}}],"pairs":[{"jobs":[1,2],"throughput":{"a":[1,1]}}]}`},
		// Job 3 alone is slow, and job 4 has only its partner's place: they follow the level that 1 holds.
		{"makespan_packed", 18.0 / 13, `{"cluster":{"t0":17,"t1":18},"jobs":[
			{"id":0,"steps_left":3,"throughput":{"t0":1e-6,"t1":1e-6}},{"id":1,"scale_factor":20,"steps_left":10,"throughput":{"t0":6,"t1":9}},
			{"id":2,"steps_left":0,"throughput":{"t0":1e-6,"t1":20}},{"id":3,"steps_left":0.001,"throughput":{"t0":1e-6,"t1":11}},
			{"id":4,"steps_left":18,"throughput":{"t0":1e-6}},{"id":5,"scale_factor":1000,"steps_left":18,"throughput":{"t0":12,"t1":1e9}}],
			"pairs":[{"jobs":[0,3],"throughput":{"t0":[1e9,1],"t1":[11,11]}},{"jobs":[2,4],"throughput":{"t0":[14,5],"t1":[1,13]}}]}`},
	} {
		p := parse(t, c.text)
		y, _ := Find(c.policy)
		a, err := y.Share(p, Options{})
		if err != nil || a.Status != "optimal" || math.Abs(a.Objective-c.want) > 1e-9*c.want {
			t.Errorf("%s: %s %.12g, bound %.12g, %v; want %.12g", c.policy, a.Status, a.Objective, a.Bound, err, c.want)
		}
	}
}
