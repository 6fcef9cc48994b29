package block_test

import (
	"fmt"

	"github.com/goodfleet/goodfleet/planner/block"
)

// Two jobs share two types, one worker each; the second job is slow on the first type.
func ExampleSolve() {
	p := block.New([]float64{1, 1})
	p.Level = true
	for _, speed := range [][2]float64{{4, 2}, {1, 2}} {
		for k, v := range speed {
			p.Column(v, v, []int32{int32(k)}, []float64{1})
		}
		p.Job(0, 1)
	}
	s := block.Solve(p, block.Options{Vertex: true, Second: true})
	fmt.Printf("%v: level %.4g, bound %.4g\n", s.Status, s.Level, s.Bound)
	// Output: optimal: level 2, bound 2
}
