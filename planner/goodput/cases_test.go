package goodput

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
)

// The expectations of testdata/cases.json were computed by a second program, from
// the published formulas in their plain form. Those of fits are bounds: the
// objective at parameters that were put in by hand.
func TestAnswersAreThoseOfPlainFormulas(t *testing.T) {
	checkCases(t, "testdata/cases.json")
}

// checkCases answers a file in the fixed format and compares with its expectations.
func checkCases(t *testing.T, path string) {
	t.Helper()
	text, err := os.ReadFile(path)
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

// edited is the file of cases with one text replaced.
func edited(t *testing.T, old, replacement string) []byte {
	t.Helper()
	text := `{"cases": [{"id": "a", "kind": "model", "job": {"theta": [0.1, 0.01, 0.1, 0.01, 0.1, 0.01, 1.5], "m0": 32, "max_batch": 64},
		"queries": [{"nodes": 1, "replicas": 2, "atomic_bsz": 16, "accum_steps": 0}]},
		{"id": "b", "kind": "fit", "samples": [{"nodes": 1, "replicas": 1, "atomic_bsz": 8, "accum_time": 0.5, "optim_time": 0.6}]}],
		"cluster_cases": [{"id": "c", "kind": "utility", "queries": [{"speedups": [1, 2], "active_gpus": 4}]}]}`
	if !strings.Contains(text, old) {
		t.Fatalf("%q is not in the cases", old)
	}
	return []byte(strings.Replace(text, old, replacement, 1))
}

func TestCasesAreRefusedWithTheirPlace(t *testing.T) {
	if _, err := ParseCases(edited(t, `"m0"`, `"m0"`)); err != nil {
		t.Fatalf("unchanged: %v", err)
	}
	for _, c := range []struct{ name, old, new, field string }{
		{"a bare NaN", `"accum_time": 0.5`, `"accum_time": NaN`, "cases[1].samples[0].accum_time"},
		{"no JSON", `{"cases"`, `cases`, ""},
		{"an unknown version", `{"cases"`, `{"version": 2, "cases"`, "version"},
		{"an id that steers a terminal", `"b"`, `"b\u001b[2J"`, "cases[1].id"},
		{"two ids alike", `"b"`, `"a"`, "cases[1].id"},
		{"an unknown kind", `"model"`, `"modell"`, "cases[0].kind"},
		{"a missing kind", `"kind": "model", `, ``, "cases[0].kind"},
		{"six numbers of theta", `[0.1, 0.01, 0.1`, `[0.01, 0.1`, "cases[0].job.theta"},
		{"a negative alpha", `[0.1, `, `[-0.1, `, "cases[0].job.theta[0]"},
		{"a gamma below 1", `1.5]`, `0.5]`, "cases[0].job.theta[6]"},
		{"a batch below the initial", `"max_batch": 64`, `"max_batch": 16`, "cases[0].job.max_batch"},
		{"a misspelt limit", `max_batch`, `maxbatch`, "cases[0].job.maxbatch"},
		{"a local range upside down", `"max_batch": 64`, `"min_local": 9, "max_local": 8`, "cases[0].job.max_local"},
		{"variance without sqr", `"m0"`, `"var": 1, "m0"`, "cases[0].job.sqr"},
		{"half a replica", `"replicas": 2`, `"replicas": 2.5`, "cases[0].queries[0].replicas"},
		{"more nodes than replicas", `"nodes": 1, "replicas": 2`, `"nodes": 3, "replicas": 2`, "cases[0].queries[0].nodes"},
		{"no replicas", `"replicas": 2`, `"replicas": 0`, "cases[0].queries[0].replicas"},
		{"a text for a number", `"m0": 32`, `"m0": "32"`, "cases[0].job.m0"},
		{"a time of zero", `"optim_time": 0.6`, `"optim_time": 0`, "cases[1].samples[0].optim_time"},
		{"a time that would be read as 0", `"optim_time": 0.6`, `"optim_time": 1e-999`, "cases[1].samples[0].optim_time"},
		{"a time beyond all", `"optim_time": 0.6`, `"optim_time": 1e999`, "cases[1].samples[0].optim_time"},
		{"no samples", `[{"nodes": 1, "replicas": 1, "atomic_bsz": 8, "accum_time": 0.5, "optim_time": 0.6}]`, `[]`, "cases[1].samples"},
		{"a field twice", `"m0": 32`, `"m0": 32, "m0": 33`, "cases[0].job.m0"},
		{"negative machines", `"active_gpus": 4`, `"active_gpus": -4`, "cluster_cases[0].queries[0].active_gpus"},
		{"an unknown field of the document", `"cluster_cases"`, `"cluster-cases": [], "cluster_cases"`, "cluster-cases"},
		{"an unknown field of a case", `"id": "a"`, `"id": "a", "varaint": "clamp"`, "cases[0].varaint"},
		{"a field of another kind of case", `"id": "a"`, `"id": "a", "variant": "clamp"`, "cases[0].variant"},
		{"an unknown field of a query", `"accum_steps": 0`, `"accum_steps": 0, "accum": 1`, "cases[0].queries[0].accum"},
		{"an unknown field of a sample", `"accum_time": 0.5`, `"accum_time": 0.5, "count": 3`, "cases[1].samples[0].count"},
		{"an unknown field of a probe", `"samples"`, `"probes": [{"nodes": 1, "replicas": 1, "atomic_bsz": 1, "x": 1}], "samples"`, "cases[1].probes[0].x"},
		{"an unknown field of a cluster case", `"id": "c"`, `"id": "c", "job": {}`, "cluster_cases[0].job"},
		{"an unknown field of a cluster query", `"active_gpus": 4`, `"active_gpus": 4, "gpus": 4`, "cluster_cases[0].queries[0].gpus"},
		{"a query that is no object", `[{"speedups": [1, 2], "active_gpus": 4}]`, `[3]`, "cluster_cases[0].queries[0]"},
		{"theta in another order", `{"cases"`, `{"parameter_order": ["gamma", "beta_r", "alpha_r", "beta_n", "alpha_n", "beta_c", "alpha_c"], "cases"`, "parameter_order[0]"},
		{"theta in an order cut short", `{"cases"`, `{"parameter_order": ["alpha_c"], "cases"`, "parameter_order"},
		{"an order that is no list", `{"cases"`, `{"parameter_order": "alpha_c", "cases"`, "parameter_order"},
		{"speedups without their replicas", `"active_gpus": 4`, `"replicas": [1], "active_gpus": 4`, "cluster_cases[0].queries[0].replicas"},
		{"replicas that are no numbers", `"active_gpus": 4`, `"replicas": [1, "2"], "active_gpus": 4`, "cluster_cases[0].queries[0].replicas[1]"},
		{"something after", `"active_gpus": 4}]}]}`, `"active_gpus": 4}]}]} {}`, ""},
		{"an end too soon", `"active_gpus": 4}]}]}`, `"active_gpus": 4}`, "cluster_cases[0].queries"},
	} {
		_, err := ParseCases(edited(t, c.old, c.new))
		var bad *InputError
		if !errors.As(err, &bad) {
			t.Errorf("%s: error %v, want an *InputError", c.name, err)
			continue
		}
		if bad.Field != c.field || bad.Reason == "" || strings.ContainsAny(bad.Error(), "\n") {
			t.Errorf("%s: field %q, reason %q, want field %q and a line", c.name, bad.Field, bad.Reason, c.field)
		}
	}
}

func TestWhatDescribesCasesIsPassedOver(t *testing.T) {
	for _, c := range []struct{ name, old, new string }{
		{"the document", `{"cases"`, `{"version": 1, "tolerance": {"relative": 1e-6}, "parameter_order": ["alpha_c", "beta_c", "alpha_n", "beta_n", "alpha_r", "beta_r", "gamma"], "cases"`},
		{"a case", `"id": "a"`, `"id": "a", "note": "as published", "expect": [{"any": "thing"}]`},
		{"how samples were drawn", `"id": "b"`, `"id": "b", "true_theta": [1], "noise_sigma": 0.1, "seed": 7`},
		{"the replicas of speedups", `"active_gpus": 4`, `"replicas": [1, 2], "active_gpus": 4`},
	} {
		if _, err := ParseCases(edited(t, c.old, c.new)); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestSpeedupWithoutBaseIsUnknown(t *testing.T) {
	c, err := ParseCases([]byte(`{"cases": [{"id": "s", "kind": "speedup", "variant": "reject",
		"job": {"theta": [0.1, 0.01, 0.1, 0.01, 0.1, 0.01, 1.5], "m0": 64, "max_local": 8, "accumulation": false},
		"queries": [{"nodes": 1, "replicas": 1}]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	a, err := c.Answer()
	if err != nil {
		t.Fatal(err)
	}
	if text, _ := json.Marshal(a.Cases["s"]); string(text) != "[null]" {
		t.Errorf("answer %s, want [null]: 64 samples do not fit one accelerator", text)
	}
}
