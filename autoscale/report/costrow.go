package report

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goodfleet/goodfleet/autoscale/document"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/pricing/ledger"
)

// costRow is a row in files: what is not known is null.
type costRow struct {
	Key             map[string]string `json:"key,omitempty"`
	Amount          pricing.Money     `json:"amount"`
	LowerBound      bool              `json:"lower_bound"`
	LowerBounds     []string          `json:"lower_bounds"` // of the amounts of this row, those that lack what has no known rate
	Billed          pricing.Money     `json:"billed"`
	OnDemand        *pricing.Money    `json:"on_demand"`
	SpotSaving      *pricing.Money    `json:"spot_saving"`
	Discounts       *pricing.Money    `json:"discounts"`
	Idle            pricing.Money     `json:"idle"`
	Waste           pricing.Money     `json:"waste"`
	Credits         pricing.Money     `json:"credits"`
	AcceleratorHrs  float64           `json:"accelerator_hours"`
	UnknownRateHrs  float64           `json:"unknown_rate_hours"`
	UnknownItems    int               `json:"unknown_rate_items"` // lines of disks, traffic and the like
	UnlistedRateHrs float64           `json:"unlisted_rate_hours"`
	Goodput         *float64          `json:"goodput,omitempty"`
	CostPerUnit     *float64          `json:"cost_per_unit,omitempty"`
	Best            *Alternative      `json:"cheapest_alternative,omitempty"`
}

func (c Cost) row(r ledger.Row, work *float64) costRow {
	row := costRow{
		Amount: r.Amount, LowerBound: r.LowerBound(), LowerBounds: lowerBounds(&r), UnknownItems: r.UnknownItems, Billed: r.Billed, Idle: r.Idle, Waste: r.Waste, Credits: r.Credit,
		AcceleratorHrs: r.Hours, UnknownRateHrs: r.UnknownHours, UnlistedRateHrs: r.UnlistedHours, Goodput: work,
	}
	if !r.ListLowerBound() {
		row.OnDemand = &r.List
	}
	if !r.SavingLowerBound() {
		row.SpotSaving, row.Discounts = &r.Saving, &r.Discount
	}
	if work != nil && *work > 0 && !r.LowerBound() {
		per := r.Amount.Dollars() / *work
		row.CostPerUnit = &per
	}
	for i, d := range c.totals.By {
		if i < len(r.Key) {
			if row.Key == nil {
				row.Key = map[string]string{}
			}
			row.Key[d.String()] = r.Key[i]
			if d == ledger.ByJob {
				row.Best = c.best(r.Key[i])
			}
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
		Zone       string     `json:"zone"`
		By         []string   `json:"by"`
		Unit       string     `json:"goodput_unit,omitempty"`
		Rows       []costRow  `json:"rows"`
		Total      costRow    `json:"total"`
		Notes      []string   `json:"notes"`
	}{APIVersion: "goodfleet/v1", Kind: "CostReport", Currency: c.currency(), From: stamp(c.cfg.From), To: stamp(c.cfg.To), Zone: c.cfg.Zone.String(),
		By: []string{}, Rows: []costRow{}, Total: c.row(c.totals.Sum, c.work), Notes: c.Notes()}
	if c.cfg.Work != nil {
		out.Unit = c.cfg.Work.Unit
	}
	for _, d := range c.totals.By {
		out.By = append(out.By, d.String())
	}
	for i, r := range c.totals.Rows {
		out.Rows = append(out.Rows, c.row(r, c.works[i]))
	}
	if err := document.JSON(w, out, "  "); err != nil {
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

// CSV writes the rows with exact money; a value that is not known is empty, and lower_bounds
// names those that lack what has no known rate.
func (c Cost) CSV(w io.Writer) error {
	head := []string{}
	for _, d := range c.totals.By {
		head = append(head, d.String())
	}
	unit := strings.ToLower(c.currency())
	for _, name := range []string{"amount_", "on_demand_", "spot_saving_", "discounts_", "idle_", "waste_", "credits_", "billed_"} {
		head = append(head, name+unit)
	}
	head = append(head, "accelerator_hours", "unknown_rate_hours", "goodput", "cost_per_unit", "lower_bounds")
	byJob := slices.Contains(c.totals.By, ledger.ByJob)
	if byJob {
		head = append(head, "cheapest_alternative_"+unit, "cheapest_alternative")
	}
	rows := [][]string{head}
	float := func(v *float64) string {
		if v == nil {
			return ""
		}
		return strconv.FormatFloat(*v, 'f', -1, 64)
	}
	for i, r := range c.totals.Rows {
		list, saving, discount := r.List.String(), r.Saving.String(), r.Discount.String()
		if r.ListLowerBound() {
			list = ""
		}
		if r.SavingLowerBound() {
			saving, discount = "", ""
		}
		row := c.row(r, c.works[i])
		cells := append(slices.Clone(r.Key), r.Amount.String(), list, saving, discount, r.Idle.String(), r.Waste.String(), r.Credit.String(), r.Billed.String(),
			float(&r.Hours), float(&r.UnknownHours), float(row.Goodput), float(row.CostPerUnit), strings.Join(row.LowerBounds, " "))
		if best := row.Best; byJob && best != nil {
			cells = append(cells, best.Cost.String(), best.What)
		} else if byJob {
			cells = append(cells, "", "")
		}
		rows = append(rows, cells)
	}
	if err := WriteCSV(w, rows); err != nil {
		return fmt.Errorf("cost report: %w", err)
	}
	return nil
}
