package sweep

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/goodfleet/goodfleet/autoscale"
	"github.com/goodfleet/goodfleet/autoscale/sim"
	"github.com/goodfleet/goodfleet/autoscale/sim/peer"
	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/provider"
)

var start = time.Date(2020, time.November, 4, 0, 0, 0, 0, time.UTC)

// steady is a curve of 3600 samples an hour, whatever it runs on.
type steady struct{}

func (steady) Speed(string, int, int) (planner.Speed, bool) {
	return planner.Speed{Goodput: 3600}, true
}

// setting is so many jobs of an hour, one after the other on one machine of ours.
func setting(t *testing.T, jobs int) sim.Setting {
	t.Helper()
	catalogue, err := provider.EmbeddedCatalogue()
	if err != nil {
		t.Fatal(err)
	}
	prices, err := pricing.NewHistory(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	s := sim.Setting{
		Variant: "test", Start: start, Catalogue: catalogue, Prices: prices, Plan: peer.Tiresias{}.Plan,
		Loop: autoscale.Settings{Round: time.Minute, SkipUnchanged: true, Book: 24 * time.Hour, MaxMoves: 1000},
	}
	for i := range jobs {
		s.Jobs = append(s.Jobs, &planner.Job{
			ID: planner.JobID(fmt.Sprintf("job-%d", i)), Submitted: start, Curve: steady{},
			Work: planner.Work{Samples: 3600, Kind: planner.WorkExact}, Resources: planner.Resources{Replicas: planner.Replicas{Set: []int{1}}},
		})
	}
	cluster, err := sim.ParseCluster("1xV100", catalogue)
	if err != nil {
		t.Fatal(err)
	}
	if err := cluster.Stand(&s); err != nil {
		t.Fatal(err)
	}
	return s
}

// sweepOf is a sweep of one axis: the number of jobs, from 1 on. begun counts the runs
// that are begun.
func sweepOf(t *testing.T, journal string, most int, begun *int) Config {
	cfg := Config{Axes: []string{"number"}, Inputs: []string{"x"}, Journal: journal, Parallel: 1}
	for n := 1; n <= most; n++ {
		cfg.Runs = append(cfg.Runs, Run{Places: []string{fmt.Sprint(n)}, Setting: func() (sim.Setting, error) {
			*begun++
			return setting(t, n), nil
		}})
	}
	return cfg
}

// text is all that a sweep's table says.
func text(t *testing.T, table Table) string {
	t.Helper()
	csv, err := table.CSV()
	if err != nil {
		t.Fatal(err)
	}
	lines, err := table.JSONL()
	if err != nil {
		t.Fatal(err)
	}
	return string(csv) + string(lines)
}

func TestRowsTellWhatRunsCameTo(t *testing.T) {
	begun := 0
	cfg := sweepOf(t, filepath.Join(t.TempDir(), "j"), 3, &begun)
	var parts []float64
	cfg.Progress = func(_ int, part float64) { parts = append(parts, part) }
	table, err := Do(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	lines, err := table.JSONL()
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(strings.TrimSpace(string(lines)), "\n") {
		var got struct {
			Number string  `json:"number"`
			Jobs   int     `json:"jobs"`
			JCT    float64 `json:"avg_jct_hours"`
			Ends   string  `json:"hash"`
		}
		if err := json.Unmarshal([]byte(line), &got); err != nil {
			t.Fatal(err)
		}
		n := i + 1
		if want := float64(n+1) / 2; got.Number != fmt.Sprint(n) || got.Jobs != n || got.JCT != want || len(got.Ends) != 16 {
			t.Errorf("%s: want %d jobs of %g h on average", line, n, want)
		}
	}
	if len(parts) == 0 || parts[0] != 0 || parts[len(parts)-1] != 1 {
		t.Errorf("progress %v: want from 0 to 1", parts)
	}
}

// A sweep that is stopped, even in the middle of a line, goes on with what it had not
// done and ends in the bytes of one that was not.
func TestSweepGoesOnWhereItWasStopped(t *testing.T) {
	begun := 0
	whole, err := Do(context.Background(), sweepOf(t, filepath.Join(t.TempDir(), "j"), 6, &begun))
	if err != nil {
		t.Fatal(err)
	}
	want := text(t, whole)
	for stopAt := 1; stopAt <= 5; stopAt++ {
		path := filepath.Join(t.TempDir(), "j")
		ctx, stop := context.WithCancel(context.Background())
		cfg := sweepOf(t, path, 6, new(int))
		cfg.Progress = func(runs int, _ float64) {
			if runs == stopAt {
				stop()
			}
		}
		if _, err := Do(ctx, cfg); !errors.Is(err, context.Canceled) {
			t.Fatalf("stopped after %d: %v", stopAt, err)
		}
		f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteString(`{"run":5,"places":["6"],"fig`); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		begun := 0
		again := sweepOf(t, path, 6, &begun)
		again.Parallel = 2
		begin := 0 // two at a time: they are counted by what is told
		again.Progress = func(runs int, _ float64) {
			if begin == 0 {
				begin = runs + 1
			}
		}
		for i := range again.Runs {
			n := i + 1
			again.Runs[i].Setting = func() (sim.Setting, error) { return setting(t, n), nil }
		}
		table, err := Do(context.Background(), again)
		if err != nil {
			t.Fatal(err)
		}
		if begin-1 < stopAt {
			t.Errorf("stopped after %d runs, and %d were kept", stopAt, begin-1)
		}
		if diff := cmp.Diff(want, text(t, table)); diff != "" {
			t.Errorf("stopped after %d: %s", stopAt, diff)
		}
		if table, err = Do(context.Background(), sweepOf(t, path, 6, &begun)); err != nil || begun != 0 || text(t, table) != want {
			t.Errorf("a whole journal: %d runs were begun again, %v", begun, err)
		}
	}
}

func TestJournalOfAnotherSweepIsRefused(t *testing.T) {
	begun := 0
	path := filepath.Join(t.TempDir(), "j")
	if _, err := Do(context.Background(), sweepOf(t, path, 2, &begun)); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	more := sweepOf(t, path, 3, &begun)
	inputs := sweepOf(t, path, 2, &begun)
	inputs.Inputs = []string{"y"}
	for name, cfg := range map[string]Config{"other runs": more, "other inputs": inputs} {
		if _, err := Do(context.Background(), cfg); !errors.Is(err, ErrOther) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if after, _ := os.ReadFile(path); string(after) != string(before) {
		t.Error("the journal was changed")
	}
	lines := strings.SplitAfter(string(before), "\n")
	for name, text := range map[string]string{
		"told twice":  string(before) + lines[1],
		"no such run": strings.Replace(string(before), `"run":1`, `"run":7`, 1),
		"unknown":     strings.Replace(string(before), `{"run":1,`, `{"run":1,"more":2,`, 1),
	} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := Do(context.Background(), sweepOf(t, path, 2, &begun)); err == nil || !strings.Contains(err.Error(), path+":") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestSweepSaysWhatIsWrong(t *testing.T) {
	begun := 0
	path := filepath.Join(t.TempDir(), "j")
	failing := sweepOf(t, path, 2, &begun)
	failing.Runs[1].Setting = func() (sim.Setting, error) { return sim.Setting{}, errors.New("no jobs") }
	twice := sweepOf(t, path, 2, &begun)
	twice.Runs[1].Places = twice.Runs[0].Places
	short := sweepOf(t, path, 1, &begun)
	short.Axes = []string{"number", "policy"}
	figure := sweepOf(t, path, 1, &begun)
	figure.Axes = []string{"cost_usd"}
	for _, tt := range []struct {
		cfg  Config
		want string
	}{
		{Config{Journal: path}, "want a run"},
		{sweepOf(t, "", 1, &begun), "want a run and a journal"},
		{failing, "number 2: no jobs"},
		{twice, "is there twice"},
		{short, "want a setting and a place on each"},
		{figure, "is a figure"},
		{sweepOf(t, filepath.Join(path, "no", "folder"), 1, &begun), "journal: open"},
	} {
		if _, err := Do(context.Background(), tt.cfg); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v, want %q", err, tt.want)
		}
	}
}
