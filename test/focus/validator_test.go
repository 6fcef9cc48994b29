//go:build focus

package focus

import (
	"encoding/csv"
	"encoding/xml"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// program is what make builds before this test.
const program = "../../bin/goodfleet"

// explained are the findings of focus-validator 2.0.1 that are not our file's, by
// rule. holds shows on the rows themselves that the rule's own words are kept.
var explained = []struct {
	rules  []string
	reason string
	holds  func(r map[string]string) bool
}{
	{[]string{"BillingAccountId-C-002-M", "SubAccountId-C-001-M"}, "an id of digits is taken for a number when CSV is read",
		func(r map[string]string) bool { return r["BillingAccountId"] != "" }},
	{[]string{"InvoiceId-C-005-C"}, "the rule has no condition: it wants an id before there is an invoice",
		func(map[string]string) bool { return true }},
	{[]string{"CapacityReservationStatus-C-003-C", "CapacityReservationStatus-C-004-C"}, "the condition is not applied to rows without a reservation",
		func(r map[string]string) bool {
			id, status := r["CapacityReservationId"], r["CapacityReservationStatus"]
			return (id != "" || status == "") && (id == "" || r["ChargeCategory"] != "Usage" || status != "")
		}},
	{[]string{"CommitmentDiscountStatus-C-003-C", "CommitmentDiscountStatus-C-004-C"}, "the requirement and the condition of the rules are the opposite of their words",
		func(r map[string]string) bool {
			id, status := r["CommitmentDiscountId"], r["CommitmentDiscountStatus"]
			return (id != "" || status == "") && (id == "" || r["ChargeCategory"] != "Usage" || status != "")
		}},
}

// suites is the validator's report.
type suites struct {
	Tests  int `xml:"tests,attr"`
	Suites []struct {
		Cases []struct {
			Name    string `xml:"name,attr"`
			Failure *struct {
				Message string `xml:"message,attr"`
			} `xml:"failure"`
			Error *struct {
				Message string `xml:"message,attr"`
			} `xml:"error"`
		} `xml:"testcase"`
	} `xml:"testsuite"`
}

func TestOfficialValidatorFindsNothingUnexplained(t *testing.T) {
	folder := t.TempDir()
	run(t, "", program, "focus", "export", "--ledger", "testdata/ledger.jsonl", "--out", folder, "--all-columns",
		"--billing-account", "111122223333", "--billing-account-name", "ml-platform", "--sub-account", "444455556666", "--sub-account-name", "research")
	data := filepath.Join(folder, "focus-1.2.csv")
	validator := os.Getenv("GOODFLEET_FOCUS_VALIDATOR")
	if validator == "" {
		t.Fatal("GOODFLEET_FOCUS_VALIDATOR must name the folder of its virtual environment: run make test-focus")
	}
	// It reads files of its own by paths relative to where its package lies.
	packages, err := filepath.Glob(filepath.Join(validator, "lib", "python3*", "site-packages"))
	if err != nil || len(packages) != 1 {
		t.Fatalf("site-packages of %s: %v, %v", validator, packages, err)
	}
	out := filepath.Join(folder, "report.xml")
	run(t, packages[0], filepath.Join(validator, "bin", "focus-validator"), "--data-file", data, "--validate-version", "1.2",
		"--applicability-criteria", "ALL", "--block-download", "--output-type", "unittest", "--output-destination", out)
	report, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	var all suites
	if err := xml.Unmarshal(report, &all); err != nil {
		t.Fatal(err)
	}
	if all.Tests < 500 {
		t.Fatalf("%d rules were looked at, want those of FOCUS 1.2, about 578", all.Tests)
	}
	seen := map[string]bool{}
	for _, suite := range all.Suites {
		for _, c := range suite.Cases {
			rule, _, _ := strings.Cut(c.Name, " ")
			switch {
			case c.Failure == nil && c.Error == nil:
			case c.Failure != nil && strings.Contains(c.Name+c.Failure.Message, "Composite"): // says that one of its parts failed
			case known(rule):
				seen[rule] = true
			case c.Error != nil:
				t.Errorf("%s: %s", c.Name, c.Error.Message)
			default:
				t.Errorf("%s: %s", c.Name, c.Failure.Message)
			}
		}
	}
	rows := read(t, data)
	for _, x := range explained {
		for _, rule := range x.rules {
			if !seen[rule] {
				t.Errorf("%s is explained here, and was not found: take it off the list", rule)
			}
		}
		for n, r := range rows {
			if !x.holds(r) {
				t.Errorf("row %d breaks %v after all (%s): %v", n+2, x.rules, x.reason, r)
			}
		}
		t.Logf("%s: %s", strings.Join(x.rules, ", "), x.reason)
	}
}

func known(rule string) bool {
	for _, x := range explained {
		if slices.Contains(x.rules, rule) {
			return true
		}
	}
	return false
}

func run(t *testing.T, dir, name string, args ...string) {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", name, err, out)
	}
}

func read(t *testing.T, path string) []map[string]string {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var rows []map[string]string
	for _, line := range lines[1:] {
		r := map[string]string{}
		for i, id := range lines[0] {
			r[id] = line[i]
		}
		rows = append(rows, r)
	}
	return rows
}
