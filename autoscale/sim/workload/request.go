package workload

import (
	"fmt"
	"io"
	"slices"
	"time"
)

// Request is a job as the workloads of Pollux and Sia tell it: which of their
// applications, and what its user asks for.
type Request struct {
	Name        string // unique in its workload
	Application string
	Submitted   time.Time
	Replicas    int // accelerators
	Batch       int // samples of a step, all replicas together
}

// requestColumns are those of workloads of Pollux and Sia.
var requestColumns = []string{"name", "time", "application", "num_replicas", "batch_size"}

// ReadRequests reads a workload in the layout of Pollux and of Sia: a CSV with the
// columns name, time (seconds after start), application, num_replicas and batch_size.
// applications, if given, are those that there are. Requests come in order of
// submission. What is wrong is a *throughput.RowError.
func ReadRequests(name string, r io.Reader, start time.Time, applications []string) ([]Request, error) {
	var list []Request
	seen := map[string]bool{}
	err := eachRecord(name, r, requestColumns, func(f *row) error {
		q := Request{
			Name: f.text(0, "name"), Application: f.text(2, "application"),
			Replicas: f.count(3, "num_replicas"), Batch: f.count(4, "batch_size"),
		}
		sec := f.number(1, "time")
		at, ok := after(start, sec)
		switch {
		case !ok:
			f.fail("time", fmt.Sprintf("%g s: want 0 to ten years", sec))
		case seen[q.Name]:
			f.fail("name", fmt.Sprintf("%q is given twice", q.Name))
		case len(applications) > 0 && !slices.Contains(applications, q.Application):
			f.fail("application", fmt.Sprintf("%q: want one of %v", q.Application, applications))
		case q.Batch < q.Replicas:
			f.fail("batch_size", fmt.Sprintf("%d: less than one sample on each of %d replicas", q.Batch, q.Replicas))
		}
		q.Submitted, seen[q.Name] = at, true
		list = append(list, q)
		return f.err
	})
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s: no jobs", name)
	}
	slices.SortStableFunc(list, func(a, b Request) int { return a.Submitted.Compare(b.Submitted) })
	return list, nil
}
