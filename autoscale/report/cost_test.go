package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/pricing/ledger"
	"github.com/goodfleet/goodfleet/provider"
)

// hourCharges are an hour of one spot machine, shared by three jobs of two teams
// at a price that does not divide, and an hour of one whose rate is not known.
func hourCharges() []ledger.Charge {
	o := provider.Offering{Cloud: "aws", Region: "us-east-1", Zone: "use1-az1", Type: "p3.8xlarge", Market: provider.Spot}
	charge := func(job, team string, amount pricing.Money) ledger.Charge {
		return ledger.Charge{
			ID: job, Kind: ledger.Usage, Instance: "i-1", Run: 1, Offering: o, From: from, To: from.Add(time.Hour), Account: ledger.ToJob,
			Job: job, Team: team, Share: 1, Of: 3, Rate: 10 * pricing.DollarPerHour, Known: true, List: 30 * pricing.DollarPerHour, Amount: amount,
		}
	}
	unpriced := charge("LM-1", "NLP", 0)
	unpriced.Instance, unpriced.Known, unpriced.Rate, unpriced.ID = "i-2", false, 0, "unpriced"
	return []ledger.Charge{
		charge("GPT-L", "Vision", 3_333_333_334), charge("ResNet-1", "Vision", 3_333_333_333), charge("LM-1", "NLP", 3_333_333_333), unpriced,
	}
}

func TestCostTableAddsUpAsPrinted(t *testing.T) {
	var b bytes.Buffer
	if err := NewCost(CostConfig{Charges: hourCharges(), From: from, To: from.Add(time.Hour), By: []ledger.Dimension{ledger.ByTeam, ledger.ByJob}}).Table(&b); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"Vision  GPT-L", "3.34", "3.33", "≥ 10.00", "≥ 3.33", "lower bounds", "2023-03-01 00:00 to 2023-03-01 01:00 (excluded)"} {
		if !strings.Contains(b.String(), text) {
			t.Errorf("the table lacks %q:\n%s", text, b.String())
		}
	}
}

func TestCostTopKeepsTheTotal(t *testing.T) {
	c := NewCost(CostConfig{Charges: hourCharges()[:3], By: []ledger.Dimension{ledger.ByJob}, Top: 1})
	if len(c.totals.Rows) != 2 || c.totals.Rows[0].Key[0] != "GPT-L" || c.totals.Rows[1].Key[0] != "2 others" {
		t.Fatalf("rows %v, want GPT-L and 2 others", c.totals.Rows)
	}
	if got := c.totals.Rows[0].Amount + c.totals.Rows[1].Amount; got != 10*pricing.Dollar {
		t.Errorf("rows add up to %s, want 10", got)
	}
}

func TestCostFilesKeepMoneyExactAndTheUnknownNull(t *testing.T) {
	charges := hourCharges()
	charges[3].List = 0
	c := NewCost(CostConfig{Charges: charges, From: from, By: []ledger.Dimension{ledger.ByTeam}})
	var b bytes.Buffer
	if err := c.JSON(&b); err != nil {
		t.Fatal(err)
	}
	var read struct {
		To   *string
		Rows []struct {
			Key    map[string]string
			Amount string
			List   *string `json:"on_demand"`
		}
	}
	if err := json.Unmarshal(b.Bytes(), &read); err != nil {
		t.Fatal(err)
	}
	if read.To != nil || len(read.Rows) != 2 || read.Rows[0].Key["team"] != "Vision" || read.Rows[0].Amount != "6.666666667" {
		t.Errorf("got %s, want Vision first with 6.666666667 and no end", b.String())
	}
	if read.Rows[1].List != nil {
		t.Errorf("the on-demand cost of NLP is %q, want null: one rate is not known", *read.Rows[1].List)
	}
	b.Reset()
	if err := c.CSV(&b); err != nil {
		t.Fatal(err)
	}
	if want := "NLP,3.333333333,,,,0,0,0,3.333333333,2,1,,,amount on_demand spot_saving discounts billed\n"; !strings.HasSuffix(b.String(), want) {
		t.Errorf("csv %q, want its last line %q", b.String(), want)
	}
}

func TestCostOfNothing(t *testing.T) {
	var b bytes.Buffer
	if err := NewCost(CostConfig{By: []ledger.Dimension{ledger.ByTeam}}).Table(&b); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), "0.00") || !strings.Contains(b.String(), unknown) {
		t.Errorf("got:\n%s\nwant a total of 0.00 and no share", b.String())
	}
}

// What moved between regions is told below, in the currency of the table.
func TestCostTellsWhatMoved(t *testing.T) {
	charges := hourCharges()
	move, bill := charges[0], charges[0]
	move.ID, move.Item, move.Account, move.Amount = "move", ledger.Traffic, ledger.ToTraffic, 2*pricing.Dollar
	bill.ID, bill.Kind, bill.Amount = "bill", ledger.Correction, pricing.Dollar/2
	cfg := CostConfig{Charges: append(charges, move, bill), From: from, By: []ledger.Dimension{ledger.ByTeam}}
	for currency, want := range map[string][]string{
		"USD": {"2.00 USD of it are data and checkpoints that went to other regions or clouds", "1 lines of bills and feeds corrected it by 0.50 USD."},
		"EUR": {"1.00 EUR of it are data and checkpoints", "corrected it by 0.25 EUR."},
	} {
		cfg := cfg
		if currency != "USD" {
			cfg.Currency = &Conversion{Code: currency, Says: "half", Of: func(m pricing.Money) pricing.Money { return m / 2 }}
		}
		notes := strings.Join(NewCost(cfg).Notes(), "\n")
		for _, text := range want {
			if !strings.Contains(notes, text) {
				t.Errorf("%s: the notes lack %q:\n%s", currency, text, notes)
			}
		}
	}
}

// What days cost, as a page says it, comes to what all cost; and each day to its parts.
func TestDaysAddUpInCents(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var charges []ledger.Charge
		for n := range rapid.IntRange(1, 20).Draw(t, "charges") {
			c := hourCharges()[0]
			c.ID, c.Team = fmt.Sprint(n), rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "team")
			c.From = from.AddDate(0, 0, rapid.IntRange(0, 6).Draw(t, "day"))
			c.To = c.From.Add(time.Hour)
			c.Amount = pricing.Money(rapid.Int64Range(0, 3e9).Draw(t, "nano dollars"))
			charges = append(charges, c)
		}
		cost := NewCost(CostConfig{Charges: charges, By: []ledger.Dimension{ledger.ByTeam}})
		sum := pricing.Money(0)
		for _, row := range cost.dayPicture(Days(charges, time.UTC)).Table.Rows {
			parts, want := pricing.Money(0), money(t, row[len(row)-1])
			for _, cell := range row[1 : len(row)-1] {
				parts += money(t, cell)
			}
			if parts != want {
				t.Errorf("%v: the parts come to %s", row, parts)
			}
			sum += want
		}
		if want, _ := Together([]pricing.Money{cost.totals.Sum.Amount}, pricing.Dollar/100); sum != want[0] {
			t.Errorf("days come to %s USD, all to %s", sum, want[0])
		}
	})
}

func money(t *rapid.T, cell string) pricing.Money {
	m, err := pricing.ParseMoney(strings.ReplaceAll(cell, ",", ""))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// unpricedCharges are an hour of a machine of known rate, and what has none: an hour of a
// machine that a job holds, half an hour of it idle and as much lost, and traffic.
func unpricedCharges() []ledger.Charge {
	charges := hourCharges()[:1]
	add := func(account ledger.Account, job, team string, long time.Duration, item ledger.Item) {
		c := charges[0]
		c.ID, c.Instance, c.Account, c.Job, c.Team, c.To = string(account)+string(item), "i-2", account, job, team, c.From.Add(long)
		c.Known, c.Rate, c.Amount, c.Item = false, 0, 0, item
		charges = append(charges, c)
	}
	add(ledger.ToJob, "LM-1", "NLP", time.Hour, ledger.Machine)
	add(ledger.ToIdle, "", "", time.Hour/2, ledger.Machine)
	add(ledger.ToWaste, "LM-1", "NLP", time.Hour/2, ledger.Machine)
	add(ledger.ToTraffic, "far", "Games", time.Hour, ledger.Traffic)
	return charges
}

// Where something has no known rate, each form of a report says which amounts are lower
// bounds, of a row and of the total, and its columns add up all the same.
func TestWhatLacksARateIsALowerBoundInEveryForm(t *testing.T) {
	cfg := CostConfig{Charges: unpricedCharges(), By: []ledger.Dimension{ledger.ByTeam}, Zone: time.UTC}
	c := NewCost(cfg)
	want := map[string][]string{
		"Vision": {}, "NLP": {"amount", "spot_saving", "discounts", "waste", "billed"},
		"": {"amount", "spot_saving", "discounts", "idle", "billed"}, "Games": {"amount", "billed"},
		"all": {"amount", "spot_saving", "discounts", "idle", "waste", "billed"},
	}
	for i, r := range append(slices.Clone(c.totals.Rows), c.totals.Sum) {
		name := "all"
		if i < len(c.totals.Rows) {
			name = r.Key[0]
		}
		if diff := cmp.Diff(want[name], lowerBounds(&r)); diff != "" {
			t.Errorf("%q: %s", name, diff)
		}
	}

	text := func(write func(io.Writer) error) string {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	// As a person reads them: the cells of the table, of markdown and of the page are the same.
	head, _, rows, foot := c.cells()
	for n, name := range head {
		if n == 0 || name == "share" || name == "accelerators" {
			continue
		}
		sum, any := 0.0, false
		for _, row := range append(slices.Clone(rows), foot) {
			amount, lower := strings.CutPrefix(row[n], "≥ ")
			v, err := strconv.ParseFloat(strings.ReplaceAll(amount, ",", ""), 64)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if &row[0] == &foot[0] {
				if math.Abs(sum-v) > 1e-9 || any != lower {
					t.Errorf("%s: rows come to %.2f, some of them lower bounds: %v; the foot says %q", name, sum, any, row[n])
				}
				continue
			}
			sum, any = sum+v, any || lower
		}
	}
	for form, said := range map[string]string{"table": text(c.Table), "markdown": text(c.Markdown), "html": text(c.HTML)} {
		for _, row := range append(slices.Clone(rows), foot) {
			if !strings.Contains(said, row[1]) {
				t.Errorf("%s lacks %q", form, row[1])
			}
		}
		if !strings.Contains(said, "lower bounds") {
			t.Errorf("%s does not tell what ≥ means", form)
		}
	}
	page := text(c.HTML)
	for _, cell := range []string{"<td>≥ 3.33</td>", "≥ 0.00"} { // of pictures too: all that was paid, and each row
		if strings.Count(page, cell) < 3 {
			t.Errorf("the page has %q %d times", cell, strings.Count(page, cell))
		}
	}

	type jsonRow struct {
		Key    map[string]string
		Amount string
		Saving *string  `json:"spot_saving"`
		Lower  []string `json:"lower_bounds"`
	}
	var read struct {
		Rows  []jsonRow
		Total jsonRow
	}
	if err := json.Unmarshal([]byte(text(c.JSON)), &read); err != nil {
		t.Fatal(err)
	}
	for _, r := range read.Rows {
		if diff := cmp.Diff(want[r.Key["team"]], r.Lower); diff != "" || (r.Saving == nil) != slices.Contains(r.Lower, "spot_saving") {
			t.Errorf("JSON of %q, with saving %v: %s", r.Key["team"], r.Saving, diff)
		}
	}
	if diff := cmp.Diff(want["all"], read.Total.Lower); diff != "" || read.Total.Amount != "3.333333334" {
		t.Errorf("JSON says of all %s: %s", read.Total.Amount, diff)
	}
	for _, line := range strings.Split(strings.TrimSpace(text(c.CSV)), "\n")[1:] {
		cells := strings.Split(line, ",")
		if got := strings.Fields(cells[len(cells)-1]); !slices.Equal(got, want[cells[0]]) {
			t.Errorf("CSV says of %q %v, want %v", cells[0], got, want[cells[0]])
		}
	}

	d := NewCostDiff(CostConfig{Charges: cfg.Charges[:1]}, cfg)
	if said := text(d.CSV); !strings.Contains(said, "NLP,0,0,,after\n") || !strings.Contains(said, "Vision,3.333333334,3.333333334,0,\n") {
		t.Errorf("the difference is %s", said)
	}
	if said := text(d.JSON); !strings.Contains(said, `"lower_bounds": [`) || !strings.Contains(said, `"after"`) {
		t.Errorf("the difference is %s", said)
	}
}
