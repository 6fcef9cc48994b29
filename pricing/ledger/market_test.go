package ledger_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goodfleet/goodfleet/pricing/ledger"
	"github.com/goodfleet/goodfleet/provider"
)

// Machines and capacity for them are bought in a market. Nothing else is, whatever machine
// it is beside or comes from: in what is booked, in a file that is read again, in a report,
// and in that of an older ledger, which says one.
func TestOnlyCapacityIsBoughtInAMarket(t *testing.T) {
	spot := awsSpot
	m := ledger.NewMeter(history(t, quoted(spot, day, "8")), ledger.Rules{Beside: []ledger.Beside{
		{Item: ledger.Disk, Cloud: "aws", Type: "gp3", Size: 720, Unit: 100_000_000},
		{Item: ledger.Address, Cloud: "aws", Market: provider.Spot, Type: "ipv4", Size: 1, Unit: ledger.AWSAddress},
	}})
	from, to := clock(10, 0, 0), clock(11, 0, 0)
	charges := m.Settle(life("i", spot, from, to, provider.EndedByUs), 8, nil, to, 1)
	for _, item := range []ledger.Item{ledger.Disk, ledger.Address, ledger.Controller} {
		charges = append(charges, m.Hold(ledger.Holding{Item: item, ID: "held-" + item.String(), Offering: spot, Size: 1, Started: from, Ended: to, Unit: 1_000_000, Known: true}, nil, to, 1)...)
	}
	elsewhere := spot
	elsewhere.Zone = "use1-az6"
	charges = append(charges, ledger.Flow{ID: "a/1/data", Sender: spot, Receiver: elsewhere, Share: ledger.Share{Job: "a"}, Measured: true}.Move(0, 1e12, from, to, 1)...)
	for _, give := range []func(ledger.Grant) (ledger.Charge, error){
		func(g ledger.Grant) (ledger.Charge, error) { return g.Credit(1) }, func(g ledger.Grant) (ledger.Charge, error) { return g.Refund(1) },
	} {
		c, err := give(ledger.Grant{Source: "given", Offering: spot, Amount: usd(t, "1"), From: from, To: to, Came: to})
		if err != nil {
			t.Fatal(err)
		}
		charges = append(charges, c)
	}
	read, err := read(encoded(t, charges...))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"machine": "spot", "disk": "none", "address": "none", "traffic": "none", "controller": "none", "other": "none",
	}
	older := append([]ledger.Charge{}, charges...)
	for i := range older {
		older[i].Offering.Market = provider.Spot
	}
	for name, list := range map[string][]ledger.Charge{"booked": charges, "read": read, "older": older} {
		got := map[string]string{}
		for _, r := range ledger.Total(list, ledger.ByItem, ledger.ByMarket).Rows {
			if before, twice := got[r.Key[0]]; twice {
				t.Errorf("%s: %s is of markets %s and %s", name, r.Key[0], before, r.Key[1])
			}
			got[r.Key[0]] = r.Key[1]
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		for _, c := range list {
			if name != "older" && c.Offering.Market.String() != want[c.Item.String()] {
				t.Errorf("%s: %s has market %s", name, c.Item, c.Offering.Market)
			}
		}
	}
	c := charges[0]
	c.Offering.Market = provider.NoMarket
	if err := c.Check(); err == nil || !strings.HasPrefix(err.Error(), "offering.market: none: ") {
		t.Errorf("a machine that is bought in no market: %v", err)
	}
}
