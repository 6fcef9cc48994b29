package measured

import (
	"bytes"
	"compress/gzip"
	"math"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/goodfleet/goodfleet/planner/goodput"
)

// packed is a file that gzip packed.
func packed(t *testing.T, text string) *fstest.MapFile {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return &fstest.MapFile{Data: b.Bytes()}
}

const (
	placements  = "placement,local_bsz,step_time,sync_time\n1,10,1.0,0\n1,20,2.0,0\n2,10,1.5,0.5\n12,10,9,1\n22,10,2,1\n22,20,3,1\n"
	scalability = "num_nodes,num_replicas,local_bsz,step_time,sync_time\n6,12,10,4,3\n6,13,10,9,1\n2,4,10,99,1\n"
	small       = "progress,iteration,metric,grad_sqr,grad_var\n100,100,0,1,3\n210,200,0,1,5\n300,300,0,9,9\n"
	large       = "progress,iteration,metric,grad_sqr,grad_var\n105,30,0,2,4\n200,60,0,2,6\n"
)

func toy(t *testing.T, change func(fstest.MapFS)) (*Application, error) {
	t.Helper()
	files := fstest.MapFS{
		"toy/placements-x.csv.gz": packed(t, placements), "toy/scalability-x.csv.gz": packed(t, scalability),
		"toy/validation-10.csv.gz": packed(t, small), "toy/validation-40.csv.gz": packed(t, large),
	}
	if change != nil {
		change(files)
	}
	return Read(files, Spec{Name: "toy", Epochs: 2, Types: map[string]string{"T4": "-x"}})
}

func TestApplicationIsWhatWasMeasured(t *testing.T) {
	a, err := toy(t, nil)
	if err != nil {
		t.Fatal(err)
	}
	// Epochs end at the least progress of both runs, in samples of M0 = 10.
	if a.M0() != 10 || a.Most() != 40 || a.Epochs() != 2 || a.End(0) != 1000 || a.Work() != 2000 {
		t.Errorf("M0 %d, most %d, %d epochs to %g and %g", a.M0(), a.Most(), a.Epochs(), a.End(0), a.Work())
	}
	for progress, want := range map[float64]int{0: 0, 999: 0, 1000: 1, 1999: 1, 2000: 1, 9999: 1} {
		if got := a.EpochAt(progress); got != want {
			t.Errorf("progress %g lies in epoch %d, want %d", progress, got, want)
		}
	}
	if diff := cmp.Diff(goodput.Noise{Sqr: 1.5, Var: 5.5}, a.Noise(25, 1)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(goodput.Noise{Sqr: 2, Var: 4}, a.Noise(400, 0)); diff != "" {
		t.Error(diff)
	}
	for _, tt := range []struct {
		nodes, replicas, local int
		step, accum            float64
		ok                     bool
	}{
		{1, 1, 10, 1, 1, true}, {1, 1, 15, 1.5, 1.5, true}, {1, 2, 10, 1.5, 1, true},
		{2, 4, 15, 2.5, 1.5, true}, // not the 99 s of the other file
		{6, 12, 10, 4, 1, true},
		{4, 8, 10, 3, 1, true}, // half way between two and six machines of two
		{7, 14, 10, 0, 0, false}, {2, 2, 10, 0, 0, false}, {2, 3, 10, 0, 0, false},
	} {
		step, accum, ok := a.Pass("T4", tt.nodes, tt.replicas, tt.local)
		if ok != tt.ok || math.Abs(step-tt.step) > 1e-12 || math.Abs(accum-tt.accum) > 1e-12 {
			t.Errorf("%+v: %g, %g, %v", tt, step, accum, ok)
		}
	}
	for n, want := range map[int]float64{1: 1, 2: 1.5, 3: 9, 4: 2, 5: 2.25, 13: 0} { // three as they were measured, five between four and six
		step, _, ok := a.PackedPass("T4", 2, n, 10)
		if ok != (want > 0) || ok && step != want {
			t.Errorf("%d packed on machines of two: %g, %v, want %g", n, step, ok, want)
		}
	}
	if got, want := a.Steps(25, 1), 130.; got != want { // between 200 and 60
		t.Errorf("%g steps, want %g", got, want)
	}
	if _, _, ok := a.Pass("V100", 1, 1, 10); ok {
		t.Error("it was not measured on V100")
	}
}

// A fixed batch is made in passes that fit, and progress is gain over the time of a step.
func TestProgressOfAFixedBatch(t *testing.T) {
	a, err := toy(t, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		replicas, total int
		want            Batch
	}{
		{1, 30, Batch{15, 1}}, {1, 10, Batch{10, 0}}, // a second pass beyond M0, to compare gradients
		{1, 50, Batch{13, 2}}, {4, 120, Batch{5, 1}}, // no step beyond 40
	} {
		if b, ok := a.Fixed("T4", tt.replicas, tt.total); !ok || b != tt.want {
			t.Errorf("%d samples on %d replicas: %+v, %v, want %+v", tt.total, tt.replicas, b, ok, tt.want)
		}
	}
	b := Batch{15, 1}
	got, ok := a.PerSec("T4", 2, 4, 0, b)
	noise := goodput.Noise{Sqr: 2, Var: 4} // of the largest batch
	want := (noise.Var + noise.Sqr) / (noise.Var/12 + noise.Sqr) * 10 / (2.5 + 1.5)
	if !ok || math.Abs(got-want) > 1e-12 {
		t.Errorf("%g samples/s, want %g", got, want)
	}
	if _, ok := a.Fixed("T4", 4, 3); ok {
		t.Error("three samples feed four replicas")
	}
	one := func(int, Batch) Batch { return Batch{Atomic: 10} }
	if got, want := a.Hours("T4", 1, 1, one), 200./3600; math.Abs(got-want) > 1e-12 {
		t.Errorf("%g h, want %g: 200 steps of a second", got, want)
	}
}

func TestReadNamesTheFile(t *testing.T) {
	for name, tt := range map[string]struct {
		file, text, want string
	}{
		"not a number":   {"toy/validation-10.csv.gz", strings.Replace(small, "210", "many", 1), "toy/validation-10.csv.gz:3: progress"},
		"negative noise": {"toy/validation-10.csv.gz", strings.Replace(small, ",1,5", ",-1,5", 1), "toy/validation-10.csv.gz:3: "},
		"no column":      {"toy/placements-x.csv.gz", strings.Replace(placements, "step_time", "step_ms", 1), "column step_time is missing"},
		"all sync":       {"toy/placements-x.csv.gz", strings.Replace(placements, "1.5,0.5", "1.5,1.5", 1), "toy/placements-x.csv.gz:4: local_bsz"},
		"half a sample":  {"toy/scalability-x.csv.gz", strings.Replace(scalability, "6,12,10", "6,12,9.5", 1), "toy/scalability-x.csv.gz:2: local_bsz 9.5"},
		"another batch":  {"toy/validation-ten.csv.gz", small, `"ten" is no batch`},
	} {
		_, err := toy(t, func(files fstest.MapFS) { files[tt.file] = packed(t, tt.text) })
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
	if _, err := toy(t, func(files fstest.MapFS) { delete(files, "toy/placements-x.csv.gz") }); err == nil {
		t.Error("read without placements")
	}
}
