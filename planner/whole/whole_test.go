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

func TestFiftyConfiguredJobsAreProvedAtTheRoot(t *testing.T) {
	for _, rows := range []int{3, 8, 20} {
		p := configs(50, rows, 1)
		if s := Solve(p, Limits{Nodes: 500}); !s.Proved || !p.fits(s.Choice) {
			t.Errorf("%d rows: gap %g after %d nodes", rows, s.Gap, s.Nodes)
		}
	}
}

func TestFiftyJobsOfAnySizesAreProved(t *testing.T) {
	for _, c := range []struct {
		rows          int
		perJob, power float64
		sizes         sizing
		seed          uint64
		nodes         int // twice what it takes
	}{
		{8, 0.8, 0.25, ofJobs, 47, 60},
		{12, 2.5, 0.25, ofJobs, 126, 200},
		{20, 4, 1, ofEach, 30, 100},
		{8, 8, -1, ofEach, 23, 40},
		{20, 1.5, -0.5, ofAll, 9, 100},
		{5, 2.5, 0.5, ofRows, 5, 100},
	} {
		p := anySizes(50, c.rows, c.perJob, c.power, c.sizes, c.seed)
		if s := Solve(p, Limits{Nodes: c.nodes}); !s.Proved || !p.fits(s.Choice) {
			t.Errorf("%+v: gap %g after %d nodes", c, s.Gap, s.Nodes)
		}
	}
}

func TestEqualJobsAreProved(t *testing.T) {
	// Five kinds of ten equal jobs: in any order they make one and the same choice.
	p := configs(50, 3, 3)
	for j := range p.Options {
		p.Options[j] = p.Options[j%5]
	}
	if s := Solve(p, Limits{}); !s.Proved || !p.fits(s.Choice) {
		t.Errorf("gap %g after %d nodes", s.Gap, s.Nodes)
	}
}

// The parts of the search, each alone: branching over equal jobs by their counts, labels,
// and exchanges from the worst start, none served.
func TestEachSearchMatchesEnumeration(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := draw(t)
		for j := range p.Options {
			if j > 0 && rapid.Bool().Draw(t, "equal") {
				p.Options[j] = p.Options[j-1]
			}
		}
		want := enumerate(p, 0, append([]float64(nil), p.Capacity...))
		keep := p.useful()
		r := p.relax(keep)
		if r.bound < want-1e-9 || r.bound > want+100 {
			t.Fatalf("bound %g of the relaxation, want at least %g", r.bound, want)
		}
		nobody := func() Result {
			res := Result{Choice: make([]int, len(p.Options)), Bound: r.bound}
			for j := range res.Choice {
				res.Choice[j] = -1
			}
			return res
		}
		branched, labelled, exchanged, near, packed := nobody(), nobody(), nobody(), nobody(), nobody()
		p.kernel(&r, keep, &near, Limits{Gap: 1e-9}, rapid.IntRange(0, 12).Draw(t, "columns"))
		if near.Bound < want-1e-8 {
			t.Fatalf("bound %g of the kernel, want at least %g", near.Bound, want)
		}
		if want > 0 && !p.pack(&r, keep, &packed, Limits{Nodes: 10_000, Gap: 1e-9}) {
			t.Fatal("there are no patterns")
		}
		if packed.Bound < want-1e-8 || packed.Bound > want+1e-8 {
			t.Fatalf("bound %g over patterns, want %g", packed.Bound, want)
		}
		p.prove(&r, keep, &branched, Limits{Nodes: 10_000, Gap: 1e-9})
		if want > 0 && !p.label(&r, keep, &labelled, Limits{Gap: 1e-9}, labelWork) {
			t.Fatal("labels came to no end")
		}
		newExchange(p, &r, keep, exchanged.Choice).run(0)
		for name, res := range map[string]Result{"branching": branched, "labels": labelled, "exchanges": exchanged, "kernel": near, "patterns": packed} {
			v := p.value(res.Choice)
			if !p.fits(res.Choice) || math.Abs(v-want) > 1e-8 && name != "exchanges" && name != "kernel" || v > want+1e-8 {
				t.Fatalf("%s: %v is worth %g, want %g", name, res.Choice, v, want)
			}
		}
	})
}

// Values that differ by less than the search tells apart may cost the best choice, but
// never a row: what is chosen fits, and no choice passes the bound by more than rounding.
func TestValuesNearToEachOtherStillFit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		base := math.Pow(10, float64(rapid.IntRange(3, 9).Draw(t, "size")))
		p := &Problem{Capacity: []float64{100, 1, 10}}
		for range rapid.IntRange(2, 5).Draw(t, "jobs") {
			var list []Option
			for range rapid.IntRange(0, 3).Draw(t, "options") {
				list = append(list, Option{
					Row:   rapid.IntRange(0, 2).Draw(t, "row"),
					Units: rapid.SampledFrom([]float64{1, 7, 25, 100}).Draw(t, "units"),
					Value: base*rapid.SampledFrom([]float64{0.5, 1}).Draw(t, "half") + base*1e-13*float64(rapid.IntRange(0, 10_000).Draw(t, "more")),
				})
			}
			p.Options = append(p.Options, list)
		}
		want := enumerate(p, 0, append([]float64(nil), p.Capacity...))
		got := Solve(p, Limits{Gap: math.Pow(10, -float64(rapid.IntRange(8, 16).Draw(t, "gap")))})
		if !p.fits(got.Choice) {
			t.Fatalf("choice %v does not fit", got.Choice)
		}
		if v := p.value(got.Choice); math.Abs(v-got.Value) > 1e-9*base || got.Bound < want-1e-8*base || got.Proved && v < want-1e-8*base {
			t.Fatalf("value %g of a choice worth %g, bound %g, proved %v: want %g", got.Value, v, got.Bound, got.Proved, want)
		}
	})
}

func TestUnitDividesAllUnits(t *testing.T) {
	for _, tt := range []struct {
		units []float64
		want  float64
	}{
		{[]float64{7, 100}, 1}, {[]float64{8, 12, 20}, 4}, {[]float64{3, 5}, 1}, {[]float64{6}, 6},
		{[]float64{0.5, 1.5}, 0.5}, {[]float64{1.5, 2}, 0.5}, {[]float64{2, 2.5, 4}, 0.5}, {[]float64{0.7, 1}, 0}, {[]float64{1e6, 1e6 + 1}, 1},
	} {
		p := &Problem{Capacity: []float64{1}}
		for _, u := range tt.units {
			p.Options = append(p.Options, []Option{{Units: u, Value: 1}})
		}
		if got := p.unit(); got != tt.want {
			t.Errorf("%v: %g, want %g", tt.units, got, tt.want)
		}
	}
}

func TestBoundHoldsAtAnyGapAskedFor(t *testing.T) {
	for _, c := range []struct{ jobs, rows, nodes int }{{12, 3, 50}, {30, 8, 1}, {50, 4, 20}, {70, 3, 50}} {
		p := configs(c.jobs, c.rows, 5)
		best := Solve(p, Limits{})
		for _, gap := range []float64{0.1, 1e-2, 1e-3, 1e-5} {
			s := Solve(p, Limits{Gap: gap, Nodes: c.nodes})
			if s.Bound < best.Value*(1-1e-9) || s.Value > best.Bound*(1+1e-9) || !p.fits(s.Choice) {
				t.Errorf("%v: value %g and bound %g around %g at gap %g", c, s.Value, s.Bound, best.Value, gap)
			}
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
