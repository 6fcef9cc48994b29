package share

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestSharesWithPairsHoldTheirRowsToRounding draws problems with pairs, of like and of far
// magnitudes, for all policies that use them.
func TestSharesWithPairsHoldTheirRowsToRounding(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawPairs(t, 8, rapid.Bool().Draw(t, "in teams"))
		if rapid.Bool().Draw(t, "far") {
			p = firstJobs(drawIll(rapid.Uint64().Draw(t, "seed"), farPairs), 7)
		}
		for _, y := range Policies() {
			if !strings.HasSuffix(y.Name, "_packed") {
				continue
			}
			a, err := y.Share(p, Options{})
			if err != nil {
				t.Fatalf("%s: %v", y.Name, err)
			}
			if a.Share == nil || a.Status == "infeasible" {
				continue
			}
			const rounding = 3e-14
			for j, v := range p.time(&a) {
				if v > 1+rounding {
					t.Errorf("%s: job %d has its time by %g too much", y.Name, j, v-1)
				}
			}
			for w, v := range p.used(&a) {
				if n := float64(p.Types[w].Workers); v > n*(1+rounding) {
					t.Errorf("%s: %.17g of %g workers", y.Name, v, n)
				}
			}
			if v := y.value(p, &a, Options{}); distance(v, a.Objective) > 1e-7 {
				t.Errorf("%s: objective %.12g, its shares give %.12g", y.Name, a.Objective, v)
			}
		}
	})
}
