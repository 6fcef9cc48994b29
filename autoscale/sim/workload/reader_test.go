package workload

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/goodfleet/goodfleet/planner/throughput"
)

const (
	requests = "name,time,application,num_replicas,batch_size\nbert-1,401.5,bert,2,24\ncifar10-0,107,cifar10,6,2048\n"
	runs     = "timestamp,duration,num_gpus,gpu_time,cluster\n2017-10-09 07:01:55,66.0,2,132.0,11cb48\n"
	own      = "job,submitted,type,replicas,samples,team,deadline\na,2026-08-03T09:00:00Z,LM (batch size 20),2,40000,NLP,\nb,2026-08-03T08:00:00+02:00,A3C,1,10,,2026-08-04T00:00:00Z\n"
)

func TestReadersReadWhatThereIs(t *testing.T) {
	q, err := ReadRequests("x", strings.NewReader(requests), day, []string{"bert", "cifar10"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]Request{
		{"cifar10-0", "cifar10", day.Add(107 * time.Second), 6, 2048}, {"bert-1", "bert", day.Add(401500 * time.Millisecond), 2, 24},
	}, q); diff != "" {
		t.Error(diff)
	}
	p, err := ReadPhilly("x", strings.NewReader(runs))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]Run{{time.Date(2017, 10, 9, 7, 1, 55, 0, time.UTC), 66 * time.Second, 2, "11cb48"}}, p); diff != "" {
		t.Error(diff)
	}
	jobs, err := ReadJobs("x", strings.NewReader(own))
	if err != nil {
		t.Fatal(err)
	}
	a, b := jobs[1], jobs[0]
	if a.ID != "a" || a.Team != "NLP" || a.Work.Samples != 40000 || a.Resources.Replicas.Set[0] != 2 || !a.Deadline.IsZero() {
		t.Errorf("a: %+v", a)
	}
	if b.ID != "b" || b.Submitted != time.Date(2026, 8, 3, 6, 0, 0, 0, time.UTC) || b.Deadline.IsZero() || b.Team != "" {
		t.Errorf("b: %+v", b)
	}
}

func TestReadersNameTheRow(t *testing.T) {
	read := map[string]func(text string) error{
		"requests": func(text string) error {
			_, err := ReadRequests("x", strings.NewReader(text), day, []string{"bert", "cifar10"})
			return err
		},
		"runs": func(text string) error { _, err := ReadPhilly("x", strings.NewReader(text)); return err },
		"own":  func(text string) error { _, err := ReadJobs("x", strings.NewReader(text)); return err },
	}
	for _, tt := range []struct {
		of, text, old, put string
		line               int
		column             string
	}{
		{"requests", requests, "bert,2", "gpt,2", 2, "application"},
		{"requests", requests, "cifar10-0", "bert-1", 3, "name"},
		{"requests", requests, "107", "-1", 3, "time"},
		{"requests", requests, "401.5", "1604448000000", 2, "time"},
		{"requests", requests, ",24", ",1", 2, "batch_size"},
		{"requests", requests, ",2,24", ",2.5,24", 2, "num_replicas"},
		{"requests", requests, "time", "minutes", 1, "time"},
		{"runs", runs, "07:01:55", "07:61:55", 2, "timestamp"},
		{"runs", runs, "132.0", "2.2", 2, "gpu_time"}, // minutes
		{"runs", runs, "66.0", "-66", 2, "duration"},
		{"own", own, "LM (batch size 20)", "LM", 2, "job type"},
		{"own", own, "09:00:00Z", "09:00:00", 2, "submitted"},
		{"own", own, "b,2026-08-03T08", "a,2026-08-03T08", 3, "job"},
		{"own", own, "2026-08-04T00", "2026-08-01T00", 3, "deadline"},
		{"own", own, "40000", "NaN", 2, "samples"},
		{"own", own, "40000", "1e400", 2, "samples"},
		{"own", own, "40000", "-1", 2, "samples"},
		{"own", own, "a,2026", "a\x00b,2026", 2, "job"},
		{"own", own, "a,2026", "\"a\nb\",2026", 2, "job"},
		{"own", own, "a,2026", "a\x1b[2Jb,2026", 2, "job"},
		{"own", own, "a,2026", "a\u009bb,2026", 2, "job"},
		{"own", own, "a,2026", "a\xffb,2026", 2, "job"},
		{"own", own, "NLP", "N\x7fLP", 2, "team"},
		{"own", own, "A3C", "A3\x00C", 3, "type"},
		{"own", own, "deadline", "deadlin", 1, "deadlin"},
		{"own", own, "deadline", "team", 1, "team"},
		{"requests", requests, "bert-1", "bert\x00-1", 2, "name"},
	} {
		err := read[tt.of](strings.Replace(tt.text, tt.old, tt.put, 1))
		var row *throughput.RowError
		if !errors.As(err, &row) || row.Line != tt.line || row.Column != tt.column {
			t.Errorf("%s with %q: %v, want line %d, %s", tt.of, tt.put, err, tt.line, tt.column)
		}
	}
}

func FuzzReaders(f *testing.F) {
	for _, text := range []string{requests, runs, own} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		list, err := ReadRequests("x", strings.NewReader(text), day, nil)
		for _, q := range list {
			if err != nil || q.Replicas < 1 || q.Batch < q.Replicas || q.Submitted.Before(day) {
				t.Errorf("%+v, %v", q, err)
			}
		}
		runs, err := ReadPhilly("x", strings.NewReader(text))
		for _, r := range runs {
			if err != nil || r.GPUs < 1 || r.Duration < 0 {
				t.Errorf("%+v, %v", r, err)
			}
		}
		jobs, err := ReadJobs("x", strings.NewReader(text))
		for _, j := range jobs {
			if err != nil || !(j.Work.Samples > 0) {
				t.Errorf("%+v, %v", j, err)
			}
		}
	})
}
