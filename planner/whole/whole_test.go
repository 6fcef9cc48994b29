package whole

import (
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"
)

// draw makes a problem small enough to try every choice.
func draw(t *rapid.T) *Problem {
	p := &Problem{}
	for range rapid.IntRange(1, 3).Draw(t, "rows") {
		p.Capacity = append(p.Capacity, float64(rapid.IntRange(0, 7).Draw(t, "capacity")))
	}
	for range rapid.IntRange(0, 6).Draw(t, "jobs") {
		var list []Option
		for range rapid.IntRange(0, 4).Draw(t, "options") {
			list = append(list, Option{
				Row:   rapid.IntRange(0, len(p.Capacity)-1).Draw(t, "row"),
				Units: float64(rapid.IntRange(1, 5).Draw(t, "units")),
				Value: float64(rapid.IntRange(-2, 12).Draw(t, "value")) / 4,
			})
		}
		p.Options = append(p.Options, list)
	}
	return p
}

// enumerate tries every choice.
func enumerate(p *Problem, j int, left []float64) float64 {
	if j == len(p.Options) {
		return 0
	}
	best := enumerate(p, j+1, left)
	for _, o := range p.Options[j] {
		if o.Units <= left[o.Row] {
			left[o.Row] -= o.Units
			best = max(best, o.Value+enumerate(p, j+1, left))
			left[o.Row] += o.Units
		}
	}
	return best
}

func TestSolveMatchesEnumeration(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := draw(t)
		want := enumerate(p, 0, append([]float64(nil), p.Capacity...))
		got := Solve(p, Limits{})
		if !p.fits(got.Choice) {
			t.Fatalf("choice %v does not fit", got.Choice)
		}
		if v := p.value(got.Choice); math.Abs(v-got.Value) > 1e-9 {
			t.Fatalf("value %g, the choice is worth %g", got.Value, v)
		}
		if !got.Proved || math.Abs(got.Value-want) > 1e-8 || got.Bound < want-1e-9 {
			t.Fatalf("value %g (bound %g, proved %v), want %g", got.Value, got.Bound, got.Proved, want)
		}
	})
}

// round is a fleet of jobs with ever less gain from size.
func round(jobs, rows int) *Problem {
	p := &Problem{}
	for r := range rows {
		p.Capacity = append(p.Capacity, float64(2*jobs/rows+r))
	}
	for j := range jobs {
		var list []Option
		for r := range rows {
			speed := 1 + math.Mod(float64(j*7+r*13)*0.618034, 1)
			for g := 1.0; g <= 8; g *= 2 {
				list = append(list, Option{r, g, speed * math.Pow(g, 0.4+0.5*math.Mod(float64(j)*0.7548777, 1))})
			}
		}
		p.Options = append(p.Options, list)
	}
	return p
}

func TestFiftyJobsAreProved(t *testing.T) {
	for _, rows := range []int{1, 3} {
		if s := Solve(round(50, rows), Limits{}); !s.Proved {
			t.Errorf("%d rows: gap %g after %d nodes", rows, s.Gap, s.Nodes)
		}
	}
}

func TestNodeLimitLeavesAChoiceWithItsBound(t *testing.T) {
	p := round(50, 3)
	best := Solve(p, Limits{})
	s := Solve(p, Limits{Nodes: 1})
	if !p.fits(s.Choice) || s.Value > best.Bound*(1+1e-9) || s.Bound < best.Value {
		t.Errorf("value %g and bound %g around %g", s.Value, s.Bound, best.Value)
	}
}

func TestManyJobsEndNearTheBound(t *testing.T) {
	p := round(400, 4)
	a, b := Solve(p, Limits{Gap: 1e-4}), Solve(p, Limits{Gap: 1e-4})
	if a.Gap > 5e-4 || !p.fits(a.Choice) {
		t.Errorf("gap %g", a.Gap)
	}
	for j := range a.Choice {
		if a.Choice[j] != b.Choice[j] {
			t.Fatalf("job %d: %d, then %d", j, a.Choice[j], b.Choice[j])
		}
	}
}

func ExampleSolve() {
	p := &Problem{
		Capacity: []float64{2, 4},
		Options: [][]Option{
			{{0, 1, 1}, {0, 2, 1.5}, {1, 1, 1.5}, {1, 2, 2.5}, {1, 4, 3.5}},
			{{0, 1, 1.2}, {0, 2, 2.1}, {1, 1, 1}, {1, 2, 1.9}, {1, 4, 3.6}},
		},
	}
	s := Solve(p, Limits{})
	fmt.Printf("%.1f %v\n", s.Value, s.Choice)
	// Output: 5.6 [4 1]
}
