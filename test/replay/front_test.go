package main

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/goodfleet/goodfleet/autoscale/report"
)

func at(jct, usd float64) report.ChartPoint { return report.ChartPoint{X: jct, Y: usd} }

// The part of a box that points dominate is what a fine grid over it counts.
func TestDominatedIsTheAreaOfAGrid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		corner := at(4, 8)
		var points []report.ChartPoint
		for range rapid.IntRange(0, 5).Draw(t, "points") {
			points = append(points, at(rapid.Float64Range(0, 5).Draw(t, "jct"), rapid.Float64Range(0, 10).Draw(t, "usd")))
		}
		const n = 200
		count := 0
		for i := range n {
			for k := range n {
				x, y := corner.X*(float64(i)+0.5)/n, corner.Y*(float64(k)+0.5)/n
				for _, p := range points {
					if p.X <= x && p.Y <= y {
						count++
						break
					}
				}
			}
		}
		// A staircase of five steps cuts at most 2n of the n² cells.
		if got, want := dominated(points, corner), float64(count)/(n*n); math.Abs(got-want) > 2.0/n {
			t.Fatalf("%v: %g of the box, want %g", points, got, want)
		}
	})
}

func TestCostAtIsThatOfTheLowerHull(t *testing.T) {
	points := []report.ChartPoint{at(8, 10), at(2, 40), at(4, 35), at(4, 20), at(6, 19)}
	for name, tt := range map[string]struct {
		jct, want float64
		ok        bool
	}{
		"faster than all":       {1.9, math.Inf(1), false},
		"at the fastest":        {2, 40, true},
		"between":               {3, 30, true},
		"at a corner":           {4, 20, true},
		"under what lies above": {6, 15, true},
		"slower than all":       {9, 10, true},
	} {
		if got, ok := costAt(points, tt.jct); got != tt.want || ok != tt.ok {
			t.Errorf("%s: %g, %v, want %g, %v", name, got, ok, tt.want, tt.ok)
		}
	}
}

// weekRows are runs of two seeds, of ours at two values and of a rule, each shifted by
// more of a cost.
func weekRows(rule ...report.ChartPoint) []*row {
	e := &experiment{Name: "w", Title: "W", Cluster: "bought", Measure: weekCost, Shown: true, Source: "nobody", Why: "none", Week: &weekGround{Regions: []string{"r"}, Jobs: 1, Days: 1}}
	seeds := []int{1, 2}
	run := func(p report.ChartPoint, more float64) result {
		return result{value: p.Y, rounds: 1, hash: "beef", curves: []curve{
			{name: tradeCurve, points: []report.ChartPoint{at(p.X, p.Y+more)}}, {name: boxCurve, points: []report.ChartPoint{at(10, 100)}},
		}}
	}
	rows := []*row{
		{experiment: e, asked: true, point: point{Value: 1, Seeds: seeds}, results: []result{run(at(4, 60), 0), run(at(4, 60), 2)}},
		{experiment: e, asked: true, point: point{Value: 2, Seeds: seeds}, results: []result{run(at(2, 80), 0), run(at(2, 80), 2)}},
	}
	for i, p := range rule {
		rows = append(rows, &row{experiment: e, asked: true, ablation: "rule", point: point{Parameter: float64(i + 1), Seeds: seeds}, results: []result{run(p, 0), run(p, 3)}})
	}
	return rows
}

func TestDuelIsWonByTheLargerFrontThatNothingUndercuts(t *testing.T) {
	for name, tt := range map[string]struct {
		rule  []report.ChartPoint
		won   bool
		under float64 // of the worst point; seed 1 is the worse where costs are alike
	}{
		"dearer":                       {[]report.ChartPoint{at(4, 70)}, true, 1 - 70/59.8},
		"cheaper at one JCT":           {[]report.ChartPoint{at(3, 68)}, false, 1 - 68/69.85},
		"a little cheaper at one JCT":  {[]report.ChartPoint{at(3, 69)}, true, 1 - 69/69.85},
		"faster than all of ours":      {[]report.ChartPoint{at(1.9, 99)}, false, math.Inf(1)},
		"as fast as ours, but for 0.4": {[]report.ChartPoint{at(1.995, 99)}, true, 1 - 99/80.},
		"the same points":              {[]report.ChartPoint{at(4, 60), at(2, 80)}, false, 0},
	} {
		list := duels(weekRows(tt.rule...))
		if len(list) != 1 {
			t.Fatalf("%s: %d duels", name, len(list))
		}
		d := &list[0]
		if d.won() != tt.won || math.Abs(d.under.part-tt.under) > 0.006 && d.under.part != tt.under {
			mean, half := d.interval()
			t.Errorf("%s: won %v, %.4f ± %.4f, undercut by %+v, want %v and %.4f", name, d.won(), mean, half, d.under, tt.won, tt.under)
		}
	}
}

// The interval is that of Student's t: of the differences 1 and 3, two of them, 2 ± 6.3138.
func TestIntervalIsStudents(t *testing.T) {
	d := duel{ours: []float64{2, 5}, theirs: []float64{1, 2}}
	mean, half := d.interval()
	if mean != 2 || math.Abs(half-6.313752) > 1e-5 {
		t.Errorf("%g ± %g", mean, half)
	}
	one := duel{ours: []float64{2}, theirs: []float64{1}}
	if _, half := one.interval(); !math.IsInf(half, 1) {
		t.Errorf("of one seed: ± %g", half)
	}
}

// Fronts are held against each other when all of an experiment was run, not before, and
// told in the page and in a file.
func TestDuelsAreToldWhenAllWasRun(t *testing.T) {
	rows := weekRows(at(4, 70))
	list := duels(rows)
	text := string(page(rows, nil, list)) + string(fronts(list))
	for _, want := range []string{"Of 1 duels with other rules that buy, 1 are won.", "| an hour worth 1 USD | 1 2 |  |  | 60.00 at 4.000 h |", "| rule | 0.2720 | 0.1710 | 0.1010 ±", "| won |", "(parameter 1, seed 1)", "w,rule,1,0.280000,0.180000,0.100000"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	rows[2].results[1] = result{}
	if list := duels(rows); len(list) != 0 {
		t.Errorf("%d duels with a run that is missing", len(list))
	}
}
