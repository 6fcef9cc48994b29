package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAllJobsWaitForAllMachines(t *testing.T) {
	data := someData(t)
	folder := filepath.Join(data, "gavel", "generated")
	if err := os.Rename(filepath.Join(folder, "continuous_some_seed0.csv.gz"), filepath.Join(folder, "continuous_multi_seed0.csv.gz")); err != nil {
		t.Fatal(err)
	}
	p, err := allWaiting(t.Context(), data, 32)
	if err != nil {
		t.Fatal(err)
	}
	accelerators := 0
	for _, m := range p.Machines {
		for i := range p.Offers {
			if p.Offers[i].Offering == m.Offering {
				accelerators += p.Offers[i].Type.Count
			}
		}
	}
	running := 0
	for i := range p.Jobs {
		if p.Jobs[i].Running != nil {
			running++
		}
	}
	if len(p.Jobs) != 32 || running != 0 || accelerators != 24 {
		t.Errorf("%d jobs of which %d run, %d accelerators: want 32, 0 and 24", len(p.Jobs), running, accelerators)
	}
	for _, by := range planners {
		plan, err := by.plan()
		if err != nil {
			t.Fatal(err)
		}
		if got, err := plan(p); err != nil || len(got.Allocations) == 0 {
			t.Errorf("%s: %d jobs run, error %v", by.name, len(got.Allocations), err)
		}
	}
}

func TestPlanningsAreDrawnAsTheyWereMeasured(t *testing.T) {
	folder := t.TempDir()
	if none, err := readPlannings(planningsIn(folder)); none != nil || err != nil {
		t.Errorf("an empty folder holds %v, error %v", none, err)
	}
	want := []planning{{"a", 32, 0.5}, {"b", 32, 0.25}, {"a", 64, 1.5}}
	if err := writePlannings(folder, want); err != nil {
		t.Fatal(err)
	}
	got, err := readPlannings(planningsIn(folder))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(planning{})); diff != "" {
		t.Error(diff)
	}
	c := overPlans(got)
	if len(c.Series) != 2 || len(c.Series[0].Points) != 2 || c.Series[0].Points[1].Y != 1.5 {
		t.Errorf("%+v: want two lines, the first of two points", c.Series)
	}
	for text, want := range map[string]string{"": "want the columns", "policy,jobs,CPU s\na,0,1\n": ":2: jobs", "policy,jobs,CPU s\na,1,0\n": ":2: CPU s"} {
		if err := os.WriteFile(planningsIn(folder), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := readPlannings(planningsIn(folder)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want one with %q", text, err, want)
		}
	}
}
