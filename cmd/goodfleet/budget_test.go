package main

import (
	"os"
	"strings"
	"testing"

	"github.com/goodfleet/goodfleet/autoscale/sim"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/pricing/budget"
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

// A simulation says of each policy that asks first whom it asks, and with which command
// they would answer.
func TestASimulationSaysWhoseYesItLacks(t *testing.T) {
	above := pricing.DollarPerHour
	policies := budget.Policies{
		{Name: "of-one", Approval: &budget.Approval{Above: above, From: []string{"ada"}}},
		{Name: "of-two", Approval: &budget.Approval{Above: above, From: []string{"ada", "bob"}}},
		{Name: "of-any", Approval: &budget.Approval{Above: above}},
		{Name: "tells", DryRun: true, Approval: &budget.Approval{Above: above}},
		{Name: "asks-nothing", Burn: above},
	}
	want := []string{"of-one asks ada about", "of-two asks ada or bob about", "of-any asks a person about"}
	got := unanswered(policies, []sim.Outcome{{}, {Unfinished: 1}})
	if len(got) != len(want) {
		t.Fatalf("got %q, want one line for each of %q", got, want)
	}
	for i, line := range got {
		if !strings.Contains(line, want[i]+" launches over 1 USD/h") || !strings.Contains(line, "goodfleet budget approve ID;") {
			t.Errorf("got %q, want %q and the command", line, want[i])
		}
	}
	if got := unanswered(policies, []sim.Outcome{{}, {}}); got != nil {
		t.Errorf("where every job ends: %q", got)
	}
}
