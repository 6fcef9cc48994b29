package focus_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/goodfleet/goodfleet/pricing/focus"
)

const billHead = "BilledCost,EffectiveCost,BillingCurrency,ChargeCategory,ChargePeriodStart,ChargePeriodEnd,ResourceId,x_Note\n"

// What is no bill is one error, and no table of a hundred columns that are missing.
func TestWhatIsNoBillIsRefusedAtOnce(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"nothing", "", "row 1: the file is empty"},
		{"bytes", "\x1f\x8b\x08\xff,\x00\n", `row 1: "\x1f\x8b\b\xff" is no text in UTF-8`},
		{"zeros", "\x00\x00\n", `row 1: "\x00\x00" holds a control character`},
		{"another table", "name,age\nada,36\n", `row 1: "name" and the others are no columns of FOCUS`},
		{"a quote that does not end", "BilledCost,\"Eff\n", "row 1: is no CSV"},
		{"rows of another length", billHead + "1,2\n", "row 2: has 2 columns, unlike the head"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			report, err := focus.Validate(strings.NewReader(tt.text), focus.V12)
			if err == nil || !strings.HasPrefix(err.Error(), tt.want) || len(report.Findings) > 0 && tt.name != "rows of another length" {
				t.Errorf("validate: %v, %d findings, want %s", err, len(report.Findings), tt.want)
			}
			if _, _, err := focus.Read(strings.NewReader(tt.text)); err == nil || !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("read: %v, want %s", err, tt.want)
			}
		})
	}
}

// A cell that cannot be what its column wants is named by row and column, by whoever reads it.
func TestCellsThatCannotBeAreNamed(t *testing.T) {
	long := strings.Repeat("9", 5000)
	for _, tt := range []struct{ name, column, value, finding string }{
		{"more than any number", "BilledCost", "1e400", "is too large a number"},
		{"less than any number", "EffectiveCost", "-1e400", "is too large a number"},
		{"five thousand digits", "EffectiveCost", long, "is too large a number"},
		{"no number", "BilledCost", "NaN", "what is not known is empty"},
		{"no text", "ResourceId", "i-\xff", "is no text in UTF-8"},
		{"an escape", "ResourceId", "i-\x1b[31m", "holds a control character"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cells := map[string]string{"BilledCost": "1", "EffectiveCost": "1", "ResourceId": "i-1", "x_Note": "\"a note\nof two lines\""}
			first := fmt.Sprintf("%s,%s,USD,Usage,2026-01-01T00:00:00Z,2026-01-01T01:00:00Z,%s,%s\n", cells["BilledCost"], cells["EffectiveCost"], cells["ResourceId"], cells["x_Note"])
			cells[tt.column] = tt.value
			text := billHead + first + fmt.Sprintf("%s,%s,USD,Usage,2026-01-02T00:00:00Z,2026-01-02T01:00:00Z,%s,\n", cells["BilledCost"], cells["EffectiveCost"], cells["ResourceId"])
			report, err := focus.Validate(strings.NewReader(text), focus.V12)
			if err != nil {
				t.Fatal(err)
			}
			found := false
			for _, f := range report.Findings {
				found = found || f.Row == 4 && f.Column == tt.column && strings.HasPrefix(f.Rule, tt.finding) // the first row has two lines
				if len(f.Value) > 200 {
					t.Errorf("a finding shows %d bytes of its value", len(f.Value))
				}
			}
			if !found {
				t.Errorf("no finding of row 4, %s in %v", tt.column, report.Findings)
			}
			if _, _, err := focus.Read(strings.NewReader(text)); err == nil || !strings.HasPrefix(err.Error(), "row 4: "+tt.column+": ") {
				t.Errorf("read: %.200v, want row 4 and %s", err, tt.column)
			}
		})
	}
}

// A month without costs is a head without rows.
func TestHeadAloneBreaksNoRule(t *testing.T) {
	var out strings.Builder
	if _, err := focus.Export(&out, nil, focus.Config{Version: focus.V12, Names: focus.Names{BillingAccount: focus.Account{ID: "1", Name: "a", Type: "Management Account"}}}); err != nil {
		t.Fatal(err)
	}
	report, err := focus.Validate(strings.NewReader(out.String()), focus.V12)
	if err != nil || report.Rows != 0 || len(report.Findings) > 0 {
		t.Errorf("%d rows, findings %v, %v", report.Rows, report.Findings, err)
	}
}
