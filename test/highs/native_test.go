package highs

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/goodfleet/goodfleet/planner/block"
)

// native is HiGHS as its authors build it, run by native.py in the virtual environment that
// GOODFLEET_HIGHSPY names.
type native struct{ python, folder string }

func newNative(tb testing.TB) native {
	tb.Helper()
	env := os.Getenv("GOODFLEET_HIGHSPY")
	if env == "" {
		tb.Fatal("GOODFLEET_HIGHSPY is not set: want the folder of a virtual environment with highspy")
	}
	return native{filepath.Join(env, "bin", "python"), tb.TempDir()}
}

// write puts a program to be maximised into a file, as native.py reads it.
func (n native) write(p *Program) (string, error) {
	var b bytes.Buffer
	for _, part := range []any{[]int64{int64(len(p.Cost)), int64(len(p.RowLower)), int64(len(p.Index))},
		p.Cost, p.Lower, p.Upper, p.RowLower, p.RowUpper, p.Value, p.Start, p.Index} {
		if err := binary.Write(&b, binary.LittleEndian, part); err != nil {
			return "", err
		}
	}
	name := filepath.Join(n.folder, "program")
	return name, os.WriteFile(name, b.Bytes(), 0o600)
}

// run is what native HiGHS took.
type run struct {
	seconds   float64 // of CPU, median
	objective float64
	stopped   bool // at the limit of seconds
}

// solve runs the method nativeRuns times, each for limit seconds of wall time at most.
func (n native) solve(program, method string, limit float64) (run, error) {
	out, err := exec.Command(n.python, "native.py", program, method, fmt.Sprint(nativeTol), fmt.Sprint(nativeRuns), fmt.Sprint(limit)).Output()
	if err != nil {
		return run{}, fmt.Errorf("native HiGHS, %s: %w", method, err)
	}
	var r run
	var list []float64
	for line := range strings.Lines(string(out)) {
		fields, ok := strings.CutPrefix(line, "run ")
		if !ok {
			continue // HiGHS greets
		}
		var s float64
		var status string
		if _, err := fmt.Sscan(fields, &s, &r.objective, &status); err != nil {
			return run{}, fmt.Errorf("native HiGHS, %s: answers %q: %w", method, line, err)
		}
		r.stopped = status == "Time-limit-reached"
		if status != "Optimal" && !r.stopped {
			return run{}, fmt.Errorf("native HiGHS, %s: ends with %s", method, status)
		}
		list = append(list, s)
	}
	if len(list) != nativeRuns && !r.stopped {
		return run{}, fmt.Errorf("native HiGHS, %s: %d runs of %d", method, len(list), nativeRuns)
	}
	slices.Sort(list)
	r.seconds = list[len(list)/2]
	return r, nil
}

// BenchmarkNative prints CPU seconds of ours and of native HiGHS on one thread, by the
// simplex method and by the interior point method without crossover, whose better counts.
func BenchmarkNative(b *testing.B) {
	n := newNative(b)
	for _, c := range []struct{ jobs, types int }{{512, 3}, {2048, 3}, {2048, 30}, {10000, 30}} {
		for _, level := range []bool{true, false} {
			name := "min-cost"
			if level {
				name = "max-min"
			}
			b.Run(fmt.Sprintf("%s/%dx%d", name, c.jobs, c.types), func(b *testing.B) {
				p := fleet(c.jobs, c.types, 1, level)
				file, err := n.write(general(p))
				if err != nil {
					b.Fatal(err)
				}
				for range b.N {
					n.compare(b, p, file)
				}
			})
		}
	}
}

func (n native) compare(b *testing.B, p *block.Program, file string) {
	var s block.Solution
	coarse := median(nativeRuns, func() { s = block.Solve(p, block.Options{Gap: 1e-4}) })
	fine := median(nativeRuns, func() { s = block.Solve(p, block.Options{Gap: 1e-6}) })
	b.ReportMetric(s.Gap, "gap@1e-6")
	b.ReportMetric(coarse, "cpu-s@1e-4")
	b.ReportMetric(fine, "cpu-s@1e-6")
	best, limit := math.Inf(1), math.Inf(1)
	for _, method := range []string{"ipm", "simplex"} {
		r, err := n.solve(file, method, limit)
		if err != nil {
			b.Fatal(err)
		}
		if r.stopped { // and so it is not the better
			b.Logf("simplex is stopped after %.0f s, at least %d times what the interior point method takes", limit, nativePatience)
			continue
		}
		if math.Abs(r.objective-s.Objective) > 1e-5*math.Abs(s.Objective) {
			b.Errorf("native HiGHS, %s, finds %g, ours %g", method, r.objective, s.Objective)
		}
		b.ReportMetric(r.seconds, method+"-cpu-s")
		best = min(best, r.seconds)
		limit = nativePatience * max(1, r.seconds)
	}
	b.ReportMetric(best/coarse, "times@1e-4")
	b.ReportMetric(best/fine, "times@1e-6")
}

const (
	nativeRuns     = 3    // of which the median counts
	nativeTol      = 1e-6 // of the interior point method: what ours is asked for
	nativePatience = 5    // times what the interior point method takes, after which simplex is stopped
)
