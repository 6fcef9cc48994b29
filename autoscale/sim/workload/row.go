package workload

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/goodfleet/goodfleet/planner/numeral"
	"github.com/goodfleet/goodfleet/planner/throughput"
)

// row is a line of a trace while it is read: it keeps the first thing that is wrong.
type row struct {
	file   string
	line   int
	fields []string
	err    error
}

func newRow(file string, line int, fields []string) *row {
	return &row{file: file, line: line, fields: fields}
}

func (f *row) fail(column, reason string) {
	if f.err == nil {
		f.err = &throughput.RowError{File: f.file, Line: f.line, Column: column, Reason: reason}
	}
}

// text is a field that may not be empty.
func (f *row) text(i int, column string) string {
	if i >= len(f.fields) || strings.TrimSpace(f.fields[i]) == "" {
		f.fail(column, "is missing")
		return ""
	}
	text := strings.TrimSpace(f.fields[i])
	if strings.ContainsFunc(text, unicode.IsControl) || !utf8.ValidString(text) {
		f.fail(column, fmt.Sprintf("%+q: want text without control characters", text))
		return ""
	}
	return strings.Clone(text)
}

// number is a finite number.
func (f *row) number(i int, column string) float64 {
	text := f.text(i, column)
	v, err := numeral.Parse(text)
	if text != "" && err != nil {
		f.fail(column, fmt.Sprintf("%q: %v", text, err))
	}
	return v
}

// positive is a number over 0.
func (f *row) positive(i int, column string) float64 {
	v := f.number(i, column)
	if !(v > 0) {
		f.fail(column, fmt.Sprintf("%g: want more than 0", v))
	}
	return v
}

// whole is a whole number of at least 0.
func (f *row) whole(i int, column string) int {
	v := f.number(i, column)
	if v < 0 || v > 1e9 || v != math.Trunc(v) {
		f.fail(column, fmt.Sprintf("%g: want a whole number of at least 0", v))
		return 0
	}
	return int(v)
}

// mostReplicas is more accelerators than a job has.
const mostReplicas = 100_000

// count is a whole number of at least 1.
func (f *row) count(i int, column string) int {
	n := f.whole(i, column)
	if n < 1 || n > mostReplicas {
		f.fail(column, fmt.Sprintf("%d: want 1 to %d", n, mostReplicas))
		return 1
	}
	return n
}

// eachRecord reads the given columns of a CSV, wherever they stand, row by row; the row
// has them in the order in which they were asked for.
func eachRecord(name string, r io.Reader, columns []string, use func(f *row) error) error {
	rows := csv.NewReader(r)
	header, err := rows.Read()
	if err != nil {
		return fmt.Errorf("%s: header: %w", name, err)
	}
	for i, column := range header {
		if slices.Contains(header[:i], column) {
			return &throughput.RowError{File: name, Line: 1, Column: column, Reason: "is there twice"}
		}
	}
	at := make([]int, len(columns))
	for i, column := range columns {
		if at[i] = slices.Index(header, column); at[i] < 0 {
			return &throughput.RowError{File: name, Line: 1, Column: column, Reason: "is missing"}
		}
	}
	for {
		record, err := rows.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		line, _ := rows.FieldPos(0)
		fields := make([]string, len(columns))
		for i, column := range at {
			fields[i] = record[column]
		}
		switch err := use(newRow(name, line, fields)); {
		case errors.Is(err, errEnough):
			return nil
		case err != nil:
			return err
		}
	}
}
