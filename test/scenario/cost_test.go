package scenario

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The table of cost reports names tests that are there.
func TestCostTableNamesTestsThatExist(t *testing.T) {
	table, err := os.ReadFile("COST.md")
	if err != nil {
		t.Fatal(err)
	}
	var sources strings.Builder
	if err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		sources.Write(text)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	for _, name := range regexp.MustCompile(`Test[A-Z][A-Za-z0-9]+`).FindAllString(string(table), -1) {
		if !strings.Contains(sources.String(), "func "+name+"(") {
			t.Errorf("COST.md names %s, and there is no such test", name)
		}
	}
	if rows := strings.Count(string(table), "\n| C"); rows < 45 {
		t.Errorf("%d rows, want the whole log", rows)
	}
}
