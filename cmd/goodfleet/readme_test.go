package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// The plan in the README is what the program prints.
func TestReadmeShowsThePlanAsItIs(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(readme), "<!-- plan -->\n```\n")
	want, _, closed := strings.Cut(rest, "\n```\n<!-- /plan -->")
	if !found || !closed {
		t.Fatal("README.md: the marks around the plan are gone")
	}
	bin := t.TempDir() + "/goodfleet"
	if out, err := exec.Command("go", "build", "-o", bin, ".").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	run := exec.Command(bin, "plan", "five-jobs", "--at", "2026-08-01", "--burn-cap", "150 USD/h")
	run.Env = append(os.Environ(), "NO_COLOR=1", "HOME="+t.TempDir(), "XDG_CONFIG_HOME="+t.TempDir(), "XDG_STATE_HOME="+t.TempDir())
	got, err := run.Output()
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		text := strings.Replace(string(readme), want, strings.TrimRight(string(got), "\n"), 1)
		if err := os.WriteFile("../../README.md", []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if strings.TrimRight(string(got), "\n") != want {
		t.Errorf("the program prints\n%s\nREADME.md shows\n%s", got, want)
	}
}
