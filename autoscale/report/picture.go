package report

import (
	"fmt"
	"html/template"
	"math"
	"time"

	"github.com/goodfleet/goodfleet/autoscale/sim"
)

// picture is one figure of the document: a drawing, what its colours mean, and
// its numbers.
type picture struct {
	Title   string
	Caption string
	SVG     template.HTML
	Legend  []legend
	Table   grid
	Wide    bool
}

// legend is one entry of a key.
type legend struct {
	Label  string
	Colour template.CSS
	Hatch  bool
	Dash   bool
	Line   bool
}

// grid is a table of text: the first column is left-aligned.
type grid struct {
	Heads []string
	Rows  [][]string
}

const (
	wideWidth, narrowWidth = 1040, 510
	tallHeight, lowHeight  = 300, 220
	tableRows              = 12 // the most rows of a table beneath a picture over time
)

// variantColour is the colour of the n-th variant, the subject's first.
func variantColour(n int) string { return palette[n%len(palette)] }

// representatives picks one outcome of each variant: the one at the rate of
// interruptions as it is, else its first.
func (c Comparison) representatives() []sim.Outcome {
	var list []sim.Outcome
	at := map[string]int{}
	for _, o := range c.outcomes {
		i, seen := at[o.Variant]
		if !seen {
			at[o.Variant] = len(list)
			list = append(list, o)
		} else if o.HazardScale == 1 {
			list[i] = o
		}
	}
	return list
}

// hoursOf are the edges of the steps of a series, in hours from its start.
func hoursOf(s sim.Series) []float64 {
	edges := make([]float64, len(s.Cost)+1)
	for i := range edges {
		edges[i] = float64(i) * s.StepSeconds / 3600
	}
	return edges
}

// sampled lists at most tableRows steps at equal distance, the last one included.
func sampled(n int) []int {
	stride := max(1, int(math.Ceil(float64(n)/tableRows)))
	var list []int
	for i := n - 1; i >= 0; i -= stride {
		list = append([]int{i}, list...)
	}
	return list
}

// endOf is the instant at which step i of an outcome's series ends, in words.
func endOf(o sim.Outcome, i int) string {
	return o.From.Add(time.Duration(float64(i+1) * o.Series.StepSeconds * float64(time.Second))).UTC().Format("Jan 2 15:04")
}

// spendPicture draws what has been spent by each variant.
func (c Comparison) spendPicture() picture {
	outcomes := c.representatives()
	longest, most := 0.0, 0.0
	totals := make([][]float64, len(outcomes))
	for k, o := range outcomes {
		sum := 0.0
		for _, amount := range o.Series.Cost {
			sum += amount.Dollars()
			totals[k] = append(totals[k], sum)
		}
		longest, most = max(longest, o.To.Sub(o.From).Hours()), max(most, sum)
	}
	cv := newCanvas(narrowWidth, tallHeight)
	cv.x, cv.y = timeline(outcomes[0].From, longest), linear(most, 5)
	cv.axes("", "USD, cumulative")
	p := picture{Title: "Spend over time", Caption: "What has been booked, all accounts together.",
		Table: grid{Heads: []string{"until (UTC)"}}}
	for k := len(outcomes) - 1; k >= 0; k-- { // the subject on top
		o, edges := outcomes[k], hoursOf(outcomes[k].Series)
		points := [][2]float64{{0, 0}}
		for i, total := range totals[k] {
			points = append(points, [2]float64{min(edges[i+1], o.To.Sub(o.From).Hours()), total})
		}
		points = append(points, [2]float64{longest, points[len(points)-1][1]}) // nothing more is spent
		dash, width := dashOf(k)
		cv.line(points, variantColour(k), dash, width)
	}
	long := 0
	for k, o := range outcomes {
		p.Legend = append(p.Legend, legend{Label: o.Variant, Colour: template.CSS(variantColour(k)), Line: true, Dash: k > 0})
		p.Table.Heads = append(p.Table.Heads, o.Variant+", USD")
		if o.To.Sub(o.From) > outcomes[long].To.Sub(outcomes[long].From) {
			long = k
		}
	}
	for _, i := range sampled(len(totals[long])) {
		row := []string{endOf(outcomes[long], i)}
		for k := range outcomes {
			cell := "0.00"
			if at := indexAt(outcomes[k], outcomes[long], i); at >= 0 {
				cell = number(totals[k][at], 2)
			}
			row = append(row, cell)
		}
		p.Table.Rows = append(p.Table.Rows, row)
	}
	p.SVG = cv.svg("Cumulative cost over time for each variant")
	return p
}

// indexAt is the step of o that ends with step i of other, or the last before
// it; −1 when o has none by then.
func indexAt(o, other sim.Outcome, i int) int {
	end := other.From.Add(time.Duration(float64(i+1) * other.Series.StepSeconds * float64(time.Second)))
	return min(int(end.Sub(o.From).Seconds()/o.Series.StepSeconds), len(o.Series.Cost)) - 1
}

// dashOf tells the lines of variants apart without colour.
func dashOf(k int) (dash string, width float64) {
	if k == 0 {
		return "", 2.6
	}
	return []string{"7 4", "2 3", "9 3 2 3", "4 2"}[(k-1)%4], 1.8
}

// burnPicture draws the burn of one outcome against its cap.
func burnPicture(o sim.Outcome) picture {
	edges := hoursOf(o.Series)
	burn := make([]float64, len(o.Series.Cost))
	most := 0.0
	for i, amount := range o.Series.Cost {
		burn[i] = amount.Dollars() / (o.Series.StepSeconds / 3600)
		most = max(most, burn[i])
	}
	capRate := o.BurnCap.Dollars()
	cv := newCanvas(narrowWidth, tallHeight)
	cv.x, cv.y = timeline(o.From, edges[len(edges)-1]), linear(max(most, capRate)*1.02, 5)
	cv.axes("", "USD per hour")
	cv.area(edges, make([]float64, len(burn)), burn, palette[4], "mean burn in each step")
	p := picture{Title: "Burn", Caption: fmt.Sprintf("Money per hour, mean of each %s; highest at any instant, machines on their way included: %s USD/h.",
		stepText(o.Series), number(o.PeakBurn, 2)),
		Legend: []legend{{Label: "burn", Colour: template.CSS(palette[4])}},
		Table:  grid{Heads: []string{"until (UTC)", "burn, USD/h", "booked so far, USD"}}}
	if o.BurnCap > 0 {
		cv.line([][2]float64{{0, capRate}, {edges[len(edges)-1], capRate}}, palette[3], "7 4", 2)
		p.Legend = append(p.Legend, legend{Label: fmt.Sprintf("cap, %s USD/h", number(capRate, 2)), Colour: template.CSS(palette[3]), Line: true, Dash: true})
	}
	total := 0.0
	next := 0
	for _, i := range sampled(len(burn)) {
		for ; next <= i; next++ {
			total += o.Series.Cost[next].Dollars()
		}
		p.Table.Rows = append(p.Table.Rows, []string{endOf(o, i), number(burn[i], 2), number(total, 2)})
	}
	p.SVG = cv.svg("Burn over time in USD per hour, with the cap")
	return p
}

func stepText(s sim.Series) string {
	step := time.Duration(s.StepSeconds * float64(time.Second))
	if step%time.Hour == 0 {
		return fmt.Sprintf("%d h", int(step.Hours()))
	}
	return fmt.Sprintf("%d min", int(step.Minutes()))
}

// queuePicture draws the jobs that run and wait.
func queuePicture(o sim.Outcome) picture {
	edges := hoursOf(o.Series)
	zero, both, most := make([]float64, len(edges)-1), make([]float64, len(edges)-1), 0.0
	for i := range both {
		both[i] = o.Series.Running[i] + o.Series.Waiting[i]
		most = max(most, both[i])
	}
	cv := newCanvas(narrowWidth, lowHeight)
	cv.x, cv.y = timeline(o.From, edges[len(edges)-1]), linear(most, 4)
	cv.axes("", "jobs")
	cv.area(edges, zero, o.Series.Running, palette[2], "jobs that run")
	cv.area(edges, o.Series.Running, both, palette[1], "jobs that wait")
	p := picture{Title: "Jobs running and waiting", Caption: "At the end of each step. A job waits for machines, or for them to boot.",
		Legend: []legend{{Label: "run", Colour: template.CSS(palette[2])}, {Label: "wait", Colour: template.CSS(palette[1])}},
		Table:  grid{Heads: []string{"at (UTC)", "running", "waiting"}}}
	for _, i := range sampled(len(both)) {
		p.Table.Rows = append(p.Table.Rows, []string{endOf(o, i), number(o.Series.Running[i], 0), number(o.Series.Waiting[i], 0)})
	}
	p.SVG = cv.svg("Number of running and waiting jobs over time")
	return p
}
