package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

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
	moved       pricing.Money // what data and checkpoints cost that went to other regions
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
	if charge.Account == ledger.ToTraffic {
		c.cost.moved += charge.Amount
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
	c.corrected, c.moved = of(c.corrected), of(c.moved)
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

// shownMoved is what moved as the table shows it, where it has a row of that alone.
func (c Cost) shownMoved() pricing.Money {
	for i, r := range c.totals.Rows {
		if len(c.totals.By) == 1 && c.totals.By[0] == ledger.ByAccount && r.Key[0] == string(ledger.ToTraffic) && r.Amount == c.moved {
			return inCents(c.totals.Rows).columns["amount"][i]
		}
	}
	return c.moved
}

func (c Cost) currency() string {
	if c.cfg.Currency != nil {
		return c.cfg.Currency.Code
	}
	return "USD"
}

// Notes say what was summed and how it is meant.
func (c Cost) Notes() []string {
	edge := func(at time.Time) string { return at.In(c.cfg.Zone).Format("2006-01-02 15:04") }
	from, to := c.cfg.From, c.cfg.To
	if from.IsZero() {
		from = c.first
	}
	if to.IsZero() { // the minute after the last charge
		to = c.last.Add(time.Minute - 1).Truncate(time.Minute)
	}
	span := "No charges"
	if open := c.cfg.From.IsZero() || c.cfg.To.IsZero(); !open || !c.first.IsZero() {
		span = fmt.Sprintf("Charges of %s to %s (excluded)", edge(from), edge(to))
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
		estimate = fmt.Sprintf("Estimated from quotes; %d lines of bills and feeds corrected it by %s %s.", c.corrections, dollars(c.corrected), c.currency())
	}
	notes = append(notes, estimate)
	if c.cut {
		notes = append(notes, "Goodput of jobs that ran outside of the window too is not known for it.")
	}
	if c.moved != 0 {
		notes = append(notes, fmt.Sprintf("%s %s of it are data and checkpoints that went to other regions or clouds: account traffic, at list prices, of no market.", dollars(c.shownMoved()), c.currency()))
	}
	if c.cfg.Currency != nil {
		notes = append(notes, "Shown in "+c.cfg.Currency.Code+": "+c.cfg.Currency.Says+".")
	}
	return notes
}
