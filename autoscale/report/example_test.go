package report_test

import (
	"fmt"
	"os"
	"time"

	"github.com/goodfleet/goodfleet/autoscale/report"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/pricing/ledger"
	"github.com/goodfleet/goodfleet/provider"
)

// Three jobs share an hour of one machine of 10 USD, which three does not divide.
func ExampleCost_Table() {
	from := time.Date(2023, time.June, 5, 0, 0, 0, 0, time.UTC)
	spot := provider.Offering{Cloud: "aws", Region: "us-east-1", Zone: "use1-az1", Type: "p3.8xlarge", Market: provider.Spot}
	var charges []ledger.Charge
	for i, job := range []string{"GPT-L", "ResNet-1", "LM-1"} {
		amount := pricing.Money(3_333_333_333)
		if i == 0 {
			amount++
		}
		charges = append(charges, ledger.Charge{
			ID: job, Kind: ledger.Usage, Instance: "i-1", Run: 1, Offering: spot, From: from, To: from.Add(time.Hour),
			Account: ledger.ToJob, Job: job, Team: "Vision", Share: 1, Of: 3,
			Rate: 10 * pricing.DollarPerHour, Known: true, List: 12 * pricing.DollarPerHour, Amount: amount,
		})
	}
	if err := report.NewCost(report.CostConfig{Charges: charges, From: from, To: from.Add(time.Hour), By: []ledger.Dimension{ledger.ByJob}}).Table(os.Stdout); err != nil {
		fmt.Println(err)
	}
	// Output:
	// job        cost  share  list cost  spot saving  idle  waste  accelerators
	//             USD      %        USD          USD   USD    USD         hours
	// ───────────────────────────────────────────────────────────────────────────
	// GPT-L      3.34   33.4       4.00         0.66  0.00   0.00           1.0
	// LM-1       3.33   33.3       4.00         0.67  0.00   0.00           1.0
	// ResNet-1   3.33   33.3       4.00         0.67  0.00   0.00           1.0
	// ───────────────────────────────────────────────────────────────────────────
	// all       10.00  100.0      12.00         2.00  0.00   0.00           3.0
	//
	// Charges of 2023-06-05 00:00 to 2023-06-05 01:00 (excluded), UTC. List cost: the same time at the on-demand rate of the same type and zone.
	// Estimated from quotes: no bill or feed has corrected it.
}
