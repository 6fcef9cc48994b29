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

// Chart draws lines and points over two axes, each with its name.
type Chart struct {
	Title  string
	X, Y   string // the quantities, with their units
	LogX   bool
	LogY   bool
	Series []ChartSeries
}

// ChartSeries is what has one name and colour in a chart. Series of one Group have the
// same colour.
type ChartSeries struct {
	Name   string
	Group  string // "": it is a group of its own
	Points []ChartPoint
	Line   bool // through the points, in their order
	Dots   bool
	Dashed bool
}

// ChartPoint is a place in a chart.
type ChartPoint struct{ X, Y float64 }

const (
	chartWidth  = 9 * vg.Inch
	chartHeight = 5 * vg.Inch
)

// Write draws as "png" or "svg". It returns an error when there is nothing to draw, and
// for a point that has no place.
func (c Chart) Write(w io.Writer, format string) error {
	p, err := c.plot()
	if err != nil {
		return fmt.Errorf("chart %q: %w", c.Title, err)
	}
	sheet, canvas, err := newSheet(format, chartWidth, chartHeight)
	if err != nil {
		return err
	}
	p.Draw(draw.Crop(canvas, vg.Millimeter*3, -vg.Millimeter*5, vg.Millimeter*3, -vg.Millimeter*3))
	_, err = sheet.WriteTo(w)
	return err
}

func (c Chart) plot() (*plot.Plot, error) {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = c.Title, c.X, c.Y
	p.Title.Padding = vg.Millimeter * 3
	grid := plotter.NewGrid()
	grid.Vertical.Color, grid.Horizontal.Color = color.Gray{225}, color.Gray{225}
	p.Add(grid)
	colours := map[string]color.RGBA{}
	drawn := 0
	for _, s := range c.Series {
		if len(s.Points) == 0 {
			continue
		}
		points, err := c.places(s)
		if err != nil {
			return nil, err
		}
		group := s.Group
		if group == "" {
			group = s.Name
		}
		colour, known := colours[group]
		if !known {
			colour = chartColours[len(colours)%len(chartColours)]
			colours[group] = colour
		}
		if err := s.add(p, points, colour); err != nil {
			return nil, err
		}
		drawn += len(points)
	}
	if drawn == 0 {
		return nil, errors.New("there is nothing to draw")
	}
	for _, a := range []struct {
		axis *plot.Axis
		log  bool
		room float64 // left beyond the last point; above all, for the legend
	}{{&p.X, c.LogX, 1.15}, {&p.Y, c.LogY, 2.5}} {
		if a.log {
			a.axis.Min, a.axis.Max = a.axis.Min/1.15, a.axis.Max*a.room
			a.axis.Scale, a.axis.Tick.Marker = plot.LogScale{}, plot.TickerFunc(roundLogTicks)
			continue
		}
		a.axis.Min, a.axis.Max = min(0, a.axis.Min), a.axis.Max*(1+(a.room-1)/4)
		a.axis.Tick.Marker = plot.TickerFunc(roundTicks)
	}
	p.Legend.Top, p.Legend.Left = true, true
	p.Legend.Padding = vg.Millimeter
	return p, nil
}

// chartColours are those of plots, and two more of Okabe and Ito's.
var chartColours = append(append([]color.RGBA(nil), plotColours...), color.RGBA{230, 159, 0, 255}, color.RGBA{90, 90, 90, 255})

// places are the points of a series, all of which must have one on the axes.
func (c Chart) places(s ChartSeries) (plotter.XYs, error) {
	var list plotter.XYs
	for _, q := range s.Points {
		for _, v := range []struct {
			value float64
			log   bool
		}{{q.X, c.LogX}, {q.Y, c.LogY}} {
			if math.IsNaN(v.value) || math.IsInf(v.value, 0) || v.log && v.value <= 0 {
				return nil, fmt.Errorf("%s: the point (%g, %g) has no place", s.Name, q.X, q.Y)
			}
		}
		list = append(list, plotter.XY{X: q.X, Y: q.Y})
	}
	return list, nil
}

// add draws a series.
func (s ChartSeries) add(p *plot.Plot, points plotter.XYs, colour color.RGBA) error {
	var thumbs []plot.Thumbnailer
	if s.Line {
		line, err := plotter.NewLine(points)
		if err != nil {
			return err
		}
		line.Color, line.Width = colour, vg.Points(1.6)
		if s.Dashed {
			line.Dashes = []vg.Length{vg.Points(5), vg.Points(3)}
		}
		p.Add(line)
		thumbs = append(thumbs, line)
	}
	if s.Dots || !s.Line {
		dots, err := plotter.NewScatter(points)
		if err != nil {
			return err
		}
		dots.Color, dots.Radius, dots.Shape = colour, vg.Points(3.2), draw.CircleGlyph{}
		if s.Dashed {
			dots.Shape = draw.RingGlyph{}
		}
		p.Add(dots)
		thumbs = append(thumbs, dots)
	}
	if s.Name != "" {
		p.Legend.Add(s.Name, thumbs...)
	}
	return nil
}
