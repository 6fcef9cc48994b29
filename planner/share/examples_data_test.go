//go:build data

package share

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/goodfleet/goodfleet/planner/whole"
)

// exampleFile reads one file of problems with right answers from GOODFLEET_EXAMPLES.
func exampleFile(t *testing.T, name string, into any) {
	t.Helper()
	folder := os.Getenv("GOODFLEET_EXAMPLES")
	if folder == "" {
		t.Fatal("GOODFLEET_EXAMPLES is not set: want the folder with allocate.json and assign.json")
	}
	text, err := os.ReadFile(filepath.Join(folder, name))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatal(err)
	}
}

// exampleTol is the relative difference within which the examples want objectives.
const exampleTol = 1e-6

func near(got, want float64) bool {
	return math.Abs(got-want) <= exampleTol*max(math.Abs(want), 1e-12)
}

func TestPoliciesReachTheObjectivesOfTheExamples(t *testing.T) {
	var file struct {
		Cases []struct {
			Name     string
			Problem  json.RawMessage
			Expected map[string]struct {
				Objective float64
				Vector    []float64
			}
		}
	}
	exampleFile(t, "allocate.json", &file)
	for _, c := range file.Cases {
		p, err := Parse(c.Problem)
		if err != nil {
			t.Fatalf("%s: %v", c.Name, err)
		}
		for name, want := range c.Expected {
			y, ok := Find(name)
			if !ok {
				t.Errorf("no policy %s", name)
				continue
			}
			got, err := y.Share(p, Options{})
			if err != nil || got.Status != "optimal" {
				t.Errorf("%s %s: %v, status %s gap %g", c.Name, name, err, got.Status, got.Gap)
				continue
			}
			if !near(got.Objective, want.Objective) {
				t.Errorf("%s %s: objective %.10g, want %.10g", c.Name, name, got.Objective, want.Objective)
			}
			for j, u := range want.Vector {
				if !near(got.Vector[j], u) {
					t.Errorf("%s %s: job %s at %.10g, want %.10g", c.Name, name, p.Jobs[j].ID, got.Vector[j], u)
				}
			}
		}
	}
}

func TestAssignmentReachesTheObjectivesOfTheExamples(t *testing.T) {
	var file struct {
		Cases []struct {
			Name     string
			Instance json.RawMessage
			Expected float64 `json:"expected_objective"`
		}
	}
	exampleFile(t, "assign.json", &file)
	for _, c := range file.Cases {
		a, err := ParseAssignment(c.Instance, Sia)
		if err != nil {
			t.Fatalf("%s: %v", c.Name, err)
		}
		got := a.Solve(whole.Limits{})
		if got.Status != "optimal" || !near(got.Objective, c.Expected) {
			t.Errorf("%s: %s, objective %.10g, want %.10g (gap %g)", c.Name, got.Status, got.Objective, c.Expected, got.Gap)
		}
	}
}
