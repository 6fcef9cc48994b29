package report

import (
	"fmt"
	"html"
	"html/template"
	"math"
	"strings"
)

// The colours of Okabe and Ito, which people with any form of colour blindness
// can tell apart, without the yellow that white paper swallows.
var palette = []string{"#0072B2", "#E69F00", "#009E73", "#D55E00", "#56B4E9", "#CC79A7", "#7A5C3E", "#4D4D4D"}

// otherColour is for what is merged because there is too much of it.
const otherColour = "#B0B0B0"

// canvas draws one picture: a box with axes, and shapes in the units of the axes.
type canvas struct {
	body                     strings.Builder
	width, height            float64
	left, top, right, bottom float64 // margins
	x, y                     axis
}

// newCanvas is an empty picture of so many pixels.
func newCanvas(width, height float64) *canvas {
	return &canvas{width: width, height: height, left: 58, top: 10, right: 14, bottom: 34}
}

func (c *canvas) px(v float64) float64 { return c.left + c.x.pos(v)*(c.width-c.left-c.right) }
func (c *canvas) py(v float64) float64 {
	return c.height - c.bottom - c.y.pos(v)*(c.height-c.top-c.bottom)
}

func (c *canvas) add(format string, args ...any) {
	fmt.Fprintf(&c.body, format, args...)
	c.body.WriteByte('\n')
}

// axes draws the grid and the labels. xLabel and yLabel name the quantity with
// its unit; "" draws none.
func (c *canvas) axes(xLabel, yLabel string) {
	base, end := c.height-c.bottom, c.width-c.right
	for _, t := range c.y.ticks {
		y := c.py(t.at)
		c.add(`<line class="grid" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>`, c.left, y, end, y)
		c.text(c.left-7, y+4, "end", "tick", t.label)
	}
	for _, t := range c.x.ticks {
		x := c.px(t.at)
		c.add(`<line class="mark" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>`, x, base, x, base+4)
		anchor := "middle"
		if x > end-20 { // a centred label would leave the picture
			anchor, x = "end", min(x+20, c.width)
		}
		c.text(x, base+17, anchor, "tick", t.label)
	}
	c.add(`<line class="axis" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>`, c.left, base, end, base)
	if xLabel != "" {
		c.text((c.left+end)/2, c.height-2, "middle", "label", xLabel)
	}
	if yLabel != "" {
		c.add(`<text class="label" text-anchor="middle" transform="translate(12 %.1f) rotate(-90)">%s</text>`, (c.top+base)/2, html.EscapeString(yLabel))
	}
}

// text writes at a pixel.
func (c *canvas) text(x, y float64, anchor, class, s string) {
	c.add(`<text class="%s" text-anchor="%s" x="%.1f" y="%.1f">%s</text>`, class, anchor, x, y, html.EscapeString(s))
}

// line draws a polyline through points in units of the axes.
func (c *canvas) line(points [][2]float64, colour, dash string, width float64) {
	if len(points) == 0 {
		return
	}
	style := fmt.Sprintf(`stroke="%s" stroke-width="%g"`, colour, width)
	if dash != "" {
		style += fmt.Sprintf(` stroke-dasharray="%s"`, dash)
	}
	c.add(`<path class="line" %s d="%s"/>`, style, c.path(points))
}

func (c *canvas) path(points [][2]float64) string {
	var b strings.Builder
	verb := "M"
	for _, p := range points {
		fmt.Fprintf(&b, "%s%.1f %.1f", verb, c.px(p[0]), c.py(p[1]))
		verb = "L"
	}
	return b.String()
}

// area fills between two step functions over the same edges: low[i]..high[i]
// holds from edges[i] to edges[i+1].
func (c *canvas) area(edges, low, high []float64, fill, title string) {
	var there, back [][2]float64
	seen := false
	for i := range high {
		there = append(there, [2]float64{edges[i], high[i]}, [2]float64{edges[i+1], high[i]})
		back = append(back, [2]float64{edges[i], low[i]}, [2]float64{edges[i+1], low[i]})
		seen = seen || high[i] > low[i]
	}
	if !seen {
		return
	}
	for i := len(back) - 1; i >= 0; i-- {
		there = append(there, back[i])
	}
	c.add(`<path fill="%s" d="%sZ"><title>%s</title></path>`, fill, c.path(there), html.EscapeString(title))
}

// rect draws a bar between pixels, with a text that shows when pointed at.
func (c *canvas) rect(x, y, width, height float64, fill, title string) {
	c.add(`<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s"><title>%s</title></rect>`,
		x, y, math.Max(width, 0.5), height, fill, html.EscapeString(title))
}

// svg is the picture, described in words for those who cannot see it.
func (c *canvas) svg(description string) template.HTML {
	return template.HTML(fmt.Sprintf("<svg viewBox=\"0 0 %g %g\" role=\"img\" aria-label=\"%s\">\n%s</svg>",
		c.width, c.height, html.EscapeString(description), c.body.String()))
}

// hatch is the fill of a colour struck through with white, for a second market
// of the same type; define draws it once into a picture.
func (c *canvas) hatch(id, colour string) (fill string) {
	c.add(`<defs><pattern id="%s" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">`+
		`<rect width="6" height="6" fill="%s"/><line x1="0" y1="0" x2="0" y2="6" stroke="#fff" stroke-width="2.6"/></pattern></defs>`, id, colour)
	return "url(#" + id + ")"
}
