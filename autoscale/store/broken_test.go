package store

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goodfleet/goodfleet/autoscale"
)

func TestFreezeFileIsSeenWhileItLiesThere(t *testing.T) {
	path := filepath.Join(t.TempDir(), "fleet.db")
	frozen := FreezeFile(path)
	if why, is := frozen(); is {
		t.Errorf("frozen without a file: %s", why)
	}
	if err := os.WriteFile(path+".freeze", []byte("\nthe bill is wrong\nAda\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if why, is := frozen(); !is || why != "the bill is wrong" {
		t.Errorf("frozen %v because %q", is, why)
	}
	if err := os.Remove(path + ".freeze"); err != nil {
		t.Fatal(err)
	}
	if _, is := frozen(); is {
		t.Error("frozen after the file is gone")
	}
}

// damaged opens a store with two of every row, one of which was changed by hand.
func damaged(t testing.TB, change string, args ...any) (s *SQLite, told *[]string) {
	t.Helper()
	told = new([]string)
	s, err := OpenSQLite(t.Context(), SQLiteConfig{Path: ":memory:", Jobs: testCodec, Fleet: "f", Broken: func(row string) { *told = append(*told, row) }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	c := full()
	other := full()
	other.Jobs[0].Job = testJob("other")
	other.Jobs[0].Gang, other.Jobs[0].Target = nil, nil
	other.Intents[0].Token, other.Instances[0].Instance.ID, other.Charges, other.Events = "other", "i-other", nil, nil
	other.Overrides, other.Shortages, other.Budgets = nil, nil, nil
	mustCommit(t, s, c)
	mustCommit(t, s, other)
	if _, err := s.db.ExecContext(t.Context(), "PRAGMA foreign_keys = 0"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.db.ExecContext(t.Context(), change, args...); err != nil {
		t.Fatalf("damage: %v", err)
	}
	return s, told
}

func TestBrokenRowsAreSkippedByName(t *testing.T) {
	for _, tt := range []struct{ name, change, want string }{
		{"document of a job", "UPDATE jobs SET document = '{' WHERE id = 'GPT-L'", "job GPT-L"},
		{"gang of a job", "UPDATE jobs SET gang = '[]' WHERE id = 'GPT-L'", "job GPT-L: gang"},
		{"gang that is not whole", "UPDATE jobs SET gang = '{}' WHERE id = 'GPT-L'", "job GPT-L: its gang is not whole"},
		{"target of a job", "UPDATE jobs SET target = '{\"Machines\":[]}' WHERE id = 'GPT-L'", "job GPT-L: its target"},
		{"phase of a job", "UPDATE jobs SET phase = 77 WHERE id = 'GPT-L'", "job GPT-L: phase 77"},
		{"number that does not fit", "UPDATE jobs SET stopping = 1000 WHERE id = 'GPT-L'", "job GPT-L"},
		{"instances of an intent", "UPDATE intents SET instances = 'x' WHERE token = 't'", "intent t"},
		{"state of an instance", "UPDATE instances SET state = 0 WHERE id = 'i-1'", "instance i-1: state 0"},
		{"config of an override", "UPDATE overrides SET config = '7' WHERE kind = 'pin'", "override pin"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, told := damaged(t, tt.change)
			snap, err := s.Load(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if len(snap.Broken) != 1 || !strings.HasPrefix(snap.Broken[0], tt.want) || len(*told) != 1 {
				t.Errorf("broken %q, told %q, want one that begins with %q", snap.Broken, *told, tt.want)
			}
			if len(snap.Jobs)+len(snap.Intents)+len(snap.Instances)+len(snap.Overrides) != 7 {
				t.Errorf("served %d jobs, %d intents, %d instances, %d overrides: want all but one of 2 each",
					len(snap.Jobs), len(snap.Intents), len(snap.Instances), len(snap.Overrides))
			}
		})
	}
}

func TestBrokenOfferingTakesItsRowsAlone(t *testing.T) {
	s, _ := damaged(t, "UPDATE offerings SET market = 'gift'")
	snap, err := s.Load(t.Context())
	if err != nil || len(snap.Jobs) != 2 || len(snap.Broken) != 4 {
		t.Errorf("%d jobs, broken %q, %v: want the jobs, and intents and instances named", len(snap.Jobs), snap.Broken, err)
	}
}

// Whatever a column holds, the store opens and serves the rest.
func FuzzStoreServesWhatItCanRead(f *testing.F) {
	tables := map[int]string{0: "jobs", 1: "intents", 2: "instances", 3: "shortages", 4: "charge_lines", 5: "events", 6: "overrides", 7: "offerings",
		8: "charge_runs", 9: "charge_bearers", 10: "charge_terms"}
	for i := range tables {
		f.Add(i, uint(3), "x", int64(-1), true)
		f.Add(i, uint(5), `{"Nodes":[null]}`, int64(1)<<62, false)
	}
	f.Fuzz(func(t *testing.T, table int, column uint, text string, number int64, asText bool) {
		name, ok := tables[table]
		if !ok {
			return
		}
		s, told := damaged(t, "SELECT 1")
		rows, err := s.db.QueryContext(t.Context(), "SELECT name FROM pragma_table_info(?)", name)
		if err != nil {
			t.Fatal(err)
		}
		var columns []string
		for rows.Next() {
			var c string
			if err := rows.Scan(&c); err != nil {
				t.Fatal(err)
			}
			columns = append(columns, c)
		}
		rows.Close()
		var value any = number
		if asText {
			value = text
		}
		update := fmt.Sprintf("UPDATE %s SET %q = ? WHERE rowid = (SELECT min(rowid) FROM %s)", name, columns[column%uint(len(columns))], name)
		if _, err := s.db.ExecContext(t.Context(), update, value); err != nil {
			return // the table itself refuses it
		}
		c := read(t, s)
		if n := len(c.Jobs); n+count(*told, "job ") < 2 {
			t.Errorf("%d jobs are served of 2, broken: %q", n, *told)
		}
		for _, r := range c.Snapshot.Jobs {
			_, _ = r.Job.Curve.Speed("V100", 1, 1)
		}
		// What was served can be stored again.
		change := autoscale.Change{Version: c.Snapshot.Version, Jobs: c.Snapshot.Jobs, Intents: c.Snapshot.Intents, Instances: c.Snapshot.Instances}
		_ = s.Commit(t.Context(), change)
	})
}

func count(list []string, prefix string) int {
	n := 0
	for _, s := range list {
		if strings.HasPrefix(s, prefix) {
			n++
		}
	}
	return n
}
