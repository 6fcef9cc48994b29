package examples

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/goodfleet/goodfleet/autoscale/document"
	"github.com/goodfleet/goodfleet/autoscale/sim/workload"
	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/provider"
)

var update = flag.Bool("update", false, "write the example files anew")

// folder is where the shipped files lie.
const folder = "../../cmd/goodfleet/examples"

// drawn are the files that code writes.
var drawn = []struct {
	file   string
	header string
	draw   func() ([]*planner.Job, error)
}{
	{
		"gavel-week.yaml",
		`# A week of training on K80, P100 and V100. Durations and numbers of GPUs are drawn
# from the Philly traces (Microsoft Research), models and measured speeds are Gavel's
# (Stanford, MIT licence), arrivals a Poisson stream; teams, data, deadlines and
# values of time are made up. Written by: go test ./test/examples -update
`,
		func() ([]*planner.Job, error) { return workload.GavelWeek(workload.GavelWeekConfig()) },
	},
	{
		"today.yaml",
		`# Three days of training on the accelerators of today. Every speed is ESTIMATED: a
# roofline of the model class on published peaks, nothing is measured. Durations and
# numbers of GPUs are drawn from the Philly traces (Microsoft Research), arrivals are
# a Poisson stream; teams, data, deadlines and values of time are made up.
# Written by: go test ./test/examples -update
`,
		func() ([]*planner.Job, error) { return workload.Today(workload.TodayConfig()) },
	},
}

// write is the jobs as a file of documents.
func write(header string, jobs []*planner.Job) ([]byte, error) {
	var file bytes.Buffer
	file.WriteString(header)
	for i, j := range jobs {
		doc, err := document.FromJob(j)
		if err != nil {
			return nil, err
		}
		text, err := document.YAML(doc)
		if err != nil {
			return nil, fmt.Errorf("job %s: %w", j.ID, err)
		}
		if i > 0 {
			file.WriteString("---\n")
		}
		file.Write(text)
	}
	return file.Bytes(), nil
}

func TestShippedFilesAreWhatTheCodeDraws(t *testing.T) {
	for _, d := range drawn {
		t.Run(d.file, func(t *testing.T) {
			jobs, err := d.draw()
			if err != nil {
				t.Fatal(err)
			}
			want, err := write(d.header, jobs)
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(folder, d.file)
			if *update {
				if err := os.WriteFile(path, want, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			got, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), string(got)); diff != "" {
				t.Errorf("go test ./test/examples -update writes it anew (-drawn +shipped)\n%s", diff)
			}
		})
	}
}

func TestShippedFilesReadBackAsTheJobsDrawn(t *testing.T) {
	sold := everythingSold(t)
	for _, d := range drawn {
		t.Run(d.file, func(t *testing.T) {
			want, err := d.draw()
			if err != nil {
				t.Fatal(err)
			}
			got := read(t, d.file, sold)
			// Curves are compared by what they answer, not by how they are built.
			if diff := cmp.Diff(want, got, cmp.Comparer(sameCurve)); diff != "" {
				t.Errorf("(-drawn +read)\n%s", diff)
			}
		})
	}
}

// sameCurve asks both curves for every speed that either knows on a small machine.
func sameCurve(a, b planner.Curve) bool {
	pa, okA := planner.ProfileOf(a)
	pb, okB := planner.ProfileOf(b)
	if !okA || !okB || !slices.Equal(pa.Accelerators(), pb.Accelerators()) {
		return false
	}
	for _, accelerator := range pa.Accelerators() {
		for _, replicas := range []int{1, 2, 3, 4, 8, 16} {
			for _, nodes := range []int{1, 2} {
				sa, okA := a.Speed(accelerator, nodes, replicas)
				sb, okB := b.Speed(accelerator, nodes, replicas)
				if sa != sb || okA != okB {
					return false
				}
			}
		}
	}
	return true
}

// everythingSold is the names that the embedded catalogue knows.
func everythingSold(t *testing.T) document.Sold {
	t.Helper()
	catalogue, err := provider.EmbeddedCatalogue()
	if err != nil {
		t.Fatal(err)
	}
	sold := document.Sold{Clouds: []string{"aws", "gcp"}}
	for _, it := range catalogue.Types() {
		sold.Accelerators = append(sold.Accelerators, it.Accelerator)
	}
	return sold
}

func read(t *testing.T, file string, sold document.Sold) []*planner.Job {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(folder, file))
	if err != nil {
		t.Fatal(err)
	}
	jobs, err := document.Jobs(file, text, sold)
	if err != nil {
		t.Fatal(err)
	}
	return jobs
}

func TestFiveJobsShowTheFeatures(t *testing.T) {
	jobs := read(t, "five-jobs.yaml", everythingSold(t))
	if len(jobs) != 5 {
		t.Fatalf("%d jobs", len(jobs))
	}
	has := map[string]bool{}
	for _, j := range jobs {
		has["job GPT-L"] = has["job GPT-L"] || j.ID == "GPT-L"
		has["team Vision"] = has["team Vision"] || j.Team == "Vision"
		has["a deadline"] = has["a deadline"] || !j.Deadline.IsZero()
		has["a budget"] = has["a budget"] || j.Budget > 0
		has["a price limit"] = has["a price limit"] || j.MaxPrice > 0
		has["a value of time"] = has["a value of time"] || j.ValueOfTime > 0
		has["a market"] = has["a market"] || len(j.Markets) > 0
		has["work that may end earlier"] = has["work that may end earlier"] || j.Work.Kind == planner.WorkLimit
		has["unknown work"] = has["unknown work"] || j.Work.Kind == planner.WorkUnknown
		has["streamed data"] = has["streamed data"] || j.Data.Stream
		has["a range of replicas"] = has["a range of replicas"] || j.Resources.Replicas.Max > j.Resources.Replicas.Min
		has["a set of replicas"] = has["a set of replicas"] || len(j.Resources.Replicas.Set) > 1
		has["a TPU"] = has["a TPU"] || slices.Contains(j.Resources.Accelerators, "TPU v5e")
		profile, ok := planner.ProfileOf(j.Curve)
		_, estimated := profile.Roofline()
		has["measured speeds"] = has["measured speeds"] || ok && !estimated
		has["estimated speeds"] = has["estimated speeds"] || estimated
		has["a table beside an estimate"] = has["a table beside an estimate"] || estimated && len(profile.Entries()) > 0
	}
	for what, shown := range has {
		if !shown {
			t.Errorf("no job shows %s", what)
		}
	}
}

// TestEveryExampleJobFitsSomethingSold holds each job of each file to the embedded
// catalogue: some type carries it on one machine or on several alike.
func TestEveryExampleJobFitsSomethingSold(t *testing.T) {
	catalogue, err := provider.EmbeddedCatalogue()
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"gavel-week.yaml", "today.yaml", "five-jobs.yaml"} {
		for _, j := range read(t, file, everythingSold(t)) {
			if !slices.ContainsFunc(catalogue.Types(), func(it provider.InstanceType) bool { return fits(j, it) }) {
				t.Errorf("%s: job %s fits nothing that is sold", file, j.ID)
			}
		}
	}
}

func fits(j *planner.Job, it provider.InstanceType) bool {
	named := slices.Contains(j.Resources.Accelerators, it.Accelerator)
	if !named && (len(j.Resources.Accelerators) > 0 || it.Kind != provider.GPU) || it.AcceleratorMemGiB < j.Resources.AcceleratorMemGiB {
		return false
	}
	for _, n := range j.Resources.Replicas.Sizes() {
		each := min(n, it.Count)
		nodes := n / each
		if n%each != 0 || float64(it.VCPU) < float64(each)*j.Resources.VCPU || it.MemGiB < float64(each)*j.Resources.MemGiB {
			continue
		}
		if _, ok := j.Curve.Speed(it.Accelerator, nodes, n); ok {
			return true
		}
	}
	return false
}

// TestDemandIsOfTheSizeThatIsTold holds the totals that the documentation gives,
// counted on the machines that durations were drawn for.
func TestDemandIsOfTheSizeThatIsTold(t *testing.T) {
	for _, c := range []struct {
		file, accelerator string
		jobs, teams       int
		hours, tolerance  float64 // of accelerators
		last              time.Duration
	}{
		{"gavel-week.yaml", "V100", 160, 4, 1400, 400, 6 * 24 * time.Hour},
		{"today.yaml", "A100-80GB", 96, 5, 2000, 1000, 3 * 24 * time.Hour},
	} {
		t.Run(c.file, func(t *testing.T) {
			jobs := read(t, c.file, document.Sold{})
			teams := map[string]bool{}
			var busy, accelerators, deadlines float64
			for i, j := range jobs {
				teams[j.Team] = true
				if i > 0 && j.Submitted.Before(jobs[i-1].Submitted) {
					t.Errorf("%s is submitted before the job that precedes it", j.ID)
				}
				sizes := j.Resources.Replicas.Sizes()
				replicas := sizes[len(sizes)/2]
				speed, ok := j.Curve.Speed(c.accelerator, (replicas+7)/8, replicas)
				if !ok {
					t.Fatalf("%s: unknown on %d %s", j.ID, replicas, c.accelerator)
				}
				busy += j.Work.Samples / speed.Goodput
				accelerators += j.Work.Samples / speed.Goodput * float64(replicas)
				if !j.Deadline.IsZero() {
					deadlines++
				}
			}
			if len(jobs) != c.jobs || len(teams) != c.teams {
				t.Errorf("%d jobs of %d teams, want %d of %d", len(jobs), len(teams), c.jobs, c.teams)
			}
			if accelerators < c.hours-c.tolerance || accelerators > c.hours+c.tolerance {
				t.Errorf("%.0f hours of %s, want %.0f ± %.0f", accelerators, c.accelerator, c.hours, c.tolerance)
			}
			if last := jobs[len(jobs)-1].Submitted.Sub(jobs[0].Submitted); last > c.last || last < c.last*8/10 {
				t.Errorf("submissions span %v, want nearly %v", last, c.last)
			}
			t.Logf("%d jobs, %d teams, %.0f deadlines, %.0f job-hours, %.0f hours of %s, %.1f jobs at once",
				len(jobs), len(teams), deadlines, busy, accelerators, c.accelerator, busy/c.last.Hours())
		})
	}
}
