package focus_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/goodfleet/goodfleet/pricing/focus"
)

// Units are held to the standard's format, in each column that has one. The columns SHOULD
// keep it, so what is not kept is told, and no rule is broken by it.
func TestUnitsAreWrittenAsTheStandardDoes(t *testing.T) {
	for unit, want := range map[string]string{
		// those of the standard's text, and ours
		"GB": "", "Seconds": "", "GB-Hours": "", "MB-Days": "", "GB/Hour": "", "PB/Day": "", "1000 Tokens": "", "1000 Characters": "", "Units/3 Months": "",
		"Requests/Day": "", "10 GB/Hour": "", "Core-Hours/Day": "", "Hours": "", "GiB-Months": "", "GB-Months": "", "GiB": "", "Instance-Hours": "",
		"b": "", "Kib": "", "EiB": "", "Load Balancers": "", "Counts": "", "1000000 Requests": "",
		// what bills write in their place
		"hrs": `want Hours in the place of "hrs"`, "Hrs": "want Hours", "hours": "want Hours", "Hour": "want Hours", "h": "want Hours", "hour": "want Hours",
		"GB-Mo": "want Months", "GB-Hour": "want Hours", "GBs-Hours": "abbreviation", "Cores-Hours": "want Core in", "GB-month": "want Months",
		"gb": "abbreviation", "GBs": "abbreviation", "gigabyte": "abbreviation", "Gigabytes": "abbreviation", "YB": "abbreviation", "gibibytes": "abbreviation", "byte": "abbreviation",
		"gigabyte-seconds": "abbreviation", "GB per Hour": "capitalized noun", "GB/Hours": "want Hour in", "Units/3 Month": "want Months", "Units/1.5 Months": "whole number",
		"requests": "want Requests", "1.5 Hours": "whole number", "0 Hours": "whole number", "-1 Hours": "whole number", "1k Tokens": "whole number", "1000": "capitalized noun",
		"GB/": "missing", "-Hours": "missing", "GB-": "missing", "GB-Hours-Days": "at most two", "inferences": "capitalized noun", "Sec": "want Seconds", "min": "want Minutes", "yrs": "want Years",
	} {
		for _, column := range []string{"ConsumedUnit", "PricingUnit"} {
			report, err := focus.Validate(bytes.NewReader(spoiled(t, 4, column, unit)), focus.V12)
			if err != nil {
				t.Fatal(err)
			}
			switch {
			case want == "" && len(report.Findings) > 0:
				t.Errorf("%s %q: %v", column, unit, report.Findings)
			case want != "" && (len(report.Findings) != 1 || report.Findings[0].Row != 4 || report.Findings[0].Column != column || report.Findings[0].Level != focus.Should || !strings.Contains(report.Findings[0].Rule, want)):
				t.Errorf("%s %q: got %v, want %q of row 4", column, unit, report.Findings, want)
			case report.Broken() != 0:
				t.Errorf("%s %q breaks %d rules", column, unit, report.Broken())
			}
		}
	}
}

// What SHOULD be otherwise in a row hides nothing that MUST be.
func TestWhatShouldBeHidesNothingThatMustBe(t *testing.T) {
	data := bytes.Replace(spoiled(t, 4, "ListCost", "14.638428000001"), []byte(",Hours,"), []byte(",hrs,"), -1)
	report, err := focus.Validate(bytes.NewReader(data), focus.V12)
	if err != nil {
		t.Fatal(err)
	}
	levels := map[focus.Level]int{}
	for _, f := range report.Findings {
		levels[f.Level]++
	}
	if levels[focus.Must] != 1 || levels[focus.Should] < 6 || report.Broken() != 1 {
		t.Errorf("findings by level %v, %d of them broken rules, want 1 and every unit", levels, report.Broken())
	}
}
