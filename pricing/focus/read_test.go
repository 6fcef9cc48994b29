package focus_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/pricing/focus"
	"github.com/goodfleet/goodfleet/pricing/ledger"
)

// What is exported is what is read: our own file corrects nothing.
func TestOwnExportReconcilesWithoutADifference(t *testing.T) {
	charges := everything(t)
	var data bytes.Buffer
	if _, err := focus.Export(&data, charges, focus.Config{Version: focus.V12, Names: focus.Names{BillingAccount: focus.Account{ID: "1"}}}); err != nil {
		t.Fatal(err)
	}
	facts, skipped, err := focus.Read(&data)
	if err != nil || skipped == 0 {
		t.Fatalf("%d skipped, %v", skipped, err)
	}
	r := ledger.Reconcile(charges, facts, time.Date(2026, 12, 2, 0, 0, 0, 0, time.UTC), "own")
	for _, d := range r.Differences {
		if d.Error() != 0 && d.Known {
			t.Errorf("%s", d)
		}
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
