package focus_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/pricing/focus"
	"github.com/goodfleet/goodfleet/pricing/ledger"
	"github.com/goodfleet/goodfleet/provider"
)

// reconcileOwn exports charges, reads the file and holds the ledger against it.
func reconcileOwn(t interface {
	Helper()
	Fatalf(format string, args ...any)
}, charges []ledger.Charge, v focus.Version) ledger.Reconciliation {
	t.Helper()
	var data bytes.Buffer
	if _, err := focus.Export(&data, charges, focus.Config{Version: v, Names: focus.Names{BillingAccount: focus.Account{ID: "1"}}}); err != nil {
		t.Fatalf("%v", err)
	}
	facts, _, err := focus.Read(&data)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return ledger.Reconcile(charges, facts, time.Date(2026, 12, 2, 0, 0, 0, 0, time.UTC), "own")
}

// What is exported is what is read: our own file corrects nothing but what had no known rate.
func TestOwnExportReconcilesWithoutADifference(t *testing.T) {
	for _, d := range reconcileOwn(t, everything(t), focus.V12).Differences {
		if d.Error() != 0 && d.Known {
			t.Errorf("%s", d)
		}
	}
}

// What a service does not say of a row, as of a block of capacity or of what corrects unused
// capacity, is in a column of our own, which files without such rows do not have.
func TestOwnExportSaysWhatItsServiceDoesNot(t *testing.T) {
	charges := everything(t)
	at := time.Date(2026, 11, 3, 9, 0, 0, 0, time.UTC)
	block := ledger.Capacity{ID: "cb-1", Item: ledger.Block, Offering: provider.Offering{Cloud: "aws", Region: "us-east-1", Zone: "use1-az1", Type: "p4d.24xlarge", Market: provider.OnDemand},
		Machines: 1, From: at, Until: at.Add(24 * time.Hour), Upfront: 300 * pricing.Dollar, Known: true}
	charges = append(charges, ledger.NewMeter(nil, ledger.Rules{Capacities: []ledger.Capacity{block}}).SettleCapacity(block, nil, at.Add(2*time.Hour), 1)...)
	for range 2 { // the same error twice makes two corrections that are alike
		facts := map[string]ledger.Fact{}
		for _, c := range charges {
			f := ledger.Fact{Cloud: c.Offering.Cloud, Item: c.Item, Instance: c.Instance, From: at.Add(-24 * time.Hour), To: at.Add(24 * time.Hour)}
			if c.Kind == ledger.Purchase || c.Kind == ledger.Credit || c.Instance == "refund-1" || c.Instance == "unmeasured" {
				continue
			}
			key := c.Offering.Cloud + "/" + string(c.Item) + "/" + string(c.Instance)
			f.Amount = facts[key].Amount + c.Amount
			facts[key] = f
		}
		var list []ledger.Fact
		for _, f := range facts {
			f.Amount += 3 * pricing.Dollar
			list = append(list, f)
		}
		charges = append(charges, ledger.Reconcile(charges, list, at.AddDate(0, 1, 0), "bill").Corrections...)
	}
	for _, v := range []focus.Version{focus.V12, focus.V13} {
		r := reconcileOwn(t, charges, v)
		for _, d := range r.Differences {
			if d.Error() != 0 {
				t.Errorf("%s: %s", v, d)
			}
		}
		for _, c := range r.Unbilled {
			if c.Known && c.Amount != 0 {
				t.Errorf("%s: on no line: %+v", v, c)
			}
		}
	}
	bad := strings.Replace(aBill, "ServiceCategory\n", "ServiceCategory,x_Item,x_SegmentId\n", 1)
	bad = strings.Replace(strings.Replace(bad, "Compute\n", "Compute,tape,i-1/1\n", 1), "Other\n", "Other,,\n", 1)
	if _, _, err := focus.Read(strings.NewReader(bad)); err == nil || !strings.HasPrefix(err.Error(), `row 2: x_Item: "tape"`) {
		t.Errorf("got %v, want a refusal of x_Item", err)
	}
}

// TestOwnExportOfAnyNamesAndInstantsCorrectsNothing draws fleets with ids in the forms that
// clouds, jobs and what machines have beside them have, and lives in fractions of seconds: each
// line of the ledger is found again, to the nano dollar.
func TestOwnExportOfAnyNamesAndInstantsCorrectsNothing(t *testing.T) {
	at := time.Date(2026, 11, 3, 9, 0, 0, 0, time.UTC)
	zones := []provider.Offering{
		{Cloud: "aws", Region: "us-east-1", Zone: "use1-az1", Type: "p4d.24xlarge", Market: provider.Spot},
		{Cloud: "aws", Region: "us-east-1", Zone: "use1-az2", Type: "p4d.24xlarge", Market: provider.OnDemand},
		{Cloud: "aws", Region: "us-west-2", Zone: "usw2-az1", Type: "p4d.24xlarge", Market: provider.OnDemand},
		{Cloud: "gcp", Region: "us-central1", Zone: "us-central1-a", Type: "a2-highgpu-8g", Market: provider.OnDemand},
	}
	var quotes []pricing.Quote
	for _, o := range zones {
		quotes = append(quotes, pricing.Quote{Offering: o, Rate: 21_957_642_001, At: at, Source: "test"})
	}
	history, err := pricing.NewHistory(quotes, nil)
	if err != nil {
		t.Fatal(err)
	}
	rules := ledger.Rules{Beside: []ledger.Beside{
		{Item: ledger.Disk, Cloud: "aws", Type: "gp3", Size: 100, Unit: 80_000_000},
		{Item: ledger.Address, Cloud: "aws", Type: "ipv4", Size: 1, Unit: ledger.AWSAddress},
		{Item: ledger.Disk, Cloud: "gcp", Type: "pd-ssd", Size: 100, Unit: 170_000_000},
		{Item: ledger.Address, Cloud: "gcp", Market: provider.OnDemand, Type: "ipv4", Size: 1, Unit: ledger.GCPAddress},
	}}
	rapid.Check(t, func(t *rapid.T) {
		jobs := rapid.SampledFrom([]string{"Transformer-1", "team/bert", "projects/p/instances/x", "arn:aws:x/y", "zones/z", "a"})
		spans := func(name string, most time.Duration) time.Duration {
			unit := rapid.SampledFrom([]time.Duration{time.Minute, time.Second, time.Millisecond, time.Nanosecond}).Draw(t, name+" unit")
			return unit * time.Duration(rapid.Int64Range(0, int64(most/unit)).Draw(t, name))
		}
		instants := func(name string) time.Time { return at.Add(spans(name, 3*time.Hour)) }
		meter := ledger.NewMeter(history, rules)
		var charges []ledger.Charge
		for n := range rapid.IntRange(1, 3).Draw(t, "machines") {
			o := rapid.SampledFrom(zones).Draw(t, "zone")
			id := fmt.Sprintf("i-0341799b9b3c55ed%d", n)
			if o.Cloud == "gcp" {
				id = fmt.Sprintf("153181800449053614%d", n)
			}
			inst := provider.Instance{ID: provider.InstanceID(id), Offering: o, State: provider.Running, Started: instants("start")}
			ended := inst.Started.Add(spans("life", 2*time.Hour))
			shares := func() []ledger.Share {
				account := rapid.SampledFrom([]ledger.Account{"", ledger.ToRestart, ledger.ToBoot}).Draw(t, "account")
				return []ledger.Share{{Job: jobs.Draw(t, "job"), Team: "vision", Accelerators: rapid.IntRange(1, 4).Draw(t, "accelerators"), Account: account}, {Job: "z", Accelerators: 1}}
			}
			now := inst.Started
			for range rapid.IntRange(0, 4).Draw(t, "rounds") {
				if now = now.Add(spans("step", 40*time.Minute)); !now.Before(ended) {
					break
				}
				charges = append(charges, meter.Settle(inst, 8, shares(), now, 1)...)
			}
			inst.State, inst.Ended = provider.Ended, ended
			inst.Cause = rapid.SampledFrom([]provider.EndCause{provider.EndedByUs, provider.Interrupted}).Draw(t, "cause")
			charges = append(charges, meter.Settle(inst, 8, shares(), ended, 2)...)
		}
		charges = append(charges, meter.Transfer(ledger.Move{Out: ledger.ToJob, Into: ledger.ToWaste, Job: jobs.Draw(t, "lost"), From: at, To: instants("lost until"), Round: 3})...)
		for generation := range rapid.IntRange(0, 4).Draw(t, "flows") {
			flow := ledger.Flow{ID: fmt.Sprintf("%s/%d/data", jobs.Draw(t, "job of flow"), generation), Sender: rapid.SampledFrom(zones).Draw(t, "sender"),
				Receiver: rapid.SampledFrom(zones).Draw(t, "receiver"), Share: ledger.Share{Job: "a", Account: ledger.ToTraffic}, Measured: true}
			moved := instants("moved")
			charges = append(charges, flow.Move(0, rapid.Int64Range(1, 1e13).Draw(t, "bytes"), moved, moved.Add(time.Second), 1)...)
		}
		if err := ledger.Check(charges); err != nil {
			t.Fatal(err)
		}
		r := reconcileOwn(t, charges, rapid.SampledFrom([]focus.Version{focus.V12, focus.V13}).Draw(t, "version"))
		for _, d := range r.Differences {
			if d.Error() != 0 {
				t.Errorf("%s", d)
			}
		}
		var lost pricing.Money
		for _, c := range r.Unbilled { // rows of nothing are left out: what was taken back
			lost += c.Amount
		}
		if lost != 0 || len(r.Corrections) > 0 {
			t.Errorf("%s USD on no line, corrections %v", lost, r.Corrections)
		}
	})
}

// An id is read as its cloud or Export writes it.
func TestIDsAreReadInTheFormsOfCloudsAndOurOwn(t *testing.T) {
	for id, want := range map[string]provider.InstanceID{
		"i-1": "i-1",
		"arn:aws:ec2:us-east-1:111122223333:instance/i-1":                         "i-1",
		"arn:aws:ec2:us-east-1:111122223333:i-1":                                  "i-1",
		"arn:aws:ec2:us-east-1:111122223333:volume/vol-1":                         "vol-1",
		"projects/p/zones/z/instances/name":                                       "name",
		"zones/z/instances/name":                                                  "name",
		"instances/name":                                                          "name",
		"//compute.googleapis.com/projects/1/zones/z/instance/5795824500737802":   "5795824500737802",
		"https://www.googleapis.com/compute/v1/projects/p/zones/z/instances/name": "name",
		"i-1/disk-gp3":         "i-1/disk-gp3",
		"Transformer-1/1/data": "Transformer-1/1/data",
		"team/bert/2/data":     "team/bert/2/data",
	} {
		facts, _, err := focus.Read(strings.NewReader(strings.Replace(aBill, "arn:aws:ec2:us-east-1:111122223333:instance/i-1", id, 1)))
		if err != nil || len(facts) != 1 || facts[0].Instance != want {
			t.Errorf("%s: got %+v, %v, want %s", id, facts, err, want)
		}
	}
}

// A cloud's own disk, and traffic under its network service, are nothing that the ledger knows:
// they are overhead, and what it estimated of them stays. Traffic that a bill files with a machine,
// under its compute service, is a part of what the machine costs.
func TestDisksAndTrafficOfACloudsBill(t *testing.T) {
	at := time.Date(2026, 11, 3, 10, 0, 0, 0, time.UTC)
	o := provider.Offering{Cloud: "aws", Region: "us-east-1", Zone: "use1-az1", Type: "p4d.24xlarge", Market: provider.OnDemand}
	history, err := pricing.NewHistory([]pricing.Quote{{Offering: o, Rate: 2_000_000_000, At: at, Source: "test"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	rules := ledger.Rules{Beside: []ledger.Beside{{Item: ledger.Disk, Cloud: "aws", Type: "gp3", Size: 720, Unit: 100_000_000}}} // 0.1 USD an hour in November
	charges := ledger.NewMeter(history, rules).Settle(provider.Instance{ID: "i-1", Offering: o, Started: at}, 8, []ledger.Share{{Job: "a", Accelerators: 8}}, at.Add(time.Hour), 1)
	head, _, _ := strings.Cut(aBill, "\n")
	bill := head + "\n"
	for _, row := range []string{"2,2,%i-1,AWS,Compute", "0.25,0.25,%i-1,AWS,Compute", "0.5,0.5,%i-1,AWS,Networking", "0.125,0.125,%vol-1,AWS,Storage"} {
		bill += strings.Replace(row, "%", "USD,Usage,2026-11-03T10:00:00Z,2026-11-03T11:00:00Z,", 1) + "\n"
	}
	facts, _, err := focus.Read(strings.NewReader(bill))
	if err != nil {
		t.Fatal(err)
	}
	r := ledger.Reconcile(charges, facts, at.AddDate(0, 1, 0), "bill")
	want := []ledger.AccountError{{Account: ledger.ToJob, Booked: 2 * pricing.Dollar, Billed: 2_250_000_000}, {Account: ledger.Overhead, Billed: 625_000_000}}
	if diff := cmp.Diff(want, r.Accounts); diff != "" {
		t.Error(diff)
	}
	if len(r.Unbilled) != 1 || r.Unbilled[0].Instance != "i-1/disk-gp3" || r.Unbilled[0].Amount != 100_000_000 {
		t.Errorf("on no line of the bill: %+v, want the disk that the ledger estimated", r.Unbilled)
	}
}

const aBill = `BilledCost,EffectiveCost,BillingCurrency,ChargeCategory,ChargePeriodStart,ChargePeriodEnd,ResourceId,ProviderName,ServiceCategory
1.5,1.5,USD,Usage,2026-11-03 10:00:00,2026-11-03 11:00:00,arn:aws:ec2:us-east-1:111122223333:instance/i-1,Amazon Web Services,Compute
2,2,USD,Tax,2026-11-03T10:00:00Z,2026-11-03T11:00:00Z,NULL,AWS,Other
`

func TestBillsAreReadAsCloudsWriteThem(t *testing.T) {
	facts, skipped, err := focus.Read(strings.NewReader(aBill))
	if err != nil || skipped != 1 || len(facts) != 1 {
		t.Fatalf("%v, %d skipped, %v", facts, skipped, err)
	}
	if f := facts[0]; f.Cloud != "aws" || f.Instance != "i-1" || f.Amount != 1_500_000_000 || f.Line != 2 || f.From.Hour() != 10 {
		t.Errorf("got %+v", f)
	}
	for _, c := range []struct{ from, to, want string }{
		{"1.5,USD", "1.5,EUR", `row 2: BillingCurrency: "EUR": say what it is worth`},
		{",1.5,USD", ",x,USD", "row 2: EffectiveCost: "},
		{"2026-11-03 10:00:00", "yesterday", "row 2: ChargePeriodStart: "},
		{"2026-11-03 11:00:00", "2026-11-03 10:00:00", "row 2: ChargePeriodEnd: "},
		{"EffectiveCost", "Cost", "row 1: EffectiveCost: the column is missing"},
		{"1.5,USD", "1.5,", "row 2: BillingCurrency: "},
		{"1.5,USD", "1.5,usd", "row 2: BillingCurrency: "},
		{"USD,Usage", "USD,usage", "row 2: ChargeCategory: "},
		{"USD,Usage", "USD,", "row 2: ChargeCategory: "},
		{"2026-11-03 11:00:00", "9999-11-03 11:00:00", "row 2: ChargePeriodEnd: "},
		{"BilledCost,EffectiveCost", "EffectiveCost,EffectiveCost", "row 1: EffectiveCost: the column is there twice"},
		{"Compute\n", "Compute,more\n", "row 2: "},
	} {
		_, _, err := focus.Read(strings.NewReader(strings.Replace(aBill, c.from, c.to, 1)))
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s to %s: got %v, want %q", c.from, c.to, err, c.want)
		}
	}
}

// A cost is a number in every row, of use or not: sums are of all rows.
func TestCostsThatAreNoNumbersAreRefusedByRowAndColumn(t *testing.T) {
	for _, value := range []string{"", "NaN", "nan", "Inf", "-Inf", "+Infinity", "null", "N/A", "-", "1e400", "1e-400", "1E99999999999", "0x1p4", "0b11", "0o17", "1_000", `"1,000.50"`, "1 000", "1.5.2", "3/2", "$1", "1.5 USD", "12e", "e5", ".", "99999999999", "\x00", "1\x002"} {
		for column, old := range map[string]string{"BilledCost": "\n%,1.5,USD", "EffectiveCost": "1.5,%,USD"} {
			with := func(value string) string { return strings.Replace(old, "%", value, 1) }
			text := strings.Replace(aBill, with("1.5"), with(value), 1)
			if _, _, err := focus.Read(strings.NewReader(text)); err == nil || !strings.HasPrefix(err.Error(), "row 2: "+column+": ") {
				t.Errorf("%s %q: got %v, want a refusal of row 2", column, value, err)
			}
		}
		text := strings.Replace(aBill, "\n2,2,", "\n"+value+",2,", 1) // tax, which is left out
		if _, _, err := focus.Read(strings.NewReader(text)); err == nil || !strings.HasPrefix(err.Error(), "row 3: BilledCost: ") {
			t.Errorf("BilledCost %q of tax: got %v, want a refusal of row 3", value, err)
		}
	}
	for value, want := range map[string]pricing.Money{"0": 0, "-1.5": -1_500_000_000, "1.5E-3": 1_500_000, "1e2": 100 * pricing.Dollar, ".5": 500_000_000, "2.": 2 * pricing.Dollar, "+1": pricing.Dollar} {
		text := strings.Replace(aBill, "\n1.5,1.5,", "\n"+value+","+value+",", 1)
		if facts, _, err := focus.Read(strings.NewReader(text)); err != nil || facts[0].Amount != want {
			t.Errorf("%q: got %v, %v, want %s", value, facts, err, want)
		}
	}
}

func TestOtherCurrencyNeedsARateAndADay(t *testing.T) {
	euro, err := focus.ParseConversion("EUR=1.25@2026-11-30")
	if err != nil {
		t.Fatal(err)
	}
	facts, _, err := focus.Read(strings.NewReader(strings.Replace(aBill, "1.5,USD", "1.5,EUR", 1)), euro)
	if err != nil || facts[0].Amount != 1_875_000_000 {
		t.Errorf("got %v, %v, want 1.875 USD", facts, err)
	}
	if got := euro.From(100 * pricing.Dollar); got != 80*pricing.Dollar {
		t.Errorf("100 USD are %s EUR, want 80", got)
	}
	if got := euro.String(); got != "1 EUR = 1.25 USD on 2026-11-30" {
		t.Errorf("got %q", got)
	}
	for _, text := range []string{"EUR", "EUR=1.1", "EUR=0@2026-11-30", "EUR=-1@2026-11-30", "euro=1@2026-11-30", "USD=1@2026-11-30", "EUR=1.1@today"} {
		if _, err := focus.ParseConversion(text); err == nil {
			t.Errorf("%q: want an error", text)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add(aBill)
	f.Fuzz(func(t *testing.T, text string) {
		facts, _, err := focus.Read(strings.NewReader(text))
		for _, fact := range facts {
			if err == nil && (!fact.From.Before(fact.To) || fact.Line < 2) {
				t.Errorf("got %+v", fact)
			}
		}
	})
}

// A bill whose rows stand twice, as after two exports into one file, says what it says once;
// rows that differ in any column are two.
func TestRowsThatStandTwiceCountOnce(t *testing.T) {
	charges := everything(t)
	var data bytes.Buffer
	if _, err := focus.Export(&data, charges, focus.Config{Version: focus.V12, Names: focus.Names{BillingAccount: focus.Account{ID: "1"}}}); err != nil {
		t.Fatal(err)
	}
	once := data.String()
	_, rows, _ := strings.Cut(once, "\n")
	want, skipped, err := focus.Read(strings.NewReader(once))
	if err != nil {
		t.Fatal(err)
	}
	got, more, err := focus.Read(strings.NewReader(once + rows))
	if err != nil || len(got) != len(want) || more != 2*skipped+len(want) {
		t.Errorf("%d facts and %d rows left out, want %d and %d; %v", len(got), more, len(want), 2*skipped+len(want), err)
	}
	r := ledger.Reconcile(charges, got, time.Date(2026, 12, 2, 0, 0, 0, 0, time.UTC), "twice")
	for _, d := range r.Differences {
		if d.Error() != 0 && d.Known {
			t.Errorf("%s", d)
		}
	}
	_, usage, _ := strings.Cut(aBill, "\n")
	other := strings.Replace(usage, "1.5,1.5", "1.25,1.25", 1)
	if facts, _, err := focus.Read(strings.NewReader(aBill + other)); err != nil || len(facts) != 2 {
		t.Errorf("%d facts of two rows that differ, %v", len(facts), err)
	}
}
