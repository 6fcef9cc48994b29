package report

import (
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"

	"github.com/goodfleet/goodfleet/autoscale/document"
	"github.com/goodfleet/goodfleet/autoscale/sim"
	"github.com/goodfleet/goodfleet/pricing"
)

//go:embed page.html
var pageText string

//go:embed page.css
var pageStyle string

var pageTemplate = template.Must(template.New("page").Parse(pageText))

// jobRows is the most jobs that the page lists.
const jobRows = 25

// Fact is a name and a value in the head of a page.
type Fact struct{ Name, Value string }

// Page is a report as one HTML file. Title, Intro, facts and sources may hold any
// text: it is escaped where it is written.
type Page struct {
	Title   string
	Intro   string
	Facts   []Fact   // beside those that the outcomes tell
	Sources []string // where jobs, prices and speeds come from
}

// tile is one number in large print.
type tile struct {
	Name, Value, Unit string
	Against           []string
}

type pageColumn struct{ Head, Unit string }

type pageCell struct {
	Text   string
	Beaten bool
}

type pageRow struct {
	Variant, Scenario string
	Colour            template.CSS
	First             bool
	Cells             []pageCell
}

// pageData is what the template shows.
type pageData struct {
	Page
	Style       template.CSS
	Subject     string
	Tiles       []tile
	Columns     []pageColumn
	Rows        []pageRow
	Losses      []string
	Notes       []string
	Pictures    []picture
	Jobs        grid
	JobsCaption string
}

// HTML writes the page of a comparison: one file that needs nothing beside it.
func (c Comparison) HTML(w io.Writer, page Page) error {
	first := c.representatives()[0]
	data := pageData{
		Page: page, Style: template.CSS(pageStyle), Subject: first.Variant,
		Tiles: c.tiles(), Losses: c.Sentences(), Notes: c.Notes(),
	}
	data.Facts = append(facts(first), page.Facts...)
	for _, f := range c.upTo(onPage) {
		data.Columns = append(data.Columns, pageColumn{f.head, f.unit})
	}
	colour := -1
	for i, o := range c.outcomes {
		row := pageRow{Variant: o.Variant, Scenario: scenario(o), First: i == 0 || c.outcomes[i-1].Variant != o.Variant}
		if row.First {
			colour++
		}
		row.Colour = template.CSS(variantColour(colour))
		s, held := c.subject(o)
		for _, f := range c.upTo(onPage) {
			row.Cells = append(row.Cells, pageCell{f.text(o), held && f.beats(o, s)})
		}
		data.Rows = append(data.Rows, row)
	}
	data.Pictures = []picture{
		fleetPicture(first), c.spendPicture(), burnPicture(first), c.jctPicture(), c.tradePicture(), c.makespanPicture(),
		teamPicture(first), wastePicture(first), queuePicture(first),
	}
	for _, s := range first.Prices {
		data.Pictures = append(data.Pictures, pricePicture(s, first))
	}
	data.Jobs, data.JobsCaption = jobTable(first)
	if err := writePage(w, pageTemplate, data); err != nil {
		return fmt.Errorf("report page: %w", err)
	}
	return nil
}

// facts are what an outcome says of its setting.
func facts(o sim.Outcome) []Fact {
	list := []Fact{
		{"Jobs", number(float64(o.Jobs), 0)},
		{"From", o.From.UTC().Format("2 Jan 2006 15:04")},
		{"To", o.To.UTC().Format("2 Jan 2006 15:04")},
	}
	if o.BurnCap > 0 {
		list = append(list, Fact{"Burn cap", number(o.BurnCap.Dollars(), 2) + " USD/h"})
	}
	return append(list, Fact{"Rounds", number(float64(o.Rounds), 0)}, Fact{"Seed", fmt.Sprint(o.Seed)})
}

// tiles are the four numbers that people ask for first, against each baseline.
func (c Comparison) tiles() []tile {
	all := c.representatives()
	first := all[0]
	by := map[string]figure{}
	for _, f := range c.figures {
		by[f.key] = f
	}
	one := func(key, name string) tile {
		f := by[key]
		t := tile{Name: name, Value: f.text(first), Unit: f.unit}
		for _, o := range all[1:] {
			t.Against = append(t.Against, against(f, first, o))
		}
		return t
	}
	saving := tile{Name: "spot saving", Value: by["spot_saving"].text(first), Unit: "USD"}
	if first.SpotHours > 0 {
		saving.Against = []string{
			percent(first.SpotSaving, first.SpotPaid+first.SpotSaving) + " % below the on-demand rate of the same type and zone",
			fmt.Sprintf("%d machines taken, %s %% of cost wasted", first.Interruptions, number(100*first.WasteShare, 1)),
		}
	}
	return []tile{
		one("cost", "cost"), one("goodput_per_dollar", "goodput per USD"), one("avg_jct", "mean completion time"), saving,
	}
}

// against says how a figure stands to that of a baseline.
func against(f figure, first, o sim.Outcome) string {
	x, okX := f.of(first)
	y, okY := f.of(o)
	if !okX || !okY || y == 0 {
		return unknown + " " + o.Variant
	}
	change := 100 * (x/y - 1)
	sign := "+"
	if change < 0 {
		sign = "−"
		change = -change
	}
	return sign + number(change, 0) + " % vs " + o.Variant
}

// jobTable lists the jobs that cost most; the rest is one row, so that totals hold.
func jobTable(o sim.Outcome) (grid, string) {
	jobs := slices.Clone(o.JobOutcomes)
	slices.SortStableFunc(jobs, func(a, b sim.JobOutcome) int { return cmp.Compare(b.Cost, a.Cost) })
	amounts := make([]pricing.Money, 0, len(jobs)+1)
	left := o.Cost
	for _, j := range jobs {
		amounts, left = append(amounts, j.Cost), left-j.Cost
	}
	amounts = append(amounts, left)
	shown, total := Together(amounts, cent)
	table := grid{Heads: []string{"job", "team", "model", "submitted", "JCT, h", "restarts", "lost to the cloud", o.Reference + "-hours", "USD"}}
	others, hours := pricing.Money(0), 0.0
	for i, j := range jobs {
		if i >= jobRows {
			others, hours = others+shown[i], hours+j.ReferenceHours
			continue
		}
		jct := number(j.JCTHours, 2)
		if j.Ended == nil {
			jct = "≥ " + jct
		} else if !j.Done {
			jct = j.Phase
		}
		table.Rows = append(table.Rows, []string{string(j.Job), j.Team, j.Family, j.Submitted.UTC().Format("Jan 2 15:04"), jct,
			number(float64(j.Restarts), 0), number(float64(j.Losses), 0), number(j.ReferenceHours, 1), dollars(shown[i])})
	}
	row := func(name string, hours, amount string) []string {
		return []string{name, "", "", "", "", "", "", hours, amount}
	}
	if len(jobs) > jobRows {
		table.Rows = append(table.Rows, row(fmt.Sprintf("%d others", len(jobs)-jobRows), number(hours, 1), dollars(others)))
	}
	table.Rows = append(table.Rows, row("no job (idle, boot)", "", dollars(shown[len(jobs)])), row("all", number(o.ReferenceHours, 1), dollars(total)))
	return table, fmt.Sprintf("The %d that cost most, of %d. What a job bears includes its restarts and work done again.", min(jobRows, len(jobs)), len(jobs))
}

// writePage fills in a page at once. Names in it steer neither a terminal that shows
// its source nor a parser that reads its pictures, in which control characters are none.
func writePage(w io.Writer, page *template.Template, data any) error {
	var text strings.Builder
	if err := page.Execute(&text, data); err != nil {
		return err
	}
	_, err := io.WriteString(w, document.Lines(text.String()))
	return err
}
