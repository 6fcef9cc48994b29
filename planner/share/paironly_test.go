package share

import "testing"

// TestAJobOfPairsAloneIsServed: with pairs, a job that no type runs alone has its part beside another.
func TestAJobOfPairsAloneIsServed(t *testing.T) {
	p := &Problem{
		Types: []Type{{Name: "a", Workers: 1}},
		Jobs: []Job{{ID: "1", Scale: 1, Weight: 1, Steps: 100, Throughput: []float64{10}},
			{ID: "2", Scale: 1, Weight: 1, Steps: 100, Throughput: []float64{0}}},
		Pairs: []Pair{{A: 0, B: 1, Throughput: [][2]float64{{8, 5}}}},
	}
	for name, want := range map[string]string{"makespan": "infeasible", "makespan_packed": "optimal"} {
		y, _ := Find(name)
		a, err := y.Share(p, Options{})
		if err != nil || a.Status != want || want == "optimal" && (a.Objective < 20*(1-1e-9) || a.Objective > 20*(1+1e-9)) {
			t.Errorf("%s: %s, %g s, %v; the second job takes 20 s beside the first", name, a.Status, a.Objective, err)
		}
	}
}
