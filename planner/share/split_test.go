package share

import (
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
)

// TestFewJobsAreSplitWhereAFewAreAllOfTheWork takes a draw in which three jobs make the makespan
// and all others need next to nothing beside them: there the simplex method may end off its
// vertex, in about one of twenty like it.
func TestFewJobsAreSplitWhereAFewAreAllOfTheWork(t *testing.T) {
	text, err := os.ReadFile("testdata/makespan.json")
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	for n := range 60 {
		p, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if n > 0 {
			for j := range p.Jobs {
				for w := range p.Jobs[j].Throughput {
					p.Jobs[j].Throughput[w] *= 0.7 + 0.7*rng.Float64()
				}
			}
		}
		checkSplit(t, p, "makespan", fmt.Sprintf("draw %d", n))
	}
}
