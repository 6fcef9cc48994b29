package sim

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/goodfleet/goodfleet/autoscale"
	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/provider"
)

var start = time.Date(2023, 3, 1, 0, 0, 0, 0, time.UTC)

// linear is a curve of so many samples per hour and accelerator, on any type.
type linear float64

func (l linear) Speed(_ string, _, replicas int) (planner.Speed, bool) {
	return planner.Speed{Goodput: float64(l) * float64(replicas)}, true
}

// testRunner holds one job of 1,000 samples at 100 an hour: 10 hours of work.
func testRunner(t testing.TB, every, save, restore time.Duration) *Runner {
	t.Helper()
	catalogue, err := provider.NewCatalogue([]provider.InstanceType{{
		Cloud: "aws", Name: "p3.2xlarge", Accelerator: "V100", Kind: provider.GPU, Count: 1,
		AcceleratorMemGiB: 16, VCPU: 8, MemGiB: 61, Hosts: 1,
	}})
	if err != nil {
		t.Fatal(err)
	}
	runner, err := NewRunner(RunnerConfig{Start: start, Catalogue: catalogue})
	if err != nil {
		t.Fatal(err)
	}
	runner.Add(&planner.Job{
		ID: "GPT-L", Work: planner.Work{Samples: 1000, Kind: planner.WorkExact}, Curve: linear(100),
		Checkpoint: planner.Checkpoint{Every: every, Save: save, Restore: restore},
	})
	return runner
}

func testGang(generation int64) autoscale.Gang {
	return autoscale.Gang{
		Job: "GPT-L", Generation: generation,
		Config: planner.Config{Cloud: "aws", Type: "p3.2xlarge", Nodes: 1, Replicas: 1},
		Nodes:  []autoscale.GangNode{{Instance: "i-1", Accelerators: []int{0}}},
	}
}

func mustStart(t testing.TB, r *Runner, generation int64) {
	t.Helper()
	if err := r.Start(t.Context(), testGang(generation)); err != nil {
		t.Fatal(err)
	}
}

func theProgress(t testing.TB, r *Runner) autoscale.Progress {
	t.Helper()
	list, err := r.Progress(t.Context())
	if err != nil || len(list) != 1 {
		t.Fatalf("progress of one gang: got %v, %v", list, err)
	}
	return list[0]
}

func TestRunnerCourseOfAGang(t *testing.T) {
	const every, save, restore = time.Hour, 6 * time.Minute, 10 * time.Minute
	at := func(text string) time.Time {
		d, err := time.ParseDuration(text)
		if err != nil {
			t.Fatal(err)
		}
		return start.Add(d)
	}
	tests := []struct {
		name string
		act  func(*Runner)
		at   time.Time
		want autoscale.Progress
	}{
		{"restores", nil, at("9m"), autoscale.Progress{State: autoscale.GangStarting, Since: start}},
		{"computes", nil, at("40m"), autoscale.Progress{State: autoscale.GangRunning, Since: at("10m"), Seen: 50}},
		{"stands while it saves", nil, at("1h13m"), autoscale.Progress{State: autoscale.GangRunning, Since: at("10m"), Seen: 100}},
		{"is safe when saved", nil, at("1h16m"), autoscale.Progress{State: autoscale.GangRunning, Since: at("10m"), Seen: 100, Safe: 100}},
		{"goes on after a save", nil, at("1h46m"), autoscale.Progress{State: autoscale.GangRunning, Since: at("10m"), Seen: 150, Safe: 100}},
		// 10 min restore, 10 h of work, 9 saves of 6 min: the tenth hour needs none.
		{"is not done a moment early", nil, at("11h4m").Add(-1), autoscale.Progress{State: autoscale.GangRunning, Since: at("10m"), Seen: 1000, Safe: 900}},
		{"is done to the instant", nil, at("20h"), autoscale.Progress{State: autoscale.GangDone, Since: at("11h4m"), Seen: 1000, Safe: 1000}},
		{"stops while it restores", func(r *Runner) { r.Advance(at("5m")); stopGang(t, r, 1, autoscale.StopSave) }, at("6m"),
			autoscale.Progress{State: autoscale.GangStopped, Since: at("5m")}},
		{"saves before it stops", func(r *Runner) { r.Advance(at("40m")); stopGang(t, r, 1, autoscale.StopSave) }, at("45m"),
			autoscale.Progress{State: autoscale.GangStopping, Since: at("40m"), Seen: 50}},
		{"has stopped when saved", func(r *Runner) { r.Advance(at("40m")); stopGang(t, r, 1, autoscale.StopSave) }, at("50m"),
			autoscale.Progress{State: autoscale.GangStopped, Since: at("46m"), Seen: 50, Safe: 50}},
		{"ends a save under way as its last", func(r *Runner) { r.Advance(at("1h13m")); stopGang(t, r, 1, autoscale.StopSave) }, at("2h"),
			autoscale.Progress{State: autoscale.GangStopped, Since: at("1h16m"), Seen: 100, Safe: 100}},
		{"loses by a kill", func(r *Runner) { r.Advance(at("1h46m")); stopGang(t, r, 1, autoscale.StopKill) }, at("2h"),
			autoscale.Progress{State: autoscale.GangStopped, Since: at("1h46m"), Seen: 100, Safe: 100}},
		{"loses by a machine", func(r *Runner) { r.Lose("i-1", at("1h46m")) }, at("2h"),
			autoscale.Progress{State: autoscale.GangLost, Since: at("1h46m"), Seen: 100, Safe: 100}},
		{"loses what a save did not finish", func(r *Runner) { r.Lose("i-1", at("1h13m")) }, at("2h"),
			autoscale.Progress{State: autoscale.GangLost, Since: at("1h13m")}},
		{"loses a stop that was too late", func(r *Runner) {
			r.Advance(at("40m"))
			stopGang(t, r, 1, autoscale.StopSave)
			r.Lose("i-1", at("42m"))
		}, at("2h"), autoscale.Progress{State: autoscale.GangLost, Since: at("42m")}},
		{"keeps running when another's machine goes", func(r *Runner) { r.Lose("i-2", at("30m")) }, at("40m"),
			autoscale.Progress{State: autoscale.GangRunning, Since: at("10m"), Seen: 50}},
		{"ignores the stop of another generation", func(r *Runner) { r.Advance(at("40m")); stopGang(t, r, 2, autoscale.StopKill) }, at("40m"),
			autoscale.Progress{State: autoscale.GangRunning, Since: at("10m"), Seen: 50}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			runner := testRunner(t, every, save, restore)
			mustStart(t, runner, 1)
			if tt.act != nil {
				tt.act(runner)
			}
			runner.Advance(tt.at)
			tt.want.Job, tt.want.Generation = "GPT-L", 1
			gang := testGang(1)
			tt.want.Gang = &gang
			if diff := cmp.Diff(theProgress(t, runner), tt.want, cmpopts.EquateApprox(0, sampleTolerance), cmpopts.IgnoreFields(autoscale.Progress{}, "Measured")); diff != "" {
				t.Errorf("progress, got (-), want (+):\n%s", diff)
			}
		})
	}
}

// sampleTolerance is in samples, of 100 an hour: rounding of a float of hours.
const sampleTolerance = 1e-6

func stopGang(t testing.TB, r *Runner, generation int64, mode autoscale.StopMode) {
	t.Helper()
	if err := r.Stop(t.Context(), "GPT-L", generation, mode); err != nil {
		t.Fatal(err)
	}
}

func TestRunnerGoesOnFromItsCheckpoint(t *testing.T) {
	runner := testRunner(t, time.Hour, 0, 0)
	mustStart(t, runner, 1)
	runner.Lose("i-1", start.Add(90*time.Minute))
	second := testGang(2)
	second.Nodes[0].Instance = "i-2"
	if err := runner.Start(t.Context(), second); err != nil {
		t.Fatal(err)
	}
	runner.Advance(start.Add(24 * time.Hour))
	progress := theProgress(t, runner)
	if want := start.Add(90*time.Minute + 9*time.Hour); progress.State != autoscale.GangDone || !progress.Since.Equal(want) {
		t.Errorf("done at %v in state %d, want %v: 100 of 1,000 samples were safe", progress.Since, progress.State, want)
	}
}

func TestRunnerRefusesAStartThatCannotBe(t *testing.T) {
	runner := testRunner(t, 0, 0, 0)
	unknown := testGang(1)
	unknown.Job = "nobody"
	wrongType := testGang(1)
	wrongType.Config.Type = "p9.huge"
	for name, gang := range map[string]autoscale.Gang{"a job nobody added": unknown, "a type that is not in the catalogue": wrongType} {
		if err := runner.Start(t.Context(), gang); err == nil {
			t.Errorf("start of %s: got no error", name)
		}
	}
	mustStart(t, runner, 1)
	mustStart(t, runner, 1) // the same again is none
	if err := runner.Start(t.Context(), testGang(2)); err == nil {
		t.Error("start of a second generation beside the first: got no error")
	}
}

func TestRunnerLosesAGangOnALostMachineAtOnce(t *testing.T) {
	runner := testRunner(t, 0, 0, time.Minute)
	runner.Lose("i-1", start.Add(time.Hour))
	mustStart(t, runner, 1)
	if got := theProgress(t, runner); got.State != autoscale.GangLost {
		t.Errorf("state %d, want lost", got.State)
	}
}

func TestRunnerNextEventIsTheEndOfTheWork(t *testing.T) {
	runner := testRunner(t, 0, time.Minute, 10*time.Minute)
	if at, ok := runner.NextEvent(); ok {
		t.Fatalf("next event %v with no gang", at)
	}
	mustStart(t, runner, 1)
	runner.Advance(start.Add(10 * time.Minute))
	want := start.Add(10*time.Hour + 10*time.Minute)
	if at, ok := runner.NextEvent(); !ok || !at.Equal(want) {
		t.Errorf("next event %v, %v; want %v", at, ok, want)
	}
}

// However time is cut into steps, the course is the same.
func TestRunnerCourseDoesNotDependOnSteps(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		minutes := func(name string, most int) time.Duration {
			return time.Duration(rapid.IntRange(0, most).Draw(rt, name)) * time.Minute
		}
		every, save, restore := minutes("every", 180), minutes("save", 20), minutes("restore", 30)
		stop, end := minutes("stop", 900), minutes("end", 840) // a gang that ended is told of for a day
		stepped, direct := testRunner(t, every, save, restore), testRunner(t, every, save, restore)
		mustStart(t, stepped, 1)
		mustStart(t, direct, 1)
		for passed := time.Duration(0); passed < stop; passed += time.Duration(rapid.IntRange(1, 3600).Draw(rt, "step")) * time.Second {
			stepped.Advance(start.Add(passed))
		}
		for _, runner := range []*Runner{stepped, direct} {
			runner.Advance(start.Add(stop))
			stopGang(t, runner, 1, autoscale.StopSave)
			runner.Advance(start.Add(stop + end))
		}
		if diff := cmp.Diff(theProgress(t, stepped), theProgress(t, direct)); diff != "" {
			rt.Errorf("in steps (-), at once (+):\n%s", diff)
		}
	})
}

// The share of paid time that is useful, under losses without warning, is known
// in closed form: a = e^(−L·S)·L·tau / (e^(L·(tau+d)) − 1).
func TestRunnerMeetsTheClosedFormOfUsefulTime(t *testing.T) {
	const (
		lossesPerHour = 0.5
		every, save   = 30 * time.Minute, 3 * time.Minute
		restore       = 12 * time.Minute
		lives         = 20_000
		tolerance     = 0.01 // relative: three standard errors at so many lives
	)
	rng := rand.New(rand.NewPCG(1, 2))
	runner := testRunner(t, every, save, restore)
	runner.jobs["GPT-L"].Work.Samples = 1e12
	var paid time.Duration
	now := start
	for generation := range int64(lives) {
		gang := testGang(generation + 1)
		gang.Nodes[0].Instance = provider.InstanceID(fmt.Sprint("i-", generation))
		if err := runner.Start(t.Context(), gang); err != nil {
			t.Fatal(err)
		}
		life := time.Duration(rng.ExpFloat64() / lossesPerHour * float64(time.Hour))
		paid += life
		now = now.Add(life)
		runner.Lose(gang.Nodes[0].Instance, now)
	}
	got := runner.Safe("GPT-L") / 100 / paid.Hours()
	tau := every.Hours()
	want := math.Exp(-lossesPerHour*restore.Hours()) * lossesPerHour * tau / (math.Exp(lossesPerHour*(tau+save.Hours())) - 1)
	if math.Abs(got/want-1) > tolerance {
		t.Errorf("useful share of paid time %.4f, want %.4f", got, want)
	}
}
