//go:build data

package goodput

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"
)

// TestAnswersAreThoseOfTheExamples reads inputs with right answers from outside.
func TestAnswersAreThoseOfTheExamples(t *testing.T) {
	root := os.Getenv("GOODFLEET_EXAMPLES")
	if root == "" {
		t.Fatal("GOODFLEET_EXAMPLES is not set: it names the folder of goodput.json")
	}
	text, err := os.ReadFile(filepath.Join(root, "goodput.json"))
	if err != nil {
		t.Fatal(err)
	}
	cases, err := ParseCases(text)
	if err != nil {
		t.Fatal(err)
	}
	answers, err := cases.Answer()
	if err != nil {
		t.Fatal(err)
	}
	type expectation struct {
		ID, Kind string
		Expect   any
	}
	var want struct {
		Cases        []expectation
		ClusterCases []expectation `json:"cluster_cases"`
	}
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	text, err = json.Marshal(answers)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Cases        map[string]any
		ClusterCases map[string]any `json:"cluster_cases"`
	}
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	for _, c := range want.Cases {
		if c.Kind == "fit" {
			checkFit(t, c.ID, got.Cases[c.ID].(map[string]any), c.Expect.(map[string]any))
			continue
		}
		checkSame(t, c.ID, got.Cases[c.ID], c.Expect)
	}
	for _, c := range want.ClusterCases {
		checkSame(t, c.ID, got.ClusterCases[c.ID], c.Expect)
	}
	t.Logf("%d cases and %d cluster cases", len(want.Cases), len(want.ClusterCases))
}

// checkSame compares trees of JSON: whole numbers exactly, others to 1e-6.
func checkSame(t *testing.T, path string, got, want any) {
	t.Helper()
	switch want := want.(type) {
	case map[string]any:
		for name := range want {
			g, _ := got.(map[string]any)
			checkSame(t, path+"."+name, g[name], want[name])
		}
	case []any:
		g, _ := got.([]any)
		if len(g) != len(want) {
			t.Errorf("%s: %d entries, want %d", path, len(g), len(want))
			return
		}
		for i := range want {
			checkSame(t, fmt.Sprintf("%s[%d]", path, i), g[i], want[i])
		}
	case float64:
		g, ok := got.(float64)
		if !ok || math.Abs(g-want) > 1e-6*math.Abs(want) || want == math.Trunc(want) && math.Abs(want) >= 2 && g != want && math.Abs(g-want) > 1e-9*want {
			t.Errorf("%s: %v, want %v", path, got, want)
		}
	default:
		t.Errorf("%s: unexpected %T", path, want)
	}
}

func checkFit(t *testing.T, id string, got, want map[string]any) {
	t.Helper()
	if g, most := got["objective"].(float64), want["objective_max"].(float64); g > most {
		t.Errorf("%s: objective %g, want at most %g", id, g, most)
	}
	checkSame(t, id+".held", got["held"], want["held_before_prior"])
	tolerance := want["probe_tolerance"].(float64)
	for i, w := range want["probe_t_optim"].([]any) {
		if g := got["probe_t_optim"].([]any)[i].(float64); math.Abs(g/w.(float64)-1) > tolerance {
			t.Errorf("%s: probe %d: %g, want %g", id, i, g, w)
		}
	}
	t.Logf("%s: objective %.9f, best known %.9f", id, got["objective"], want["objective_best"])
}
