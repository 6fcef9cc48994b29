package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
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
			pack, err := packing(s, 0)
			if err != nil {
				t.Errorf("%s: %v", e.Name, err)
			}
			if _, ok := share.Find(s.Rule); !ok && pack == nil && s.Peer == "" && e.Spot == nil && e.Week == nil {
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

// some is an experiment on someData.
func some(name string) experiment {
	return experiment{
		Name: name, Title: "Some of " + name, Cluster: "2xV100,2xK80", Stream: "some", Window: []int{5, 35}, Measure: meanJCT, Source: "nobody", Why: "none",
		Scheduler: scheduler{Rule: "max_min_fairness_agnostic"}, Tolerance: tolerance{Rel: 100}, Points: []point{{Load: 10, Published: 1}, {Load: 12, Published: 1, Peer: 1.5}},
	}
}

// A cluster that stands empty for half a day takes the next job as it comes, as the
// published simulator's does: no clock is held to be wrong.
func TestStreamsMayPauseForLong(t *testing.T) {
	data := someData(t)
	e := some("pauses")
	e.Scheduler = scheduler{Rule: "fifo_greedy", Aware: true, FIFO: true}
	e.Window, e.Cluster = []int{0, 40}, "1xV100"
	alone, err := run(context.Background(), data, e, point{Load: 0.02}, 0)
	if err != nil {
		t.Fatal(err)
	}
	rarer, err := run(context.Background(), data, e, point{Load: 0.01}, 0)
	if err != nil {
		t.Fatal(err)
	}
	if alone.value > 1 || math.Abs(alone.value-rarer.value) > 1e-6 {
		t.Errorf("jobs take %g h where one comes in 45 h, and %g h where one comes in 90 h: want their own time", alone.value, rarer.value)
	}
}

// written is what a replay of experiments leaves in its folder.
func written(t *testing.T, cfg config, all ...experiment) (page, csv, told string) {
	t.Helper()
	var tell bytes.Buffer
	if err := replayThese(context.Background(), &tell, cfg, all); err != nil {
		t.Fatal(err)
	}
	var text [2]string
	for i, name := range []string{"REPLAY.md", "replay.csv"} {
		b, err := os.ReadFile(filepath.Join(cfg.out, name))
		if err != nil {
			t.Fatal(err)
		}
		text[i] = string(b)
	}
	return text[0], text[1], tell.String()
}

func TestReplayWritesTheSameBytesTwice(t *testing.T) {
	data := someData(t)
	page, csv, _ := written(t, config{data: data, out: t.TempDir()}, some("a"))
	again, csvAgain, _ := written(t, config{data: data, out: t.TempDir(), parallel: 1}, some("a"))
	if diff := cmp.Diff(page+csv, again+csvAgain); diff != "" {
		t.Error(diff)
	}
	for _, want := range []string{"2 of 2 published numbers", "## Some of a", "| 10 jobs/h | 0 | 1 | |", "| 12 jobs/h | 0 | 1 | 1.500 |", "a,10 jobs/h,0,,\"mean JCT, h\",1,,", ",met,", "make replay ONLY=a"} {
		if !strings.Contains(strings.ReplaceAll(page, "|  |", "| |")+csv, want) {
			t.Errorf("no %q in\n%s%s", want, page, csv)
		}
	}
}

// A replay that was stopped goes on with what it had not run, and ends in the bytes of
// one that was not.
func TestReplayGoesOnWhereItWasStopped(t *testing.T) {
	data := someData(t)
	want, wantCSV, _ := written(t, config{data: data, out: t.TempDir()}, some("a"), some("b"))
	out := t.TempDir()
	ctx, stop := context.WithCancel(context.Background())
	err := replayThese(ctx, stopAfter(1, stop), config{data: data, out: out, parallel: 1}, []experiment{some("a"), some("b")})
	if err == nil {
		t.Fatal("it was not stopped")
	}
	page, csv, told := written(t, config{data: data, out: out, missing: true}, some("a"), some("b"))
	if diff := cmp.Diff(want+wantCSV, page+csv); diff != "" {
		t.Error(diff)
	}
	if n := strings.Count(told, " rounds, "); n < 1 || n > 3 {
		t.Errorf("%d runs of 4 were left over:\n%s", n, told)
	}
}

// stopAfter calls stop when so much was written to it.
type stopWriter struct {
	left int
	stop func()
}

func stopAfter(n int, stop func()) *stopWriter { return &stopWriter{n, stop} }

func (w *stopWriter) Write(p []byte) (int, error) {
	if w.left--; w.left == 0 {
		w.stop()
	}
	return len(p), nil
}

// Of experiments that are not asked for, what was recorded stays; what was never run is
// said to be open.
func TestReplayKeepsWhatItDoesNotRun(t *testing.T) {
	data, out := someData(t), t.TempDir()
	first, _, _ := written(t, config{data: data, out: out, only: "a"}, some("a"), some("b"))
	if !strings.Contains(first, "2 of 2 published numbers are met within their tolerance. 2 more points") {
		t.Error(first)
	}
	page, csv, told := written(t, config{data: data, out: out, only: "b", at: "10 jobs/h"}, some("a"), some("b"))
	if !strings.Contains(page, "3 of 3 published numbers") || strings.Count(csv, "\n") != 4 || strings.Count(told, " rounds, ") != 1 {
		t.Errorf("%s\n%s\n%s", page, csv, told)
	}
	alone := some("a")
	alone.Points = alone.Points[1:]
	if _, _, told := written(t, config{data: data, out: t.TempDir(), against: recordsIn(out)}, alone); !strings.Contains(told, "1 runs end as recorded in") || !strings.Contains(told, ", 0 otherwise") {
		t.Error(told)
	}
	alone.Scheduler.Aware = true
	if _, _, told := written(t, config{data: data, out: t.TempDir(), against: recordsIn(out)}, alone); !strings.Contains(told, ", recorded as ") || !strings.Contains(told, ", 1 otherwise") {
		t.Error(told)
	}
}

// A value far from the recorded one is an error, to either side, also where less than what
// was published is free; another hash is only told.
func TestReplayFailsFarFromItsRecord(t *testing.T) {
	two := tolerance{Rel: 0.02}
	one := tolerance{Rel: 0.5, BetterFree: true}
	for name, tt := range map[string]struct {
		tolerance tolerance
		shown     bool
		is        result // recorded: 100, in 7 rounds, beef
		told      string
		far       bool
	}{
		"as recorded":                {two, false, result{value: 100, rounds: 7, hash: "beef"}, "1 runs end as recorded in", false},
		"another hash":               {two, false, result{value: 100, rounds: 7, hash: "cafe"}, ": mean JCT, h 100.0000, recorded as 100.0000\n", false},
		"within":                     {two, false, result{value: 101.9, rounds: 7, hash: "cafe"}, ": mean JCT, h 101.9000, recorded as", false},
		"above":                      {two, false, result{value: 102.1, rounds: 7, hash: "cafe"}, ", 1 otherwise", true},
		"below":                      {two, false, result{value: 97.9, rounds: 7, hash: "cafe"}, ", 1 otherwise", true},
		"absolute":                   {tolerance{Abs: 3}, false, result{value: 103.1, rounds: 7, hash: "cafe"}, ", 1 otherwise", true},
		"one-sided, within":          {one, false, result{value: 95.1, rounds: 7, hash: "cafe"}, ", 1 otherwise", false},
		"one-sided, below":           {one, false, result{value: 94.9, rounds: 7, hash: "cafe"}, ", 1 otherwise", true},
		"one-sided, above":           {one, false, result{value: 105.1, rounds: 7, hash: "cafe"}, ", 1 otherwise", true},
		"shown, within":              {tolerance{}, true, result{value: 104.9, rounds: 7, hash: "cafe"}, ", 1 otherwise", false},
		"shown, above":               {tolerance{}, true, result{value: 105.1, rounds: 7, hash: "cafe"}, ", 1 otherwise", true},
		"not run":                    {two, false, result{}, "0 runs end as recorded in", false},
		"nothing that is a number":   {two, false, result{value: math.NaN(), rounds: 7, hash: "cafe"}, ", 1 otherwise", true},
		"more than any number there": {one, false, result{value: math.Inf(1), rounds: 7, hash: "cafe"}, ", 1 otherwise", true},
	} {
		e := some("a")
		e.Tolerance, e.Shown, e.Points = tt.tolerance, tt.shown, e.Points[:1]
		rows := rowsOf([]experiment{e}, false)
		rows[0].results[0] = result{value: 100, rounds: 7, hash: "beef"}
		file := recordsIn(t.TempDir())
		if err := os.WriteFile(file, table(rows), 0o644); err != nil {
			t.Fatal(err)
		}
		rows[0].results[0] = tt.is
		var told strings.Builder
		err := compare(&told, file, rows)
		if !strings.Contains(told.String(), tt.told) {
			t.Errorf("%s: no %q in %s", name, tt.told, told.String())
		}
		if (err != nil) != tt.far || tt.far && !strings.Contains(err.Error(), "1 runs lie far from what is recorded, first a 10 jobs/h seed 0") {
			t.Errorf("%s: %v, want an error: %v", name, err, tt.far)
		}
	}
}

// spotData is a folder with prices of two zones and of one machine of Azure.
func spotData(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	folder := filepath.Join(root, "spot", "dispa2020")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"aws-spot-prices.csv.gz": "timestamp,zone,instance_type,product,usd_per_hour\n" +
			"2020-02-01T00:00:00Z,us-east-1a,p3.2xlarge,Linux/UNIX,1.000000\n" +
			"2020-02-01T00:00:00Z,us-east-1b,p3.2xlarge,Linux/UNIX,0.900000\n" +
			"2020-02-01T00:00:00Z,us-west-2a,p3.2xlarge,Linux/UNIX,0.100000\n" +
			"2020-02-24T12:00:00Z,us-east-1a,p3.2xlarge,Linux/UNIX,0.450000\n",
		"azure-cost-us_east.csv.gz":           "Date,NC6\n2/24/2020,$0.40000\n2/25/2020,\n",
		"azure-instance_mapping.csv.gz":       "Instance,GPU type,# GPUs\nNC6,K80,1\n",
		"oracle_throughputs_isolated.json.gz": `{"v100":{"M":2},"k80":{"M":0.5},"p100":{"M":1}}`,
	} {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		fmt.Fprint(z, text)
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, name), b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// A job of a day on a V100: half of it for 0.90 an hour in the zone that is cheapest at
// the start, half for 0.45 in the other from noon on, and never on Azure, whose K80 takes
// four times as long; the baseline stays where it began.
func TestSpotGoesWherePricesFall(t *testing.T) {
	e := experiment{
		Name: "spot", Title: "Spot", Cluster: "bought", Measure: costShare, Source: "nobody", Why: "none", Tolerance: tolerance{Rel: 0.01},
		Spot: &spotGround{Region: "us-east-1", Azure: "us_east", Days: 1, Copies: 1, Weather: "still"}, Points: []point{{Model: "M", Published: 0.75}},
	}
	data, out := spotData(t), t.TempDir()
	page, _, _ := written(t, config{data: data, out: out}, e)
	files, err := os.ReadDir(out)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"| M | 0 | 0.75 |", "| met |", "where that is `bought`, on machines that are bought at recorded prices"}
	for _, f := range files {
		if f.Name() != "REPLAY.md" {
			want = append(want, f.Name())
		}
	}
	for _, text := range want {
		if !strings.Contains(page, text) {
			t.Errorf("no %q in\n%s", text, page)
		}
	}
	e.Spot.Weather, e.Tolerance = "measured", tolerance{Rel: 0.5}
	_, first, _ := written(t, config{data: data, out: t.TempDir()}, e)
	if _, again, _ := written(t, config{data: data, out: t.TempDir()}, e); first != again {
		t.Error(cmp.Diff(first, again))
	}
	e.Points[0].Model = "N"
	if err := replayThese(context.Background(), io.Discard, config{data: data, out: t.TempDir()}, []experiment{e}); err == nil || !strings.Contains(err.Error(), `model "N"`) {
		t.Error(err)
	}
}

func TestReplayFailsOnWhatIsNotMet(t *testing.T) {
	e := some("a")
	e.Tolerance, e.Cause = tolerance{Rel: 0.001}, "a number that nobody published."
	out := t.TempDir()
	err := replayThese(context.Background(), io.Discard, config{data: someData(t), out: out}, []experiment{e})
	page, _ := os.ReadFile(filepath.Join(out, "REPLAY.md"))
	if !errors.Is(err, errMissed) || !strings.Contains(string(page), "Cause of what is not met: a number") || !strings.Contains(string(page), "**not met**") {
		t.Errorf("%v\n%s", err, page)
	}
}

func TestRecordsSayWhatIsWrong(t *testing.T) {
	head := strings.Join(columns, ",") + "\n"
	line := "a,8 workloads,1,,m,1,,2.5,x,met,7,beef,c\n"
	for _, tt := range []struct{ text, want string }{
		{"", "want the columns"},
		{"experiment,point\n", "want the columns"},
		{head + strings.Replace(line, ",1,,m", ",one,,m", 1), "x:2: seed"},
		{head + strings.Replace(line, "2.5", "much", 1), "x:2: ours"},
		{head + strings.Replace(line, ",7,", ",0,", 1), "x:2: rounds"},
		{head + line + line, "x:3: this run is told twice"},
	} {
		if _, err := parseRecords("x", strings.NewReader(tt.text)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q: %v, want %q", tt.text, err, tt.want)
		}
	}
	got, err := parseRecords("x", strings.NewReader(head+line))
	if want := (result{value: 2.5, rounds: 7, hash: "beef"}); err != nil || !reflect.DeepEqual(got[key{"a", "8 workloads", "", "m", 1}], want) {
		t.Errorf("%+v, %v", got, err)
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
		{config{data: t.TempDir(), out: t.TempDir(), quick: true, missing: true}, "no -missing"},
		{config{data: t.TempDir(), out: t.TempDir(), only: "gavel-7"}, "continuous_single_seed0.csv.gz"},
	} {
		err := replay(context.Background(), io.Discard, tt.cfg)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: %v, want %q", tt.cfg, err, tt.want)
		}
	}
}
