package store

import (
	"bytes"
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestFilesThatAreNoStoreStayAsTheyAre opens what people may name by mistake: nothing is made
// of it, and nothing is made where a store is asked for and none is.
func TestFilesThatAreNoStoreStayAsTheyAre(t *testing.T) {
	for _, c := range []struct {
		name  string
		write func(path string) error
		want  string
	}{
		{"a byte", func(p string) error { return os.WriteFile(p, []byte("a"), 0o600) }, "is no store"},
		{"text", func(p string) error { return os.WriteFile(p, bytes.Repeat([]byte("kind: Fleet\n"), 50), 0o600) }, "is no store"},
		{"the first word alone", func(p string) error { return os.WriteFile(p, []byte(fileStart), 0o600) }, "is no store"},
		{"empty", func(p string) error { return os.WriteFile(p, nil, 0o600) }, "is empty"},
		{"missing", func(string) error { return nil }, "no such file"},
		{"a folder", func(p string) error { return os.Mkdir(p, 0o700) }, "is no regular file"},
		{"tables of others", func(p string) error {
			db, err := sql.Open("sqlite", p)
			if err != nil {
				return err
			}
			defer db.Close()
			_, err = db.Exec("CREATE TABLE notes (text TEXT)")
			return err
		}, "it has schema 0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "fleet.db")
			if err := c.write(path); err != nil {
				t.Fatal(err)
			}
			before, _ := os.ReadFile(path)
			s, err := OpenSQLite(t.Context(), SQLiteConfig{Path: path, Jobs: testCodec, Existing: true})
			if err == nil {
				s.Close()
			}
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), path) {
				t.Errorf("%v, want %q and the file's name", err, c.want)
			}
			if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
				t.Errorf("%d bytes became %d", len(before), len(after))
			}
			if list, _ := os.ReadDir(filepath.Dir(path)); len(list) > 1 {
				t.Errorf("files were made beside it: %v", list)
			}
		})
	}
}

// TestStoresOpenAgainWhereOneIsAskedFor: one that was closed, and one that another has open.
func TestStoresOpenAgainWhereOneIsAskedFor(t *testing.T) {
	path := filepath.Join(t.TempDir(), "fleet.db")
	first, err := OpenSQLite(t.Context(), SQLiteConfig{Path: path, Jobs: testCodec})
	if err != nil {
		t.Fatal(err)
	}
	for _, open := range []bool{true, false} {
		if !open {
			if err := first.Close(); err != nil {
				t.Fatal(err)
			}
		}
		s, err := OpenSQLite(t.Context(), SQLiteConfig{Path: path, Jobs: testCodec, Existing: true})
		if err != nil {
			t.Fatalf("while another has it open %v: %v", open, err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
