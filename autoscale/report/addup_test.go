package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/pricing/ledger"
	"github.com/goodfleet/goodfleet/provider"
)

// TestColumnsAddUpAsTheyArePrinted sums each column of drawn reports from its text: money,
// shares, hours and goodput alike come to the total beneath.
func TestColumnsAddUpAsTheyArePrinted(t *testing.T) {
	from := time.Date(2026, 11, 3, 10, 0, 0, 0, time.UTC)
	rapid.Check(t, func(t *rapid.T) {
		work := &Work{Unit: "V100-hours"}
		var charges []ledger.Charge
		for n := range rapid.IntRange(1, 9).Draw(t, "jobs") {
			job := fmt.Sprintf("job-%d", n)
			work.Jobs = append(work.Jobs, JobWork{Job: job, Done: rapid.Float64Range(0.01, 1e4).Draw(t, "done")})
			charges = append(charges, ledger.Charge{
				Kind: ledger.Usage, Job: job, Account: ledger.ToJob, From: from, Share: 1, Of: 3, Known: true,
				To:       from.Add(time.Duration(rapid.Int64Range(1, int64(time.Hour)).Draw(t, "long"))),
				Offering: provider.Offering{Cloud: "aws", Market: provider.Spot}, Rate: 1, List: pricing.Rate(rapid.Int64Range(1, 1e11).Draw(t, "list")),
				Amount: pricing.Money(rapid.Int64Range(0, 1e12).Draw(t, "amount")),
			})
		}
		_, unit, rows, foot := NewCost(CostConfig{Charges: charges, By: []ledger.Dimension{ledger.ByJob}, Work: work}).cells()
		read := func(text string) float64 {
			v, err := strconv.ParseFloat(strings.ReplaceAll(strings.TrimPrefix(text, "≥ "), ",", ""), 64)
			if err != nil && text != unknown {
				t.Fatal(err)
			}
			return v
		}
		for col := 1; col < len(foot)-1; col++ { // the last is a quotient
			sum := 0.0
			for _, row := range rows {
				sum += read(row[col])
			}
			if math.Abs(sum-read(foot[col])) > 1e-6 {
				t.Fatalf("column %d (%s): the rows sum to %g, the total says %s", col, unit[col], sum, foot[col])
			}
		}
	})
}
