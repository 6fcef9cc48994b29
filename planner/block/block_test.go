package block

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/goodfleet/goodfleet/planner/linear"
)

// fleet draws jobs whose speeds follow types with noise of their own; 60 % of the
// demand fits. With templates many jobs are equal.
func fleet(jobs, types int, seed uint64, level bool, templates int) *Program {
	r := rand.New(rand.NewPCG(seed, 7))
	generation := make([]float64, types)
	capacity := make([]float64, types)
	for k := range generation {
		generation[k] = r.Float64()
		capacity[k] = math.Ceil(0.6 * 1.75 * float64(jobs) / float64(types) * (0.5 + r.Float64()))
	}
	p := New(capacity)
	p.Level = level
	var rows [][]float64
	for range max(templates, jobs) {
		gain, base := math.Exp(r.Float64()*3), math.Exp(r.NormFloat64())
		a := make([]float64, types+1)
		a[types] = float64(int(1) << min(3, int(-math.Log2(1-r.Float64())/2)))
		for k := range types {
			a[k] = base * math.Pow(gain, generation[k]) * math.Exp(0.25*r.NormFloat64())
		}
		rows = append(rows, a)
	}
	for j := range jobs {
		a := rows[j]
		if templates > 0 {
			a = rows[r.IntN(templates)]
		}
		mean := 0.0
		for k := range types {
			mean += a[k] / float64(types)
		}
		for k := range types {
			gain := a[k] / mean
			if !level {
				gain = -a[types] * (0.2 + generation[k])
			}
			p.Column(gain, a[k], []int32{int32(k)}, []float64{a[types]})
		}
		if level {
			p.Job(0, mean/a[types])
		} else {
			p.Job(0.3*mean*r.Float64(), 0)
		}
	}
	return p
}

// scarce is a fleet of a quarter of the capacity: no job alone caps the level.
func scarce(jobs, types int, seed uint64, templates int) *Program {
	p := fleet(jobs, types, seed, true, templates)
	for r := range p.Capacity {
		p.Capacity[r] = math.Ceil(p.Capacity[r] / 4)
	}
	return p
}

// small draws a program with zeros, ties and, sometimes, more than one row per column.
func small(t *rapid.T) *Program {
	rows := rapid.IntRange(1, 4).Draw(t, "rows")
	capacity := make([]float64, rows)
	for r := range capacity {
		capacity[r] = float64(rapid.IntRange(0, 5).Draw(t, "capacity"))
	}
	p := New(capacity)
	p.Level = rapid.Bool().Draw(t, "level")
	for range rapid.IntRange(0, 6).Draw(t, "jobs") {
		for range rapid.IntRange(0, 4).Draw(t, "columns") {
			var list []int32
			var use []float64
			for r := range rows {
				if rapid.IntRange(0, 2).Draw(t, "uses") == 0 {
					list, use = append(list, int32(r)), append(use, float64(rapid.IntRange(1, 4).Draw(t, "use")))
				}
			}
			p.Column(float64(rapid.IntRange(-2, 5).Draw(t, "gain")), float64(rapid.IntRange(0, 6).Draw(t, "speed")), list, use)
		}
		floor, follow := float64(rapid.IntRange(0, 1).Draw(t, "floor")), 0.0
		if p.Level {
			floor, follow = 0, float64(rapid.IntRange(0, 3).Draw(t, "follow"))
		}
		p.Job(floor, follow)
	}
	return p
}

// plain solves p as one sparse program from the basis of slacks.
func plain(p *Program) (linear.Status, float64) {
	v := newPolish(p, Options{Pivots: 100_000})
	for i := range v.in {
		v.add(int32(i))
	}
	v.s = linear.NewSimplex(v.lp)
	status := v.s.Primal(100_000)
	value := v.s.Objective() / v.unit * v.sc.gain
	if p.Level {
		value = v.s.Objective() / v.unit * v.sc.level
	}
	return status, value
}

func TestSolveAgreesWithTheSimplexMethod(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := small(t)
		got := Solve(p, Options{Gap: 1e-9, Vertex: rapid.Bool().Draw(t, "vertex")})
		status, want := plain(p)
		if p.Level && p.unfollowed() {
			status = Unbounded
		}
		if got.Status != status {
			t.Fatalf("status %v, want %v (gap %g, violation %g)", got.Status, status, got.Gap, got.Violation)
		}
		if status == Infeasible && len(got.Conflict) == 0 {
			t.Fatal("infeasible without the jobs in conflict")
		}
		if status == Optimal && math.Abs(got.Objective-want) > 1e-7*(1+math.Abs(want)) {
			t.Fatalf("objective %g, want %g", got.Objective, want)
		}
	})
}

func TestAnyPricesGiveABound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := small(t)
		status, best := plain(p)
		if status != Optimal || p.Level && p.unfollowed() {
			return
		}
		prices := make([]float64, len(p.Capacity))
		for r := range prices {
			prices[r] = rapid.Float64Range(0, 5).Draw(t, "price")
		}
		if c := p.Certify(prices); c.Bound < best-1e-7*(1+math.Abs(best)) {
			t.Fatalf("bound %g lies below the optimum %g", c.Bound, best)
		}
	})
}

func TestSolveReachesTheGapAskedFor(t *testing.T) {
	for _, c := range []struct {
		name                   string
		jobs, types, templates int
		level                  bool
	}{
		{"one job", 1, 3, 0, true},
		{"levels", 300, 4, 0, true},
		{"gains with floors", 300, 4, 0, false},
		{"equal jobs", 300, 4, 5, true},
		{"sifted levels", 800, 30, 0, true},
		{"sifted gains", 800, 30, 12, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := fleet(c.jobs, c.types, 3, c.level, c.templates)
			for _, gap := range []float64{1e-4, 1e-6, 1e-8} {
				s := Solve(p, Options{Gap: gap})
				if s.Status != Optimal || s.Gap > gap || s.Violation > feasibleTol {
					t.Errorf("gap %g: %v, gap %g, violation %g", gap, s.Status, s.Gap, s.Violation)
				}
			}
		})
	}
}

// excess is by how many columns and slacks in use a point exceeds what a vertex of
// each job alone would have: its rows.
func excess(p *Program, x []float64, t float64) int {
	n := 0
	for j := range p.Jobs() {
		time, rows := 0.0, 1
		for i := p.First[j]; i < p.First[j+1]; i++ {
			time += x[i]
			if x[i] > 1e-7 {
				n++
			}
		}
		if time < 1-1e-7 {
			n++
		}
		if need := p.floor(j) + p.follow(j)*t; need > 0 {
			rows++
			if p.reach(x, j) > need*(1+1e-7) {
				n++
			}
		}
		n -= rows
	}
	return n
}

func TestVertexSplitsNoMoreJobsThanThereAreRows(t *testing.T) {
	for _, level := range []bool{true, false} {
		for _, templates := range []int{0, 4} {
			p := fleet(200, 5, 9, level, templates)
			s := Solve(p, Options{Vertex: true, Second: true})
			if s.Status != Optimal || s.Gap > 1e-9 {
				t.Fatalf("level %v: %v, gap %g", level, s.Status, s.Gap)
			}
			if n := excess(p, s.X, s.Level); n > len(p.Capacity)+1 {
				t.Errorf("level %v, %d templates: %d shares too many for %d rows", level, templates, n, len(p.Capacity))
			}
		}
	}
}

func TestPurifiedPointsUseAsMuchOfEachRowAndSplitFewJobs(t *testing.T) {
	for _, templates := range []int{0, 12} {
		p := scarce(600, 5, 9, templates)
		s := Solve(p, Options{Gap: 1e-9})
		before := s
		p.thin(&s, Options{Gap: 1e-6})
		if s.Gap > 1e-6 || s.Violation > feasibleTol || s.Level < before.Level*(1-1e-6) {
			t.Fatalf("%d templates: gap %g, violation %g, level %g of %g", templates, s.Gap, s.Violation, s.Level, before.Level)
		}
		was, n := excess(p, before.X, before.Level), excess(p, s.X, s.Level)
		if n > len(p.Capacity)+1 {
			t.Errorf("%d templates: %d shares too many for %d rows, %d before", templates, n, len(p.Capacity), was)
		}
		if templates > 0 && was <= n {
			t.Errorf("%d templates: %d shares too many as before: nothing was tested", templates, n)
		}
	}
}

func TestSecondObjectiveLeavesNoWorkerIdleThatAJobCouldUse(t *testing.T) {
	p := New([]float64{3, 3})
	p.Level = true
	for _, speed := range [][2]float64{{1, 0.1}, {8, 4}, {6, 5}} { // the first job caps the level at 1
		p.Column(speed[0], speed[0], []int32{0}, []float64{1})
		p.Column(speed[1], speed[1], []int32{1}, []float64{1})
		p.Job(0, 1)
	}
	s := Solve(p, Options{Vertex: true, Second: true})
	if math.Abs(s.Level-1) > 1e-9 {
		t.Fatalf("level %g, want 1", s.Level)
	}
	for j, want := range []float64{1, 8, 6} {
		if got := p.reach(s.X, j); math.Abs(got-want) > 1e-7 {
			t.Errorf("job %d reaches %g, want %g", j, got, want)
		}
	}
}

func TestIllScaledProgramsEndHonestly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		types := rapid.IntRange(1, 4).Draw(t, "types")
		capacity := make([]float64, types)
		for k := range capacity {
			capacity[k] = math.Pow(10, float64(rapid.IntRange(0, 6).Draw(t, "capacity")))
		}
		p := New(capacity)
		p.Level = rapid.Bool().Draw(t, "level")
		for range rapid.IntRange(1, 12).Draw(t, "jobs") {
			twins := rapid.IntRange(1, 3).Draw(t, "twins")
			speed := make([]float64, types)
			for k := range speed {
				speed[k] = math.Pow(10, float64(rapid.IntRange(-6, 9).Draw(t, "speed")))
			}
			scale := math.Pow(10, float64(rapid.IntRange(0, 4).Draw(t, "scale")))
			weight := math.Pow(10, float64(rapid.IntRange(-3, 3).Draw(t, "weight")))
			for range twins {
				for k := range types {
					p.Column(speed[k], speed[k], []int32{int32(k)}, []float64{scale})
				}
				follow := 0.0
				if p.Level {
					follow = weight * speed[0]
				}
				p.Job(0, follow)
			}
		}
		s := Solve(p, Options{Vertex: true, Second: true})
		if math.IsNaN(s.Objective) || math.IsNaN(s.Bound) || s.Violation > 1e-6 {
			t.Fatalf("objective %g, bound %g, violation %g", s.Objective, s.Bound, s.Violation)
		}
		if s.Bound < s.Objective*(1-1e-9) {
			t.Fatalf("bound %g below the objective %g", s.Bound, s.Objective)
		}
		if s.Status == Optimal && s.Gap > 1e-6 || s.Status != Optimal && s.Status != Feasible {
			t.Fatalf("%v with gap %g", s.Status, s.Gap)
		}
	})
}

func TestImpossibleFloorsNameTheirJobs(t *testing.T) {
	p := New([]float64{1})
	for range 3 {
		p.Column(-1, 2, []int32{0}, []float64{1})
		p.Job(0.8, 0)
	}
	p.Column(-1, 1, []int32{0}, []float64{1})
	p.Job(0, 0)
	s := Solve(p, Options{})
	if s.Status != Infeasible || len(s.Conflict) != 3 {
		t.Fatalf("%v, conflict %v, want infeasible with jobs 0, 1, 2", s.Status, s.Conflict)
	}
}

func TestIterationLimitsLeaveAPointWithItsBound(t *testing.T) {
	p := fleet(100, 3, 5, true, 0)
	want := Solve(p, Options{Gap: 1e-8}).Objective
	s := Solve(p, Options{Iterations: 2, Pivots: 1})
	if s.Status != Feasible {
		t.Fatalf("%v after two iterations", s.Status)
	}
	if s.Violation > feasibleTol || s.Objective > want || s.Bound < want {
		t.Errorf("violation %g, objective %g and bound %g around %g", s.Violation, s.Objective, s.Bound, want)
	}
}
