package goodput

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/goodfleet/goodfleet/planner/numeral"
)

// RowError is a row of a file of samples that cannot be used.
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

// TypeSamples are the samples of a file on one accelerator type.
type TypeSamples struct {
	Accelerator string
	Kind        string
	Samples     []Sample
}

// Columns of a file of samples.
const (
	acceleratorColumn = "accelerator"
	kindColumn        = "kind"
	countColumn       = "count"
)

var (
	wholeColumns   = []string{"nodes", "replicas", "atomic_bsz"}
	secondsColumns = []string{"accum_time", "optim_time"}
	neededColumns  = slices.Concat([]string{acceleratorColumn}, wholeColumns, secondsColumns)
)

// ReadSamples reads measured pass times from a CSV with the columns accelerator,
// nodes, replicas, atomic_bsz (samples of a pass on a replica), accum_time and
// optim_time (seconds of a pass without and with synchronization), in any order,
// and at will kind (gpu, as if absent, or tpu) and count (passes behind the
// means). Types come in the order of their first rows. name is for errors: it
// returns a *RowError for the first row that cannot be used.
func ReadSamples(name string, r io.Reader) ([]TypeSamples, error) {
	rows := csv.NewReader(r)
	header, err := rows.Read()
	if err != nil {
		if errors.Is(err, io.EOF) {
			err = ErrNoSamples
		}
		return nil, fmt.Errorf("%s: header: %w", name, err)
	}
	for i, column := range header {
		header[i] = strings.TrimSpace(strings.TrimPrefix(column, "\ufeff"))
		if !slices.Contains(neededColumns, header[i]) && header[i] != kindColumn && header[i] != countColumn {
			return nil, &RowError{name, 1, column, "unknown column: want " + strings.Join(neededColumns, ", ") + ", and at will kind and count"}
		}
		if slices.Contains(header[:i], header[i]) {
			return nil, &RowError{name, 1, column, "is given twice"}
		}
	}
	for _, column := range neededColumns {
		if !slices.Contains(header, column) {
			return nil, &RowError{name, 1, column, "is missing"}
		}
	}
	var list []TypeSamples
	for {
		record, err := rows.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		line, _ := rows.FieldPos(0)
		fields := make(map[string]string, len(header))
		for i, column := range header {
			fields[column] = strings.TrimSpace(record[i])
		}
		kind, s, err := readSample(name, line, fields)
		if err != nil {
			return nil, err
		}
		accelerator := fields[acceleratorColumn]
		i := slices.IndexFunc(list, func(t TypeSamples) bool { return t.Accelerator == accelerator })
		if i < 0 {
			i = len(list)
			list = append(list, TypeSamples{Accelerator: accelerator, Kind: kind})
		}
		if list[i].Kind != kind {
			return nil, &RowError{name, line, kindColumn, fmt.Sprintf("%q: %s was %q before", kind, accelerator, list[i].Kind)}
		}
		list[i].Samples = append(list[i].Samples, s)
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s: %w", name, ErrNoSamples)
	}
	return list, nil
}

func readSample(name string, line int, fields map[string]string) (kind string, s Sample, err error) {
	refuse := func(column, reason string) (string, Sample, error) {
		return "", Sample{}, &RowError{name, line, column, reason}
	}
	if fields[acceleratorColumn] == "" {
		return refuse(acceleratorColumn, "is empty")
	}
	if name := fields[acceleratorColumn]; strings.ContainsFunc(name, unicode.IsControl) {
		return refuse(acceleratorColumn, fmt.Sprintf("%+q: want text without control characters", name))
	}
	if kind = fields[kindColumn]; kind == "" {
		kind = KindGPU
	}
	if kind != KindGPU && kind != KindTPU {
		return refuse(kindColumn, fmt.Sprintf("%q: want gpu or tpu", kind))
	}
	whole := []*int{&s.Nodes, &s.Replicas, &s.AtomicBatch}
	for i, column := range wholeColumns {
		if *whole[i], err = strconv.Atoi(fields[column]); err != nil {
			return refuse(column, fmt.Sprintf("%q: want a whole number", fields[column]))
		}
	}
	if text := fields[countColumn]; text != "" {
		if s.Count, err = strconv.Atoi(text); err != nil || s.Count < 1 {
			return refuse(countColumn, fmt.Sprintf("%q: want a positive whole number", text))
		}
	}
	seconds := []*float64{&s.AccumSec, &s.OptimSec}
	for i, column := range secondsColumns {
		if *seconds[i], err = numeral.Parse(fields[column]); err != nil {
			return refuse(column, fmt.Sprintf("%q: %v", fields[column], err))
		}
	}
	if field, reason := s.check(); field != "" {
		return refuse(field, reason)
	}
	return kind, s, nil
}
