package share

import "testing"

// TestSmallJobsAreDealtAllOfTheirTime: what rounding leaves of a million workers is not taken from
// the thousandth of one that the last job has.
func TestSmallJobsAreDealtAllOfTheirTime(t *testing.T) {
	p := &Problem{
		Types: []Type{{Name: "a", Workers: 1_000_000}, {Name: "b", Workers: 3}, {Name: "c"}},
		Jobs:  []Job{{ID: "large", Scale: 1_000_003}, {ID: "small", Scale: 1}},
	}
	const small = 1e-3
	large := (1_000_003 - small + 1e-9) / 1_000_003
	r := p.dealt(plan{theta: []float64{large, small}, x: [][]float64{{large}, {small}}})
	for j, want := range []float64{large, small} {
		sum := 0.0
		for _, x := range r.x[j] {
			sum += x
		}
		if d := distance(sum, want); d > 1e-12 {
			t.Errorf("job %s has %g of %g", p.Jobs[j].ID, sum, want)
		}
	}
	if r.x[0][2] != 0 || r.x[1][2] != 0 {
		t.Errorf("shares of a type without workers: %v", r.x)
	}
}
