package pricing

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/goodfleet/goodfleet/provider"
)

func suspects(t *testing.T, rows ...FileQuote) []Suspect {
	t.Helper()
	last, err := NewBook(checkDay, []Quote{
		row(0, "p9.huge", "use1-az1", provider.Spot, "10", checkDay).Quote,
		row(0, "p9.huge", "use1-az2", provider.Spot, "10", checkDay).Quote,
	})
	if err != nil {
		t.Fatal(err)
	}
	v := NewChecker(CheckerConfig{Last: last}).Check(rows)
	if len(v.Suspects) != len(rows) {
		t.Fatalf("verdict %+v, want %d suspects", v, len(rows))
	}
	return v.Suspects
}

// TestQuarantineKeepsSuspectsUntilAccepted goes the whole way: put aside, seen
// again after a restart, accepted, and from then on let through.
func TestQuarantineKeepsSuspectsUntilAccepted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "prices", "quarantine.json")
	q, err := OpenQuarantine(path)
	if err != nil {
		t.Fatal(err)
	}
	one := row(2, "p9.huge", "use1-az1", provider.Spot, "345", checkDay)
	two := row(3, "p9.huge", "use1-az2", provider.Spot, "345", checkDay)
	list := suspects(t, one, two)
	if err := q.Add(list...); err != nil {
		t.Fatal(err)
	}
	again := one
	again.At, again.Line = checkDay.Add(time.Hour), 7
	if err := q.Add(suspects(t, again)...); err != nil {
		t.Fatal(err)
	}

	q, err = OpenQuarantine(path) // after a restart
	if err != nil {
		t.Fatal(err)
	}
	if got := q.Suspects(); len(got) != 2 {
		t.Fatalf("%d suspects, want 2: the same price again is the same suspect", len(got))
	}
	if got := q.AcceptedQuotes(); len(got) != 0 {
		t.Fatalf("accepted %v before anyone did", got)
	}
	id := list[0].ID
	quotes, err := q.Accept(checkDay.Add(2*time.Hour), id)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]Quote{again.Quote}, quotes); diff != "" {
		t.Errorf("accepted quotes (-want +got):\n%s", diff)
	}

	q, err = OpenQuarantine(path)
	if err != nil {
		t.Fatal(err)
	}
	if !q.Accepted(id) || q.Accepted(list[1].ID) || len(q.Suspects()) != 1 {
		t.Errorf("accepted %v %v, waiting %v; want the first accepted, the second waiting", q.Accepted(id), q.Accepted(list[1].ID), q.Suspects())
	}
	v := NewChecker(CheckerConfig{Accepted: q.Accepted}).Check([]FileQuote{one})
	if len(v.Accepted) != 1 {
		t.Errorf("verdict %+v, want the accepted price let through", v)
	}
	if err := q.Add(list[0]); err != nil || len(q.Suspects()) != 1 {
		t.Errorf("an accepted price is a suspect again: %v, %v", q.Suspects(), err)
	}
	if _, err := q.AcceptAll(checkDay); err != nil || len(q.Suspects()) != 0 || len(q.AcceptedQuotes()) != 2 {
		t.Errorf("after accepting all: waiting %v, accepted %v, %v", q.Suspects(), q.AcceptedQuotes(), err)
	}
}

func TestQuarantineRefusesUnknownIDsAndBadFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "quarantine.json")
	q, err := OpenQuarantine(path)
	if err != nil {
		t.Fatal(err)
	}
	list := suspects(t, row(2, "p9.huge", "use1-az1", provider.Spot, "345", checkDay))
	if err := q.Add(list...); err != nil {
		t.Fatal(err)
	}
	if _, err := q.Accept(checkDay, list[0].ID, "nosuch"); err == nil || !strings.Contains(err.Error(), `"nosuch"`) {
		t.Errorf("error %v, want one that names the id", err)
	}
	if q.Accepted(list[0].ID) {
		t.Error("an id was accepted beside an unknown one")
	}
	for _, text := range []string{"", "{", `{"version":2}`} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := OpenQuarantine(path); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("file %q: error %v, want one that names the file", text, err)
		}
	}
}

// A price that is accepted is planned with: what a program did not write is refused.
func TestQuarantineThatIsNoneIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "quarantine.json")
	q, err := OpenQuarantine(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := q.Add(suspects(t, row(2, "p9.huge", "use1-az1", provider.Spot, "345", checkDay))...); err != nil {
		t.Fatal(err)
	}
	written, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, old, new, want string }{
		{"nothing", string(written), "", "it ends too soon"},
		{"null", string(written), "null", "version: 0: want 1"},
		{"a list", string(written), "[]", "document: a array"},
		{"another document", string(written), `{"a":1}`, `unknown field "a"`},
		{"binary junk", string(written), "\x00\x01", "invalid character"},
		{"cut", "]", "", ""},
		{"more", string(written), string(written) + "{}", "something follows"},
		{"another rate", "345", "3.45", "suspects[0].id: "},
		{"a negative rate", `"345"`, `"-345"`, "suspects[0].quote.rate: "},
		{"a rate that is none", `"345"`, `"NaN"`, "not an amount"},
		{"another version", `"version": 1`, `"version": 2`, "version: 2: want 1"},
	} {
		text := strings.Replace(string(written), c.old, c.new, 1)
		if text == string(written) {
			t.Fatalf("%s: nothing was replaced", c.name)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := OpenQuarantine(path); err == nil || !strings.HasPrefix(err.Error(), "quarantine "+path+": ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
	}
}
