package throughput

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Pairs is the measured speeds of two job types that share the same accelerators. It does not
// change once read; nil knows of none.
type Pairs struct{ samplesPerSec map[pairKey]float64 }

// pairKey is what the speed of a job beside another is looked up by.
type pairKey struct {
	job, with, accelerator string
	replicas               int
}

// PairError is an entry of a table of pairs that cannot be used.
type PairError struct {
	File   string
	Path   string // worker type, job type, other job type
	Reason string
}

// Error names the file, the path and the reason.
func (e *PairError) Error() string { return fmt.Sprintf("%s: %s: %s", e.File, e.Path, e.Reason) }

// A job type of Gavel's tables, with its scale factor; and the batch in the name of one.
var (
	typeAndScale = regexp.MustCompile(`^\('(.+)', ([1-9][0-9]{0,3})\)$`)
	batchOfType  = regexp.MustCompile(` \(batch size ([1-9][0-9]{0,8})\)$`)
)

// alone is under which key a table has the speed without another job.
const alone = "null"

// ReadPairs reads the table of Gavel's simulations as it is published: JSON, by worker type, job
// type with scale factor, and the same of another job, the steps per second of both, each of all
// its replicas. What they do alone is not read; workers spread over machines are left out, for
// Gavel never looks at them. Steps become samples as in ReadTable. A pair of which one does
// nothing does not fit and is absent.
//
// ReadPairs returns a *PairError for the first entry, by path, that is no pair of speeds, that
// pairs gangs of unlike size, or that says otherwise than the entry of the two the other way
// round. name is for errors.
func ReadPairs(name string, r io.Reader) (*Pairs, error) {
	var table map[string]map[string]map[string]json.RawMessage
	if err := json.NewDecoder(r).Decode(&table); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	p := &Pairs{samplesPerSec: map[pairKey]float64{}}
	for _, worker := range slices.Sorted(maps.Keys(table)) {
		if strings.HasSuffix(worker, spreadSuffix) {
			continue
		}
		accelerator := worker
		if own, ok := gavelNames[worker]; ok {
			accelerator = own
		}
		for _, job := range slices.Sorted(maps.Keys(table[worker])) {
			for _, with := range slices.Sorted(maps.Keys(table[worker][job])) {
				if with == alone {
					continue
				}
				if reason := p.add(accelerator, job, with, table[worker][job][with]); reason != "" {
					return nil, &PairError{File: name, Path: strings.Join([]string{worker, job, with}, ", "), Reason: reason}
				}
			}
		}
	}
	return p, nil
}

// add takes an entry in, or says what is wrong with it.
func (p *Pairs) add(accelerator, job, with string, entry json.RawMessage) (reason string) {
	a, b := typeAndScale.FindStringSubmatch(job), typeAndScale.FindStringSubmatch(with)
	switch {
	case a == nil || b == nil:
		return `want job types like "('A3C', 1)"`
	case a[2] != b[2]:
		return fmt.Sprintf("gangs of %s and of %s: want two of one size", a[2], b[2])
	}
	var speeds []float64
	if err := json.Unmarshal(entry, &speeds); err != nil || len(speeds) != 2 {
		return fmt.Sprintf("%s: want the steps per second of both", entry)
	}
	replicas, _ := strconv.Atoi(a[2]) // at most four digits
	fits := speeds[0] != 0 && speeds[1] != 0
	for i, x := range [][2]string{{a[1], b[1]}, {b[1], a[1]}} {
		perSec := speeds[i] * float64(batchOf(x[0]))
		if speeds[i] < 0 || math.IsInf(perSec, 0) {
			return fmt.Sprintf("%s: want speeds of at least 0, in range as samples per second", entry)
		}
		if !fits {
			perSec = 0
		}
		key := pairKey{x[0], x[1], accelerator, replicas}
		if was, told := p.samplesPerSec[key]; told && was != perSec {
			return fmt.Sprintf("%s: another entry of these two says otherwise", entry)
		}
		p.samplesPerSec[key] = perSec
	}
	return ""
}

// batchOf is the batch size in the name of a job type, 1 where there is none.
func batchOf(job string) int {
	m := batchOfType.FindStringSubmatch(job)
	if m == nil {
		return 1
	}
	n, _ := strconv.Atoi(m[1]) // at most nine digits
	return n
}

// Beside is what a job does on replicas accelerators while another has the same: samples per
// second of all replicas. ok is false where the two do not fit together, or nothing is known.
func (p *Pairs) Beside(job, with, accelerator string, replicas int) (samplesPerSec float64, ok bool) {
	if p == nil {
		return 0, false
	}
	v := p.samplesPerSec[pairKey{job, with, accelerator, replicas}]
	return v, v > 0
}
