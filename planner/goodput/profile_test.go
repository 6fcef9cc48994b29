package goodput

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

const profileText = `{"apiVersion": "goodfleet/v1", "kind": "Profile", "metadata": {"name": "resnet"}, "spec": {
	"batch": {"initial": 200, "max": 12800, "minLocal": 20, "maxLocal": 200, "accumulation": true},
	"noise": {"sqr": 0.35, "var": 20}, "gradientBytes": 1e8,
	"memory": {"stateGiB": 1, "sampleGiB": 0.05, "tried": [{"memGiB": 16, "batch": 300, "fits": false}]},
	"types": [
		{"accelerator": "V100", "maxLocal": 150, "samples": [
			{"nodes": 1, "replicas": 1, "atomic_bsz": 50, "accum_time": 0.2, "optim_time": 0.21, "count": 5},
			{"nodes": 1, "replicas": 1, "atomic_bsz": 100, "accum_time": 0.35, "optim_time": 0.36}]},
		{"accelerator": "T4", "kind": "gpu", "maxReplicas": 16,
			"theta": {"alpha_c": 0.064, "beta_c": 0.0045, "alpha_n": 0.32, "beta_n": 0.0062, "alpha_r": 0.075, "beta_r": 0.00087, "gamma": 2.5}}]}}`

func parse(t *testing.T, text string) *Profile {
	t.Helper()
	p, err := ParseProfile([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestProfileSurvivesItsDocument(t *testing.T) {
	p := parse(t, profileText)
	if len(p.Types) != 2 || p.Types[0].Accelerator != "T4" || p.Types[1].MaxReplicas != 1 || p.Types[1].Theta.AlphaC <= 0 {
		t.Fatalf("types %+v", p.Types)
	}
	text, err := p.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	again := parse(t, string(text))
	if diff := cmp.Diff(p, again, cmpopts.IgnoreUnexported(TypeProfile{})); diff != "" {
		t.Errorf("(-first +second):\n%s", diff)
	}
	table := `{"apiVersion":"goodfleet/v1","kind":"Profile","metadata":{"name":"lm"},"spec":{"table":[` +
		`{"accelerator":"V100","replicas":4,"nodes":1,"samplesPerSec":800},{"accelerator":"L4","replicas":1,"samplesPerSec":90,"estimated":true}]}}`
	if text, err = parse(t, table).MarshalJSON(); err != nil || string(text) != table {
		t.Errorf("error %v, document\n%s\nwant\n%s", err, text, table)
	}
}

func TestProfileIsRefusedWithItsPlace(t *testing.T) {
	for _, c := range []struct{ name, old, new, field string }{
		{"another version", "goodfleet/v1", "goodfleet/v2", "apiVersion"},
		{"another kind", `"Profile"`, `"Profiles"`, "kind"},
		{"no name", `{"name": "resnet"}`, `{}`, "metadata.name"},
		{"an unknown field", `"noise"`, `"nois"`, "spec.nois"},
		{"a batch of zero", `"initial": 200`, `"initial": 0`, "spec.batch.initial"},
		{"a maximum below the initial", `"max": 12800`, `"max": 100`, "spec.batch.max"},
		{"a negative variance", `"var": 20`, `"var": -20`, "spec.noise.var"},
		{"an unknown kind of type", `"gpu"`, `"cpu"`, "spec.types[1].kind"},
		{"a type twice", `"V100"`, `"T4"`, "spec.types[1].accelerator"},
		{"a sample of zero time", `"optim_time": 0.36`, `"optim_time": 0`, "spec.types[0].samples[1].optim_time"},
		{"a missing parameter", `"beta_c": 0.0045, `, ``, "spec.types[1].theta.beta_c"},
		{"a gamma of 20", `"gamma": 2.5`, `"gamma": 20`, "spec.types[1].theta.gamma"},
		{"neither theta nor samples", `, "samples": [
			{"nodes": 1, "replicas": 1, "atomic_bsz": 50, "accum_time": 0.2, "optim_time": 0.21, "count": 5},
			{"nodes": 1, "replicas": 1, "atomic_bsz": 100, "accum_time": 0.35, "optim_time": 0.36}]`, ``, "spec.types[0].theta"},
		{"a batch of memory below one", `"batch": 300`, `"batch": 0`, "spec.memory.tried[0].batch"},
		{"memory of zero", `"memGiB": 16`, `"memGiB": 0`, "spec.memory.tried[0].memGiB"},
		{"a table beside", `"gradientBytes": 1e8`, `"table": [{"accelerator": "T4", "replicas": 1, "samplesPerSec": 3}]`, "spec.batch"},
	} {
		if !strings.Contains(profileText, c.old) {
			t.Fatalf("%s: %q is not in the profile", c.name, c.old)
		}
		_, err := ParseProfile([]byte(strings.Replace(profileText, c.old, c.new, 1)))
		var bad *InputError
		if !errors.As(err, &bad) || bad.Field != c.field {
			t.Errorf("%s: error %v, want one of %s", c.name, err, c.field)
		}
	}
}

func TestProfileThatCannotBeIsNotWritten(t *testing.T) {
	if text, err := json.Marshal(&Profile{Name: "empty"}); err == nil {
		t.Errorf("wrote %s", text)
	}
}

func TestSliceOfATPUIsOneNode(t *testing.T) {
	samples := []Sample{sampleAt(1, 1, 50), sampleAt(1, 4, 100), sampleAt(2, 8, 100), sampleAt(4, 16, 60)}
	p, res, err := NewTypeProfile("TPU v5e", KindTPU, samples)
	if err != nil {
		t.Fatal(err)
	}
	if !p.knows(false) || p.knows(true) || len(res.Held) != 2 {
		t.Errorf("held %v: want the terms over nodes alone", res.Held)
	}
	profile := &Profile{Name: "x", Limits: imagenetOnT4().Limits, Types: []TypeProfile{p}}
	r := NewPredictor(profile, PredictorConfig{})
	slice, ok := r.At("TPU v5e", 2, 8)
	same, _ := r.At("TPU v5e", 1, 8)
	if !ok || slice.Choice != same.Choice || slice.Basis != FromFit {
		t.Errorf("a slice of two hosts %+v, of one %+v", slice, same)
	}
}
