package focus_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/pricing/focus"
	"github.com/goodfleet/goodfleet/pricing/ledger"
	"github.com/goodfleet/goodfleet/provider"
)

// events is what happened on the day of the example.
type events struct {
	Billing focus.Account     `json:"billing_account"`
	Sub     focus.Account     `json:"sub_account"`
	Zones   map[string]string `json:"zones"`
	Prices  []struct {
		Market provider.Market
		At     time.Time
		Rate   pricing.Rate
	}
	Machines []struct {
		ID             provider.InstanceID
		Name, Job      string
		Market         provider.Market
		Started, Ended time.Time
		Interrupted    bool
	}
}

// example books the events by the minute and returns the charges and the names.
func example(t testing.TB) ([]ledger.Charge, focus.Names) {
	t.Helper()
	data, err := os.ReadFile("testdata/events.json")
	if err != nil {
		t.Fatal(err)
	}
	var e events
	if err := json.Unmarshal(data, &e); err != nil {
		t.Fatal(err)
	}
	offering := func(m provider.Market) provider.Offering {
		return provider.Offering{Cloud: "aws", Region: "us-east-1", Zone: "use1-az1", Type: "p4d.24xlarge", Market: m}
	}
	var quotes []pricing.Quote
	for _, p := range e.Prices {
		quotes = append(quotes, pricing.Quote{Offering: offering(p.Market), Rate: p.Rate, At: p.At, Source: "example"})
	}
	history, err := pricing.NewHistory(quotes, nil)
	if err != nil {
		t.Fatal(err)
	}
	catalogue, err := provider.EmbeddedCatalogue()
	if err != nil {
		t.Fatal(err)
	}
	names := map[provider.InstanceID]string{}
	meter := ledger.NewMeter(history, ledger.Rules{})
	var charges []ledger.Charge
	for _, m := range e.Machines {
		names[m.ID] = m.Name
		inst := provider.Instance{ID: m.ID, Offering: offering(m.Market), State: provider.Running, Started: m.Started}
		shares := []ledger.Share{{Job: m.Job, Team: "vision", Project: "clip", Accelerators: 8}}
		for at := m.Started; at.Before(m.Ended); at = at.Add(time.Minute) {
			charges = append(charges, meter.Settle(inst, 8, shares, at, 1)...)
		}
		inst.State, inst.Ended, inst.Cause = provider.Ended, m.Ended, provider.EndedByUs
		if m.Interrupted {
			inst.Cause = provider.Interrupted
		}
		charges = append(charges, meter.Settle(inst, 8, shares, m.Ended, 1)...)
	}
	return charges, focus.Names{
		BillingAccount: e.Billing, SubAccount: e.Sub, Zones: e.Zones, Types: catalogue,
		Resource: func(_ string, id provider.InstanceID) string { return names[id] },
	}
}

func TestExampleIsReproducedByteForByte(t *testing.T) {
	charges, names := example(t)
	var got bytes.Buffer
	sum, err := focus.Export(&got, charges, focus.Config{Version: focus.V12, Names: names})
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile("testdata/example.csv")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got.String(), "\n")); diff != "" {
		t.Error(diff)
	}
	if sum.Rows != 6 || sum.Billed != ledger.Total(charges).Sum.Amount {
		t.Errorf("got %+v", sum)
	}
}

// everything is a ledger with each item, market and kind of charge.
func everything(t testing.TB) []ledger.Charge {
	t.Helper()
	charges, _ := example(t)
	at := time.Date(2026, 11, 3, 9, 0, 0, 0, time.UTC)
	o := provider.Offering{Cloud: "aws", Region: "us-east-1", Zone: "use1-az1", Type: "p4d.24xlarge", Market: provider.OnDemand}
	g := provider.Offering{Cloud: "gcp", Region: "us-central1", Zone: "us-central1-a", Type: "a2-highgpu-8g", Market: provider.OnDemand}
	history, err := pricing.NewHistory([]pricing.Quote{{Offering: o, Rate: 21_957_642_000, At: at, Source: "test"}, {Offering: g, Rate: 29_386_000_000, At: at, Source: "test"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	capacity := ledger.Capacity{ID: "ri-1", Item: ledger.Commitment, Offering: o, Machines: 1, From: at, Until: at.Add(24 * time.Hour), Upfront: 300 * pricing.Dollar, Hourly: 1, Known: true}
	reservation := ledger.Capacity{ID: "cr-1", Item: ledger.Reservation, Offering: o, Machines: 2, From: at, Until: at.Add(3 * time.Hour), Hourly: 21_957_642_000, Known: true}
	meter := ledger.NewMeter(history, ledger.Rules{Capacities: []ledger.Capacity{capacity, reservation}})
	add := func(list []ledger.Charge) { charges = append(charges, list...) }
	later := at.Add(2 * time.Hour)
	for _, m := range []struct{ id, in string }{{"i-in-ri", "ri-1"}, {"i-in-cr", "cr-1"}} {
		r := o
		r.Market, r.Reservation = provider.Reserved, m.in
		add(meter.Settle(provider.Instance{ID: provider.InstanceID(m.id), Offering: r, Started: at}, 8, []ledger.Share{{Job: "a", Team: "vision", Accelerators: 3}, {Job: "b", Accelerators: 2}}, later, 1))
		c := map[string]ledger.Capacity{"ri-1": capacity, "cr-1": reservation}[m.in]
		add(meter.SettleCapacity(c, []ledger.Life{{From: at}}, later, 1))
		add(c.Purchases(at, later, 1))
	}
	add(meter.Settle(provider.Instance{ID: "gcp-1", Offering: g, Started: at}, 8, []ledger.Share{{Job: "a", Accelerators: 8}}, later, 1))
	add(meter.Transfer(ledger.Move{Out: ledger.ToJob, Into: ledger.ToWaste, Job: "a", From: at, To: at.Add(17 * time.Minute), Round: 3}))
	disk := o
	disk.Type = "gp3"
	add(meter.Hold(ledger.Holding{Item: ledger.Disk, ID: "vol-1", Offering: disk, Size: 500, Started: at, Unit: 80_000_000, Known: true}, []ledger.Share{{Job: "a", Accelerators: 1}}, later, 1))
	add(meter.Hold(ledger.Holding{Item: ledger.Address, ID: "eip-1", Offering: o, Size: 2, Started: at, Unit: ledger.AWSAddress, Known: true}, nil, later, 1))
	add(meter.Hold(ledger.Holding{Item: ledger.Controller, ID: "goodfleet", Offering: o, Size: 1, Started: at, Unit: 100_000_000, Known: true}, []ledger.Share{{Account: ledger.Overhead, Accelerators: 1}}, later, 1))
	other := o
	other.Zone = "use1-az2"
	add(ledger.Flow{ID: "f", Sender: o, Receiver: other, Share: ledger.Share{Job: "a"}, Measured: true}.Move(0, 12_345_678_901, at, at.Add(time.Hour), 1))
	add(ledger.Flow{ID: "unmeasured", Sender: o, Receiver: other, Share: ledger.Share{Job: "a"}}.Move(0, 1, at, at.Add(time.Hour), 1))
	credit := ledger.Grant{Source: "credit-1", Offering: o, Amount: 40 * pricing.Dollar, From: at, To: at.Add(time.Hour), Came: at}
	refund := credit
	refund.Source, refund.From, refund.To, refund.Amount = "refund-1", at.AddDate(0, -2, 0), at.AddDate(0, -2, 0).Add(time.Hour), 50*pricing.Dollar
	for _, make := range []func(int64) (ledger.Charge, error){credit.Credit, refund.Refund} {
		c, err := make(1)
		if err != nil {
			t.Fatal(err)
		}
		add([]ledger.Charge{c})
	}
	if err := ledger.Check(charges); err != nil {
		t.Fatal(err)
	}
	return charges
}

// rows reads a file by column.
func rows(t testing.TB, data []byte) []map[string]string {
	t.Helper()
	lines, err := csv.NewReader(bytes.NewReader(data)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var list []map[string]string
	for _, line := range lines[1:] {
		r := map[string]string{}
		for i, id := range lines[0] {
			r[id] = line[i]
		}
		list = append(list, r)
	}
	return list
}

func TestExportOfEverythingIsExactAndValid(t *testing.T) {
	charges := everything(t)
	_, names := example(t)
	for _, v := range []focus.Version{focus.V12, focus.V13} {
		var data bytes.Buffer
		sum, err := focus.Export(&data, charges, focus.Config{Version: v, Names: names, All: true})
		if err != nil {
			t.Fatal(err)
		}
		report, err := focus.Validate(bytes.NewReader(data.Bytes()), v)
		if err != nil || len(report.Findings) > 0 {
			t.Errorf("%s: %v, findings %v", v, err, report.Findings)
		}
		var billed, borne pricing.Money
		for _, r := range rows(t, data.Bytes()) {
			b, err1 := pricing.ParseMoney(r["BilledCost"])
			e, err2 := pricing.ParseMoney(r["EffectiveCost"])
			if err1 != nil || err2 != nil {
				t.Fatal(err1, err2)
			}
			billed, borne = billed+b, borne+e
		}
		total := ledger.Total(charges).Sum
		if billed != total.Billed || borne != total.Amount || sum.Billed != billed || sum.Borne != borne {
			t.Errorf("%s: billed %s and borne %s, want %s and %s", v, billed, borne, total.Billed, total.Amount)
		}
		if sum.Unknown == 0 {
			t.Error("want the traffic that was not measured counted as left out")
		}
		var meta bytes.Buffer
		if err := sum.Metadata(&meta, v, time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{`"FocusVersion": "` + string(v) + `"`, `"CreationDate": "2026-12-01T00:00:00Z"`, `"ColumnName": "BilledCost",`, `"DataType": "DECIMAL"`} {
			if !strings.Contains(meta.String(), want) {
				t.Errorf("metadata lacks %s:\n%s", want, meta.String())
			}
		}
	}
}

func TestRefundStandsOnTheInvoiceThatBringsIt(t *testing.T) {
	var data bytes.Buffer
	if _, err := focus.Export(&data, everything(t), focus.Config{Version: focus.V12, Names: focus.Names{BillingAccount: focus.Account{ID: "1"}}}); err != nil {
		t.Fatal(err)
	}
	seen := map[string]map[string]string{}
	for _, r := range rows(t, data.Bytes()) {
		seen[r["ResourceId"]+r["ChargeCategory"]] = r
	}
	refund := seen["refund-1Usage"]
	if got, want := [4]string{refund["BilledCost"], refund["ChargeClass"], refund["BillingPeriodStart"], refund["ChargePeriodStart"]},
		[4]string{"-50.0", "Correction", "2026-11-01T00:00:00Z", "2026-09-03T09:00:00Z"}; got != want {
		t.Errorf("refund: got %v, want %v", got, want)
	}
	credit := seen["credit-1Credit"]
	if credit["BilledCost"] != "-40.0" || credit["ListCost"] != "-40.0" || credit["ContractedCost"] != "-40.0" || credit["EffectiveCost"] != "-40.0" {
		t.Errorf("credit: got %v", credit)
	}
	bought := seen["ri-1Purchase"]
	if bought["EffectiveCost"] != "0.0" || bought["BilledCost"] == "0.0" {
		t.Errorf("purchase: got %v", bought)
	}
	unused := seen["cr-1Usage"]
	if unused["CapacityReservationStatus"] != "Unused" || unused["ConsumedQuantity"] != "" {
		t.Errorf("unused: got %v", unused)
	}
}

func TestSplitMachineSaysSoInVersion13(t *testing.T) {
	var data bytes.Buffer
	if _, err := focus.Export(&data, everything(t), focus.Config{Version: focus.V13, Names: focus.Names{BillingAccount: focus.Account{ID: "1"}}}); err != nil {
		t.Fatal(err)
	}
	sums := map[string]float64{}
	for _, r := range rows(t, data.Bytes()) {
		if r["ResourceId"] != "i-in-cr" {
			continue
		}
		if r["AllocatedMethodId"] != "accelerators" || r["AllocatedResourceId"] == "" {
			t.Errorf("got %v", r)
		}
		v, err := strconv.ParseFloat(r["PricingQuantity"], 64)
		if err != nil {
			t.Fatal(err)
		}
		sums[r["ChargePeriodStart"][:len("2026-11-03T09")]] += v
	}
	if len(sums) != 2 {
		t.Errorf("got %d hours, want 2", len(sums))
	}
	for hour, v := range sums {
		if v < 1-1e-9 || v > 1+1e-9 { // parts of an hour, each a float
			t.Errorf("the hour of %s is split into %g hours", hour, v)
		}
	}
}

// Traffic is named by what lies between its ends, whichever way a line of it goes.
func TestTrafficIsNamedByHowFarItGoes(t *testing.T) {
	at := time.Date(2026, 11, 3, 9, 0, 0, 0, time.UTC)
	place := func(cloud, region, zone string) provider.Offering {
		return provider.Offering{Cloud: cloud, Region: region, Zone: zone, Market: provider.OnDemand}
	}
	aws, gcp := place("aws", "us-east-1", "use1-az1"), place("gcp", "us-central1", "us-central1-a")
	for _, c := range []struct {
		from, to  provider.Offering
		says, sku string
		rows      int
	}{
		{aws, place("aws", "us-east-1", "use1-az2"), "$0.01 per GB between zones, ", "/inter-zone/", 2},
		{aws, place("aws", "us-west-2", "usw2-az1"), "$0.02 per GB between regions, ", "/inter-region/", 1},
		{aws, gcp, "$0.09 per GB between clouds, ", "/inter-cloud/", 1},
		{gcp, place("gcp", "us-central1", "us-central1-b"), "$0.01 per GiB between zones, ", "/inter-zone/", 1},
		{gcp, place("gcp", "us-west1", "us-west1-a"), "$0.02 per GiB between regions, ", "/inter-region/", 1},
		{gcp, aws, "$0.12 per GiB between clouds, ", "/inter-cloud/", 1},
	} {
		charges := ledger.Flow{ID: "a/1/data", Sender: c.from, Receiver: c.to, Share: ledger.Share{Job: "a"}, Measured: true}.Move(0, 1e12, at, at.Add(time.Second), 1)
		var data bytes.Buffer
		if _, err := focus.Export(&data, charges, focus.Config{Version: focus.V12, Names: focus.Names{BillingAccount: focus.Account{ID: "1"}}}); err != nil {
			t.Fatal(err)
		}
		list := rows(t, data.Bytes())
		if len(list) != c.rows {
			t.Errorf("%s to %s: %d rows, want %d", c.from, c.to, len(list), c.rows)
		}
		for _, r := range list {
			if !strings.HasPrefix(r["ChargeDescription"], c.says) || !strings.Contains(r["SkuId"], c.sku) || r["x_Market"] != "" || strings.Contains(r["SkuPriceId"], "OnDemand") {
				t.Errorf("%s to %s: got %q, %q and %q, want %q, %q and no market", c.from, c.to, r["ChargeDescription"], r["SkuId"], r["SkuPriceId"], c.says, c.sku)
			}
		}
	}
}

// TestTenThousandRowsKeepPriceTimesQuantity exports random seconds and rates: the
// products must be equal as floats, the amounts as money.
func TestTenThousandRowsKeepPriceTimesQuantity(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 1))
	at := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	var quotes []pricing.Quote
	var lives []provider.Instance
	for n := range 10_000 {
		o := provider.Offering{Cloud: "aws", Region: "us-east-1", Zone: "z" + strconv.Itoa(n), Type: "p4d.24xlarge", Market: provider.Spot}
		list := o
		list.Market = provider.OnDemand
		quotes = append(quotes, pricing.Quote{Offering: o, Rate: pricing.Rate(1 + rng.Int64N(40_000_000_000)), At: at, Source: "t"},
			pricing.Quote{Offering: list, Rate: pricing.Rate(1 + rng.Int64N(40_000_000_000)), At: at, Source: "t"})
		lives = append(lives, provider.Instance{ID: provider.InstanceID("i-" + strconv.Itoa(n)), Offering: o, Started: at,
			State: provider.Ended, Ended: at.Add(time.Duration(60+rng.IntN(3540)) * time.Second), Cause: provider.EndedByUs})
	}
	history, err := pricing.NewHistory(quotes, nil)
	if err != nil {
		t.Fatal(err)
	}
	meter := ledger.NewMeter(history, ledger.Rules{})
	var charges []ledger.Charge
	for _, inst := range lives {
		charges = append(charges, meter.Settle(inst, 8, []ledger.Share{{Job: "a", Accelerators: 1 + rng.IntN(8)}}, at.Add(time.Hour), 1)...)
	}
	var data bytes.Buffer
	sum, err := focus.Export(&data, charges, focus.Config{Version: focus.V12, Names: focus.Names{BillingAccount: focus.Account{ID: "1"}}})
	if err != nil || sum.Rows < 10_000 {
		t.Fatalf("%d rows, %v", sum.Rows, err)
	}
	report, err := focus.Validate(&data, focus.V12)
	if err != nil || len(report.Findings) > 0 {
		t.Fatalf("%v, %v", err, report.Findings)
	}
	if want := ledger.Total(charges).Sum.Amount; sum.Billed != want {
		t.Errorf("billed %s, want %s", sum.Billed, want)
	}
}

// Names in a ledger may hold anything: what is exported can be read again, and holds no
// control characters.
func TestExportHoldsNoControlCharacters(t *testing.T) {
	const evil = "a\x1b[2J\x00\r\n\u009b"
	charges, names := example(t)
	for i := range charges {
		c := &charges[i]
		c.Job, c.Team, c.Instance = evil+c.Job, evil+c.Team, provider.InstanceID(evil)+c.Instance
	}
	var b bytes.Buffer
	if _, err := focus.Export(&b, charges, focus.Config{Version: focus.V12, Names: names}); err != nil {
		t.Fatal(err)
	}
	if i := strings.IndexFunc(b.String(), func(r rune) bool { return r != '\n' && unicode.IsControl(r) }); i >= 0 {
		t.Errorf("holds %q", b.String()[i:i+10])
	}
	if _, _, err := focus.Read(&b); err != nil {
		t.Errorf("cannot be read again: %v", err)
	}
}
