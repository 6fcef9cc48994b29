package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestGoodputDocumentNamesEveryField makes the profile of docs/goodput.md as it is
// said there, and looks up each field that comes out.
func TestGoodputDocumentNamesEveryField(t *testing.T) {
	text, err := os.ReadFile("docs/goodput.md")
	if err != nil {
		t.Fatal(err)
	}
	profile := filepath.Join(t.TempDir(), "profile.json")
	var out, errs bytes.Buffer
	args := []string{"goodput", "fit", "docs/resnet50.csv", "--name", "ResNet-50", "--initial-batch", "128", "--max-batch", "4096",
		"--max-local", "128", "--accumulation", "--sqr", "1", "--var", "117", "--gradient-bytes", "102e6", "-o", profile}
	if code := run(t.Context(), args, streams{strings.NewReader(""), &out, &errs}); code != exitDone {
		t.Fatalf("exit code %d: %s", code, &errs)
	}
	written, err := os.ReadFile(profile)
	if err != nil {
		t.Fatal(err)
	}
	var document any
	if err := json.Unmarshal(written, &document); err != nil {
		t.Fatal(err)
	}
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for name, field := range v {
				if name != "metadata" && name != "name" && !strings.Contains(string(text), "`"+name+"`") {
					t.Errorf("docs/goodput.md does not name %q", name)
				}
				walk(field)
			}
		case []any:
			for _, entry := range v {
				walk(entry)
			}
		}
	}
	walk(document)
	out.Reset()
	picture := filepath.Join(t.TempDir(), "p.svg")
	if code := run(t.Context(), []string{"goodput", "plot", profile, "--accelerator", "V100", "--per-node", "8", "--most", "16", "-o", picture},
		streams{strings.NewReader(""), &out, &errs}); code != exitDone {
		t.Fatalf("exit code %d: %s", code, &errs)
	}
	want, err := os.ReadFile("docs/resnet50-v100.svg")
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(picture)
	if err != nil {
		t.Fatal(err)
	}
	// Coordinates may differ in their last digits between kinds of processors.
	if d := len(got) - len(want); d > len(want)/50 || -d > len(want)/50 {
		t.Errorf("a picture of %d bytes, the one in docs has %d", len(got), len(want))
	}
}
