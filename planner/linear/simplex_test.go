package linear

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize/convex/lp"
	"pgregory.net/rapid"
)

// draw makes a program of small integers, in which ties and degenerate vertices abound.
func draw(t *rapid.T) *Program {
	m := rapid.IntRange(1, 6).Draw(t, "rows")
	n := rapid.IntRange(1, 9).Draw(t, "columns")
	p := NewProgram(make([]float64, m))
	for i := range m {
		p.Bound[i] = float64(rapid.IntRange(-2, 6).Draw(t, "bound"))
	}
	if rapid.Bool().Draw(t, "equalities") {
		p.Equal = make([]bool, m)
		for i := range m {
			p.Equal[i] = rapid.IntRange(0, 4).Draw(t, "equal") == 0
		}
	}
	for range n {
		var rows []int32
		var values []float64
		for i := range m {
			if v := rapid.IntRange(-2, 4).Draw(t, "entry"); v != 0 {
				rows, values = append(rows, int32(i)), append(values, float64(v))
			}
		}
		if len(rows) == 0 {
			rows, values = []int32{0}, []float64{1} // gonum takes no empty column
		}
		p.Add(float64(rapid.IntRange(-3, 6).Draw(t, "cost")), rows, values)
	}
	return p
}

// reference solves p by gonum's dense simplex.
func reference(t interface{ Fatalf(string, ...any) }, p *Program) (Status, float64) {
	m, n := len(p.Bound), p.Columns()
	slacks := 0
	for i := range m {
		if p.Equal == nil || !p.Equal[i] {
			slacks++
		}
	}
	// Splitting each row by a pair of columns that cost much makes it full rank and feasible.
	const big = 1e4
	a := mat.NewDense(m, n+slacks+2*m, nil)
	c := make([]float64, n+slacks+2*m)
	for j := range n {
		c[j] = -p.Cost[j]
		rows, values := p.column(j)
		for k, r := range rows {
			a.Set(int(r), j, values[k])
		}
	}
	at := n
	for i := range m {
		if p.Equal == nil || !p.Equal[i] {
			a.Set(i, at, 1)
			at++
		}
	}
	for i := range m {
		a.Set(i, at+2*i, 1)
		a.Set(i, at+2*i+1, -1)
		c[at+2*i], c[at+2*i+1] = big, big
	}
	value, x, err := lp.Simplex(c, a, p.Bound, 1e-10, nil)
	if errors.Is(err, lp.ErrUnbounded) {
		return Unbounded, 0
	}
	if err != nil {
		t.Fatalf("gonum: %v", err)
	}
	for _, v := range x[at:] {
		if v > 1e-7 {
			return Infeasible, 0
		}
	}
	return Optimal, -value
}

func TestPrimalMatchesDenseSimplex(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := draw(t)
		want, objective := reference(t, p)
		s := NewSimplex(p)
		got := s.Primal(10_000)
		if want == Unbounded && got == Infeasible {
			checkRay(t, p, s) // both are true of the pair; the proof decides
			return
		}
		if got != want {
			t.Fatalf("status %v, want %v", got, want)
		}
		if got == Infeasible {
			checkRay(t, p, s)
		}
		if got == Optimal {
			checkOptimal(t, p, s, objective)
		}
	})
}

func checkRay(t *rapid.T, p *Program, s *Simplex) {
	total := 0.0
	for i, b := range p.Bound {
		if (p.Equal == nil || !p.Equal[i]) && s.Ray(i) < -1e-9 {
			t.Fatalf("the proof weighs row %d by %g", i, s.Ray(i))
		}
		total += s.Ray(i) * b
	}
	for j := range p.Columns() {
		sum := 0.0
		rows, values := p.column(j)
		for k, r := range rows {
			sum += s.Ray(int(r)) * values[k]
		}
		if sum < -1e-8 {
			t.Fatalf("the proof leaves column %d at %g", j, sum)
		}
	}
	if total >= -1e-9 {
		t.Fatalf("the proof sums to %g, want less than 0", total)
	}
}

func checkOptimal(t *rapid.T, p *Program, s *Simplex, objective float64) {
	if math.Abs(s.Objective()-objective) > 1e-7*(1+math.Abs(objective)) {
		t.Fatalf("objective %g, want %g", s.Objective(), objective)
	}
	used, bound := make([]float64, len(p.Bound)), 0.0
	for j := range p.Columns() {
		if s.Value(j) < -1e-8 {
			t.Fatalf("column %d at %g", j, s.Value(j))
		}
		rows, values := p.column(j)
		d := p.Cost[j]
		for k, r := range rows {
			used[r] += values[k] * s.Value(j)
			d -= values[k] * s.Price(int(r))
		}
		if d > 1e-7 {
			t.Fatalf("column %d would still earn %g", j, d)
		}
	}
	for i, b := range p.Bound {
		equal := p.Equal != nil && p.Equal[i]
		if used[i] > b+1e-8 || equal && used[i] < b-1e-8 {
			t.Fatalf("row %d holds %g, bound %g", i, used[i], b)
		}
		if !equal && s.Price(i) < -1e-8 {
			t.Fatalf("row %d has price %g", i, s.Price(i))
		}
		bound += b * s.Price(i)
	}
	if math.Abs(bound-objective) > 1e-6*(1+math.Abs(objective)) {
		t.Fatalf("bound %g, want %g", bound, objective)
	}
}

func TestDualAfterFixingMatchesSolvingAnew(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := draw(t)
		s := NewSimplex(p)
		if s.Primal(10_000) != Optimal {
			return
		}
		anew := NewSimplex(p)
		for j := range p.Columns() {
			if rapid.IntRange(0, 2).Draw(t, "fix") == 0 {
				s.Fix(j, true)
				anew.Fix(j, true)
			}
		}
		got, want := s.Dual(10_000), anew.Primal(10_000)
		if got != want {
			t.Fatalf("status %v, want %v", got, want)
		}
		if got == Optimal {
			checkFixed(t, p, s, anew.Objective())
		}
	})
}

func checkFixed(t *rapid.T, p *Program, s *Simplex, objective float64) {
	if math.Abs(s.Objective()-objective) > 1e-7*(1+math.Abs(objective)) {
		t.Fatalf("objective %g, want %g", s.Objective(), objective)
	}
	for j := range p.Columns() {
		if s.fixed[j] && math.Abs(s.Value(j)) > 1e-8 {
			t.Fatalf("fixed column %d at %g", j, s.Value(j))
		}
	}
}

// share makes a program like those of fair shares: jobs with a time row and a
// speed row, types with capacity, and one column t that all jobs must follow.
func share(jobs, types int, seed uint64) (*Program, []float64) {
	r := rand.New(rand.NewPCG(seed, 1))
	b := make([]float64, 2*jobs+types)
	for j := range jobs {
		b[2*j] = 1
	}
	for k := range types {
		b[2*jobs+k] = 0.6 * float64(jobs) / float64(types)
	}
	p := NewProgram(b)
	var x []float64
	for j := range jobs {
		for k := range types {
			p.Add(0, []int32{int32(2 * j), int32(2*j + 1), int32(2*jobs + k)}, []float64{1, -(0.1 + r.Float64()), 1})
			x = append(x, 0.5/float64(types)*r.Float64())
		}
	}
	var rows []int32
	var values []float64
	for j := range jobs {
		rows, values = append(rows, int32(2*j+1)), append(values, 1)
	}
	p.Add(1, rows, values)
	return p, append(x, 0)
}

func TestStartFromAPointEndsWhereStartingFromNothingDoes(t *testing.T) {
	for seed := range uint64(10) {
		p, x := share(40, 4, seed)
		cold, warm := NewSimplex(p), NewSimplex(p)
		if got := cold.Primal(100_000); got != Optimal {
			t.Fatalf("seed %d: cold %v", seed, got)
		}
		warm.Start(x)
		if got := warm.Primal(100_000); got != Optimal {
			t.Fatalf("seed %d: warm %v", seed, got)
		}
		if math.Abs(cold.Objective()-warm.Objective()) > 1e-8 {
			t.Errorf("seed %d: from a point %g, from nothing %g", seed, warm.Objective(), cold.Objective())
		}
	}
}

func TestLockKeepsTheFirstObjective(t *testing.T) {
	p, _ := share(30, 3, 7)
	s := NewSimplex(p)
	if got := s.Primal(100_000); got != Optimal {
		t.Fatal(got)
	}
	first := s.Objective()
	s.Lock(1e-9)
	last := p.Columns() - 1
	for j := range last {
		p.Cost[j] = float64(1 + j%3)
	}
	p.Cost[last] = 0
	if got := s.Primal(100_000); got != Optimal {
		t.Fatal(got)
	}
	if got := s.Value(last); math.Abs(got-first) > 1e-8 {
		t.Errorf("first objective %g after the second, want %g", got, first)
	}
}

func TestColumnsAddedLaterAreTaken(t *testing.T) {
	p := NewProgram([]float64{4, 3})
	p.Add(1, []int32{0}, []float64{1})
	s := NewSimplex(p)
	if got := s.Primal(100); got != Optimal || s.Objective() != 4 {
		t.Fatalf("%v %g, want optimal 4", got, s.Objective())
	}
	p.Add(3, []int32{0, 1}, []float64{1, 1})
	if got := s.Primal(100); got != Optimal || math.Abs(s.Objective()-10) > 1e-9 {
		t.Fatalf("%v %g, want optimal 10", got, s.Objective())
	}
}

func BenchmarkPrimalFromNothing(b *testing.B) {
	for b.Loop() {
		p, _ := share(300, 3, 3)
		s := NewSimplex(p)
		if got := s.Primal(1_000_000); got != Optimal {
			b.Fatal(got)
		}
		b.ReportMetric(float64(s.Iteration), "pivots")
	}
}
