package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// verbsOfFiles are command lines that read a file, FILE. What else they read is there and sound.
var verbsOfFiles = []string{
	"plan FILE", "plan five-jobs --prices FILE", "plan five-jobs --state FILE", "why i-1 --jobs FILE", "simulate FILE", "simulate --workload FILE", "simulate --sweep FILE", "simulate gavel-week --truth FILE",
	"simulate gavel-week --faults FILE", "offers --config FILE", "prices check FILE", "cost-report --ledger FILE", "cost-report --ledger LEDGER --work FILE", "cost-report diff LEDGER FILE", "cost-report diff FILE LEDGER",
	"cost-report reconcile FILE --ledger LEDGER", "cost-report reconcile LEDGER --ledger FILE", "cost-report forecast --ledger FILE", "cost-report anomalies --ledger FILE",
	"budget check FILE", "budget explain j --jobs FILE --budgets POLICIES --ledger LEDGER", "budget explain five-jobs --budgets FILE", "budget status --budgets FILE --ledger LEDGER", "budget status --budgets POLICIES --ledger FILE",
	"budget replay --budgets FILE --ledger LEDGER", "focus export --ledger FILE --billing-account 1", "focus validate FILE",
	"goodput FILE", "goodput fit FILE --initial-batch 128", "goodput plot FILE -o p.svg", "allocate FILE --policy max_min_fairness", "assign FILE",
}

// Whatever a file is that a command reads, it does not end in more than one short line that
// names it.
func TestJunkOfAFileIsOneShortLine(t *testing.T) {
	folder := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	noise := make([]byte, 30_000) // of a multiplicative generator: every byte value, and no text
	for i, x := 0, uint32(1); i < len(noise); i++ {
		x *= 2_654_435_761
		x ^= x >> 15
		noise[i] = byte(x >> 7)
	}
	files := map[string]string{
		"noise":           write("noise", string(noise)),
		"a long word":     write("word", strings.Repeat("A", 40_000)),
		"a long line":     write("line", strings.Repeat("a,b;c\td ", 5_000)),
		"zeros":           write("zeros", strings.Repeat("\x00", 5_000)),
		"a folder":        folder,
		"broken JSON ids": write("ids", "{\"jobs\": [{\"id\": \"\xff\"}]}\n"),
		"half a letter":   write("half", `{"jobs": [{"id": "\ud800"}]}`+"\n"),
		"escapes":         write("escapes", "{\"\x1b[31m\u202e\": 1, \"\u009b\": 2}\n"),
		"no such file":    filepath.Join(folder, "absent"),
	}
	ledgerPath, policies := write("charges.jsonl", ""), write("policies.yaml", "apiVersion: goodfleet/v1\nkind: BudgetPolicy\nmetadata: {name: a, owner: b}\nspec: {budget: {amount: 5 USD, per: day}}\n")
	for name, path := range files {
		for _, verb := range verbsOfFiles {
			t.Run(name+"/"+verb, func(t *testing.T) {
				line := strings.NewReplacer("FILE", path, "LEDGER", ledgerPath, "POLICIES", policies).Replace(verb)
				var out, errs bytes.Buffer
				code := run(t.Context(), strings.Fields(line+" --out "+t.TempDir()), streams{strings.NewReader(""), &out, &errs})
				if strings.Contains(errs.String(), "unknown flag --out") {
					out.Reset()
					errs.Reset()
					code = run(t.Context(), strings.Fields(line), streams{strings.NewReader(""), &out, &errs})
				}
				said := errs.String()
				if code != exitError || out.Len() > 0 {
					t.Errorf("exit code %d, %d bytes on stdout, says %.300q", code, out.Len(), said)
				}
				text, ended := strings.CutSuffix(said, "\n")
				if !ended || len(said) > 1500 || !utf8.ValidString(said) || strings.ContainsFunc(text, unicode.IsControl) || strings.ContainsFunc(text, func(r rune) bool { return unicode.In(r, unicode.Bidi_Control) }) {
					t.Errorf("says %d bytes, want one short line: %.300q", len(said), said)
				}
				if !strings.Contains(said, path) {
					t.Errorf("does not name the file: %.300q", said)
				}
			})
		}
	}
}
