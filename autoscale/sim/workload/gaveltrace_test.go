package workload

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/goodfleet/goodfleet/planner/throughput"
)

var day = time.Date(2020, time.November, 4, 0, 0, 0, 0, time.UTC)

const (
	newLine = "LM (batch size 10)\tcommand\tfolder\t--steps\t1\t4000\t2\t5\t1.2\t60.5\n"
	oldLine = "A3C\tcommand\t-n\t1\t10000\t6.000000\t1\n"
)

func TestReadGavelTraceReadsBothLayouts(t *testing.T) {
	jobs, err := ReadGavelTrace("x.trace", strings.NewReader(newLine+oldLine+"\n"), day)
	if err != nil {
		t.Fatal(err)
	}
	if len(jobs) != 2 || jobs[0].Family != "A3C" {
		t.Fatalf("%d jobs, the first %+v: want 2 by arrival", len(jobs), jobs[0])
	}
	old, lm := jobs[0], jobs[1]
	if old.Work.Samples != 10000 || old.Submitted != day.Add(6*time.Second) || old.Weight != 0 || !old.Deadline.IsZero() {
		t.Errorf("A3C: %+v", old)
	}
	if lm.Work.Samples != 40000 || lm.Submitted != day.Add(60500*time.Millisecond) || lm.Weight != 5 || lm.Resources.Replicas.Set[0] != 2 {
		t.Errorf("LM: %+v", lm)
	}
	v100, ok := lm.Curve.Speed("V100", 1, 2)
	spread, _ := lm.Curve.Speed("V100", 2, 2)
	if !ok || v100 != spread {
		t.Errorf("2 V100: %v on one machine, %v on two: want the same", v100, spread)
	}
	if got, want := lm.Deadline.Sub(lm.Submitted).Hours(), 1.2*40000/v100.Goodput; math.Abs(got-want) > 1e-9 {
		t.Errorf("deadline after %g h, want %g", got, want)
	}
}

func TestReadGavelTraceNamesTheRow(t *testing.T) {
	for name, tt := range map[string]struct {
		line, column string
	}{
		"unknown model": {strings.Replace(oldLine, "A3C", "A4C", 1), "job type"},
		"no steps":      {strings.Replace(oldLine, "10000", "0", 1), "total steps"},
		"half a worker": {strings.Replace(oldLine, "\t1\n", "\t0.5\n", 1), "scale factor"},
		"NaN arrival":   {strings.Replace(oldLine, "6.000000", "NaN", 1), "arrival time"},
		"before start":  {strings.Replace(oldLine, "6.000000", "-6", 1), "arrival time"},
		"milliseconds":  {strings.Replace(newLine, "60.5", "1604448000000", 1), "arrival time"},
		"commas":        {strings.ReplaceAll(oldLine, "\t", ","), "fields"},
		"weight 0":      {strings.Replace(newLine, "\t5\t", "\t0\t", 1), "priority weight"},
	} {
		_, err := ReadGavelTrace("x.trace", strings.NewReader(oldLine+tt.line), day)
		var row *throughput.RowError
		if !errors.As(err, &row) || row.File != "x.trace" || row.Line != 2 || row.Column != tt.column {
			t.Errorf("%s: %v, want line 2, %s", name, err, tt.column)
		}
	}
}

const stream = "job,unit_arrival,model,scale_factor,total_steps,other\n0,0,A3C,1,100.5,x\n1,0.5,LM (batch size 5),4,7,x\n2,2.25,A3C,1,1,x\n"

func TestReadGavelStreamScalesArrivals(t *testing.T) {
	for _, tt := range []struct {
		s    Stream
		want []time.Duration
	}{
		{Stream{PerHour: 2}, []time.Duration{0, 15 * time.Minute, 67*time.Minute + 30*time.Second}},
		{Stream{PerHour: 0.5, Jobs: 2}, []time.Duration{0, time.Hour}},
		{Stream{}, []time.Duration{0, 0, 0}},
	} {
		jobs, err := ReadGavelStream("x.csv", strings.NewReader(stream), tt.s, day)
		if err != nil {
			t.Fatal(err)
		}
		var got []time.Duration
		for _, j := range jobs {
			got = append(got, j.Submitted.Sub(day))
		}
		if fmt.Sprint(got) != fmt.Sprint(tt.want) {
			t.Errorf("%+v: arrivals %v, want %v", tt.s, got, tt.want)
		}
		if jobs[1].ID != "000001" || jobs[1].Work.Samples != 35 {
			t.Errorf("%+v: the second job is %+v", tt.s, jobs[1])
		}
	}
}

func FuzzReadGavelTrace(f *testing.F) {
	f.Add(newLine + oldLine)
	f.Add("\t\t\t\t\t\t")
	f.Fuzz(func(t *testing.T, text string) {
		jobs, err := ReadGavelTrace("x", strings.NewReader(text), day)
		if err != nil {
			return
		}
		for i, j := range jobs {
			if !(j.Work.Samples > 0) || math.IsInf(j.Work.Samples, 0) || j.Submitted.Before(day) || i > 0 && j.Submitted.Before(jobs[i-1].Submitted) {
				t.Errorf("job %d: %+v", i, j)
			}
		}
	})
}

func FuzzReadGavelStream(f *testing.F) {
	f.Add(stream, 2.0)
	f.Fuzz(func(t *testing.T, text string, perHour float64) {
		jobs, err := ReadGavelStream("x", strings.NewReader(text), Stream{PerHour: perHour}, day)
		if err != nil {
			return
		}
		for _, j := range jobs {
			if !(j.Work.Samples > 0) || math.IsInf(j.Work.Samples, 0) || j.Submitted.Before(day) || j.Resources.Replicas.Set[0] < 1 {
				t.Errorf("%+v", j)
			}
		}
	})
}
