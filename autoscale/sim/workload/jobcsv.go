package workload

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/planner/throughput"
)

// Columns of a workload of our own as a CSV. The first are required.
var (
	jobColumns  = []string{"job", "submitted", "type", "replicas", "samples"}
	moreColumns = []string{"team", "weight", "deadline"}
)

// ReadJobs reads a workload as a CSV with the columns job (its name), submitted (RFC
// 3339), type (a job type of Gavel's table, such as "LM (batch size 20)"), replicas and
// samples and, if they are there, team, weight and deadline (RFC 3339); a field of these
// may be empty. Jobs come in order of submission. What is wrong is a
// *throughput.RowError.
func ReadJobs(name string, r io.Reader) ([]*planner.Job, error) {
	curves, err := newGavelCurves(nil)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	columns := slices.Clone(jobColumns)
	header, err := csv.NewReader(bytes.NewReader(text)).Read()
	if err != nil {
		return nil, fmt.Errorf("%s: header: %w", name, err)
	}
	for _, c := range header {
		if !slices.Contains(jobColumns, c) && !slices.Contains(moreColumns, c) {
			reason := "unknown column: want " + strings.Join(jobColumns, ", ") + ", and at will " + strings.Join(moreColumns, ", ")
			return nil, &throughput.RowError{File: name, Line: 1, Column: c, Reason: reason}
		}
	}
	for _, c := range moreColumns {
		if slices.Contains(header, c) {
			columns = append(columns, c)
		}
	}
	var jobs []*planner.Job
	seen := map[string]bool{}
	err = eachRecord(name, bytes.NewReader(text), columns, func(f *row) error {
		g := gavelRow{id: f.text(0, "job"), jobType: f.text(2, "type"), scale: f.count(3, "replicas"), weight: 1, slo: -1}
		samples, submitted := f.positive(4, "samples"), f.instant(1, "submitted")
		g.steps = samples / GavelStep(g.jobType)
		job := curves.job(f, g, submitted)
		if job == nil {
			return f.err
		}
		if seen[g.id] {
			f.fail("job", fmt.Sprintf("%q is given twice", g.id))
		}
		seen[g.id] = true
		job.Work.Samples = samples
		for i, c := range columns[len(jobColumns):] {
			at := len(jobColumns) + i
			switch {
			case f.fields[at] == "":
			case c == "team":
				job.Team = f.text(at, c)
			case c == "weight":
				job.Weight = f.positive(at, c)
			case c == "deadline":
				if job.Deadline = f.instant(at, c); f.err == nil && !job.Deadline.After(job.Submitted) {
					f.fail(c, "it is before the job is submitted")
				}
			}
		}
		jobs = append(jobs, job)
		return f.err
	})
	if err != nil {
		return nil, err
	}
	return inOrder(name, jobs)
}

// instant is a time with its zone.
func (f *row) instant(i int, column string) time.Time {
	text := f.text(i, column)
	at, err := time.Parse(time.RFC3339, text)
	if text != "" && err != nil {
		f.fail(column, fmt.Sprintf("%q: want a time with its zone, as in %q", text, "2026-08-03T09:00:00Z"))
	}
	return at.UTC()
}
