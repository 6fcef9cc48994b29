package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/goodfleet/goodfleet/pricing/ledger"
)

// sameLedger writes charges as a file and as a store.
func sameLedger(t *testing.T, charges []ledger.Charge) (file, database string) {
	t.Helper()
	file, database = filepath.Join(t.TempDir(), "charges.jsonl"), filepath.Join(t.TempDir(), "goodfleet.db")
	var text bytes.Buffer
	if err := ledger.Encode(&text, charges...); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, text.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	storeCharges(t, database, charges)
	return file, database
}

func TestLedgerIsTheSameInAFileAndInAStore(t *testing.T) {
	var charges []ledger.Charge
	millionCharges(t, 500, func(c []ledger.Charge) { charges = append(charges, c...) })
	file, database := sameLedger(t, charges)
	report := func(path string) string {
		var out bytes.Buffer
		cfg := costConfig{by: "team,market,day", span: spanFlags{zone: "Europe/Berlin"}, settings: settings{ledger: path, output: asCSV}}
		if err := runCostReport(t.Context(), &out, cfg, time.Time{}); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	if diff := cmp.Diff(report(file), report(database)); diff != "" {
		t.Errorf("file (-), store (+):\n%s", diff)
	}
	// A feed corrects both alike, and once: a store is not written to as if it were a file.
	feed := filepath.Join(t.TempDir(), "feed")
	line := charges[len(charges)-1]
	text := "#Version: 1.0\n" + strings.Join([]string{line.From.Format("2006-01-02 15:04:05 UTC"), "SpotUsage:p4d.24xlarge", "RunInstances:SV050", string(line.Instance), "sir-1", "20 USD", "9.5 USD", "9.5 USD", "1"}, "\t") + "\n"
	if err := os.WriteFile(feed, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for round, want := range []string{"corrections were appended", "Nothing to correct"} {
		for _, path := range []string{file, database} {
			var out bytes.Buffer
			cfg := reconcileConfig{settings: settings{ledger: path, output: asTable}, apply: true}
			if err := runCostReconcile(&out, cfg, feed, line.To); err != nil || !strings.Contains(out.String(), want) {
				t.Errorf("%s, time %d: got %v, %s, want %q", path, round+1, err, out.String(), want)
			}
		}
	}
	if diff := cmp.Diff(report(file), report(database)); diff != "" {
		t.Errorf("after the feed, file (-), store (+):\n%s", diff)
	}
}
