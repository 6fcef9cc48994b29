package report

import (
	"cmp"
	"slices"

	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/pricing/ledger"
)

// cents are the amounts of a report as it shows them: whole cents, so that at once
//   - each column adds up to its foot;
//   - in each row the cost is list cost less spot saving less discounts plus credits, where
//     that holds of the exact amounts (it does not where a list rate is not known);
//   - what is the same amount exactly looks the same: a row on demand has its cost as its
//     list cost, an idle one as its idle cost.
//
// No rounding of single amounts does all that. The cost is within a cent of exact, and to
// the nearest cent in the foot; saving, discounts and credits are within a cent; list cost
// follows from these four and may be a few cents off.
type cents struct {
	columns map[string][]pricing.Money // by the key of the column
	feet    map[string]pricing.Money
}

// inCents rounds the rows of a report.
func inCents(rows []ledger.Row) cents {
	c := cents{columns: map[string][]pricing.Money{}, feet: map[string]pricing.Money{}}
	exact := map[string][]pricing.Money{}
	for _, col := range moneyColumns {
		exact[col.key] = make([]pricing.Money, len(rows))
		for i := range rows {
			exact[col.key][i] = col.get(&rows[i])
		}
	}
	cost := exact["amount"]
	kinds := make([]int, len(rows)) // which columns have the very cost
	for i := range rows {
		for n, col := range moneyColumns[1:] {
			if exact[col.key][i] == cost[i] {
				kinds[i] |= 1 << n
			}
		}
	}
	shown := byKinds(cost, kinds)
	c.put("amount", shown)
	for n, col := range moneyColumns[1:] {
		if col.key != "on_demand" {
			c.put(col.key, alike(exact[col.key], shown, kinds, 1<<n))
		}
	}
	// What is between list cost and the rest: mostly a few nano dollars, all of it where no
	// list rate is known.
	between := make([]pricing.Money, len(rows))
	for i := range rows {
		between[i] = exact["on_demand"][i] - (cost[i] + exact["spot_saving"][i] + exact["discounts"][i] - exact["credits"][i])
	}
	list, _ := Together(between, cent)
	for i := range rows {
		list[i] += shown[i] + c.columns["spot_saving"][i] + c.columns["discounts"][i] - c.columns["credits"][i]
	}
	c.put("on_demand", list)
	return c
}

// put keeps a column; its foot is the sum of it.
func (c cents) put(key string, column []pricing.Money) {
	sum := pricing.Money(0)
	for _, v := range column {
		sum += v
	}
	c.columns[key], c.feet[key] = column, sum
}

// byKinds rounds amounts together, and so that the amounts of each kind are within a cent of
// their sum too.
func byKinds(amounts []pricing.Money, kinds []int) []pricing.Money {
	of := map[int][]int{} // rows of a kind
	for i, kind := range kinds {
		of[kind] = append(of[kind], i)
	}
	var order []int
	for kind := range of {
		order = append(order, kind)
	}
	slices.Sort(order)
	sums := make([]pricing.Money, len(order))
	for n, kind := range order {
		for _, i := range of[kind] {
			sums[n] += amounts[i]
		}
	}
	sums, _ = Together(sums, cent)
	rounded := make([]pricing.Money, len(amounts))
	for n, kind := range order {
		part := make([]pricing.Money, len(of[kind]))
		for k, i := range of[kind] {
			part[k] = amounts[i]
		}
		for k, v := range roundedTo(part, cent, sums[n]) {
			rounded[of[kind][k]] = v
		}
	}
	return rounded
}

// alike rounds a column: where a row has the very cost, as the cost was rounded, else together.
func alike(column, cost []pricing.Money, kinds []int, bit int) []pricing.Money {
	rounded := slices.Clone(cost)
	var others []pricing.Money
	var at []int
	for i, v := range column {
		if kinds[i]&bit == 0 {
			others, at = append(others, v), append(at, i)
		}
	}
	shown, _ := Together(others, cent)
	for k, i := range at {
		rounded[i] = shown[k]
	}
	return rounded
}

// roundedTo rounds amounts to units that sum to a total, which is the sum of the amounts
// rounded down or up: each is rounded down, and the units that are missing go to the largest
// remainders, the first of equals first. What is whole units stays.
func roundedTo(amounts []pricing.Money, unit, total pricing.Money) []pricing.Money {
	type rest struct {
		at     int
		amount pricing.Money
	}
	rounded := make([]pricing.Money, len(amounts))
	rests := make([]rest, len(amounts))
	down := pricing.Money(0)
	for i, amount := range amounts {
		remainder := amount % unit
		if remainder < 0 {
			remainder += unit
		}
		rounded[i] = amount - remainder
		rests[i] = rest{i, remainder}
		down += rounded[i]
	}
	slices.SortStableFunc(rests, func(a, b rest) int { return cmp.Compare(b.amount, a.amount) })
	for i := 0; down < total; i++ {
		rounded[rests[i].at] += unit
		down += unit
	}
	return rounded
}
