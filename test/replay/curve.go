package main

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/goodfleet/goodfleet/autoscale/report"
	"github.com/goodfleet/goodfleet/autoscale/sim"
)

// curve is something of a run that is drawn, and not only told by one number.
type curve struct {
	name   string
	points []report.ChartPoint
}

// Names of curves.
const (
	jctCurve   = "JCT, h, and share of jobs done, %" // a step for each twentieth of the jobs
	spendCurve = "hour and USD/h"
	tradeCurve = "mean JCT, h, and USD"                                       // one point
	boxCurve   = "corner of the box that fronts are held in: JCT, h, and USD" // one point
	fleetCurve = "hour and accelerators of "
)

// jctShares are the parts of the jobs whose times a curve tells.
const jctShares = 20

// jctOf is the distribution of times, in hours.
func jctOf(hours []float64) curve {
	ascending := slices.Sorted(slices.Values(hours))
	c := curve{name: jctCurve}
	for k := range jctShares + 1 {
		at := max(0, (k*len(ascending)+jctShares-1)/jctShares-1)
		c.points = append(c.points, report.ChartPoint{X: roundedValue(ascending[at]), Y: float64(100 * k / jctShares)})
	}
	return c
}

// spendOf is what the machines of a run cost over time, and how many there were.
func spendOf(out *sim.Outcome) []curve {
	hours := func(i int) float64 { return roundedValue(float64(i) * out.Series.StepSeconds / 3600) }
	spend := curve{name: spendCurve}
	for i, cost := range out.Series.Cost {
		spend.points = append(spend.points, report.ChartPoint{X: hours(i), Y: roundedValue(cost.Dollars() * 3600 / out.Series.StepSeconds)})
	}
	list := []curve{spend}
	for _, f := range out.Series.Fleet {
		c := curve{name: fleetCurve + f.Cloud + " " + f.Type}
		for i, n := range f.Accelerators {
			c.points = append(c.points, report.ChartPoint{X: hours(i), Y: roundedValue(n)})
		}
		list = append(list, c)
	}
	return list
}

// curveColumns are those of the file of curves.
var curveColumns = []string{"experiment", "point", "seed", "ablation", "curve", "x", "y"}

// curvesIn is the file of curves in a folder.
func curvesIn(folder string) string { return filepath.Join(folder, "curves.csv") }

// curves is a line for each point of each curve.
func curves(rows []*row) []byte {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	_ = w.Write(curveColumns) // a buffer never fails
	number := func(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
	for _, r := range rows {
		if r.beside {
			continue
		}
		for i, x := range r.results {
			k := r.curveKey(i)
			for _, c := range x.curves {
				for _, p := range c.points {
					_ = w.Write([]string{k.experiment, k.point, strconv.Itoa(k.seed), k.ablation, c.name, number(p.X), number(p.Y)})
				}
			}
		}
	}
	w.Flush()
	return b.Bytes()
}

// readCurves reads a file of curves.
func readCurves(name string) (map[key][]curve, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return parseCurves(name, f)
}

func parseCurves(name string, r io.Reader) (map[key][]curve, error) {
	lines, err := csv.NewReader(r).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(lines) == 0 || !slices.Equal(lines[0], curveColumns) {
		return nil, fmt.Errorf("%s: want the columns %v", name, curveColumns)
	}
	held := map[key][]curve{}
	for i, f := range lines[1:] {
		seed, err := strconv.Atoi(f[2])
		if err != nil {
			return nil, fmt.Errorf("%s:%d: seed: %w", name, i+2, err)
		}
		var p report.ChartPoint
		for _, n := range []struct {
			column string
			text   string
			value  *float64
		}{{"x", f[5], &p.X}, {"y", f[6], &p.Y}} {
			if *n.value, err = strconv.ParseFloat(n.text, 64); err != nil {
				return nil, fmt.Errorf("%s:%d: %s: %w", name, i+2, n.column, err)
			}
		}
		k := key{experiment: f[0], point: f[1], ablation: f[3], seed: seed}
		list := held[k]
		if len(list) == 0 || list[len(list)-1].name != f[4] {
			list = append(list, curve{name: f[4]})
		}
		list[len(list)-1].points = append(list[len(list)-1].points, p)
		held[k] = list
	}
	return held, nil
}
