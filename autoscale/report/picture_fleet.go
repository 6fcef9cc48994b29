package report

import (
	"cmp"
	"fmt"
	"html/template"
	"slices"

	"github.com/goodfleet/goodfleet/autoscale/sim"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/provider"
)

// fleetLayers is the most types of a fleet that get a colour of their own.
const fleetLayers = 7

// layer is one band of the fleet: a type in one market.
type layer struct {
	label  string
	colour string
	hatch  bool
	held   []float64
}

// layersOf orders the fleet by type, the most used first, and market; types beyond
// fleetLayers are merged.
func layersOf(s sim.Series) []layer {
	hours := map[string]float64{}
	name := func(f sim.FleetSeries) string { return f.Cloud + " " + f.Type }
	for _, f := range s.Fleet {
		for _, n := range f.Accelerators {
			hours[name(f)] += n
		}
	}
	var types []string
	for _, f := range s.Fleet {
		if !slices.Contains(types, name(f)) {
			types = append(types, name(f))
		}
	}
	slices.SortStableFunc(types, func(a, b string) int { return cmp.Compare(hours[b], hours[a]) })
	var layers []layer
	others := layer{label: "other types", colour: otherColour, held: make([]float64, len(s.Cost))}
	merged := false
	for rank, kind := range types {
		for _, f := range s.Fleet {
			switch {
			case name(f) != kind:
			case rank < fleetLayers:
				layers = append(layers, layer{
					label: kind + " " + f.Market.String(), colour: palette[rank], hatch: f.Market != provider.Spot, held: f.Accelerators,
				})
			default:
				merged = true
				for i, n := range f.Accelerators {
					others.held[i] += n
				}
			}
		}
	}
	if merged {
		layers = append(layers, others)
	}
	return layers
}

// fleetPicture draws the accelerators held, by type and market.
func fleetPicture(o sim.Outcome) picture {
	edges, layers := hoursOf(o.Series), layersOf(o.Series)
	n := len(edges) - 1
	low, total, most := make([]float64, n), make([]float64, n), 0.0
	for _, l := range layers {
		for i, n := range l.held {
			total[i] += n
			most = max(most, total[i])
		}
	}
	cv := newCanvas(wideWidth, tallHeight)
	cv.x, cv.y = timeline(o.From, edges[n]), linear(most, 5)
	cv.axes("", "accelerators")
	p := picture{Title: "Fleet over time", Wide: true,
		Caption: fmt.Sprintf("Accelerators of running machines, mean of each %s. Plain: spot; hatched: on-demand.", stepText(o.Series)),
		Table:   grid{Heads: []string{"until (UTC)"}}}
	for k, l := range layers {
		fill := l.colour
		if l.hatch {
			fill = cv.hatch(fmt.Sprintf("hatch%d", k), l.colour)
		}
		high := make([]float64, n)
		for i := range high {
			high[i] = low[i] + l.held[i]
		}
		cv.area(edges, low, high, fill, l.label)
		low = high
		p.Legend = append(p.Legend, legend{Label: l.label, Colour: template.CSS(l.colour), Hatch: l.hatch})
		p.Table.Heads = append(p.Table.Heads, l.label)
	}
	p.Table.Heads = append(p.Table.Heads, "all")
	for _, i := range sampled(n) {
		row := []string{endOf(o, i)}
		for _, l := range layers {
			row = append(row, held(l.held[i]))
		}
		p.Table.Rows = append(p.Table.Rows, append(row, held(total[i])))
	}
	p.SVG = cv.svg("Accelerators held over time, stacked by instance type and market")
	return p
}

// held writes a number of accelerators: none is plainly 0.
func held(n float64) string {
	if n == 0 {
		return "0"
	}
	return number(n, 1)
}

// pricePicture draws how the price of one offering went and when we held it.
func pricePicture(s sim.PriceSeries, o sim.Outcome) picture {
	hours := o.To.Sub(o.From).Hours()
	most := 0.0
	var points [][2]float64
	for i, p := range s.Prices {
		at := max(0, p.At.Sub(o.From).Hours())
		if i > 0 {
			points = append(points, [2]float64{at, points[len(points)-1][1]})
		}
		points = append(points, [2]float64{at, p.Rate.Dollars()})
		most = max(most, p.Rate.Dollars())
	}
	if len(points) > 0 {
		points = append(points, [2]float64{hours, points[len(points)-1][1]})
	}
	p := picture{
		Title:   s.Offering.Type + " in " + s.Offering.Zone,
		Caption: fmt.Sprintf("%s, %s: the rate of one machine, and the stretches over which we held machines (× where the cloud took one).", s.Offering.Cloud, s.Offering.Market),
		Legend:  []legend{{Label: "spot price", Colour: template.CSS(palette[0]), Line: true}},
	}
	list := unknown
	cv := newCanvas(narrowWidth, lowHeight)
	if s.List != nil {
		most = max(most, s.List.Dollars())
		list = number(s.List.Dollars(), 4)
		p.Legend = append(p.Legend, legend{Label: "on-demand", Colour: template.CSS(palette[7]), Line: true, Dash: true})
	}
	cv.x, cv.y = timeline(o.From, hours), linear(most*1.02, 4)
	cv.axes("", "USD per hour")
	interrupted := 0
	for _, h := range s.Held {
		from, to := cv.px(max(0, h.From.Sub(o.From).Hours())), cv.px(min(hours, h.To.Sub(o.From).Hours()))
		cv.add(`<rect class="held" x="%.1f" y="%.1f" width="%.1f" height="%.1f"/>`, from, cv.top, max(to-from, 0.6), cv.height-cv.bottom-cv.top)
		if h.Interrupted {
			interrupted++
			cv.text(to, cv.top+10, "middle", "cross", "×")
		}
	}
	if s.List != nil {
		cv.line([][2]float64{{0, s.List.Dollars()}, {hours, s.List.Dollars()}}, palette[7], "7 4", 1.5)
	}
	cv.line(points, palette[0], "", 1.8)
	p.Legend = append(p.Legend, legend{Label: "held", Colour: "#f3d9a8"})
	low, high := extremes(s.Prices)
	p.Table = grid{
		Heads: []string{"machines held", "machine-hours", "taken by the cloud", "lowest, USD/h", "highest, USD/h", "on-demand, USD/h"},
		Rows:  [][]string{{number(float64(len(s.Held)), 0), number(heldHours(s.Held), 1), number(float64(interrupted), 0), low, high, list}},
	}
	p.SVG = cv.svg("Price of " + s.Offering.String() + " over time and when machines were held")
	return p
}

func heldHours(held []sim.Stretch) float64 {
	hours := 0.0
	for _, h := range held {
		hours += h.To.Sub(h.From).Hours()
	}
	return hours
}

func extremes(prices []sim.PricePoint) (low, high string) {
	if len(prices) == 0 {
		return unknown, unknown
	}
	byRate := func(a, b sim.PricePoint) int { return cmp.Compare(a.Rate, b.Rate) }
	text := func(r pricing.Rate) string { return number(r.Dollars(), 4) }
	return text(slices.MinFunc(prices, byRate).Rate), text(slices.MaxFunc(prices, byRate).Rate)
}
