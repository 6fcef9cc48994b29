package ledger_test

import (
	"testing"

	"github.com/goodfleet/goodfleet/pricing/ledger"
	"github.com/goodfleet/goodfleet/provider"
)

func TestWhatWasBoughtAheadAndCreditsTakeNothingFromBudgets(t *testing.T) {
	held := awsOnDemand
	held.Market, held.Reservation = provider.Reserved, "block-1"
	for name, tt := range map[string]struct {
		charge ledger.Charge
		want   bool
	}{
		"machine on spot":         {ledger.Charge{Kind: ledger.Usage, Offering: awsSpot}, true},
		"machine in a capacity":   {ledger.Charge{Kind: ledger.Usage, Offering: held}, false},
		"disk beside a machine":   {ledger.Charge{Kind: ledger.Usage, Item: ledger.Disk, Offering: awsOnDemand}, true},
		"unused reservation":      {ledger.Charge{Kind: ledger.Usage, Item: ledger.Reservation, Offering: awsOnDemand}, false},
		"unused block":            {ledger.Charge{Kind: ledger.Usage, Item: ledger.Block, Offering: awsOnDemand}, false},
		"unused commitment":       {ledger.Charge{Kind: ledger.Usage, Item: ledger.Commitment, Offering: awsOnDemand}, false},
		"purchase":                {ledger.Charge{Kind: ledger.Purchase, Item: ledger.Other, Offering: awsOnDemand}, false},
		"credit":                  {ledger.Charge{Kind: ledger.Credit, Item: ledger.Other, Offering: awsOnDemand}, false},
		"controller":              {ledger.Charge{Kind: ledger.Usage, Item: ledger.Controller, Offering: awsOnDemand}, true},
		"early loss, taken back":  {ledger.Charge{Kind: ledger.Reversal, Offering: awsSpot}, true},
		"correction by a feed":    {ledger.Charge{Kind: ledger.Correction, Offering: awsSpot}, true},
		"correction of prepaid":   {ledger.Charge{Kind: ledger.Correction, Offering: held}, false},
		"rise within an hour":     {ledger.Charge{Kind: ledger.Rise, Offering: awsSpot, Account: ledger.Overrun}, true},
		"moved to another bearer": {ledger.Charge{Kind: ledger.Transfer, Offering: awsSpot}, true},
	} {
		if got := tt.charge.Budgeted(); got != tt.want {
			t.Errorf("%s: takes from budgets: %t, want %t", name, got, tt.want)
		}
	}
}
