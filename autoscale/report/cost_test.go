package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

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
	if want := "NLP,3.333333333,,,,0,0,0,3.333333333,2,1,,\n"; !strings.HasSuffix(b.String(), want) {
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
