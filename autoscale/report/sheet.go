package report

import (
	"fmt"
	"image/color"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// newSheet is a white sheet to draw on, which is written as "png" or "svg".
func newSheet(format string, width, height vg.Length) (vg.CanvasWriterTo, draw.Canvas, error) {
	var sheet vg.CanvasWriterTo
	switch format {
	case PlotPNG:
		sheet = vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(110))}
	case PlotSVG:
		sheet = vgsvg.New(width, height)
	default:
		return nil, draw.Canvas{}, fmt.Errorf("format %q: want png or svg", format)
	}
	canvas := draw.New(sheet)
	canvas.FillPolygon(color.White, canvas.ClipPolygonXY([]vg.Point{
		canvas.Min, {X: canvas.Max.X, Y: canvas.Min.Y}, canvas.Max, {X: canvas.Min.X, Y: canvas.Max.Y},
	}))
	return sheet, canvas, nil
}
