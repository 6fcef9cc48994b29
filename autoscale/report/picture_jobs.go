package report

import (
	"fmt"
	"html"
	"html/template"
	"math"
	"slices"

	"github.com/goodfleet/goodfleet/autoscale/sim"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/pricing/ledger"
)

// jctPicture draws the distribution of completion times, one line a variant.
func (c Comparison) jctPicture() picture {
	outcomes := c.representatives()
	lo, hi := math.Inf(1), 0.0
	times := make([][]float64, len(outcomes))
	for k, o := range outcomes {
		for _, j := range o.JobOutcomes {
			if j.Done {
				times[k] = append(times[k], j.JCTHours)
				lo, hi = min(lo, max(j.JCTHours, 1.0/60)), max(hi, j.JCTHours)
			}
		}
		slices.Sort(times[k])
	}
	if hi == 0 {
		lo, hi = 0.1, 10
	}
	cv := newCanvas(narrowWidth, tallHeight)
	cv.bottom = 46
	cv.x, cv.y = logarithmic(lo*0.9, hi*1.1), axis{hi: 100}
	for v := 0.0; v <= 100; v += 25 {
		cv.y.ticks = append(cv.y.ticks, tick{v, number(v, 0)})
	}
	cv.axes("hours from submission to completion", "% of all jobs")
	p := picture{Title: "Job completion times", Caption: "Share of all jobs that were done within a time. A line that ends below 100 % left jobs undone.",
		Table: grid{Heads: []string{"variant", "p10, h", "p25, h", "p50, h", "p75, h", "p90, h", "p95, h", "max, h"}}}
	for k := len(outcomes) - 1; k >= 0; k-- {
		points := [][2]float64{{cv.x.lo, 0}}
		all := float64(len(outcomes[k].JobOutcomes))
		for i, t := range times[k] {
			t = max(t, lo)
			points = append(points, [2]float64{t, 100 * float64(i) / all}, [2]float64{t, 100 * float64(i+1) / all})
		}
		if len(times[k]) > 0 {
			points = append(points, [2]float64{cv.x.hi, points[len(points)-1][1]})
		}
		dash, width := dashOf(k)
		cv.line(points, variantColour(k), dash, width)
	}
	for k, o := range outcomes {
		p.Legend = append(p.Legend, legend{Label: o.Variant, Colour: template.CSS(variantColour(k)), Line: true, Dash: k > 0})
		row := []string{o.Variant}
		for _, q := range []float64{0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 1} {
			row = append(row, quantileText(times[k], q, len(o.JobOutcomes)))
		}
		p.Table.Rows = append(p.Table.Rows, row)
	}
	p.SVG = cv.svg("Cumulative distribution of job completion times for each variant")
	return p
}

// quantileText is the time within which a share q of all jobs was done; unknown
// when fewer were.
func quantileText(ascending []float64, q float64, all int) string {
	at := max(0, int(math.Ceil(q*float64(all)))-1)
	if at >= len(ascending) {
		return unknown
	}
	return number(ascending[at], 2)
}

// tradePicture sets cost against mean completion time, each outcome one point.
func (c Comparison) tradePicture() picture {
	most, longest := 0.0, 0.0
	for _, o := range c.outcomes {
		most, longest = max(most, o.Cost.Dollars()), max(longest, o.AvgJCTHours)
	}
	cv := newCanvas(narrowWidth, tallHeight)
	cv.bottom = 46
	cv.x, cv.y = linear(longest*1.05, 5), linear(most*1.05, 5)
	cv.axes("mean completion time, hours", "cost, USD")
	p := picture{Title: "Cost against time", Caption: "Down and left is better. Small, middle and large marks: interruptions × 1/3, × 1 and × 3.",
		Table: grid{Heads: []string{"variant", "interruptions", "mean JCT, h", "cost, USD"}}}
	order := c.representatives()
	for k := len(order) - 1; k >= 0; k-- {
		var points [][2]float64
		for _, o := range c.outcomes {
			if o.Variant == order[k].Variant {
				points = append(points, [2]float64{o.AvgJCTHours, o.Cost.Dollars()})
			}
		}
		cv.line(points, variantColour(k), "", 1)
		for _, o := range slices.Backward(c.outcomes) { // small marks on top of large ones
			if o.Variant != order[k].Variant {
				continue
			}
			radius := 6.0
			if o.UsesSpot {
				radius = 6 + 2.5*math.Log(o.HazardScale)/math.Log(3)
			}
			cv.mark(k, cv.px(o.AvgJCTHours), cv.py(o.Cost.Dollars()), radius, fmt.Sprintf("%s, %s: %s USD, %s h", o.Variant, scenario(o), number(o.Cost.Dollars(), 2), number(o.AvgJCTHours, 2)))
		}
	}
	for k, o := range order {
		p.Legend = append(p.Legend, legend{Label: o.Variant, Colour: template.CSS(variantColour(k))})
	}
	for _, o := range c.outcomes {
		p.Table.Rows = append(p.Table.Rows, []string{o.Variant, scenario(o), number(o.AvgJCTHours, 2), dollars(o.Cost)})
	}
	p.SVG = cv.svg("Cost against mean job completion time for each variant and rate of interruptions")
	return p
}

// makespanPicture draws how long each variant was at work.
func (c Comparison) makespanPicture() picture {
	var bars []bar
	table := grid{Heads: []string{"variant", "makespan, h", "jobs left undone"}}
	for k, o := range c.representatives() {
		hours := unknown
		if o.Jobs > 0 {
			hours = number(o.MakespanHours, 1)
		}
		bars = append(bars, bar{label: o.Variant, value: hours, to: o.MakespanHours, colour: variantColour(k)})
		table.Rows = append(table.Rows, []string{o.Variant, hours, number(float64(o.Unfinished), 0)})
	}
	return barPicture("Makespan", "From the first submission to the last completion.", "Makespan of each variant", "hours", bars, table)
}

// mark draws the point of variant k: each has a shape of its own.
func (c *canvas) mark(k int, x, y, r float64, title string) {
	element, at := "circle", fmt.Sprintf(`cx="%.1f" cy="%.1f" r="%.1f"`, x, y, r)
	switch k % 4 {
	case 1:
		element, at = "rect", fmt.Sprintf(`x="%.1f" y="%.1f" width="%.1f" height="%.1f"`, x-r, y-r, 2*r, 2*r)
	case 2:
		element, at = "path", fmt.Sprintf(`d="M%.1f %.1fL%.1f %.1fL%.1f %.1fZ"`, x, y-1.2*r, x+1.2*r, y+r, x-1.2*r, y+r)
	case 3:
		element, at = "path", fmt.Sprintf(`d="M%.1f %.1fL%.1f %.1fL%.1f %.1fL%.1f %.1fZ"`, x, y-1.3*r, x+1.3*r, y, x, y+1.3*r, x-1.3*r, y)
	}
	c.add(`<%s %s fill="%s" stroke="#fff" stroke-width="1.2"><title>%s</title></%s>`,
		element, at, variantColour(k), html.EscapeString(title), element)
}

// bar is one row of a bar chart.
type bar struct {
	label, value string
	from, to     float64
	colour       string
}

// barPicture draws horizontal bars over a scale of a unit.
func barPicture(title, caption, description, unit string, bars []bar, table grid) picture {
	const rowHeight, labels = 26.0, 176.0
	most := 0.0
	for _, b := range bars {
		most = max(most, b.from, b.to)
	}
	cv := newCanvas(narrowWidth, float64(len(bars))*rowHeight+44)
	cv.left, cv.right, cv.top = labels, 84, 4
	cv.x, cv.y = linear(most, 4), axis{hi: 1}
	cv.axes("", "")
	for _, t := range cv.x.ticks {
		cv.add(`<line class="grid" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>`, cv.px(t.at), cv.top, cv.px(t.at), cv.height-cv.bottom)
	}
	for i, b := range bars {
		y := cv.top + float64(i)*rowHeight
		lo, hi := min(b.from, b.to), max(b.from, b.to)
		cv.rect(cv.px(lo), y+4, cv.px(hi)-cv.px(lo), rowHeight-8, b.colour, b.label+": "+b.value+" "+unit)
		cv.text(labels-8, y+rowHeight/2+4, "end", "row", shortened(b.label))
		cv.text(cv.px(hi)+6, y+rowHeight/2+4, "start", "value", b.value)
	}
	cv.text((cv.left+cv.width-cv.right)/2, cv.height-2, "middle", "label", unit)
	return picture{Title: title, Caption: caption, SVG: cv.svg(description), Table: table}
}

// shortened cuts a label that would leave its column; the table has it whole.
func shortened(label string) string {
	runes := []rune(label)
	if len(runes) <= 22 {
		return label
	}
	return string(runes[:21]) + "…"
}

// teamPicture draws what each team's jobs cost.
func teamPicture(o sim.Outcome) picture {
	amounts := make([]pricing.Money, len(o.ByTeam))
	for i, s := range o.ByTeam {
		amounts[i] = s.Amount
	}
	shown, total := Together(amounts, cent)
	var bars []bar
	table := grid{Heads: []string{"team", "USD", "% of all", "accelerator-hours"}}
	hours := 0.0
	for i, s := range o.ByTeam {
		name, colour := s.Key, palette[0]
		if name == "" {
			name, colour = "no team", otherColour
		}
		bars = append(bars, bar{label: name, value: dollars(shown[i]), to: s.Amount.Dollars(), colour: colour})
		table.Rows = append(table.Rows, []string{name, dollars(shown[i]), percent(s.Amount, o.Cost), number(s.AcceleratorHours, 1)})
		hours += s.AcceleratorHours
	}
	table.Rows = append(table.Rows, []string{"all", dollars(total), percent(o.Cost, o.Cost), number(hours, 1)})
	return barPicture("Cost by team", "What the jobs of each team bear; idle and booting machines belong to no team.", "Cost by team", "USD", bars, table)
}

func percent(part, whole pricing.Money) string {
	if whole == 0 {
		return unknown
	}
	return number(100*part.Dollars()/whole.Dollars(), 1)
}

// accountWords name the accounts of the ledger for readers of a report.
var accountWords = []struct {
	account ledger.Account
	words   string
	colour  string
}{
	{ledger.ToIdle, "idle", palette[1]},
	{ledger.ToBoot, "boot", palette[4]},
	{ledger.ToRestart, "restarts, checkpoints", palette[7]},
	{ledger.ToWaste, "work lost", palette[3]},
	{ledger.ToTraffic, "data moved", palette[0]},
	{ledger.Unused, "bought ahead, unused", otherColour},
	{ledger.Overrun, "overrun", palette[5]},
	{ledger.Overhead, "overhead", palette[6]},
	{ledger.Credits, "credits", otherColour},
	{ledger.ToJob, "useful work", palette[2]},
}

// wastePicture draws how the list price becomes useful work, step by step.
func wastePicture(o sim.Outcome) picture {
	type step struct {
		label  string
		amount pricing.Money // as printed
		bar    bar
	}
	paid, saving := nearest(o.Cost, cent), nearest(o.SpotSaving, cent)
	steps := []step{
		{"at list price", paid + saving, bar{to: (paid + saving).Dollars(), colour: otherColour}},
		{"spot saving", -saving, bar{from: (paid + saving).Dollars(), to: paid.Dollars(), colour: palette[7]}},
		{"paid", paid, bar{to: paid.Dollars(), colour: palette[0]}},
	}
	parts := make([]pricing.Money, len(accountWords))
	for i, w := range accountWords {
		for _, s := range o.ByAccount {
			if s.Key == string(w.account) {
				parts[i] = s.Amount
			}
		}
	}
	shown, _ := Together(parts, cent)
	left := paid
	for i, w := range accountWords {
		switch {
		case w.account == ledger.ToJob:
			steps = append(steps, step{w.words, shown[i], bar{to: shown[i].Dollars(), colour: w.colour}})
		case parts[i] != 0:
			steps = append(steps, step{w.words, -shown[i], bar{from: left.Dollars(), to: (left - shown[i]).Dollars(), colour: w.colour}})
			left -= shown[i]
		}
	}
	var bars []bar
	table := grid{Heads: []string{"", "USD", "% of paid"}}
	for _, s := range steps {
		s.bar.label, s.bar.value = s.label, dollars(s.amount)
		bars = append(bars, s.bar)
		table.Rows = append(table.Rows, []string{s.label, dollars(s.amount), percent(s.amount, o.Cost)})
	}
	return barPicture("Where the money goes", "From the on-demand price of what was held, by what spot saved, to what was paid; less what carried no new work.",
		"Waterfall from list price to useful work", "USD", bars, table)
}
