package report

import (
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/pricing/ledger"
)

//go:embed costpage.html
var costPageText string

var costPageTemplate = template.Must(template.New("cost page").Parse(costPageText))

// pictured is the most rows that a picture tells apart; the rest are one.
const pictured = 7

// costPage is what the template shows.
type costPage struct {
	Title     string
	Heading   string
	Keys      int // columns of the table that are no numbers
	Style     template.CSS
	Currency  string
	Facts     []Fact
	Tiles     []tile
	Table     grid
	Foot      []string
	Notes     []string
	Pictures  []picture
	Anomalies grid
}

// HTML writes the report as one page that needs nothing beside it.
func (c Cost) HTML(w io.Writer) error {
	p := costPage{Title: "What it cost", Style: template.CSS(pageStyle), Currency: c.currency(), Notes: c.Notes()}
	var by []string
	for _, d := range c.totals.By {
		by = append(by, d.String())
	}
	p.Heading = "By " + cmp.Or(strings.Join(by, " and "), "nothing: all in one")
	days := Days(c.cfg.Charges, c.cfg.Zone)
	p.Facts = []Fact{{"Zone", c.cfg.Zone.String()}, {"Lines of the ledger", number(float64(len(c.cfg.Charges)), 0)}}
	if len(days) > 0 {
		p.Facts = append([]Fact{{"First day", days[0].Start.Format("2 Jan 2006")}, {"Last day", days[len(days)-1].Start.Format("2 Jan 2006")}}, p.Facts...)
	}
	p.Tiles, p.Keys = c.tiles(), min(len(c.totals.By), 4)
	head, unit, rows, foot := c.cells()
	for i, u := range unit {
		if u != "" {
			head[i] += ", " + u
		}
	}
	p.Table = grid{Heads: head, Rows: rows}
	if len(c.totals.By) == 0 {
		p.Table.Rows = nil
	}
	p.Foot = foot
	p.Pictures = c.pictures(days)
	anomalies := Anomalies(c.cfg.Charges, c.cfg.Zone)
	p.Anomalies = grid{Heads: []string{"what", "kind", "why", "USD"}}
	for _, a := range anomalies[:min(len(anomalies), jobRows)] {
		p.Anomalies.Rows = append(p.Anomalies.Rows, []string{a.What, a.Kind, a.Why, dollars(a.Amount)})
	}
	if err := writePage(w, costPageTemplate, p); err != nil {
		return fmt.Errorf("cost page: %w", err)
	}
	return nil
}

// tiles are the numbers that people ask for first.
func (c Cost) tiles() []tile {
	s, feet := c.totals.Sum, inCents(c.totals.Rows).feet // as the table says it
	unit := c.currency()
	list := []tile{
		{Name: "cost", Value: bound(dollars(feet["amount"]), s.LowerBound()), Unit: unit, Against: []string{number(s.Hours, 0) + " accelerator-hours"}},
		{Name: "spot saving", Value: bound(dollars(feet["spot_saving"]), s.SavingLowerBound()), Unit: unit, Against: []string{percent(s.Saving, s.List) + " % of the list cost"}},
		{Name: "idle", Value: bound(dollars(feet["idle"]), s.UnknownIdle > 0), Unit: unit, Against: []string{percent(s.Idle, s.Amount) + " % of the cost"}},
		{Name: "waste", Value: bound(dollars(feet["waste"]), s.UnknownWaste > 0), Unit: unit, Against: []string{percent(s.Waste, s.Amount) + " % of the cost: restarts, work lost"}},
	}
	if c.work != nil && *c.work > 0 {
		list[0].Against = append(list[0].Against, bound(number(s.Amount.Dollars()/(*c.work), 3), s.LowerBound())+" "+unit+" per "+strings.TrimSuffix(c.cfg.Work.Unit, "s"))
	}
	return list
}

// pictures draws cost over time, the rows, and where the money went. They show US
// dollars only: another currency has one rate for all of time.
func (c Cost) pictures(days []Day) []picture {
	if len(days) == 0 || c.cfg.Currency != nil {
		return nil
	}
	return []picture{c.dayPicture(days), c.rowPicture(), c.whitherPicture()}
}

// dayPicture stacks the cost of each day by the first dimension.
func (c Cost) dayPicture(days []Day) picture {
	dim := ledger.ByAccount
	if len(c.totals.By) > 0 && c.totals.By[0] != ledger.ByDay && c.totals.By[0] != ledger.ByMonth {
		dim = c.totals.By[0]
	}
	sums := ledger.NewSums(c.cfg.Zone, dim, ledger.ByDay)
	for i := range c.cfg.Charges {
		sums.Add(&c.cfg.Charges[i])
	}
	all := map[string]pricing.Money{}
	byDay := map[[2]string]pricing.Money{}
	lower := map[[2]string]bool{}
	for _, r := range sums.Totals().Rows {
		all[r.Key[0]] += r.Amount
		byDay[[2]string{r.Key[0], r.Key[1]}] += r.Amount
		lower[[2]string{r.Key[0], r.Key[1]}] = r.LowerBound()
	}
	var names []string
	for name := range all {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(all[b], all[a]), cmp.Compare(a, b)) })
	others := names[min(len(names), pictured):]
	names = names[:min(len(names), pictured)]
	p := picture{Title: "Cost of each day", Wide: true, Caption: "By " + dim.String() + "; days of " + c.cfg.Zone.String() + ".", Table: grid{Heads: []string{"day"}}}
	cv := newCanvas(wideWidth, tallHeight)
	edges, low, most := []float64{0}, make([]float64, len(days)), 0.0
	for _, d := range days {
		edges = append(edges, edges[len(edges)-1]+d.Length.Hours())
		most = max(most, d.Amount.Dollars())
	}
	cv.x, cv.y = timeline(days[0].Start, edges[len(edges)-1]), linear(most, 5)
	cv.axes("", "USD per day")
	columns := make([][]pricing.Money, 0, len(names)+1)
	var of [][]string // names of each column
	draw := func(label, colour string, amount func(day string) pricing.Money, names ...string) {
		of = append(of, names)
		high, column := slices.Clone(low), make([]pricing.Money, len(days))
		for i, d := range days {
			column[i] = amount(d.Start.Format(time.DateOnly))
			high[i] += max(0, column[i].Dollars())
		}
		cv.area(edges, low, high, colour, label)
		low = high
		columns = append(columns, column)
		p.Legend = append(p.Legend, legend{Label: label, Colour: template.CSS(colour)})
		p.Table.Heads = append(p.Table.Heads, label+", USD")
	}
	for i, name := range names {
		draw(cmp.Or(name, "no "+dim.String()), palette[i%len(palette)], func(day string) pricing.Money { return byDay[[2]string{name, day}] }, name)
	}
	if len(others) > 0 {
		draw(fmt.Sprintf("%d others", len(others)), otherColour, func(day string) (sum pricing.Money) {
			for _, name := range others {
				sum += byDay[[2]string{name, day}]
			}
			return sum
		}, others...)
	}
	p.Table.Heads = append(p.Table.Heads, "all, USD")
	whole := make([]pricing.Money, len(days))
	for _, column := range columns {
		for i := range days {
			whole[i] += column[i]
		}
	}
	whole, _ = Together(whole, cent) // days add up to what all of them cost
	for _, i := range sampled(len(days)) {
		parts, dearest := make([]pricing.Money, len(columns)), 0
		for k := range columns {
			if parts[k] = columns[k][i]; parts[k] > parts[dearest] {
				dearest = k
			}
		}
		shown, total := Together(parts, cent)
		if len(shown) > 0 {
			shown[dearest] += whole[i] - total // a cent, if any
		}
		row := []string{days[i].Start.Format("Mon 2 Jan")}
		any, date := false, days[i].Start.Format(time.DateOnly)
		for k, amount := range shown {
			less := slices.ContainsFunc(of[k], func(name string) bool { return lower[[2]string{name, date}] })
			row, any = append(row, bound(dollars(amount), less)), any || less
		}
		p.Table.Rows = append(p.Table.Rows, append(row, bound(dollars(whole[i]), any)))
	}
	p.SVG = cv.svg("Cost of each day by " + dim.String())
	return p
}

// rowPicture draws the dearest rows as bars.
func (c Cost) rowPicture() picture {
	rows := c.totals.Rows
	shown := inCents(rows).columns["amount"]
	var bars []bar
	table := grid{Heads: []string{"", "USD", "% of all"}}
	for i, r := range rows[:min(len(rows), 2*pictured)] {
		var words []string
		for _, key := range r.Key {
			words = append(words, cmp.Or(key, unknown))
		}
		label := cmp.Or(strings.Join(words, ", "), "all")
		value := bound(dollars(shown[i]), r.LowerBound())
		bars = append(bars, bar{label: label, value: value, to: max(0, shown[i].Dollars()), colour: palette[0]})
		table.Rows = append(table.Rows, []string{label, value, percent(r.Amount, c.totals.Sum.Amount)})
	}
	return barPicture("What cost most", fmt.Sprintf("The first %d of %d rows.", len(bars), len(rows)), "The dearest rows", "USD", bars, table)
}

// whitherPicture draws how the list cost becomes useful work, step by step.
func (c Cost) whitherPicture() picture {
	parts, lower := make([]pricing.Money, len(accountWords)), make([]bool, len(accountWords))
	accounts := ledger.Total(c.cfg.Charges, ledger.ByAccount)
	for i, w := range accountWords {
		for _, r := range accounts.Rows {
			if r.Key[0] == string(w.account) {
				parts[i], lower[i] = r.Amount, r.LowerBound()
			}
		}
	}
	shown, paid := Together(parts, cent)
	feet := inCents(c.totals.Rows).feet
	saving, discount := feet["spot_saving"], feet["discounts"]
	var bars []bar
	table := grid{Heads: []string{"", "USD", "% of paid"}}
	step := func(label, colour string, amount, from, to pricing.Money, lower bool) {
		value := bound(dollars(amount), lower)
		if amount <= 0 && lower {
			value = dollars(amount) + " or more"
		}
		bars = append(bars, bar{label: label, value: value, from: max(0, from.Dollars()), to: max(0, to.Dollars()), colour: colour})
		table.Rows = append(table.Rows, []string{label, value, percent(amount, paid)})
	}
	sum := c.totals.Sum
	listed := paid + saving + discount
	step("at list price", otherColour, listed, 0, listed, sum.ListLowerBound() || sum.LowerBound())
	step("spot saving", palette[7], -saving, listed, listed-saving, sum.SavingLowerBound())
	if discount != 0 {
		step("discounts", palette[5], -discount, listed-saving, paid, sum.SavingLowerBound())
	}
	step("paid", palette[0], paid, 0, paid, sum.LowerBound())
	left := paid
	for i, w := range accountWords {
		switch {
		case w.account == ledger.ToJob:
			step(w.words, w.colour, shown[i], 0, shown[i], lower[i])
		case parts[i] != 0 || lower[i]:
			step(w.words, w.colour, -shown[i], left, left-shown[i], lower[i])
			left -= shown[i]
		}
	}
	return barPicture("Where the money went", "From the list price of what was held, by what spot and discounts saved, to what was paid; less what carried no new work.",
		"Waterfall from list price to useful work", "USD", bars, table)
}
