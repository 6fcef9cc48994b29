package workload

import (
	"fmt"
	"io"
	"math"
	"slices"
	"time"
)

// Run is a job as a trace of a cluster tells it: when it came, how long it held how many
// GPUs, and of which part of the cluster. What it trained is not told.
type Run struct {
	Submitted time.Time
	Duration  time.Duration
	GPUs      int
	Cluster   string
}

var phillyColumns = []string{"timestamp", "duration", "num_gpus", "gpu_time", "cluster"}

// ReadPhilly reads a Philly trace in the layout of Pollux and Sia: a CSV with the
// columns timestamp ("2017-10-09 07:01:55", taken as UTC), duration (s), num_gpus,
// gpu_time (s, the product of the two: a row in which it is not has another unit
// somewhere) and cluster. Runs come in order of submission. What is wrong is a
// *throughput.RowError.
func ReadPhilly(name string, r io.Reader) ([]Run, error) {
	var list []Run
	err := eachRecord(name, r, phillyColumns, func(f *row) error {
		run := Run{GPUs: f.count(2, "num_gpus"), Cluster: f.text(4, "cluster")}
		sec, gpuSec := f.number(1, "duration"), f.number(3, "gpu_time")
		stamp := f.text(0, "timestamp")
		at, err := time.Parse(time.DateTime, stamp)
		switch {
		case err != nil:
			f.fail("timestamp", fmt.Sprintf("%q: want a time, as in %q", stamp, time.DateTime))
		case !(sec >= 0 && sec <= longest.Seconds()):
			f.fail("duration", fmt.Sprintf("%g s: want 0 to ten years", sec))
		case math.Abs(gpuSec-sec*float64(run.GPUs)) > 1e-6*gpuSec+1:
			f.fail("gpu_time", fmt.Sprintf("%g: want %g s on %d GPUs, %g", gpuSec, sec, run.GPUs, sec*float64(run.GPUs)))
		}
		run.Submitted, run.Duration = at, time.Duration(sec*float64(time.Second))
		list = append(list, run)
		return f.err
	})
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s: no jobs", name)
	}
	slices.SortStableFunc(list, func(a, b Run) int { return a.Submitted.Compare(b.Submitted) })
	return list, nil
}
