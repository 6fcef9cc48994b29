package document

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/pricing/ledger"
	"github.com/goodfleet/goodfleet/provider"
)

const billing = `apiVersion: goodfleet/v1
kind: Config
spec:
  owned:
    - {name: block-1, cloud: aws, region: us-east-1, zone: use1-az6, type: p4d.24xlarge, count: 2}
  billing:
    spot: per-second
    image: suse
    discounts: [{cloud: aws, market: on-demand, factor: "0.91"}]
    disks: [{cloud: aws, type: gp3, gb: 100, perMonth: 0.08 USD}]
    addresses: [gcp]
    capacities:
      - {owned: block-1, kind: block, from: 2026-11-01T00:00:00Z, until: 2026-11-08T00:00:00Z, upfront: 700 USD, team: Vision}
    controller: {cloud: aws, region: us-east-1, type: m7i.large, rate: 0.1 USD/h}
    credits:
      - {source: promo, cloud: aws, amount: 50 USD, from: 2026-11-01T00:00:00Z, to: 2026-12-01T00:00:00Z, came: 2026-11-03T00:00:00Z}
`

func TestBillingIsRulesAndGrants(t *testing.T) {
	docs, err := Decode("fleet.yaml", []byte(billing))
	if err != nil {
		t.Fatal(err)
	}
	spec := docs[0].Config.Spec
	rules, err := spec.Billing.Rules(spec.Owned)
	if err != nil {
		t.Fatal(err)
	}
	november := func(day int) time.Time { return time.Date(2026, 11, day, 0, 0, 0, 0, time.UTC) }
	want := ledger.Rules{
		Spot: ledger.PerSecond, Image: ledger.SUSE,
		Discounts: []ledger.Discount{{Cloud: "aws", Market: provider.OnDemand, Factor: 910_000_000}},
		Capacities: []ledger.Capacity{{
			ID: "block-1", Item: ledger.Block, Machines: 2, From: november(1), Until: november(8), Upfront: 700 * pricing.Dollar, Known: true, Team: "Vision",
			Offering: provider.Offering{Cloud: "aws", Region: "us-east-1", Zone: "use1-az6", Type: "p4d.24xlarge", Market: provider.Reserved, Reservation: "block-1"},
		}},
		Beside: append([]ledger.Beside{{Item: ledger.Disk, Cloud: "aws", Type: "gp3", Size: 100, Unit: 80_000_000}}, addresses["gcp"]...),
	}
	if diff := cmp.Diff(want, rules); diff != "" {
		t.Error(diff)
	}
	spot := provider.Offering{Cloud: "gcp", Market: provider.Spot}
	if got, want := rules.BesideRate(spot), ledger.GCPSpotAddress; got != want {
		t.Errorf("a spot machine of Google's costs %s USD/h beside, want %s", got, want)
	}
	grants, err := spec.Billing.Grants()
	if err != nil || len(grants) != 1 || grants[0].Amount != 50*pricing.Dollar || !grants[0].Came.Equal(november(3)) {
		t.Errorf("credits %+v, %v", grants, err)
	}
	if h := spec.Billing.Holding(november(2)); h == nil || h.Item != ledger.Controller || h.Unit != pricing.DollarPerHour/10 || !h.Started.Equal(november(2)) {
		t.Errorf("controller %+v", h)
	}
}

func TestBillingThatCannotBeIsNamedByLine(t *testing.T) {
	for _, tt := range []struct{ old, bad, want string }{
		{"per-second", "hourly", "fleet.yaml:7:11: spec.billing.spot:"},
		{`"0.91"`, `"1.91"`, "fleet.yaml:9:57: spec.billing.discounts[0].factor:"},
		{`"0.91"`, `"0.0"`, `fleet.yaml:7:5: spec.billing: discounts[0].factor: factor "0.0": want more than 0`},
		{"gb: 100", "gb: 0", "fleet.yaml:10:41: spec.billing.disks[0].gb:"},
		{"0.08 USD", "0.08", "fleet.yaml:10:56: spec.billing.disks[0].perMonth:"},
		{"[gcp]", "[azure]", "fleet.yaml:11:17: spec.billing.addresses[0]:"},
		{"owned: block-1", "owned: block-2", `fleet.yaml:7:5: spec.billing: capacities[0].owned: there is no row "block-2" among the owned machines`},
		{"kind: block", "kind: lease", "fleet.yaml:13:32: spec.billing.capacities[0].kind"},
		{"until: 2026-11-08T00:00:00Z, ", "", "fleet.yaml:7:5: spec.billing: capacities[0].until: is missing"},
		{"promo, cloud: aws, amount: 50 USD, from: 2026-11-01T", "promo, cloud: aws, amount: 50 USD, from: 2026-12-01T", "fleet.yaml:7:5: spec.billing: credits[0]: credit promo: to: is not after from"},
		{"controller:", "controler:", "fleet.yaml:14:5: spec.billing.controler: unknown key"},
	} {
		_, err := Decode("fleet.yaml", []byte(strings.Replace(billing, tt.old, tt.bad, 1)))
		if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%q for %q: got %v, want %s", tt.bad, tt.old, err, tt.want)
		}
	}
}
