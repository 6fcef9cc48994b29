package linear

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// TestWideEndsWhereTheProofIs: the point keeps its rows, the prices bound the objective, and both
// meet, with entries up to thirty orders of magnitude apart.
func TestWideEndsWhereTheProofIs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		far := rapid.Float64Range(0, 15).Draw(t, "orders")
		number := func() float64 { return math.Pow(10, rapid.Float64Range(-far, far).Draw(t, "order")) }
		m, n := rapid.IntRange(1, 4).Draw(t, "rows"), rapid.IntRange(1, 5).Draw(t, "columns")
		bound := make([]float64, m)
		for i := range bound {
			bound[i] = number()
		}
		least := rapid.IntRange(0, m).Draw(t, "row from below") // m: none
		p := NewProgram(bound)
		reach := 0.0
		for range n {
			var rows []int32
			var values []float64
			for i := range m {
				rows, values = append(rows, int32(i)), append(values, number())
				if i == least {
					values[i] = -values[i]
				}
			}
			p.Add(number(), rows, values)
		}
		if least < m {
			for j := range n { // what one column alone can reach of the row from below
				most, _ := p.alone(j, least)
				reach = max(reach, most)
			}
			bound[least] = -reach * rapid.SampledFrom([]float64{0, 0.3, 0.9, 1.1, 2}).Draw(t, "part of what is in reach")
		}
		got := Wide(p, nil, 10_000)
		switch got.Status {
		case Optimal:
		case Unbounded:
			if least == m || m > 1 {
				t.Fatalf("unbounded, and every column has a row")
			}
			return
		case Infeasible:
			// Weights of the rows: what no column can give, and the bounds ask for.
			sum := 0.0
			for i, b := range bound {
				sum += got.Price[i] * b
			}
			for j := range n {
				cover, size := 0.0, 0.0
				for i := range m {
					v := got.Price[i] * p.Value[int(p.Begin[j])+i]
					cover += v
					size = max(size, math.Abs(v))
				}
				if cover < -1e-9*size {
					t.Fatalf("column %d gives what the weights %g say that none does: %g", j, got.Price, cover)
				}
			}
			if least == m || !(sum < 0) {
				t.Fatalf("infeasible by weights %g: %g", got.Price, sum)
			}
			return
		default:
			t.Fatalf("status %v", got.Status)
		}
		objective, dual := 0.0, 0.0
		for j, x := range got.X {
			objective += p.Cost[j] * x
		}
		for i, b := range bound {
			used, size := 0.0, math.Abs(b)
			for j, x := range got.X {
				v := p.Value[int(p.Begin[j])+i] * x
				used += v
				size = max(size, math.Abs(v))
			}
			if used > b+1e-12*size {
				t.Fatalf("row %d holds %g, and has %g", i, b, used)
			}
			dual += got.Price[i] * b
		}
		if math.Abs(objective-got.Bound) > 1e-12*objective {
			t.Fatalf("objective %g, bound %g", objective, got.Bound)
		}
		if size := max(objective, dual); math.Abs(objective-dual) > 1e-9*size && size < 1e280 {
			t.Fatalf("objective %g, its prices prove %g", objective, dual)
		}
	})
}

// alone is how much column j gives to a row from below before another is full.
func (p *Program) alone(j, least int) (most, x float64) {
	x = math.Inf(1)
	for i, b := range p.Bound {
		if i != least {
			x = min(x, b/p.Value[int(p.Begin[j])+i])
		}
	}
	if math.IsInf(x, 1) {
		x = 1
	}
	return -x * p.Value[int(p.Begin[j])+least], x
}

// TestWideTakesTheSecondObjectiveAmongTheBest: x + y is at most 1, and either will do.
func TestWideTakesTheSecondObjectiveAmongTheBest(t *testing.T) {
	for _, c := range []struct{ second, want []float64 }{{[]float64{1, 2}, []float64{0, 1}}, {[]float64{2, 1}, []float64{1, 0}}} {
		p := NewProgram([]float64{1})
		p.Add(1, []int32{0}, []float64{1})
		p.Add(1, []int32{0}, []float64{1})
		if got := Wide(p, c.second, 100); got.Status != Optimal || got.X[0] != c.want[0] || got.X[1] != c.want[1] {
			t.Errorf("second %g: %v, want %g", c.second, got, c.want)
		}
	}
}
