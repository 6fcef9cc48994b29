package report

import (
	"cmp"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/pricing/ledger"
)

// Cost is a cost report: charges summed by some dimensions, dearest first.
type Cost struct {
	from, to time.Time // of the charges; to is excluded; zero: open
	totals   ledger.Totals
}

// NewCost sums charges. from and to are the window that they were read for, for
// the reader to see; charges are not filtered.
func NewCost(charges []ledger.Charge, from, to time.Time, by ...ledger.Dimension) Cost {
	c := Cost{from: from, to: to, totals: ledger.Total(charges, by...)}
	slices.SortStableFunc(c.totals.Rows, func(a, b ledger.Row) int { return cmp.Compare(b.Amount, a.Amount) })
	return c
}

// Top keeps the n dearest rows and merges the rest into one, so that totals hold.
// 0 keeps all.
func (c Cost) Top(n int) Cost {
	rows := c.totals.Rows
	if n <= 0 || len(rows) <= n+1 || len(c.totals.By) == 0 {
		return c
	}
	rest := ledger.Row{Key: make([]string, len(c.totals.By))}
	rest.Key[0] = fmt.Sprintf("%d others", len(rows)-n)
	for _, r := range rows[n:] {
		rest.Amount += r.Amount
		rest.List += r.List
		rest.Saving += r.Saving
		rest.Hours += r.Hours
		rest.UnknownHours += r.UnknownHours
		rest.UnlistedHours += r.UnlistedHours
		rest.Charges += r.Charges
	}
	c.totals.Rows = append(slices.Clone(rows[:n]), rest)
	return c
}

// Table writes the report for a terminal. Rows are rounded to cents together.
func (c Cost) Table(w io.Writer) error {
	t := newTable()
	head, unit, foot := table.Row{}, table.Row{}, table.Row{}
	for i, d := range c.totals.By {
		head, unit = append(head, d.String()), append(unit, "")
		foot = append(foot, map[bool]string{true: "all", false: ""}[i == 0])
	}
	if len(c.totals.By) == 0 {
		head, unit, foot = table.Row{""}, table.Row{""}, table.Row{"all"}
	}
	keys := len(head)
	t.AppendHeader(append(head, "cost", "share", "on demand", "spot saving", "accelerators"))
	t.AppendHeader(append(unit, "USD", "%", "USD", "USD", "hours"))
	var configs []table.ColumnConfig
	for n := keys + 1; n <= keys+5; n++ {
		configs = append(configs, table.ColumnConfig{Number: n, Align: text.AlignRight, AlignHeader: text.AlignRight, AlignFooter: text.AlignRight})
	}
	t.SetColumnConfigs(configs)
	column := func(get func(ledger.Row) pricing.Money) ([]pricing.Money, pricing.Money) {
		amounts := make([]pricing.Money, len(c.totals.Rows))
		for i, r := range c.totals.Rows {
			amounts[i] = get(r)
		}
		return Together(amounts, cent)
	}
	amounts, amount := column(func(r ledger.Row) pricing.Money { return r.Amount })
	lists, list := column(func(r ledger.Row) pricing.Money { return r.List })
	savings, saving := column(func(r ledger.Row) pricing.Money { return r.Saving })
	cells := func(r ledger.Row, amount, list, saving pricing.Money) table.Row {
		return table.Row{bound(dollars(amount), r.LowerBound()), percent(r.Amount, c.totals.Sum.Amount),
			bound(dollars(list), r.ListLowerBound()), bound(dollars(saving), r.ListLowerBound()), number(r.Hours, 1)}
	}
	if len(c.totals.By) > 0 {
		for i, r := range c.totals.Rows {
			row := table.Row{}
			for _, key := range r.Key {
				row = append(row, cmp.Or(key, unknown))
			}
			t.AppendRow(append(row, cells(r, amounts[i], lists[i], savings[i])...))
		}
	}
	t.AppendFooter(append(foot, cells(c.totals.Sum, amount, list, saving)...))
	lines := []string{rendered(t), "", c.window()}
	if h := c.totals.Sum.UnknownHours; h > 0 {
		lines = append(lines, fmt.Sprintf("%s of %s accelerator-hours have no known rate: costs marked ≥ are lower bounds.", number(h, 1), number(c.totals.Sum.Hours, 1)))
	}
	for _, line := range lines {
		if _, err := fmt.Fprintln(w, line); err != nil {
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

// window says which charges were summed.
func (c Cost) window() string {
	edge := func(at time.Time, open string) string {
		if at.IsZero() {
			return open
		}
		return at.UTC().Format("2006-01-02 15:04")
	}
	return fmt.Sprintf("Charges of %s to %s (excluded), UTC. On demand: the same time at the on-demand rate of the same type and zone.",
		edge(c.from, "the beginning"), edge(c.to, "now"))
}

// costRow is a row in files: what is not known is null.
type costRow struct {
	Key             map[string]string `json:"key,omitempty"`
	Amount          pricing.Money     `json:"amount"`
	OnDemand        *pricing.Money    `json:"on_demand"`
	SpotSaving      *pricing.Money    `json:"spot_saving"`
	AcceleratorHrs  float64           `json:"accelerator_hours"`
	UnknownRateHrs  float64           `json:"unknown_rate_hours"`
	UnlistedRateHrs float64           `json:"unlisted_rate_hours"`
}

func (c Cost) row(r ledger.Row) costRow {
	row := costRow{Amount: r.Amount, AcceleratorHrs: r.Hours, UnknownRateHrs: r.UnknownHours, UnlistedRateHrs: r.UnlistedHours}
	if !r.ListLowerBound() {
		row.OnDemand, row.SpotSaving = &r.List, &r.Saving
	}
	for i, d := range c.totals.By {
		if i < len(r.Key) {
			if row.Key == nil {
				row.Key = map[string]string{}
			}
			row.Key[d.String()] = r.Key[i]
		}
	}
	return row
}

// JSON writes the report with exact money as decimal text.
func (c Cost) JSON(w io.Writer) error {
	out := struct {
		APIVersion string     `json:"apiVersion"`
		Kind       string     `json:"kind"`
		Currency   string     `json:"currency"`
		From       *time.Time `json:"from"`
		To         *time.Time `json:"to"`
		By         []string   `json:"by"`
		Rows       []costRow  `json:"rows"`
		Total      costRow    `json:"total"`
	}{APIVersion: "goodfleet/v1", Kind: "CostReport", Currency: "USD", From: stamp(c.from), To: stamp(c.to), By: []string{}, Rows: []costRow{}, Total: c.row(c.totals.Sum)}
	for _, d := range c.totals.By {
		out.By = append(out.By, d.String())
	}
	for _, r := range c.totals.Rows {
		out.Rows = append(out.Rows, c.row(r))
	}
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(out); err != nil {
		return fmt.Errorf("cost report: %w", err)
	}
	return nil
}

func stamp(at time.Time) *time.Time {
	if at.IsZero() {
		return nil
	}
	at = at.UTC()
	return &at
}

// CSV writes the rows with exact money; a value that is not known is empty.
func (c Cost) CSV(w io.Writer) error {
	head := []string{}
	for _, d := range c.totals.By {
		head = append(head, d.String())
	}
	rows := [][]string{append(head, "amount_usd", "on_demand_usd", "spot_saving_usd", "accelerator_hours", "unknown_rate_hours")}
	for _, r := range c.totals.Rows {
		list, saving := r.List.String(), r.Saving.String()
		if r.ListLowerBound() {
			list, saving = "", ""
		}
		rows = append(rows, append(slices.Clone(r.Key), r.Amount.String(), list, saving,
			strconv.FormatFloat(r.Hours, 'f', -1, 64), strconv.FormatFloat(r.UnknownHours, 'f', -1, 64)))
	}
	if err := csv.NewWriter(w).WriteAll(rows); err != nil {
		return fmt.Errorf("cost report: %w", err)
	}
	return nil
}
