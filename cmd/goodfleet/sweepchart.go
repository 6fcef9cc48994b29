package main

import (
	"cmp"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/goodfleet/goodfleet/autoscale/report"
	"github.com/goodfleet/goodfleet/autoscale/sim/sweep"
)

// sweepChart is a picture of a sweep, by the name of its file.
type sweepChart struct {
	file  string
	chart report.Chart
}

// sweepCharts draws what a sweep's axes allow: mean JCT over load where loads differ, and
// cost against mean JCT where money was spent, a line along the values of time. Each point
// is the mean over the seeds; each other axis that has several places tells lines apart. Runs
// of which no job ended have no place.
func sweepCharts(t sweep.Table) []sweepChart {
	jct, cost := slices.Index(sweep.Figures(), "avg_jct_hours"), slices.Index(sweep.Figures(), "cost_usd")
	var list []sweepChart
	if load := slices.Index(t.Axes, "load"); load >= 0 && severalOn(t, load) {
		c := report.Chart{Title: "Mean JCT over load", X: "jobs per hour", Y: "mean JCT, h", LogY: true}
		c.Series = sweepSeries(t, load, func(r sweep.Row) (x, y float64) { return numberIn(r.Places[load]), numberIn(r.Figures[jct]) })
		list = append(list, sweepChart{"sweep-load.svg", c})
	}
	c := report.Chart{Title: "Cost against JCT", X: "mean JCT, h", Y: "USD"}
	c.Series = sweepSeries(t, slices.Index(t.Axes, "value_of_time"), func(r sweep.Row) (x, y float64) { return numberIn(r.Figures[jct]), numberIn(r.Figures[cost]) })
	list = append(list, sweepChart{"sweep-cost.svg", c})
	return slices.DeleteFunc(list, func(c sweepChart) bool { return len(c.chart.Series) == 0 })
}

// numberIn is the number that a place or figure begins with; 0 for none.
func numberIn(text string) float64 {
	first, _, _ := strings.Cut(text, " ")
	v, err := strconv.ParseFloat(first, 64)
	if err != nil {
		return 0
	}
	return v
}

// severalOn reports whether rows differ on an axis.
func severalOn(t sweep.Table, axis int) bool {
	return slices.ContainsFunc(t.Rows, func(r sweep.Row) bool { return r.Places[axis] != t.Rows[0].Places[axis] })
}

// sweepSeries are lines along an axis (-1: none, each a point), in order of x. A mean of 0 on
// either axis is no point.
func sweepSeries(t sweep.Table, along int, at func(r sweep.Row) (x, y float64)) []report.ChartSeries {
	type point struct {
		series  int
		place   string
		x, y, n float64
	}
	var list []report.ChartSeries
	var points []point
	for _, r := range t.Rows {
		x, y := at(r)
		name := sweepLine(t, r, along)
		s := slices.IndexFunc(list, func(s report.ChartSeries) bool { return s.Name == name })
		if s < 0 {
			s = len(list)
			list = append(list, report.ChartSeries{Name: name, Dots: true, Line: along >= 0})
		}
		place := ""
		if along >= 0 {
			place = r.Places[along]
		}
		p := slices.IndexFunc(points, func(p point) bool { return p.series == s && p.place == place })
		if p < 0 {
			p = len(points)
			points = append(points, point{series: s, place: place})
		}
		points[p].x, points[p].y, points[p].n = points[p].x+x, points[p].y+y, points[p].n+1
	}
	for _, p := range points {
		if p.x > 0 && p.y > 0 {
			list[p.series].Points = append(list[p.series].Points, report.ChartPoint{X: p.x / p.n, Y: p.y / p.n})
		}
	}
	for i := range list {
		slices.SortStableFunc(list[i].Points, func(a, b report.ChartPoint) int { return cmp.Compare(a.X, b.X) })
	}
	return slices.DeleteFunc(list, func(s report.ChartSeries) bool { return len(s.Points) == 0 })
}

// sweepLine is the name of the line that a row is on: its places on the axes that tell
// lines apart.
func sweepLine(t sweep.Table, r sweep.Row, along int) string {
	var words []string
	for i, axis := range t.Axes {
		if i != along && axis != "seed" && severalOn(t, i) {
			words = append(words, axis+" "+r.Places[i])
		}
	}
	if len(words) == 0 {
		return "all runs"
	}
	return strings.Join(words, ", ")
}

// drawSweep writes the charts into a folder and returns the names of their files.
func drawSweep(folder string, t sweep.Table) ([]string, error) {
	var names []string
	for _, c := range sweepCharts(t) {
		err := writeFile(filepath.Join(folder, c.file), func(w io.Writer) error { return c.chart.Write(w, report.PlotSVG) })
		if err != nil {
			return nil, err
		}
		names = append(names, c.file)
	}
	return names, nil
}
