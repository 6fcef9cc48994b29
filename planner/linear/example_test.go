package linear_test

import (
	"fmt"

	"github.com/goodfleet/goodfleet/planner/linear"
)

func ExampleSimplex_Primal() {
	p := linear.NewProgram([]float64{4, 6})
	p.Add(3, []int32{0}, []float64{1})
	p.Add(2, []int32{0, 1}, []float64{1, 2})
	s := linear.NewSimplex(p)
	fmt.Println(s.Primal(100), s.Objective(), s.Value(0), s.Price(0))
	// Output: optimal 12 4 3
}

func ExampleWide() {
	p := linear.NewProgram([]float64{1, -1e-20}) // x + y ≤ 1, y ≥ 1e-20
	p.Add(0, []int32{0}, []float64{1})
	p.Add(-1, []int32{0, 1}, []float64{1, -1})
	point := linear.Wide(p, nil, 100)
	fmt.Println(point.Status, point.X, point.Bound)
	// Output: optimal [0 1e-20] -1e-20
}
