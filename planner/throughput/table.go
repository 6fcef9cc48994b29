package throughput

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Table is the measured speeds of many job types. It does not change once read.
type Table struct {
	profiles map[string]Profile
	names    []string
}

// RowError is a row of a table that cannot be used.
type RowError struct {
	File   string
	Line   int // from 1; the header is line 1
	Column string
	Reason string
}

// Error names the file, the line, the column and the reason.
func (e *RowError) Error() string {
	return fmt.Sprintf("%s:%d: %s: %s", e.File, e.Line, e.Column, e.Reason)
}

// Columns that every table has; the value's column comes on top.
const (
	modelColumn  = "model"
	batchColumn  = "batch_size"
	scaleColumn  = "scale_factor"
	workerColumn = "worker_type"
)

// spreadSuffix marks the speed of a gang whose replicas are spread over machines.
const spreadSuffix = "_unconsolidated"

// Unit prefixes of a value's column.
const (
	stepsPerSec   = "steps_per_s"
	samplesPerSec = "samples_per_s"
)

// ReadTable reads a table in the layout that Gavel's throughputs are published
// in: a CSV with the columns model, batch_size, scale_factor (replicas),
// worker_type, and the one named value, whose unit its name begins with:
// steps_per_s, where a step is one batch on one replica, or samples_per_s. name
// is for errors.
//
// Steps become samples by the batch size. A model without one (A3C, CycleGAN)
// counts a step as one sample. A worker type with the suffix _unconsolidated
// holds for gangs over several machines, one without for gangs on one; a single
// replica is never spread.
//
// An empty value, and 0, mean that the job does not fit there: such rows are
// absent. ReadTable returns a *RowError for a value that is negative, NaN or
// infinite, for a unit that it does not know, and for a row given twice.
func ReadTable(name string, r io.Reader, value string) (*Table, error) {
	rows := csv.NewReader(r)
	rows.ReuseRecord = true
	header, err := rows.Read()
	if err != nil {
		return nil, fmt.Errorf("%s: header: %w", name, err)
	}
	columns := make(map[string]int, len(header))
	for i, column := range header {
		columns[column] = i
	}
	for _, column := range []string{modelColumn, batchColumn, scaleColumn, workerColumn, value} {
		if _, ok := columns[column]; !ok {
			return nil, &RowError{File: name, Line: 1, Column: column, Reason: "is missing"}
		}
	}
	bySteps := strings.HasPrefix(value, stepsPerSec)
	if !bySteps && !strings.HasPrefix(value, samplesPerSec) {
		return nil, &RowError{File: name, Line: 1, Column: value, Reason: "unknown unit: want a name that begins with steps_per_s or samples_per_s"}
	}
	table := &Table{profiles: make(map[string]Profile)}
	for {
		record, err := rows.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		line, _ := rows.FieldPos(0)
		field := func(column string) string { return strings.Clone(record[columns[column]]) }
		refuse := func(column, reason string) error {
			return &RowError{File: name, Line: line, Column: column, Reason: fmt.Sprintf("%q: %s", field(column), reason)}
		}
		if err := table.add(field, refuse, value, bySteps); err != nil {
			return nil, err
		}
	}
	slices.Sort(table.names)
	return table, nil
}

// add puts one row into the table.
func (t *Table) add(field func(string) string, refuse func(column, reason string) error, value string, bySteps bool) error {
	model := field(modelColumn)
	if model == "" {
		return refuse(modelColumn, "is empty")
	}
	batch, job := 1, model
	if text := field(batchColumn); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return refuse(batchColumn, "want a positive whole number, or nothing")
		}
		batch, job = n, JobType(model, n)
	}
	replicas, err := strconv.Atoi(field(scaleColumn))
	if err != nil || replicas < 1 {
		return refuse(scaleColumn, "want a positive whole number")
	}
	worker, spread := strings.CutSuffix(field(workerColumn), spreadSuffix)
	if worker == "" {
		return refuse(workerColumn, "names no accelerator")
	}
	perSec := 0.0
	if text := field(value); text != "" {
		perSec, err = strconv.ParseFloat(text, 64)
		if err != nil || math.IsNaN(perSec) || math.IsInf(perSec, 0) || perSec < 0 {
			return refuse(value, "want a positive number, or 0 or nothing where the job does not fit")
		}
	}
	if spread && replicas == 1 {
		return nil // the same measurement again: one replica is on one machine
	}
	if bySteps {
		perSec *= float64(batch)
	}
	profile, known := t.profiles[job]
	if !known {
		profile = Profile{name: job, cells: make(map[cell]speed)}
		t.profiles[job], t.names = profile, append(t.names, job)
	}
	key := cell{strings.ToUpper(worker), replicas, spread}
	if _, twice := profile.cells[key]; twice {
		return refuse(workerColumn, fmt.Sprintf("%s with scale factor %d is given twice", job, replicas))
	}
	if perSec > 0 {
		profile.cells[key] = speed{samplesPerSec: perSec}
	}
	return nil
}

// JobType is the name of a model trained at a batch size per replica, as the
// tables give it.
func JobType(model string, batch int) string {
	return fmt.Sprintf("%s (batch size %d)", model, batch)
}

// Profile is the speeds of one job type. ok is false when the table lacks it.
func (t *Table) Profile(job string) (p Profile, ok bool) {
	p, ok = t.profiles[job]
	return p, ok
}

// Names lists every job type of the table, sorted.
func (t *Table) Names() []string { return slices.Clone(t.names) }
