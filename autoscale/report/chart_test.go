package report

import (
	"bytes"
	"image/png"
	"math"
	"strings"
	"testing"
)

var drawnChart = Chart{Title: "JCT over load", X: "jobs per hour", Y: "mean JCT, h", LogY: true, Series: []ChartSeries{
	{Name: "published", Group: "fifo", Dots: true, Dashed: true, Points: []ChartPoint{{1, 15}, {2, 16}, {4, 90}}},
	{Name: "ours", Group: "fifo", Line: true, Points: []ChartPoint{{1, 15.1}, {2, 16.1}, {4, 91}}},
	{Name: "nothing of it"},
}}

func TestChartNamesWhatItShows(t *testing.T) {
	var svg, again bytes.Buffer
	if err := drawnChart.Write(&svg, PlotSVG); err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"JCT over load", "jobs per hour", "mean JCT, h", "published", "ours", ">50<"} {
		if !strings.Contains(svg.String(), word) {
			t.Errorf("the drawing does not say %q", word)
		}
	}
	if strings.Contains(svg.String(), "nothing of it") {
		t.Error("a series without points is in the legend")
	}
	if err := drawnChart.Write(&again, PlotSVG); err != nil || !bytes.Equal(svg.Bytes(), again.Bytes()) {
		t.Errorf("two drawings of one chart differ, %v", err)
	}
	var image bytes.Buffer
	if err := drawnChart.Write(&image, PlotPNG); err != nil {
		t.Fatal(err)
	}
	if _, err := png.Decode(&image); err != nil {
		t.Error(err)
	}
}

func TestChartRefusesWhatItCannotDraw(t *testing.T) {
	of := func(log bool, points ...ChartPoint) Chart {
		return Chart{Title: "x", LogX: log, Series: []ChartSeries{{Name: "s", Points: points}}}
	}
	for name, c := range map[string]Chart{
		"nothing": of(false), "no number": of(false, ChartPoint{math.NaN(), 1}), "no end": of(false, ChartPoint{1, math.Inf(1)}), "no logarithm": of(true, ChartPoint{0, 1}),
	} {
		if err := c.Write(&bytes.Buffer{}, PlotSVG); err == nil {
			t.Errorf("%s was drawn", name)
		}
	}
	if err := drawnChart.Write(&bytes.Buffer{}, "gif"); err == nil {
		t.Error("a gif was drawn")
	}
}
