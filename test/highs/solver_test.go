package highs

import (
	"context"
	"math"
	"os"
	"testing"
)

var solver *Solver

func TestMain(m *testing.M) {
	var err error
	solver, err = New(context.Background(), os.Getenv("GOODFLEET_CI_CACHE"))
	if err != nil {
		panic(err)
	}
	code := m.Run()
	solver.Close()
	os.Exit(code)
}

func TestSolverKnowsASmallProgram(t *testing.T) {
	p := &Program{Sense: -1}
	p.Row(math.Inf(-1), 4)
	p.Row(math.Inf(-1), 6)
	p.Column(3, []int32{0}, []float64{1})
	p.Column(2, []int32{0, 1}, []float64{1, 2})
	if r := solver.Solve(p); r.Status != Optimal || math.Abs(r.Objective-12) > 1e-9 || math.Abs(r.X[0]-4) > 1e-9 {
		t.Fatalf("got %+v, want objective 12 at (4, 0)", r)
	}
	p.RowLower[1] = 2 // x1 ≥ 1
	p.Whole = []bool{true, true}
	if r := solver.Solve(p); r.Status != Optimal || math.Abs(r.Objective-11) > 1e-9 {
		t.Fatalf("got %+v, want objective 11", r)
	}
	p.RowLower[0] = 7
	p.RowUpper[0] = 8
	p.RowUpper[1] = 3
	if r := solver.Solve(p); r.Status != Optimal {
		t.Fatalf("got %+v, want an optimum", r)
	}
	p.RowLower[1], p.RowUpper[1] = -3, -2
	if r := solver.Solve(p); r.Status != Infeasible {
		t.Fatalf("got status %d, want infeasible", r.Status)
	}
}
