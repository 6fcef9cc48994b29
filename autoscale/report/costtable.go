package report

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/goodfleet/goodfleet/autoscale/document"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/pricing/ledger"
)

// moneyColumn is a column of amounts, which are rounded together.
type moneyColumn struct {
	head, key string
	get       func(r *ledger.Row) pricing.Money
	lower     func(r *ledger.Row) bool // the true amount is higher; nil: never
	rare      bool                     // shown in a table only if some row has it
}

var moneyColumns = []moneyColumn{
	{"cost", "amount", func(r *ledger.Row) pricing.Money { return r.Amount }, func(r *ledger.Row) bool { return r.LowerBound() }, false},
	{"list cost", "on_demand", func(r *ledger.Row) pricing.Money { return r.List }, func(r *ledger.Row) bool { return r.ListLowerBound() }, false},
	{"spot saving", "spot_saving", func(r *ledger.Row) pricing.Money { return r.Saving }, func(r *ledger.Row) bool { return r.SavingLowerBound() }, false},
	{"discounts", "discounts", func(r *ledger.Row) pricing.Money { return r.Discount }, func(r *ledger.Row) bool { return r.SavingLowerBound() }, true},
	{"idle", "idle", func(r *ledger.Row) pricing.Money { return r.Idle }, func(r *ledger.Row) bool { return r.UnknownIdle > 0 }, false},
	{"waste", "waste", func(r *ledger.Row) pricing.Money { return r.Waste }, func(r *ledger.Row) bool { return r.UnknownWaste > 0 }, false},
	{"credits", "credits", func(r *ledger.Row) pricing.Money { return r.Credit }, nil, true},
	{"billed", "billed", func(r *ledger.Row) pricing.Money { return r.Billed }, func(r *ledger.Row) bool { return r.LowerBound() }, true},
}

// lowerBounds are the columns of a row whose true amount is higher, by their key.
func lowerBounds(r *ledger.Row) []string {
	list := []string{}
	for _, col := range moneyColumns {
		if col.lower != nil && col.lower(r) {
			list = append(list, col.key)
		}
	}
	return list
}

// shown are the columns of a table: rare ones only where some row has them, and
// what was billed only where it is not what was borne.
func (c Cost) shown() []moneyColumn {
	var list []moneyColumn
	for _, col := range moneyColumns {
		needed := !col.rare
		for i := range c.totals.Rows {
			r := &c.totals.Rows[i]
			needed = needed || col.get(r) != 0 && (col.key != "billed" || r.Billed != r.Amount)
		}
		if needed {
			list = append(list, col)
		}
	}
	return list
}

// cells are the report as text: head, units, rows and the foot, in cents as cents says.
func (c Cost) cells() (head, unit []string, rows [][]string, foot []string) {
	for i, d := range c.totals.By {
		head, unit = append(head, d.String()), append(unit, "")
		foot = append(foot, map[bool]string{true: "all", false: ""}[i == 0])
	}
	if len(c.totals.By) == 0 {
		head, unit, foot = []string{""}, []string{""}, []string{"all"}
	}
	rows = make([][]string, len(c.totals.Rows))
	for i, r := range c.totals.Rows {
		for _, key := range r.Key {
			rows[i] = append(rows[i], cmp.Or(key, unknown))
		}
	}
	add := func(title, of string, cell func(r *ledger.Row, i int) string, last string) {
		head, unit, foot = append(head, title), append(unit, of), append(foot, last)
		for i := range rows {
			rows[i] = append(rows[i], cell(&c.totals.Rows[i], i))
		}
	}
	sum := &c.totals.Sum
	money := inCents(c.totals.Rows)
	for n, col := range c.shown() {
		shown, total := money.columns[col.key], money.feet[col.key]
		lower := func(r *ledger.Row) bool { return col.lower != nil && col.lower(r) }
		add(col.head, c.currency(), func(r *ledger.Row, i int) string { return bound(dollars(shown[i]), lower(r)) }, bound(dollars(total), lower(sum)))
		if n == 0 {
			shares, all := c.shares()
			add("share", "%", func(_ *ledger.Row, i int) string { return shares[i] }, all)
		}
	}
	held := make([]float64, len(rows))
	for i := range c.totals.Rows {
		held[i] = c.totals.Rows[i].Hours
	}
	hours, allHours := Parts(held, sum.Hours, 1)
	add("accelerators", "hours", func(_ *ledger.Row, i int) string { return hours[i] }, allHours)
	if c.cfg.Work != nil {
		per := func(r *ledger.Row, w *float64) string {
			if w == nil || *w <= 0 {
				return unknown
			}
			return bound(number(r.Amount.Dollars()/(*w), 3), r.LowerBound())
		}
		units, allUnits := c.units()
		add("goodput", c.cfg.Work.Unit, func(_ *ledger.Row, i int) string { return units[i] }, allUnits)
		add("cost of a unit", c.currency(), func(r *ledger.Row, i int) string { return per(r, c.works[i]) }, per(sum, c.work))
		c.alternatives(add)
	}
	return head, unit, rows, foot
}

// shares are the parts of the rows in the cost, which sum to all of it as they are shown.
func (c Cost) shares() (rows []string, all string) {
	sum := c.totals.Sum.Amount
	parts := make([]float64, len(c.totals.Rows))
	rows = make([]string, len(parts))
	for i := range parts {
		rows[i] = unknown
		if sum != 0 {
			parts[i] = 100 * c.totals.Rows[i].Amount.Dollars() / sum.Dollars()
		}
	}
	if sum == 0 {
		return rows, unknown
	}
	return Parts(parts, 100, 1)
}

// units are what the jobs of each row got done. They sum to the total as they are shown
// where every job falls under one row.
func (c Cost) units() (rows []string, all string) {
	rows = make([]string, len(c.works))
	var known []float64
	var at []int
	sum := 0.0
	for i, w := range c.works {
		if rows[i] = unknown; w != nil {
			known, at, sum = append(known, *w), append(at, i), sum+*w
		}
	}
	if c.work == nil {
		return rows, unknown
	}
	shown, all := Parts(known, sum, 1)
	for k, i := range at {
		rows[i] = shown[k]
	}
	if math.Abs(*c.work-sum) > 1e-6*math.Abs(*c.work) { // some of it falls under no row
		all = number(*c.work, 1)
	}
	return rows, all
}

// table lays the cells out.
func (c Cost) table() table.Writer {
	line := func(cells []string) table.Row {
		r := make(table.Row, len(cells))
		for i, cell := range cells {
			r[i] = cell
		}
		return r
	}
	head, unit, rows, foot := c.cells()
	t := NewTable()
	t.AppendHeader(line(head))
	t.AppendHeader(line(unit))
	var configs []table.ColumnConfig
	for n := max(1, len(c.totals.By)) + 1; n <= len(head); n++ {
		configs = append(configs, table.ColumnConfig{Number: n, Align: text.AlignRight, AlignHeader: text.AlignRight, AlignFooter: text.AlignRight})
	}
	t.SetColumnConfigs(configs)
	if len(c.totals.By) > 0 {
		for _, row := range rows {
			t.AppendRow(line(row))
		}
	}
	t.AppendFooter(line(foot))
	return t
}

// Table writes the report for a terminal.
func (c Cost) Table(w io.Writer) error {
	return written(w, append([]string{Rendered(c.table()), ""}, c.Notes()...))
}

// markdown keeps a cell a cell, and its text what it is.
var markdown = strings.NewReplacer(`\`, `\\`, "|", `\|`, "<", "&lt;", ">", "&gt;", "`", "\\`")

// Markdown writes the report as a table for comments.
func (c Cost) Markdown(w io.Writer) error {
	head, unit, rows, foot := c.cells()
	line := func(cells []string) string {
		escaped := make([]string, len(cells))
		for i, cell := range cells {
			escaped[i] = markdown.Replace(document.OneLine(cell))
		}
		return "| " + strings.Join(escaped, " | ") + " |"
	}
	for i, u := range unit {
		if u != "" {
			head[i] += ", " + u
		}
	}
	rule := make([]string, len(head))
	for i := range rule {
		rule[i] = "---:"
		if i < max(1, len(c.totals.By)) {
			rule[i] = "---"
		}
	}
	lines := []string{line(head), "| " + strings.Join(rule, " | ") + " |"}
	if len(c.totals.By) > 0 {
		for _, row := range rows {
			lines = append(lines, line(row))
		}
	}
	lines = append(lines, line(foot), "")
	return written(w, append(lines, c.Notes()...))
}

func written(w io.Writer, lines []string) error {
	for _, line := range lines {
		if _, err := fmt.Fprintln(w, document.Lines(line)); err != nil {
			return fmt.Errorf("cost report: %w", err)
		}
	}
	return nil
}

// bound marks a value that may be higher.
func bound(text string, lower bool) string {
	if lower {
		return "≥ " + text
	}
	return text
}
