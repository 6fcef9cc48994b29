package report

import (
	"bytes"
	"encoding/csv"
	"io"
	"strings"
	"testing"
	"unicode"

	"github.com/goodfleet/goodfleet/pricing/ledger"
	"github.com/goodfleet/goodfleet/provider"
)

// Names in a ledger are read as they are. In whatever form a report is printed, they
// neither steer a terminal nor end a row or a cell.
func TestNamesInALedgerSteerNoReport(t *testing.T) {
	const evil = "a\x1b[2J\x00b\r\n|c\\|d\u009b31m\u202e\u2028"
	charges := hourCharges()
	for i := range charges {
		c := &charges[i]
		c.ID, c.Job, c.Team, c.Project = evil+c.ID, evil+c.Job, evil+c.Team, evil+c.Project
		c.Instance, c.Note = evil+c.Instance, evil
		c.Offering.Zone, c.Offering.Type, c.Offering.Region = evil+c.Offering.Zone, evil+c.Offering.Type, evil+c.Offering.Region
	}
	disk := charges[0] // of no job: it is told under what to look at
	disk.ID, disk.Item, disk.Instance, disk.Account, disk.Job = "disk", ledger.Disk, provider.InstanceID(evil), ledger.ToIdle, ""
	cfg := CostConfig{Charges: append(charges, disk), From: from, By: []ledger.Dimension{ledger.ByJob, ledger.ByTeam, ledger.ByProject, ledger.ByInstance, ledger.ByType, ledger.ByZone}}
	cost, diff := NewCost(cfg), NewCostDiff(CostConfig{Charges: charges[:2], By: cfg.By}, cfg)
	for _, form := range []struct {
		name  string
		write func(w io.Writer) error
		lines int // 0: not counted
	}{
		{"table", cost.Table, 0}, {"markdown", cost.Markdown, 0}, {"html", cost.HTML, 0}, {"csv", cost.CSV, 1 + len(cost.totals.Rows)},
		{"difference", diff.Table, 0}, {"difference as csv", diff.CSV, 1 + len(diff.rows)},
	} {
		var b bytes.Buffer
		if err := form.write(&b); err != nil {
			t.Fatalf("%s: %v", form.name, err)
		}
		text := b.String()
		if i := strings.IndexFunc(text, func(r rune) bool {
			return r != '\n' && (unicode.IsControl(r) || unicode.In(r, unicode.Bidi_Control, unicode.Zl, unicode.Zp))
		}); i >= 0 {
			t.Errorf("%s: has %q", form.name, text[i:min(len(text), i+20)])
		}
		if got := strings.Count(text, "\n"); form.lines > 0 && got != form.lines {
			t.Errorf("%s: %d lines, want %d", form.name, got, form.lines)
		}
		if form.name == "markdown" {
			for _, line := range strings.Split(text, "\n")[:2+len(cost.totals.Rows)] {
				if got, want := cells(line), len(cfg.By)+7; got != want {
					t.Errorf("markdown: %d cells, want %d: %s", got, want, line)
				}
			}
		}
	}
}

// cells counts the cells of a row of Markdown, in which a backslash takes the next
// character as it is.
func cells(line string) int {
	n := -1
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case '\\':
			i++
		case '|':
			n++
		}
	}
	return n
}

// A spreadsheet takes what begins with a sign for a formula: of a name that is none.
func TestNamesAreNoFormulasInCSV(t *testing.T) {
	for cell, want := range map[string]string{
		"=HYPERLINK(\"http://x\")": "'=HYPERLINK(\"http://x\")", "@sum": "'@sum", "+run": "'+run", "-run": "'-run", "-2+3+cmd|' /C calc'!A0": "'-2+3+cmd|' /C calc'!A0", "\t=1": `\t=1`,
		"-0.10": "-0.10", "+3": "+3", "-1e-05": "-1e-05", "-4.2 %": "-4.2 %", "run-1": "run-1", "": "", "—": "—",
	} {
		var b bytes.Buffer
		if err := WriteCSV(&b, [][]string{{"name", cell}}); err != nil {
			t.Fatal(err)
		}
		rows, err := csv.NewReader(&b).ReadAll()
		if err != nil || rows[0][1] != want {
			t.Errorf("%q: got %q, %v, want %q", cell, rows[0][1], err, want)
		}
	}
}
