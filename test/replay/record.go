package main

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
)

// key is what a measure of a run is recorded under.
type key struct {
	experiment, point, ablation, measure string
	seed                                 int
}

func (r *row) key(i int) key {
	return key{r.experiment.Name, r.point.at(), r.ablation, r.measure, r.point.seeds()[i]}
}

// curveKey is what the curves of a run are recorded under, of no one measure.
func (r *row) curveKey(i int) key {
	k := r.key(i)
	k.measure = ""
	return k
}

// recordsIn is the file of runs in a folder.
func recordsIn(folder string) string { return filepath.Join(folder, "replay.csv") }

// columns of the file of runs.
var columns = []string{"experiment", "point", "seed", "ablation", "measure", "published", "peer", "ours", "tolerance", "verdict", "rounds", "hash", "command"}

// Places of what is read again.
const (
	atExperiment, atPoint, atSeed, atAblation, atMeasure = 0, 1, 2, 3, 4
	atOurs, atRounds, atHash                             = 7, 10, 11
)

// table is one line a measure of a run, for programs. Published number, peer's number and verdict
// are those of the point, over all its seeds.
func table(rows []*row) []byte {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	_ = w.Write(columns) // a buffer never fails
	for _, r := range rows {
		e := r.experiment
		for i, x := range r.results {
			v, ok := r.value(x)
			if !ok {
				continue
			}
			k := r.key(i)
			_ = w.Write([]string{
				k.experiment, k.point, strconv.Itoa(k.seed), k.ablation, k.measure, exact(r.point.Published), exact(r.point.Peer),
				strconv.FormatFloat(v, 'f', valueDigits, 64), r.tolerance.String(), r.verdict(), strconv.FormatInt(x.rounds, 10), x.hash, commandOf(e),
			})
		}
	}
	w.Flush()
	return b.Bytes()
}

// valueDigits are the digits of a value after its point, in the file and from the start:
// what is read again is what was run.
const valueDigits = 6

// exact is a number as it was given, and nothing for none.
func exact(v float64) string {
	if v == 0 {
		return ""
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// commandOf runs an experiment again.
func commandOf(e *experiment) string { return "make replay ONLY=" + e.Name }

// readRecords reads a file of runs.
func readRecords(name string) (map[key]result, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return parseRecords(name, f)
}

func parseRecords(name string, r io.Reader) (map[key]result, error) {
	lines, err := csv.NewReader(r).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(lines) == 0 || !slices.Equal(lines[0], columns) {
		return nil, fmt.Errorf("%s: want the columns %v", name, columns)
	}
	held := make(map[key]result, len(lines))
	for i, f := range lines[1:] {
		seed, err := strconv.Atoi(f[atSeed])
		if err != nil {
			return nil, fmt.Errorf("%s:%d: seed: %w", name, i+2, err)
		}
		x := result{hash: f[atHash]}
		if x.value, err = strconv.ParseFloat(f[atOurs], 64); err != nil {
			return nil, fmt.Errorf("%s:%d: ours: %w", name, i+2, err)
		}
		if x.rounds, err = strconv.ParseInt(f[atRounds], 10, 64); err != nil || x.rounds < 1 {
			return nil, fmt.Errorf("%s:%d: rounds %q: want a number of at least 1", name, i+2, f[atRounds])
		}
		k := key{f[atExperiment], f[atPoint], f[atAblation], f[atMeasure], seed}
		if held[k].known() {
			return nil, fmt.Errorf("%s:%d: this run is told twice", name, i+2)
		}
		held[k] = x
	}
	return held, nil
}

// driftRel is how far from the recorded one a value may lie, relative to it, where a
// measure has no tolerance to both sides; driftLate the same of shares of jobs, which are
// few, in points.
const (
	driftRel  = 0.05
	driftLate = 2
)

// drift is how far a value may lie from the recorded one, to either side.
func (r *row) drift() tolerance {
	switch {
	case r.measure == lateShare:
		return tolerance{Abs: driftLate}
	case r.measure == worstRho: // of one job
		return tolerance{Rel: 3 * driftRel}
	case r.shown || r.tolerance.BetterFree:
		return tolerance{Rel: driftRel}
	}
	return r.tolerance
}

// compare tells which runs end otherwise than they are recorded in a file. Another hash is
// no error, a value that lies farther from the recorded one than drift is.
func compare(tell io.Writer, name string, rows []*row) error {
	held, err := readRecords(name)
	if err != nil {
		return err
	}
	same, other := 0, 0
	var far []string
	for _, r := range rows {
		for i, x := range r.results {
			k := r.key(i)
			was, ok := held[k]
			v, told := r.value(x)
			if !ok || !told {
				continue
			}
			if was.value == v && was.rounds == x.rounds && was.hash == x.hash {
				same++
				continue
			}
			other++
			run := fmt.Sprintf("%s %s seed %d %s: %s %.4f, recorded as %.4f", k.experiment, k.point, k.seed, k.ablation, k.measure, v, was.value)
			fmt.Fprintln(tell, run)
			if drift := r.drift(); !drift.holds(v, was.value) {
				far = append(far, fmt.Sprintf("%s, want %s", run, drift))
			}
		}
	}
	fmt.Fprintf(tell, "%d runs end as recorded in %s, %d otherwise\n", same, name, other)
	if len(far) > 0 {
		return fmt.Errorf("%s: %d runs lie far from what is recorded, first %s", name, len(far), far[0])
	}
	return nil
}
