package report

import (
	"cmp"
	"fmt"
	"image/color"
	"io"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/goodfleet/goodfleet/planner/goodput"
)

// GoodputPlot draws what a profile says of one accelerator type: throughput,
// efficiency and goodput, over accelerators at the best batch (above, with the
// range of one standard deviation) and over the batch at some numbers of
// accelerators (below). Measured points are dots.
type GoodputPlot struct {
	Profile     *goodput.Profile
	Predictor   *goodput.Predictor
	Accelerator string
	PerNode     int // accelerators on a machine, > 0
	Most        int // the most accelerators drawn, > 0; fewer where nothing is predicted
}

// Formats of a drawing.
const (
	PlotPNG = "png"
	PlotSVG = "svg"
)

const (
	plotWidth  = 13 * vg.Inch
	plotHeight = 7.6 * vg.Inch
	batchSteps = 60 // points of a curve over batches
	mostCurves = 5  // over batches
)

// plotColours tell numbers of accelerators apart, for readers who see no red or
// green either (Okabe and Ito's palette).
var plotColours = []color.RGBA{
	{0, 114, 178, 255}, {213, 94, 0, 255}, {0, 158, 115, 255}, {204, 121, 167, 255}, {86, 180, 233, 255},
}

// Write draws as "png" or "svg". It returns an error when nothing is predicted on
// the type.
func (g GoodputPlot) Write(w io.Writer, format string) error {
	over, err := g.overReplicas()
	if err != nil {
		return err
	}
	rows := [][]*plot.Plot{over, g.overBatches()}
	sheet, canvas, err := newSheet(format, plotWidth, plotHeight)
	if err != nil {
		return err
	}
	tiles := draw.Tiles{Rows: 2, Cols: 3, PadX: vg.Millimeter * 6, PadY: vg.Millimeter * 6,
		PadTop: vg.Millimeter * 3, PadBottom: vg.Millimeter * 3, PadLeft: vg.Millimeter * 3, PadRight: vg.Millimeter * 5}
	for r, canvases := range plot.Align(rows, tiles, canvas) {
		for c := range canvases {
			rows[r][c].Draw(canvases[c])
		}
	}
	_, err = sheet.WriteTo(w)
	return err
}

func newGoodputPlot(title, x, y string) *plot.Plot {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = title, x, y
	p.X.Scale = plot.LogScale{}
	p.Y.Min = 0
	p.Y.Tick.Marker = plot.TickerFunc(roundTicks)
	grid := plotter.NewGrid()
	grid.Vertical.Color, grid.Horizontal.Color = color.Gray{225}, color.Gray{225}
	p.Add(grid)
	p.Legend.Top, p.Legend.Left = true, true
	return p
}

// overReplicas draws the upper row.
func (g GoodputPlot) overReplicas() ([]*plot.Plot, error) {
	var speed, useful, both, low, high plotter.XYs
	var ticks []plot.Tick
	for _, at := range goodput.PlacesOf(g.PerNode, g.Most) {
		p, ok := g.Predictor.At(g.Accelerator, at.Nodes, at.Replicas)
		if !ok {
			continue
		}
		m, _ := g.Predictor.Model(g.Accelerator, at.Nodes, at.Replicas)
		point := m.At(at.Nodes, at.Replicas, p.Atomic, p.Accum)
		x := float64(at.Replicas)
		speed = append(speed, plotter.XY{X: x, Y: point.Throughput})
		useful = append(useful, plotter.XY{X: x, Y: point.Efficiency})
		both = append(both, plotter.XY{X: x, Y: p.Goodput})
		low = append(low, plotter.XY{X: x, Y: p.Goodput * math.Exp(-p.LogSD)})
		high = append(high, plotter.XY{X: x, Y: p.Goodput * math.Exp(p.LogSD)})
		label := ""
		if at.Replicas&(at.Replicas-1) == 0 {
			label = strconv.Itoa(at.Replicas)
		}
		ticks = append(ticks, plot.Tick{Value: x, Label: label})
	}
	if len(both) == 0 {
		return nil, fmt.Errorf("nothing is predicted of %s on %s", g.Profile.Name, g.Accelerator)
	}
	x := g.Accelerator + " accelerators"
	plots := []*plot.Plot{
		newGoodputPlot(g.Profile.Name+": throughput at the best batch", x, "samples/s"),
		newGoodputPlot("Efficiency", x, "progress per sample"),
		newGoodputPlot("Goodput ± one standard deviation", x, "samples of progress/s"),
	}
	slices.Reverse(low)
	band, err := plotter.NewPolygon(append(slices.Clone(high), low...))
	if err != nil {
		return nil, err
	}
	band.Color, band.LineStyle.Width = color.RGBA{200, 220, 238, 255}, 0
	plots[2].Add(band)
	for i, curve := range []plotter.XYs{speed, useful, both} {
		line, err := plotter.NewLine(curve)
		if err != nil {
			return nil, err
		}
		line.Color, line.Width = plotColours[0], vg.Points(1.8)
		plots[i].Add(line)
		plots[i].X.Tick.Marker = plot.ConstantTicks(ticks)
		plots[i].X.Min, plots[i].X.Max = curve[0].X*0.9, curve[len(curve)-1].X*1.1
	}
	plots[1].Y.Max = 1.05
	if dots := g.measured(func(s goodput.Sample) bool { return s.Replicas <= g.Most }, func(s goodput.Sample) float64 { return float64(s.Replicas) }); len(dots) > 0 {
		addDots(plots[0], dots, plotColours[1])
		plots[0].Legend.Add("measured, each at its batch", dotThumbnail(plotColours[1]))
	}
	return plots, nil
}

// overBatches draws the lower row. Curves are over the batches that the limits
// allow, without accumulation where a batch fits in one pass.
func (g GoodputPlot) overBatches() []*plot.Plot {
	x := "batch, all accelerators together"
	plots := []*plot.Plot{
		newGoodputPlot("Throughput", x, "samples/s"), newGoodputPlot("Efficiency", x, "progress per sample"), newGoodputPlot("Goodput", x, "samples of progress/s"),
	}
	colour := 0
	for _, at := range g.someSizes() {
		m, ok := g.Predictor.Model(g.Accelerator, at.Nodes, at.Replicas)
		if !ok {
			continue
		}
		curves := g.batchCurves(m, at)
		for i, curve := range curves {
			line, err := plotter.NewLine(curve)
			if err != nil {
				continue // no batch is possible
			}
			line.Color, line.Width = plotColours[colour%len(plotColours)], vg.Points(1.5)
			plots[i].Add(line)
			if len(curve) == 1 { // the batch is fixed
				addDots(plots[i], curve, line.Color)
			}
			if i == 0 {
				plots[i].Legend.Add(fmt.Sprintf("%d on %s", at.Replicas, machines(at.Nodes)), line)
			}
		}
		addDots(plots[0], g.measured(func(s goodput.Sample) bool { return s.Replicas == at.Replicas && s.Nodes == at.Nodes },
			func(s goodput.Sample) float64 { return float64(s.Replicas * s.AtomicBatch) }), plotColours[colour%len(plotColours)])
		colour++
	}
	// The axis spans more than a power of ten, so that it has labels.
	initial := float64(g.Profile.Limits.InitialBatch)
	for _, p := range plots {
		p.X.Tick.Marker = plot.LogTicks{Prec: -1}
		p.X.Min = min(p.X.Min, initial/2)
		p.X.Max = max(p.X.Max, 10*initial)
	}
	plots[1].Y.Max = 1.05
	return plots
}

func machines(n int) string {
	if n == 1 {
		return "1 machine"
	}
	return strconv.Itoa(n) + " machines"
}

// someSizes are the places that are drawn over batches, about evenly spaced on
// the logarithmic scale. All of them are predicted.
func (g GoodputPlot) someSizes() []goodput.Place {
	sizes := slices.DeleteFunc(goodput.PlacesOf(g.PerNode, g.Most), func(at goodput.Place) bool {
		_, ok := g.Predictor.Model(g.Accelerator, at.Nodes, at.Replicas)
		return !ok
	})
	var some []goodput.Place
	for i := range mostCurves {
		wanted := math.Pow(float64(sizes[len(sizes)-1].Replicas), float64(i)/(mostCurves-1))
		at := slices.MinFunc(sizes, func(a, b goodput.Place) int {
			return cmp.Compare(math.Abs(math.Log(float64(a.Replicas)/wanted)), math.Abs(math.Log(float64(b.Replicas)/wanted)))
		})
		if !slices.Contains(some, at) {
			some = append(some, at)
		}
	}
	return some
}

// roundTicks labels an axis from 0 at round values.
func roundTicks(_, most float64) []plot.Tick {
	var ticks []plot.Tick
	for _, t := range linear(most, 5).ticks {
		if t.at <= most {
			ticks = append(ticks, plot.Tick{Value: t.at, Label: t.label})
		}
	}
	return ticks
}

func (g GoodputPlot) batchCurves(m goodput.Model, at goodput.Place) [3]plotter.XYs {
	var curves [3]plotter.XYs
	l := m.Limits
	first, last := float64(max(l.InitialBatch, l.MinLocal*at.Replicas)), float64(l.MaxBatch)
	seen := 0
	for i := range batchSteps {
		batch := first * math.Pow(max(last, first)/first, float64(i)/(batchSteps-1))
		local := int(math.Round(batch / float64(at.Replicas)))
		accum := 0
		if local > l.MaxLocal {
			if !l.Accumulation {
				break
			}
			accum = (local+l.MaxLocal-1)/l.MaxLocal - 1
		}
		atomic := max((local+accum)/(accum+1), l.MinLocal, 1)
		total := atomic * (accum + 1) * at.Replicas
		if total == seen || total < l.InitialBatch {
			continue
		}
		seen = total
		p := m.At(at.Nodes, at.Replicas, atomic, accum)
		for c, y := range []float64{p.Throughput, p.Efficiency, p.Goodput} {
			curves[c] = append(curves[c], plotter.XY{X: float64(total), Y: y})
		}
	}
	return curves
}

// measured lists the throughputs of samples.
func (g GoodputPlot) measured(keep func(goodput.Sample) bool, x func(goodput.Sample) float64) plotter.XYs {
	var dots plotter.XYs
	t, ok := g.Profile.Type(g.Accelerator)
	if !ok {
		return nil
	}
	for _, s := range t.Samples {
		if keep(s) {
			dots = append(dots, plotter.XY{X: x(s), Y: float64(s.Replicas*s.AtomicBatch) / s.OptimSec})
		}
	}
	return dots
}

func addDots(p *plot.Plot, dots plotter.XYs, c color.Color) {
	if len(dots) == 0 {
		return
	}
	scatter, err := plotter.NewScatter(dots)
	if err != nil {
		return // samples are finite
	}
	scatter.GlyphStyle = draw.GlyphStyle{Color: c, Radius: vg.Points(1.6), Shape: draw.CircleGlyph{}}
	p.Add(scatter)
}

func dotThumbnail(c color.Color) plot.Thumbnailer {
	return &plotter.Scatter{GlyphStyle: draw.GlyphStyle{Color: c, Radius: vg.Points(2.2), Shape: draw.CircleGlyph{}}}
}
