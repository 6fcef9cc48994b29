package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/goodfleet/goodfleet/autoscale/report"
)

// picture is a chart of what was run, by the name of its file.
type picture struct {
	file    string
	caption string
	chart   report.Chart
}

// picturesOf draws what there is: a picture of which nothing was run is left out.
func picturesOf(rows []*row, plannings []planning) []picture {
	rows = slices.DeleteFunc(slices.Clone(rows), func(r *row) bool { return r.beside })
	all := []picture{
		{"jct-load-single.svg", "Mean JCT over load, one worker a job. Rings: published; dots: ours.", overLoad(rows, "single")},
		{"jct-load-multi.svg", "Mean JCT over load, one to eight workers a job. Rings: published; dots: ours.", overLoad(rows, "multi")},
		{"makespan.svg", "Makespan over the number of jobs that come at once. Rings: published; dots: ours.", overJobs(rows)},
		{"jct-distribution.svg", "Share of jobs that were done within a time.", distribution(rows)},
		{"spot-front.svg", "What each dollar buys in time, over the value of an hour.", front(rows, "Cost against JCT on spot machines", func(e *experiment) bool { return e.Spot != nil })},
		{"week-front.svg", "A week on bought machines, mean of the seeds: ours over the value of an hour, the other rules over their parameters.", front(rows, "Cost against JCT of a week", func(e *experiment) bool { return e.Week != nil })},
		{"spot-spend.svg", "What the machines of a run cost over time.", overTime(rows, spendCurve, "USD/h")},
		{"spot-fleet.svg", "Accelerators held over time in that run.", overTime(rows, fleetCurve, "accelerators")},
		{"policy-time.svg", "CPU seconds of one plan, over the number of jobs that wait, each of one to eight workers, for a quarter as many workers of each of three types: `go run ./test/replay -plans -out test/replay`. A fair policy shares time, and takes the first round from that; srpt gives whole gangs to jobs.", overPlans(plannings)},
	}
	return slices.DeleteFunc(all, func(p picture) bool {
		return !slices.ContainsFunc(p.chart.Series, func(s report.ChartSeries) bool { return len(s.Points) > 0 })
	})
}

// svg is the picture as a file.
func (p picture) svg() ([]byte, error) {
	var b bytes.Buffer
	err := p.chart.Write(&b, report.PlotSVG)
	return b.Bytes(), err
}

// beside are two series, what was published and what we have, of the rows of an
// experiment that are judged and run.
func beside(rows []*row, e *experiment, x func(p point) float64) []report.ChartSeries {
	published := report.ChartSeries{Name: e.short() + ", published", Group: e.Name, Dots: true, Dashed: true, Line: true}
	ours := report.ChartSeries{Name: e.short() + ", ours", Group: e.Name, Dots: true, Line: true}
	for _, r := range rows {
		if r.experiment != e || !r.judged() {
			continue
		}
		published.Points = append(published.Points, report.ChartPoint{X: x(r.point), Y: r.point.Published})
		if r.complete() {
			ours.Points = append(ours.Points, report.ChartPoint{X: x(r.point), Y: r.mean()})
		}
	}
	if len(ours.Points) == 0 {
		return nil
	}
	return []report.ChartSeries{published, ours}
}

// short is the title without whose experiment it is.
func (e *experiment) short() string {
	_, after, ok := strings.Cut(e.Title, ": ")
	if !ok {
		return e.Title
	}
	of, _, _ := strings.Cut(after, ", one ")
	return of
}

// experimentsOf lists the experiments of rows, each once.
func experimentsOf(rows []*row) []*experiment {
	var list []*experiment
	for _, r := range rows {
		if len(list) == 0 || list[len(list)-1] != r.experiment {
			list = append(list, r.experiment)
		}
	}
	return list
}

func overLoad(rows []*row, stream string) report.Chart {
	c := report.Chart{Title: "Gavel's streams, " + stream, X: "jobs per hour", Y: "mean JCT, h", LogY: true}
	for _, e := range experimentsOf(rows) {
		if e.Stream == stream && e.Measure == meanJCT {
			c.Series = append(c.Series, beside(rows, e, func(p point) float64 { return p.Load })...)
		}
	}
	return c
}

func overJobs(rows []*row) report.Chart {
	c := report.Chart{Title: "Makespan", X: "jobs", Y: "makespan, h"}
	for _, e := range experimentsOf(rows) {
		if e.Measure == makespan {
			c.Series = append(c.Series, beside(rows, e, func(p point) float64 { return float64(p.Jobs) })...)
		}
	}
	return c
}

// shownLoad is the load of the streams whose distribution is drawn: every scheduler
// copes with it, and they differ.
const shownLoad = 4

func distribution(rows []*row) report.Chart {
	c := report.Chart{Title: fmt.Sprintf("Completion times, Gavel's stream of one worker a job, %d jobs/h", shownLoad), X: "JCT, h", Y: "% of jobs", LogX: true}
	for _, r := range rows {
		if r.experiment.Stream != "single" || r.point.Load != shownLoad || !r.judged() {
			continue
		}
		for _, d := range r.results[0].curves {
			if d.name == jctCurve {
				c.Series = append(c.Series, report.ChartSeries{Name: r.experiment.short(), Points: d.points, Line: true})
			}
		}
	}
	return c
}

// front is cost against JCT, of ours over the values of an hour and of each other rule, in
// experiments that of picks; over its parameter where it has one.
func front(rows []*row, title string, of func(e *experiment) bool) report.Chart {
	c := report.Chart{Title: title, X: "mean JCT, h", Y: "USD", LogX: true}
	for _, r := range rows {
		if !r.experiment.Shown || !of(r.experiment) || !r.complete() {
			continue
		}
		name := r.ablation
		if name == "" {
			name = "goodfleet, over the value of an hour"
		}
		at := slices.IndexFunc(c.Series, func(s report.ChartSeries) bool { return s.Name == name })
		if at < 0 {
			at = len(c.Series)
			c.Series = append(c.Series, report.ChartSeries{Name: name, Dots: true, Line: r.ablation == "" || r.point.Parameter > 0})
		}
		mean := r.meanPlace()
		if mean.X > 0 {
			c.Series[at].Points = append(c.Series[at].Points, mean)
		}
	}
	for i := range c.Series {
		slices.SortFunc(c.Series[i].Points, func(a, b report.ChartPoint) int { return int(1e6 * (a.X - b.X)) })
	}
	return c
}

// meanPlace is the mean over the seeds of where runs lie in cost and JCT.
func (r *row) meanPlace() (mean report.ChartPoint) {
	for i := range r.results {
		at, _ := r.results[i].place(tradeCurve)
		mean.X += at.X / float64(len(r.results))
		mean.Y += at.Y / float64(len(r.results))
	}
	return mean
}

// overTime is the curves that begin so of the first run that has them.
func overTime(rows []*row, name, y string) report.Chart {
	for _, r := range rows {
		if !r.judged() && !r.experiment.Shown {
			continue
		}
		var list []report.ChartSeries
		for _, d := range r.results[0].curves {
			if of, ok := strings.CutPrefix(d.name, name); ok {
				list = append(list, report.ChartSeries{Name: of, Points: d.points, Line: true})
			}
		}
		if len(list) > 0 {
			return report.Chart{Title: r.experiment.Title + ", " + r.point.at(), X: "hours", Y: y, Series: list}
		}
	}
	return report.Chart{}
}
