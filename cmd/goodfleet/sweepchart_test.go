package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goodfleet/goodfleet/autoscale/report"
	"github.com/goodfleet/goodfleet/autoscale/sim/sweep"
)

// sweptRow is a row with two of its figures.
func sweptRow(usd, jct string, places ...string) sweep.Row {
	r := sweep.Row{Places: places}
	for _, name := range sweep.Figures() {
		v := "0"
		switch name {
		case "cost_usd":
			v = usd
		case "avg_jct_hours":
			v = jct
		}
		r.Figures = append(r.Figures, v)
	}
	return r
}

func TestSweepDrawsMeansOverSeedsALineForEachPolicy(t *testing.T) {
	got := sweepCharts(sweep.Table{Axes: []string{"workload", "load", "policy", "value_of_time", "seed"}, Rows: []sweep.Row{
		sweptRow("10", "4", "w", "2", "a", "1", "1"), sweptRow("30", "6", "w", "2", "a", "1", "2"),
		sweptRow("8", "2", "w", "1", "a", "1", "1"), sweptRow("8", "4", "w", "1", "a", "1", "2"),
		sweptRow("9", "7", "w", "1", "b", "1", "1"), sweptRow("9", "0", "w", "2", "b", "1", "1"), // no job ended
	}})
	line := func(name string, points ...report.ChartPoint) report.ChartSeries {
		return report.ChartSeries{Name: name, Points: points, Dots: true, Line: true}
	}
	want := [][]report.ChartSeries{
		{line("policy a", report.ChartPoint{X: 1, Y: 3}, report.ChartPoint{X: 2, Y: 5}), line("policy b", report.ChartPoint{X: 1, Y: 7})},
		{line("load 2, policy a", report.ChartPoint{X: 5, Y: 20}), line("load 1, policy a", report.ChartPoint{X: 3, Y: 8}), line("load 1, policy b", report.ChartPoint{X: 7, Y: 9})},
	}
	if len(got) != 2 || got[0].file != "sweep-load.svg" || got[1].file != "sweep-cost.svg" {
		t.Fatalf("%d charts %+v: want those over load and of cost", len(got), got)
	}
	for i := range got {
		if diff := cmp.Diff(want[i], got[i].chart.Series); diff != "" {
			t.Errorf("%s (-want +got):\n%s", got[i].file, diff)
		}
	}
}

// A fleet that stands costs nothing, and one load is no axis.
func TestSweepDrawsNothingOfNothing(t *testing.T) {
	if got := sweepCharts(sweep.Table{Axes: []string{"load", "seed"}, Rows: []sweep.Row{sweptRow("0", "4", "1", "1"), sweptRow("0", "6", "1", "2")}}); len(got) != 0 {
		t.Errorf("%+v: want no chart", got)
	}
}
