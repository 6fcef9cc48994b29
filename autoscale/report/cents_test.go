package report

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/pricing/ledger"
)

// drawRows draws rows as sums of charges come out: of few kinds, and mixed.
func drawRows(t *rapid.T) []ledger.Row {
	money := rapid.Custom(func(t *rapid.T) pricing.Money {
		return pricing.Money(rapid.OneOf(rapid.Int64Range(0, 30_000_000), rapid.Int64Range(0, 1e13), rapid.SampledFrom([]int64{0, 5_000_000, 10_000_000, 4_999_999})).Draw(t, "money"))
	})
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) ledger.Row {
		paid := money.Draw(t, "paid")
		r := ledger.Row{Amount: paid, Billed: paid, List: paid, Hours: 1}
		switch rapid.SampledFrom([]string{"on demand", "idle", "spot", "spot", "discount", "credit", "mixed", "unlisted", "prepaid", "rounded"}).Draw(t, "kind") {
		case "idle":
			r.Idle = paid
		case "spot":
			r.Saving = money.Draw(t, "saving") - paid/3
			r.List += r.Saving
			r.Waste = paid / 7
		case "discount":
			r.Discount = money.Draw(t, "discount")
			r.List += r.Discount
		case "credit":
			r.Amount, r.Billed, r.List, r.Credit = -paid, -paid, 0, -paid
		case "mixed":
			r.Saving, r.Discount, r.Credit, r.Idle = money.Draw(t, "saving"), money.Draw(t, "discount"), -money.Draw(t, "credit"), paid/5
			r.Amount += r.Credit
			r.List = r.Amount + r.Saving + r.Discount - r.Credit
		case "unlisted":
			r.List, r.UnlistedHours = paid/2, 1
		case "prepaid":
			r.Billed = 0
		case "rounded":
			r.List, r.Saving = paid+1, 0
		}
		return r
	}), 0, 40).Draw(t, "rows")
}

// Every promise of cents, on any rows.
func TestCentsAddUpBothWays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := drawRows(t)
		c := inCents(rows)
		var sum ledger.Row
		for i, r := range rows {
			sum.Add(r)
			at := func(key string) pricing.Money { return c.columns[key][i] }
			if exact := r.List - r.Saving - r.Discount + r.Credit - r.Amount; max(exact, -exact) < 1000 {
				if got := at("on_demand") - at("spot_saving") - at("discounts") + at("credits"); got != at("amount") {
					t.Fatalf("row %d: %v: the columns come to %s, the cost says %s", i, r, got, at("amount"))
				}
			}
			for _, col := range moneyColumns[1:] {
				if col.get(&r) == r.Amount && (col.key != "on_demand" || r.Saving == 0 && r.Discount == 0 && r.Credit == 0) && at(col.key) != at("amount") {
					t.Fatalf("row %d: %s is the cost, %s, and looks like %s beside %s", i, col.head, r.Amount, at(col.key), at("amount"))
				}
			}
			for _, col := range moneyColumns {
				bound := cent
				if col.key == "on_demand" {
					bound = 5 * cent
				}
				if off := at(col.key) - col.get(&r); max(off, -off) >= bound || at(col.key)%cent != 0 {
					t.Fatalf("row %d: %s %s is shown as %s", i, col.head, col.get(&r), at(col.key))
				}
			}
		}
		for _, col := range moneyColumns {
			total := pricing.Money(0)
			for _, v := range c.columns[col.key] {
				total += v
			}
			exact := col.get(&sum)
			off := total - exact
			bound := 2 * cent
			if col.key == "on_demand" {
				bound = 6 * cent
			}
			switch {
			case total != c.feet[col.key]:
				t.Fatalf("%s: the rows come to %s, the foot says %s", col.head, total, c.feet[col.key])
			case col.key == "amount" && total != nearest(exact, cent):
				t.Fatalf("the cost of %s is shown as %s", exact, total)
			case max(off, -off) > bound:
				t.Fatalf("%s: %s is shown as %s", col.head, exact, total)
			}
		}
	})
}

// The case that was seen: machines on demand, whose cost and list cost are one amount.
func TestCostOnDemandLooksLikeItsListCost(t *testing.T) {
	rows := []ledger.Row{
		{Amount: 2_026_000_000, List: 2_026_000_000},
		{Amount: 1_004_000_000, List: 3_001_000_000, Saving: 1_997_000_000},
		{Amount: 1_004_000_000, List: 3_004_000_000, Saving: 2_000_000_000},
	}
	c := inCents(rows)
	if got := c.columns["on_demand"][0]; got != c.columns["amount"][0] || c.columns["spot_saving"][0] != 0 {
		t.Errorf("cost %s, list cost %s: want the same twice", c.columns["amount"][0], got)
	}
}
