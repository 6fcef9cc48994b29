package report

import (
	"cmp"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/pricing/ledger"
)

// CostConfig is what a cost report is made of.
type CostConfig struct {
	Charges  []ledger.Charge // of the window; they are not filtered. Nil for a Costing
	From, To time.Time       // the window, for the reader to see; To is excluded; zero: open
	Zone     *time.Location  // of days and months; nil: UTC
	By       []ledger.Dimension
	Top      int         // keep the dearest rows and merge the rest into one; 0: all
	Work     *Work       // what the jobs got done; nil: not known
	Currency *Conversion // amounts are shown in it; nil: US dollars
}

// Conversion turns US dollars into another currency, for showing.
type Conversion struct {
	Code string // "EUR"
	Says string // the rate and its day, for the footer
	Of   func(pricing.Money) pricing.Money
}

// Cost is a cost report: charges summed by some dimensions, dearest first.
type Cost struct {
	cfg    CostConfig
	totals ledger.Totals
	works  []*float64 // of each row, in units of work; nil: not known
	work   *float64   // of all
	cut    bool       // jobs were left out of work: the window holds only a part of them

	first, last time.Time     // of the charges
	corrected   pricing.Money // what bills and feeds added
	corrections int           // in so many lines
}

// NewCost sums charges.
func NewCost(cfg CostConfig) Cost {
	costing := NewCosting(cfg)
	for i := range cfg.Charges {
		costing.Add(&cfg.Charges[i])
	}
	return costing.Cost()
}

// Costing makes a cost report of charges that it is given one by one, and does not
// keep. Every form of the report but the page can be made of it, which draws the
// charges themselves: give them to NewCost.
type Costing struct {
	cost Cost
	sums *ledger.Sums
	jobs *jobLabels
}

// NewCosting is of no charges.
func NewCosting(cfg CostConfig) *Costing {
	if cfg.Zone == nil {
		cfg.Zone = time.UTC
	}
	return &Costing{cost: Cost{cfg: cfg}, sums: ledger.NewSums(cfg.Zone, cfg.By...), jobs: cfg.Work.labels()}
}

// Add counts a charge in.
func (c *Costing) Add(charge *ledger.Charge) {
	c.sums.Add(charge)
	c.jobs.add(charge)
	if c.cost.first.IsZero() || charge.From.Before(c.cost.first) {
		c.cost.first = charge.From
	}
	if charge.To.After(c.cost.last) {
		c.cost.last = charge.To
	}
	if charge.Kind == ledger.Correction {
		c.cost.corrected += charge.Amount
		c.cost.corrections++
	}
}

// Cost is the report of what was added.
func (c *Costing) Cost() Cost {
	cost := c.cost
	cost.totals = c.sums.Totals()
	cost.sort()
	cost.works, cost.work, cost.cut = cost.cfg.Work.by(cost.cfg, c.jobs, cost.totals)
	cost.merge(cost.cfg.Top)
	if cost.cfg.Currency != nil {
		cost.convert(cost.cfg.Currency.Of)
	}
	return cost
}

// sort puts the dearest row first, but where all rows are shown and one of the keys is
// a time: then rows are in the order of their keys.
func (c *Cost) sort() {
	inTime := slices.ContainsFunc(c.totals.By, func(d ledger.Dimension) bool { return d == ledger.ByRound || d == ledger.ByDay || d == ledger.ByMonth })
	slices.SortStableFunc(c.totals.Rows, func(a, b ledger.Row) int {
		if !inTime || c.cfg.Top > 0 {
			return cmp.Compare(b.Amount, a.Amount)
		}
		for i, d := range c.totals.By {
			order := strings.Compare(a.Key[i], b.Key[i])
			if d == ledger.ByRound { // numbers without leading zeros
				order = cmp.Or(cmp.Compare(len(a.Key[i]), len(b.Key[i])), order)
			}
			if order != 0 {
				return order
			}
		}
		return 0
	})
}

// merge keeps the n dearest rows and merges the rest, so that totals hold.
func (c *Cost) merge(n int) {
	rows := c.totals.Rows
	if n <= 0 || len(rows) <= n+1 || len(c.totals.By) == 0 {
		return
	}
	rest := ledger.Row{Key: make([]string, len(c.totals.By))}
	rest.Key[0] = fmt.Sprintf("%d others", len(rows)-n)
	done, known := 0.0, true
	for i, r := range rows[n:] {
		rest.Add(r)
		if w := c.works[n+i]; w != nil {
			done += *w
		} else {
			known = false
		}
	}
	c.totals.Rows = append(slices.Clone(rows[:n]), rest)
	c.works = append(slices.Clone(c.works[:n]), nil)
	if known {
		c.works[n] = &done
	}
}

// convert turns every amount; the total stays the sum of the rows.
func (c *Cost) convert(of func(pricing.Money) pricing.Money) {
	sum := &c.totals.Sum
	hours, unknown, unlisted := sum.Hours, sum.UnknownHours, sum.UnlistedHours
	*sum = ledger.Row{}
	for i := range c.totals.Rows {
		r := &c.totals.Rows[i]
		for _, m := range []*pricing.Money{&r.Amount, &r.Billed, &r.List, &r.Saving, &r.Discount, &r.Idle, &r.Waste, &r.Credit} {
			*m = of(*m)
		}
		sum.Add(*r)
	}
	sum.Hours, sum.UnknownHours, sum.UnlistedHours = hours, unknown, unlisted
}

func (c Cost) currency() string {
	if c.cfg.Currency != nil {
		return c.cfg.Currency.Code
	}
	return "USD"
}

// moneyColumn is a column of amounts, which are rounded together.
type moneyColumn struct {
	head, key string
	get       func(r *ledger.Row) pricing.Money
	lower     func(r *ledger.Row) bool // the true amount is higher; nil: never
	rare      bool                     // shown in a table only if some row has it
}

var moneyColumns = []moneyColumn{
	{"cost", "amount", func(r *ledger.Row) pricing.Money { return r.Amount }, func(r *ledger.Row) bool { return r.LowerBound() }, false},
	{"list cost", "list", func(r *ledger.Row) pricing.Money { return r.List }, func(r *ledger.Row) bool { return r.ListLowerBound() }, false},
	{"spot saving", "spot_saving", func(r *ledger.Row) pricing.Money { return r.Saving }, func(r *ledger.Row) bool { return r.ListLowerBound() }, false},
	{"discounts", "discounts", func(r *ledger.Row) pricing.Money { return r.Discount }, func(r *ledger.Row) bool { return r.ListLowerBound() }, true},
	{"idle", "idle", func(r *ledger.Row) pricing.Money { return r.Idle }, nil, false},
	{"waste", "waste", func(r *ledger.Row) pricing.Money { return r.Waste }, nil, false},
	{"credits", "credits", func(r *ledger.Row) pricing.Money { return r.Credit }, nil, true},
	{"billed", "billed", func(r *ledger.Row) pricing.Money { return r.Billed }, nil, true},
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

// cells are the report as text: head, units, rows and the foot, rounded to cents
// together so that each column adds up to its foot.
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
	for n, col := range c.shown() {
		amounts := make([]pricing.Money, len(rows))
		for i := range c.totals.Rows {
			amounts[i] = col.get(&c.totals.Rows[i])
		}
		shown, total := Together(amounts, cent)
		lower := func(r *ledger.Row) bool { return col.lower != nil && col.lower(r) }
		add(col.head, c.currency(), func(r *ledger.Row, i int) string { return bound(dollars(shown[i]), lower(r)) }, bound(dollars(total), lower(sum)))
		if n == 0 {
			add("share", "%", func(r *ledger.Row, _ int) string { return percent(r.Amount, sum.Amount) }, percent(sum.Amount, sum.Amount))
		}
	}
	add("accelerators", "hours", func(r *ledger.Row, _ int) string { return number(r.Hours, 1) }, number(sum.Hours, 1))
	if c.cfg.Work != nil {
		per := func(r *ledger.Row, w *float64) string {
			if w == nil || *w <= 0 {
				return unknown
			}
			return bound(number(r.Amount.Dollars()/(*w), 3), r.LowerBound())
		}
		done := func(w *float64) string {
			if w == nil {
				return unknown
			}
			return number(*w, 1)
		}
		add("goodput", c.cfg.Work.Unit, func(_ *ledger.Row, i int) string { return done(c.works[i]) }, done(c.work))
		add("cost of a unit", c.currency(), func(r *ledger.Row, i int) string { return per(r, c.works[i]) }, per(sum, c.work))
		c.alternatives(add)
	}
	return head, unit, rows, foot
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
	t := newTable()
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
	return written(w, append([]string{rendered(c.table()), ""}, c.Notes()...))
}

// Markdown writes the report as a table for comments.
func (c Cost) Markdown(w io.Writer) error {
	head, unit, rows, foot := c.cells()
	line := func(cells []string) string {
		escaped := make([]string, len(cells))
		for i, cell := range cells {
			escaped[i] = strings.NewReplacer("|", `\|`, "\n", " ", "<", "&lt;", ">", "&gt;", "`", "\\`").Replace(cell)
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

// Notes say what was summed and how it is meant.
func (c Cost) Notes() []string {
	edge := func(asked, is time.Time) string {
		if asked.IsZero() {
			asked = is
		}
		return asked.In(c.cfg.Zone).Format("2006-01-02 15:04")
	}
	span := "No charges"
	if open := c.cfg.From.IsZero() || c.cfg.To.IsZero(); !open || !c.first.IsZero() {
		span = fmt.Sprintf("Charges of %s to %s (excluded)", edge(c.cfg.From, c.first), edge(c.cfg.To, c.last))
	}
	notes := []string{fmt.Sprintf("%s, %s. List cost: the same time at the on-demand rate of the same type and zone.", span, c.cfg.Zone)}
	sum := c.totals.Sum
	if sum.UnknownHours > 0 {
		notes = append(notes, fmt.Sprintf("%s of %s accelerator-hours have no known rate: costs marked ≥ are lower bounds.", number(sum.UnknownHours, 1), number(sum.Hours, 1)))
	}
	if sum.UnknownItems > 0 {
		notes = append(notes, fmt.Sprintf("%d lines of disks, traffic and the like have no known rate: costs marked ≥ are lower bounds.", sum.UnknownItems))
	}
	estimate := "Estimated from quotes: no bill or feed has corrected it."
	if c.corrections > 0 {
		estimate = fmt.Sprintf("Estimated from quotes; %d lines of bills and feeds corrected it by %s USD.", c.corrections, dollars(c.corrected))
	}
	notes = append(notes, estimate)
	if c.cut {
		notes = append(notes, "Goodput of jobs that ran outside of the window too is not known for it.")
	}
	if c.cfg.Currency != nil {
		notes = append(notes, "Shown in "+c.cfg.Currency.Code+": "+c.cfg.Currency.Says+".")
	}
	return notes
}

// costRow is a row in files: what is not known is null.
type costRow struct {
	Key             map[string]string `json:"key,omitempty"`
	Amount          pricing.Money     `json:"amount"`
	LowerBound      bool              `json:"lower_bound"`
	Billed          pricing.Money     `json:"billed"`
	OnDemand        *pricing.Money    `json:"on_demand"`
	SpotSaving      *pricing.Money    `json:"spot_saving"`
	Discounts       *pricing.Money    `json:"discounts"`
	Idle            pricing.Money     `json:"idle"`
	Waste           pricing.Money     `json:"waste"`
	Credits         pricing.Money     `json:"credits"`
	AcceleratorHrs  float64           `json:"accelerator_hours"`
	UnknownRateHrs  float64           `json:"unknown_rate_hours"`
	UnlistedRateHrs float64           `json:"unlisted_rate_hours"`
	Goodput         *float64          `json:"goodput,omitempty"`
	CostPerUnit     *float64          `json:"cost_per_unit,omitempty"`
	Best            *Alternative      `json:"cheapest_alternative,omitempty"`
}

func (c Cost) row(r ledger.Row, work *float64) costRow {
	row := costRow{
		Amount: r.Amount, LowerBound: r.LowerBound(), Billed: r.Billed, Idle: r.Idle, Waste: r.Waste, Credits: r.Credit,
		AcceleratorHrs: r.Hours, UnknownRateHrs: r.UnknownHours, UnlistedRateHrs: r.UnlistedHours, Goodput: work,
	}
	if !r.ListLowerBound() {
		row.OnDemand, row.SpotSaving, row.Discounts = &r.List, &r.Saving, &r.Discount
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
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
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
	unit := strings.ToLower(c.currency())
	for _, name := range []string{"amount_", "on_demand_", "spot_saving_", "discounts_", "idle_", "waste_", "credits_", "billed_"} {
		head = append(head, name+unit)
	}
	head = append(head, "accelerator_hours", "unknown_rate_hours", "goodput", "cost_per_unit")
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
			list, saving, discount = "", "", ""
		}
		row := c.row(r, c.works[i])
		cells := append(slices.Clone(r.Key), r.Amount.String(), list, saving, discount, r.Idle.String(), r.Waste.String(), r.Credit.String(), r.Billed.String(),
			float(&r.Hours), float(&r.UnknownHours), float(row.Goodput), float(row.CostPerUnit))
		if best := row.Best; byJob && best != nil {
			cells = append(cells, best.Cost.String(), best.What)
		} else if byJob {
			cells = append(cells, "", "")
		}
		rows = append(rows, cells)
	}
	if err := csv.NewWriter(w).WriteAll(rows); err != nil {
		return fmt.Errorf("cost report: %w", err)
	}
	return nil
}
