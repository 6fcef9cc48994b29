package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"math"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/goodfleet/goodfleet/autoscale/sim"
	"github.com/goodfleet/goodfleet/autoscale/sim/measured"
	"github.com/goodfleet/goodfleet/provider"
)

// kindsOf are machines of two kinds: two of four T4, one of eight A100.
func kindsOf() []sim.ClusterKind {
	return []sim.ClusterKind{
		{Type: provider.InstanceType{Accelerator: "T4", Count: 4}, Count: 2},
		{Type: provider.InstanceType{Accelerator: "A100", Count: 8}, Count: 1},
	}
}

// outcome is a job that was there from one hour to another.
func outcome(family string, from, to float64) sim.JobOutcome {
	at := func(hours float64) time.Time { return begin.Add(time.Duration(hours * float64(time.Hour))) }
	end := at(to)
	return sim.JobOutcome{Family: family, Submitted: at(from), Ended: &end, JCTHours: to - from, Done: true}
}

// Two jobs of 4 h, of which one comes 2 h later: each has half the other's company, and a
// part of 1/1.5 of each kind: 5.33 accelerators. Times alone are 8 h over the size on T4,
// and 4 h over it on A100, beyond four of which nothing is gained.
func TestRhoIsOverTheTimeOnAPartOfTheCluster(t *testing.T) {
	g := &ground{kinds: kindsOf(), alone: map[lonely]float64{}}
	for _, n := range []int{1, 2, 4, 8} {
		g.alone[lonely{"a", "T4", (n + 3) / 4, n}] = 8 / float64(n)
		g.alone[lonely{"a", "A100", 1, n}] = 4 / float64(min(n, 4))
	}
	jobs := []sim.JobOutcome{outcome("a", 0, 4), outcome("a", 2, 6)}
	if got := company(jobs, jobs[0].Submitted, *jobs[0].Ended); math.Abs(got-1.5) > 1e-12 {
		t.Errorf("company %g, want 1.5", got)
	}
	for i, rho := range g.rhos(jobs) { // gangs of 4: T4 2 h, A100 1 h
		if want := (8*4.0/2 + 8*4.0/1) / 16; math.Abs(rho-want) > 1e-12 {
			t.Errorf("rho of job %d is %g, want %g", i, rho, want)
		}
	}
	if got := g.hours("a", g.kinds[0], 7.25); math.Abs(got-(2+0.25*(1-2))) > 1e-12 {
		t.Errorf("on 7.25 accelerators %g h, want a quarter of the way from 2 to 1", got)
	}
	if got := g.hours("a", g.kinds[0], 0.5); math.Abs(got-16) > 1e-12 {
		t.Errorf("on half an accelerator %g h, want 16", got)
	}
	got := g.fairness([]sim.JobOutcome{outcome("a", 0, 0.25), outcome("a", 1, 9), outcome("a", 20, 21), outcome("a", 30, 33)})
	if got[lateShare] != 50 || got[worstRho] != roundedValue((8*8/1.0+8*8/1.0)/16) {
		t.Errorf("%v: want 50 %% late, at most 8", got)
	}
}

// An application that runs on one kind only is held against that alone.
func TestRhoLeavesOutKindsThatCannotRunIt(t *testing.T) {
	g := &ground{kinds: kindsOf(), alone: map[lonely]float64{}}
	for _, n := range []int{1, 2, 4, 8} {
		g.alone[lonely{"a", "T4", (n + 3) / 4, n}] = math.Inf(1)
		g.alone[lonely{"a", "A100", 1, n}] = 2
	}
	if rho := g.rhos([]sim.JobOutcome{outcome("a", 0, 5)}); rho[0] != 2.5 {
		t.Errorf("rho %g, want 5 h over 2 h", rho[0])
	}
}

// Alone, an application of one batch of 10 samples, 1 s each, takes 36 s to restore and
// 2,000 samples at 10 a second.
func TestTimeAloneIsThatOfTheCourse(t *testing.T) {
	files := fstest.MapFS{}
	for name, text := range map[string]string{
		"toy/placements-x.csv.gz":  "placement,local_bsz,step_time,sync_time\n1,10,1.0,0\n",
		"toy/scalability-x.csv.gz": "num_nodes,num_replicas,local_bsz,step_time,sync_time\n1,1,10,1,0\n",
		"toy/validation-10.csv.gz": "progress,iteration,metric,grad_sqr,grad_var\n100,100,0,1,3\n200,200,0,1,5\n",
	} {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		if _, err := z.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		files[name] = &fstest.MapFile{Data: b.Bytes()}
	}
	a, err := measured.Read(files, measured.Spec{Name: "toy", Epochs: 2, Types: map[string]string{"T4": "-x"}, Restore: 36 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	g := &ground{applications: map[string]*measured.Application{"toy": a}, kinds: kindsOf(), alone: map[lonely]float64{}}
	if got, want := g.hours("toy", g.kinds[0], 1), (36+200.0)/3600; math.Abs(got-want) > 1e-9 {
		t.Errorf("%g h alone, want %g", got, want)
	}
	if got := g.hours("toy", g.kinds[1], 1); !math.IsInf(got, 1) {
		t.Errorf("%g h where it was not measured", got)
	}
}

// A measure beside the first one comes from the same run, is judged by its own tolerance,
// and is read again; a record without it is run again.
func TestMeasuresBesideComeFromTheSameRun(t *testing.T) {
	data, out := someData(t), t.TempDir()
	plain := some("a")
	if _, _, told := written(t, config{data: data, out: out}, plain); strings.Count(told, " rounds, ") != 2 {
		t.Error(told)
	}
	e := some("a")
	e.Beside = []further{{Measure: makespan, Published: []float64{100, 200}, Tolerance: tolerance{Rel: 10}, Why: "none."}}
	page, csv, told := written(t, config{data: data, out: out, missing: true}, e)
	for _, want := range []string{"4 of 4 published numbers", "| 10 jobs/h: makespan, h | 0 | 100 |", "Makespan, h: none. Tolerance ± 1000 %."} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in\n%s", want, page)
		}
	}
	if strings.Count(told, " rounds, ") != 2 || strings.Count(csv, `"makespan, h"`) != 2 {
		t.Errorf("%s\n%s", told, csv)
	}
	if again, _, told := written(t, config{data: data, out: out, missing: true}, e); again != page || told != "" {
		t.Errorf("it was run again: %s", told)
	}
	e.Beside[0].Tolerance = tolerance{Rel: 1e-6}
	if err := replayThese(context.Background(), &strings.Builder{}, config{data: data, out: out, missing: true}, []experiment{e}); err != errMissed {
		t.Errorf("%v, want %v", err, errMissed)
	}
	for field, b := range map[string]further{
		"beside[0].measure":   {Measure: lateShare, Why: "none"},
		"beside[0].published": {Measure: makespan, Why: "none", Published: []float64{1}},
		"beside[0].tolerance": {Measure: makespan, Why: "none", Published: []float64{1, 2}},
		"beside[0].why":       {Measure: makespan},
	} {
		e.Beside = []further{b}
		if err := e.validate(); err == nil || !strings.Contains(err.Error(), field) {
			t.Errorf("%v, want one of %s", err, field)
		}
	}
}
