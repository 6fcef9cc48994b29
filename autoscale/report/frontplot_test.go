package report

import (
	"bytes"
	"image/png"
	"strings"
	"testing"
)

var drawnFront = FrontPlot{Title: "GPT-L", Hours: "hours", Points: []FrontPoint{
	{Cost: 20, Hours: 8, Label: "slow"}, {Cost: 21, Hours: 7.9, Label: "hidden"}, {Cost: 30, Hours: 3, Knee: true, Label: "knee"}, {Cost: 900, Hours: 2, Label: "fast"},
}}

// The knee and the ends are named; a label that would lie on another is left out.
func TestFrontPlotNamesTheKneeAndTheEnds(t *testing.T) {
	var svg bytes.Buffer
	if err := drawnFront.Write(&svg, PlotSVG); err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"GPT-L", "knee: the least", "slow", "fast", "USD to the end"} {
		if !strings.Contains(svg.String(), word) {
			t.Errorf("the drawing does not say %q", word)
		}
	}
	if strings.Contains(svg.String(), "hidden") {
		t.Error("two labels lie on each other")
	}
}

func TestFrontPlotIsTheSameEachTime(t *testing.T) {
	var first, second bytes.Buffer
	for _, w := range []*bytes.Buffer{&first, &second} {
		if err := drawnFront.Write(w, PlotPNG); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Error("two drawings of one front differ")
	}
	if _, err := png.Decode(&first); err != nil {
		t.Error(err)
	}
}

func TestFrontPlotRefusesWhatItCannotDraw(t *testing.T) {
	if err := (FrontPlot{}).Write(&bytes.Buffer{}, PlotPNG); err == nil {
		t.Error("a front without points was drawn")
	}
	if err := drawnFront.Write(&bytes.Buffer{}, "gif"); err == nil {
		t.Error("a gif was drawn")
	}
}
