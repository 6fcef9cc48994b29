package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/goodfleet/goodfleet/autoscale/document"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/pricing/ledger"
)

// CostDiff is two cost reports side by side.
type CostDiff struct {
	by   []ledger.Dimension
	rows []diffRow
	sum  diffRow
}

type diffRow struct {
	key    []string
	before ledger.Row
	after  ledger.Row
}

func (r diffRow) change() pricing.Money { return r.after.Amount - r.before.Amount }

// lower reports whether the change lacks what has no known rate on either side.
func (r diffRow) lower() bool { return r.before.LowerBound() || r.after.LowerBound() }

// lowerBounds are the sides that lack what has no known rate.
func (r diffRow) lowerBounds() []string {
	list := []string{}
	if r.before.LowerBound() {
		list = append(list, "before")
	}
	if r.after.LowerBound() {
		list = append(list, "after")
	}
	return list
}

// NewCostDiff sums both sides by the same dimensions, largest change first.
func NewCostDiff(before, after CostConfig) CostDiff {
	d := CostDiff{by: after.By}
	before.By, before.Top, after.Top = after.By, 0, 0
	places := map[string]int{}
	place := func(key []string) *diffRow {
		text := strings.Join(key, "\x00")
		at, ok := places[text]
		if !ok {
			at = len(d.rows)
			places[text] = at
			d.rows = append(d.rows, diffRow{key: key})
		}
		return &d.rows[at]
	}
	a, b := NewCost(before).totals, NewCost(after).totals
	for _, r := range a.Rows {
		place(r.Key).before = r
	}
	for _, r := range b.Rows {
		place(r.Key).after = r
	}
	d.sum.before, d.sum.after = a.Sum, b.Sum
	slices.SortStableFunc(d.rows, func(x, y diffRow) int {
		return cmp.Or(cmp.Compare(max(y.change(), -y.change()), max(x.change(), -x.change())), slices.Compare(x.key, y.key))
	})
	return d
}

// Table writes both sides and their change. The change as printed is the difference
// of the sides as printed, and each column adds up.
func (d CostDiff) Table(w io.Writer) error {
	t := NewTable()
	head, unit, foot := table.Row{}, table.Row{}, table.Row{}
	for i, dim := range d.by {
		head, unit = append(head, dim.String()), append(unit, "")
		foot = append(foot, map[bool]string{true: "all", false: ""}[i == 0])
	}
	if len(d.by) == 0 {
		head, unit, foot = table.Row{""}, table.Row{""}, table.Row{"all"}
	}
	keys := len(head)
	t.AppendHeader(append(head, "before", "after", "change", "change"))
	t.AppendHeader(append(unit, "USD", "USD", "USD", "%"))
	var configs []table.ColumnConfig
	for n := keys + 1; n <= keys+4; n++ {
		configs = append(configs, table.ColumnConfig{Number: n, Align: text.AlignRight, AlignHeader: text.AlignRight, AlignFooter: text.AlignRight})
	}
	t.SetColumnConfigs(configs)
	before, after := make([]pricing.Money, len(d.rows)), make([]pricing.Money, len(d.rows))
	for i, r := range d.rows {
		before[i], after[i] = r.before.Amount, r.after.Amount
	}
	before, beforeSum := Together(before, cent)
	after, afterSum := Together(after, cent)
	cells := func(a, b pricing.Money, r diffRow) table.Row {
		change := dollars(b - a)
		if r.lower() {
			change = unknown // a missing price is no saving
		}
		share := percent(b-a, a)
		if r.lower() {
			share = unknown
		}
		return table.Row{bound(dollars(a), r.before.LowerBound()), bound(dollars(b), r.after.LowerBound()), change, share}
	}
	for i, r := range d.rows {
		row := table.Row{}
		for _, key := range r.key {
			row = append(row, cmp.Or(key, unknown))
		}
		if len(d.by) > 0 {
			t.AppendRow(append(row, cells(before[i], after[i], r)...))
		}
	}
	t.AppendFooter(append(foot, cells(beforeSum, afterSum, d.sum)...))
	return written(w, []string{Rendered(t)})
}

type diffJSON struct {
	Key    map[string]string `json:"key,omitempty"`
	Before pricing.Money     `json:"before"`
	After  pricing.Money     `json:"after"`
	Change *pricing.Money    `json:"change"`       // null where a rate is not known
	Lower  []string          `json:"lower_bounds"` // "before", "after": those that lack what has no known rate
}

func (d CostDiff) row(r diffRow) diffJSON {
	row := diffJSON{Before: r.before.Amount, After: r.after.Amount, Lower: r.lowerBounds()}
	if !r.lower() {
		change := r.change()
		row.Change = &change
	}
	for i, dim := range d.by {
		if i < len(r.key) {
			if row.Key == nil {
				row.Key = map[string]string{}
			}
			row.Key[dim.String()] = r.key[i]
		}
	}
	return row
}

// JSON writes the difference with exact money.
func (d CostDiff) JSON(w io.Writer) error {
	out := struct {
		APIVersion string     `json:"apiVersion"`
		Kind       string     `json:"kind"`
		Currency   string     `json:"currency"`
		Rows       []diffJSON `json:"rows"`
		Total      diffJSON   `json:"total"`
	}{"goodfleet/v1", "CostDiff", "USD", []diffJSON{}, d.row(d.sum)}
	for _, r := range d.rows {
		out.Rows = append(out.Rows, d.row(r))
	}
	if err := document.JSON(w, out, "  "); err != nil {
		return fmt.Errorf("cost difference: %w", err)
	}
	return nil
}

// CSV writes the rows with exact money; a change that is not known is empty.
func (d CostDiff) CSV(w io.Writer) error {
	var head []string
	for _, dim := range d.by {
		head = append(head, dim.String())
	}
	rows := [][]string{append(head, "before_usd", "after_usd", "change_usd", "lower_bounds")}
	for _, r := range d.rows {
		change := ""
		if !r.lower() {
			change = r.change().String()
		}
		rows = append(rows, append(slices.Clone(r.key), r.before.Amount.String(), r.after.Amount.String(), change, strings.Join(r.lowerBounds(), " ")))
	}
	if err := WriteCSV(w, rows); err != nil {
		return fmt.Errorf("cost difference: %w", err)
	}
	return nil
}
