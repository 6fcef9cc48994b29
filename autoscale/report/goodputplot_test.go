package report_test

import (
	"bytes"
	"image/png"
	"strings"
	"testing"

	"github.com/goodfleet/goodfleet/autoscale/report"
	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/planner/goodput"
)

// resnetProfile holds a fit to public measurements on T4, and two samples.
const resnetProfile = `{"apiVersion": "goodfleet/v1", "kind": "Profile", "metadata": {"name": "resnet50"}, "spec": {
	"batch": {"initial": 200, "max": 12800, "minLocal": 20, "maxLocal": 200, "accumulation": true},
	"noise": {"sqr": 0.35, "var": 20},
	"types": [{"accelerator": "T4", "theta": {"alpha_c": 0.064, "beta_c": 0.0045, "alpha_n": 0.32, "beta_n": 0.0062, "alpha_r": 0.075, "beta_r": 0.00087, "gamma": 2.5},
		"samples": [{"nodes": 1, "replicas": 4, "atomic_bsz": 50, "accum_time": 0.29, "optim_time": 0.31},
			{"nodes": 4, "replicas": 16, "atomic_bsz": 100, "accum_time": 0.51, "optim_time": 0.63}]}]}}`

func goodputPlot(t *testing.T, accelerator string) report.GoodputPlot {
	t.Helper()
	p, err := goodput.ParseProfile([]byte(resnetProfile))
	if err != nil {
		t.Fatal(err)
	}
	return report.GoodputPlot{
		Profile: p, Predictor: planner.GoodputPredictor(p, planner.Growth{}), Accelerator: accelerator, PerNode: 4, Most: 32,
	}
}

func TestGoodputPlotIsAPictureInBothFormats(t *testing.T) {
	var out bytes.Buffer
	if err := goodputPlot(t, "T4").Write(&out, report.PlotPNG); err != nil {
		t.Fatal(err)
	}
	picture, err := png.Decode(&out)
	if err != nil {
		t.Fatal(err)
	}
	if size := picture.Bounds().Size(); size.X < 1000 || size.Y < 500 {
		t.Errorf("the picture is of %v pixels: want one to read", size)
	}
	out.Reset()
	if err := goodputPlot(t, "T4").Write(&out, report.PlotSVG); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"<svg", "samples/s", "progress per sample", "T4 accelerators", "measured, each at its batch", "32"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the drawing lacks %q", want)
		}
	}
}

// Where the noise is not known the batch is fixed, and a curve is one point.
func TestGoodputPlotOfAFixedBatch(t *testing.T) {
	plot := goodputPlot(t, "T4")
	plot.Profile.Noise = nil
	plot.Most = 1
	for _, format := range []string{report.PlotPNG, report.PlotSVG} {
		var out bytes.Buffer
		if err := plot.Write(&out, format); err != nil || out.Len() == 0 {
			t.Errorf("%s: error %v with %d bytes", format, err, out.Len())
		}
	}
}

func TestGoodputPlotRefusesWhatIsNotKnown(t *testing.T) {
	var out bytes.Buffer
	if err := goodputPlot(t, "TPU v5e").Write(&out, report.PlotSVG); err == nil || !strings.Contains(err.Error(), "resnet50 on TPU v5e") {
		t.Errorf("error %v: want one that names job and type", err)
	}
	if err := goodputPlot(t, "T4").Write(&out, "pdf"); err == nil || out.Len() > 0 {
		t.Errorf("error %v with %d bytes written, want an error and none", err, out.Len())
	}
}
