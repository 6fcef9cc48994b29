package main

import (
	"os"
	"strings"
	"testing"
)

// TestBudgetDocumentNamesEveryVerb holds docs/budget.md to the commands, and the example
// beside it to the decoder.
func TestBudgetDocumentNamesEveryVerb(t *testing.T) {
	text, err := os.ReadFile("docs/budget.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, verb := range newBudget(streams{}).Commands() {
		if !strings.Contains(string(text), "goodfleet budget "+verb.Name()+" ") && !strings.Contains(string(text), "`"+verb.Name()+"`") {
			t.Errorf("docs/budget.md does not tell of %s", verb.Name())
		}
	}
	policies, err := readPolicies([]string{"docs/policies.yaml"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range policies {
		if !strings.Contains(string(text), p.Name) {
			t.Errorf("docs/budget.md does not show %s", p.Name)
		}
	}
}
