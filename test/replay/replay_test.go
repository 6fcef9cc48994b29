package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goodfleet/goodfleet/planner/share"
)

func TestExperimentsNameWhatThereIs(t *testing.T) {
	all, err := readExperiments()
	if err != nil {
		t.Fatal(err)
	}
	quick := 0
	for _, e := range all {
		for _, s := range append([]scheduler{e.Scheduler}, schedulersOf(e)...) {
			if _, ok := share.Find(s.Rule); !ok && s.Peer == "" {
				t.Errorf("%s: there is no rule %q", e.Name, s.Rule)
			}
		}
		for _, p := range e.Points {
			if p.Quick {
				quick++
			}
		}
	}
	if quick < 5 {
		t.Errorf("the quick set has %d points", quick)
	}
}

func schedulersOf(e experiment) []scheduler {
	var list []scheduler
	for _, a := range e.Ablations {
		list = append(list, a.Scheduler)
	}
	return list
}

func TestToleranceHolds(t *testing.T) {
	for name, tt := range map[string]struct {
		tolerance       tolerance
		ours, published float64
		want            bool
	}{
		"within":                     {tolerance{Abs: 0.01}, 17.0899, 17.08, true},
		"at the edge":                {tolerance{Abs: 0.01}, 17.09, 17.08, true},
		"above":                      {tolerance{Abs: 0.01}, 17.0902, 17.08, false},
		"below":                      {tolerance{Rel: 0.02}, 97.9, 100, false},
		"below, where that is free":  {tolerance{Rel: 0.02, BetterFree: true}, 50, 100, true},
		"above, where less is free":  {tolerance{Rel: 0.02, BetterFree: true}, 102.1, 100, false},
		"the larger of two counts":   {tolerance{Abs: 5, Rel: 0.02}, 104, 100, true},
		"nothing that is a number":   {tolerance{Rel: 0.02}, math.NaN(), 100, false},
		"more than any number there": {tolerance{Rel: 0.02}, math.Inf(1), 100, false},
	} {
		if got := tt.tolerance.holds(tt.ours, tt.published); got != tt.want {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
		}
	}
}

// someData is a folder with a short stream of jobs.
func someData(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	folder := filepath.Join(root, "gavel", "generated")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	fmt.Fprintln(z, "job,unit_arrival,model,scale_factor,total_steps")
	for i := range 40 {
		fmt.Fprintf(z, "%d,%g,LM (batch size %d),1,%d\n", i, float64(i)*0.9, []int{5, 20, 80}[i%3], 30000+i*1000)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "continuous_some_seed0.csv.gz"), b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return root
}

func TestReplayWritesTheSameBytesTwice(t *testing.T) {
	data := someData(t)
	e := &experiment{
		Name: "some", Title: "Some", Cluster: "2xV100,2xK80", Stream: "some", Window: []int{5, 35}, Measure: meanJCT, Source: "nobody", Why: "none",
		Scheduler: scheduler{Rule: "max_min_fairness_agnostic"}, Tolerance: tolerance{Rel: 0.5}, Points: []point{{Load: 10, Published: 1}},
	}
	text := func() string {
		rows := rowsOf([]experiment{*e}, config{})
		if err := runAll(context.Background(), io.Discard, data, rows); err != nil {
			t.Fatal(err)
		}
		return string(page(rows)) + string(table(rows))
	}
	first := text()
	if diff := cmp.Diff(first, text()); diff != "" {
		t.Error(diff)
	}
	for _, want := range []string{"## Some", "| 10 jobs/h | 0 | 1.00 |", "some,10 jobs/h,0,,\"mean JCT, h\","} {
		if !strings.Contains(first, want) {
			t.Errorf("no %q in\n%s", want, first)
		}
	}
}

func TestReplaySaysWhatIsMissing(t *testing.T) {
	for _, tt := range []struct {
		cfg  config
		want string
	}{
		{config{out: "x"}, "GOODFLEET_DATA is not set"},
		{config{data: "/no/such/folder", out: "x"}, "is no folder"},
		{config{data: t.TempDir()}, "-out"},
		{config{data: t.TempDir(), out: t.TempDir(), only: "nothing"}, "no such experiment"},
		{config{data: t.TempDir(), out: t.TempDir(), only: "gavel-7"}, "continuous_single_seed0.csv.gz"},
	} {
		err := replay(context.Background(), io.Discard, tt.cfg)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: %v, want %q", tt.cfg, err, tt.want)
		}
	}
}
