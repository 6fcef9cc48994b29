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

	"github.com/goodfleet/goodfleet/planner/numeral"
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
// absent. Accelerators are named as written, but for Gavel's k80, p100 and v100.
// ReadTable returns a *RowError for a value that is negative, NaN or
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
	t := tableReader{
		file: name, value: value, columns: columns, bySteps: bySteps,
		table: &Table{profiles: make(map[string]Profile)}, seen: make(map[rowKey]bool),
	}
	for {
		t.record, err = rows.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		t.line, _ = rows.FieldPos(0)
		if err := t.add(); err != nil {
			return nil, err
		}
	}
	slices.Sort(t.table.names)
	return t.table, nil
}

// tableReader is a table on its way in, and the row that is read.
type tableReader struct {
	file, value string
	columns     map[string]int
	bySteps     bool
	record      []string
	line        int

	table *Table
	seen  map[rowKey]bool
}

// rowKey tells rows apart, those too that say that a job does not fit.
type rowKey struct {
	job string
	cell
}

func (t *tableReader) field(column string) string { return strings.Clone(t.record[t.columns[column]]) }

func (t *tableReader) refuse(column, reason string) error {
	return &RowError{File: t.file, Line: t.line, Column: column, Reason: fmt.Sprintf("%q: %s", t.field(column), reason)}
}

// positive reads a whole number of at least one.
func (t *tableReader) positive(column string) (int, error) {
	n, err := strconv.Atoi(t.field(column))
	if err != nil || n < 1 {
		return 0, t.refuse(column, "want a positive whole number")
	}
	return n, nil
}

// samplesPerSec reads the value; 0: the job does not fit.
func (t *tableReader) samplesPerSec(batch int) (float64, error) {
	text := t.field(t.value)
	if text == "" {
		return 0, nil
	}
	perSec, err := numeral.Parse(text)
	if errors.Is(err, numeral.ErrSmall) || errors.Is(err, numeral.ErrLarge) {
		return 0, t.refuse(t.value, err.Error())
	}
	if err != nil || perSec < 0 {
		return 0, t.refuse(t.value, "want a positive number, or 0 or nothing where the job does not fit")
	}
	if t.bySteps {
		perSec *= float64(batch)
	}
	if math.IsInf(perSec, 0) {
		return 0, t.refuse(t.value, "is out of range as samples per second")
	}
	return perSec, nil
}

// gavelNames are the accelerators that Gavel's tables write their own way.
var gavelNames = map[string]string{"k80": "K80", "p100": "P100", "v100": "V100"}

// add puts the row into the table.
func (t *tableReader) add() error {
	job, batch := t.field(modelColumn), 1
	if job == "" {
		return t.refuse(modelColumn, "is empty")
	}
	if t.field(batchColumn) != "" {
		n, err := t.positive(batchColumn)
		if err != nil {
			return err
		}
		batch, job = n, JobType(job, n)
	}
	replicas, err := t.positive(scaleColumn)
	if err != nil {
		return err
	}
	worker, spread := strings.CutSuffix(t.field(workerColumn), spreadSuffix)
	if worker == "" {
		return t.refuse(workerColumn, "names no accelerator")
	}
	if name, ok := gavelNames[worker]; ok {
		worker = name
	}
	perSec, err := t.samplesPerSec(batch)
	if err != nil {
		return err
	}
	if spread && replicas == 1 {
		return nil // the same measurement again: one replica is on one machine
	}
	key := rowKey{job, cell{worker, replicas, spread}}
	if t.seen[key] {
		return t.refuse(workerColumn, fmt.Sprintf("%s with scale factor %d is given twice", job, replicas))
	}
	t.seen[key] = true
	profile, known := t.table.profiles[job]
	if !known {
		profile = Profile{name: job, cells: make(map[cell]speed)}
		t.table.profiles[job], t.table.names = profile, append(t.table.names, job)
	}
	if perSec > 0 {
		profile.cells[key.cell] = speed{samplesPerSec: perSec}
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
