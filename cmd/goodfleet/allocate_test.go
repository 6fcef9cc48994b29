package main

import (
	"os"
	"strings"
	"testing"

	"github.com/goodfleet/goodfleet/planner/share"
)

// TestAllocateDocumentNamesEveryPolicy holds docs/allocate.md to the list of policies.
func TestAllocateDocumentNamesEveryPolicy(t *testing.T) {
	text, err := os.ReadFile("docs/allocate.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, y := range share.Policies() {
		if !strings.Contains(string(text), "`"+y.Name+"`") {
			t.Errorf("docs/allocate.md does not name %q", y.Name)
		}
	}
	for _, r := range share.RuleNames() {
		if !strings.Contains(string(text), "--policy "+r.Name) {
			t.Errorf("docs/allocate.md does not tell of assign --policy %s", r.Name)
		}
	}
}
