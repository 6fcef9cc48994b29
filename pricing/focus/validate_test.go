package focus_test

import (
	"bytes"
	"encoding/csv"
	"os"
	"strings"
	"testing"

	"github.com/goodfleet/goodfleet/pricing/focus"
)

// spoiled is the example with one cell changed, or a column taken away.
func spoiled(t *testing.T, row int, column, value string) []byte {
	t.Helper()
	data, err := os.ReadFile("testdata/example.csv")
	if err != nil {
		t.Fatal(err)
	}
	lines, err := csv.NewReader(bytes.NewReader(data)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for i, id := range lines[0] {
		if id == column {
			lines[row-1][i] = value
		}
	}
	var out bytes.Buffer
	if err := csv.NewWriter(&out).WriteAll(lines); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestValidateNamesRowAndColumn(t *testing.T) {
	for _, c := range []struct {
		row           int
		column, value string
		want          string
	}{
		{3, "BilledCost", "", `row 3: BilledCost: may not be empty`},
		{3, "BilledCost", "1,000.00", `row 3: BilledCost "1,000.00": want a decimal number`},
		{3, "BilledCost", "+1.0", `row 3: BilledCost "+1.0": want a decimal number`},
		{4, "x_JobId", "N/A", `row 4: x_JobId "N/A": what is not known is empty`},
		{4, "ChargeCategory", "Use", `row 4: ChargeCategory "Use": want one of Usage, `},
		{4, "ChargePeriodStart", "2026-11-03 11:20:00", `row 4: ChargePeriodStart "2026-11-03 11:20:00": want a time of UTC`},
		{4, "ChargePeriodEnd", "2026-11-03T11:20:00Z", `row 4: ChargePeriodEnd "2026-11-03T11:20:00Z": is not after`},
		{4, "BillingPeriodStart", "2026-11-04T00:00:00Z", `row 4: ChargePeriodStart "2026-11-03T11:20:00Z": is before the billing period`},
		{4, "Tags", `{"a":{"b":1}}`, `row 4: Tags "{\"a\":{\"b\":1}}": key "a": want a single value`},
		{4, "Tags", `job-1`, `row 4: Tags "job-1": want a JSON object`},
		{4, "ListCost", "14.638428000001", `row 4: ListCost "14.638428000001": is not ListUnitPrice × PricingQuantity, 14.638428`},
		{4, "ContractedCost", "5.8541333333", `row 4: ContractedCost "5.8541333333": is not ContractedUnitPrice`},
		{4, "ServiceSubcategory", "Block Storage", `row 4: ServiceSubcategory "Block Storage": is none of Compute`},
		{4, "SkuId", "other", `row 4: SkuId "other": this SkuPriceId has another already`},
		{4, "ServiceCategory", "Storage", `row 4: ServiceSubcategory "Virtual Machines": is none of Storage`},
		{4, "BillingCurrency", "usd", `row 4: BillingCurrency "usd": want a code of ISO 4217`},
		{4, "InvoiceIssuerName", "Reseller", `row 4: BilledCost "5.854133333": want 0 where another party invoices`},
		{4, "ConsumedQuantity", "", `row 4: ConsumedQuantity: is missing for usage`},
		{4, "ResourceId", "", `row 4: ResourceName "vision-ddp-2": must be empty without a ResourceId`},
		{1, "ResourceName", "MachineName", `row 1: MachineName: is no column of FOCUS 1.2`},
		{1, "ListCost", "x_ListCost", `ListCost: the column is missing`},
		{1, "ResourceName", "ResourceId", `row 1: ResourceId: the column comes twice`},
		{1, "ResourceName", "ServiceProviderName", `row 1: ServiceProviderName: is not in FOCUS 1.2`},
	} {
		report, err := focus.Validate(bytes.NewReader(spoiled(t, c.row, c.column, c.value)), focus.V12)
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, f := range report.Findings {
			all = append(all, f.String())
		}
		if text := strings.Join(all, "\n"); !strings.Contains(text, c.want) {
			t.Errorf("row %d, %s = %q: got %q, want %q", c.row, c.column, c.value, text, c.want)
		}
	}
}

func TestValidateAcceptsTheExample(t *testing.T) {
	data, err := os.ReadFile("testdata/example.csv")
	if err != nil {
		t.Fatal(err)
	}
	report, err := focus.Validate(bytes.NewReader(data), focus.V12)
	if err != nil || report.Rows != 6 || len(report.Findings) > 0 {
		t.Errorf("%d rows, %v, %v", report.Rows, report.Findings, err)
	}
	if _, err := focus.Validate(strings.NewReader(""), focus.V12); err == nil {
		t.Error("empty file: want an error")
	}
	if _, err := focus.Validate(strings.NewReader("BilledCost\n\"1"), focus.V12); err == nil || !strings.Contains(err.Error(), "row 2") {
		t.Errorf("broken quotes: got %v, want row 2", err)
	}
}

func FuzzValidate(f *testing.F) {
	f.Add("BilledCost,Tags\n1.0,{}\n")
	f.Fuzz(func(t *testing.T, text string) {
		report, err := focus.Validate(strings.NewReader(text), focus.V13)
		for _, finding := range report.Findings {
			if err == nil && finding.Row > strings.Count(text, "\n")+1 {
				t.Errorf("got %+v", finding)
			}
		}
	})
}
