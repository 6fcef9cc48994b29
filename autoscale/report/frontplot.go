package report

import (
	"errors"
	"fmt"
	"image/color"
	"io"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// FrontPlot draws a cost-time front: what each dollar buys in time. Between two
// points nothing can be bought, so the line goes in steps. The knee is marked.
type FrontPlot struct {
	Title  string
	Hours  string // what the hours are of
	Points []FrontPoint
}

// FrontPoint is one way to spend: USD and hours, both > 0.
type FrontPoint struct {
	Cost, Hours float64
	Knee        bool
	Label       string
}

const (
	frontWidth  = 9 * vg.Inch
	frontHeight = 5.5 * vg.Inch
)

// Write draws as "png" or "svg". Points are in order of cost.
func (f FrontPlot) Write(w io.Writer, format string) error {
	p, err := f.plot()
	if err != nil {
		return err
	}
	sheet, canvas, err := newSheet(format, frontWidth, frontHeight)
	if err != nil {
		return err
	}
	p.Draw(draw.Crop(canvas, vg.Millimeter*3, -vg.Millimeter*5, vg.Millimeter*3, -vg.Millimeter*3))
	_, err = sheet.WriteTo(w)
	return err
}

func (f FrontPlot) plot() (*plot.Plot, error) {
	if len(f.Points) == 0 {
		return nil, errors.New("a front without points has no drawing")
	}
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = f.Title, "USD to the end", f.Hours
	p.Title.Padding = vg.Millimeter * 3
	grid := plotter.NewGrid()
	grid.Vertical.Color, grid.Horizontal.Color = color.Gray{225}, color.Gray{225}
	p.Add(grid)
	var steps, dots, knee plotter.XYs
	texts := plotter.XYLabels{}
	for i, x := range f.Points {
		at := plotter.XY{X: x.Cost, Y: x.Hours}
		if i > 0 {
			steps = append(steps, plotter.XY{X: x.Cost, Y: f.Points[i-1].Hours})
		}
		steps = append(steps, at)
		if x.Knee {
			knee = append(knee, at)
		} else {
			dots = append(dots, at)
		}
	}
	f.axes(p)
	for _, i := range f.labelled(p) {
		texts.XYs = append(texts.XYs, plotter.XY{X: f.Points[i].Cost, Y: f.Points[i].Hours})
		texts.Labels = append(texts.Labels, f.Points[i].Label)
	}
	line, err := plotter.NewLine(steps)
	if err != nil {
		return nil, err
	}
	line.Color, line.Width = plotColours[0], vg.Points(1.6)
	p.Add(line)
	addDots(p, dots, plotColours[0])
	scatter, err := plotter.NewScatter(knee)
	if err != nil {
		return nil, err
	}
	scatter.Shape, scatter.Color, scatter.Radius = draw.CircleGlyph{}, plotColours[1], vg.Points(5)
	p.Add(scatter)
	p.Legend.Add("knee: the least cost × time", scatter)
	p.Legend.Top = true
	labels, err := plotter.NewLabels(texts)
	if err != nil {
		return nil, err
	}
	labels.Offset = vg.Point{X: vg.Points(6), Y: vg.Points(5)}
	p.Add(labels)
	return p, nil
}

// axes are logarithmic where a linear one would press most points together.
func (f FrontPlot) axes(p *plot.Plot) {
	first, last := f.Points[0], f.Points[len(f.Points)-1]
	p.X.Min, p.X.Max, p.X.Scale, p.X.Tick.Marker = f.axis(first.Cost, last.Cost)
	p.Y.Min, p.Y.Max, p.Y.Scale, p.Y.Tick.Marker = f.axis(last.Hours, first.Hours)
}

// wide is the ratio of the ends of an axis from which on it is logarithmic.
const wide = 8

func (f FrontPlot) axis(low, high float64) (from, to float64, scale plot.Normalizer, ticks plot.Ticker) {
	if low > 0 && high/low > wide {
		return low / 1.3, high * 2.5, plot.LogScale{}, plot.TickerFunc(roundLogTicks)
	}
	return 0, high * 1.35, plot.LinearScale{}, plot.TickerFunc(roundTicks)
}

// roundLogTicks labels 1, 2 and 5 of each power of ten.
func roundLogTicks(low, high float64) []plot.Tick {
	var ticks []plot.Tick
	for power := math.Floor(math.Log10(low)); power <= math.Ceil(math.Log10(high)); power++ {
		for _, digit := range []float64{1, 2, 5} {
			if v := digit * math.Pow(10, power); v >= low && v <= high {
				ticks = append(ticks, plot.Tick{Value: v, Label: fmt.Sprintf("%g", v)})
			}
		}
	}
	return ticks
}

// labelled picks the points whose labels do not lie on each other: the knee first,
// then the ends, then in order.
func (f FrontPlot) labelled(p *plot.Plot) []int {
	var order, kept []int
	for i, x := range f.Points {
		if x.Knee {
			order = append(order, i)
		}
	}
	order = append(order, 0, len(f.Points)-1)
	for i := range f.Points {
		order = append(order, i)
	}
	at := func(i int) (x, y float64) {
		return p.X.Scale.Normalize(p.X.Min, p.X.Max, f.Points[i].Cost), p.Y.Scale.Normalize(p.Y.Min, p.Y.Max, f.Points[i].Hours)
	}
	for _, i := range order {
		x, y := at(i)
		free := true
		for _, k := range kept {
			u, v := at(k)
			free = free && (math.Abs(x-u) > labelWidth || math.Abs(y-v) > labelHeight)
		}
		if free {
			kept = append(kept, i)
		}
	}
	return kept
}

// What a label takes of the drawing's width and height.
const (
	labelWidth  = 0.3
	labelHeight = 0.045
)
