package workload

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/planner/throughput"
)

// Layouts of Gavel's trace files, by the number of their fields.
const (
	gavelFields = 10 // type, command, folder, name of the steps option, needs data, steps, scale, weight, SLO factor, arrival
	oldFields   = 7  // type, command, name of the steps option, needs data, steps, arrival, scale
)

// ReadGavelTrace reads a trace of Gavel's: one job a line, fields apart by tabs, in the
// layout of ten fields or the older one of seven. Arrivals are seconds after start; of
// the priority weight a job has its Weight, of an SLO factor (over the duration on as
// many V100, -1: none) a Deadline. Speeds are those of Gavel's simulations, which do not
// depend on where a gang's workers are.
//
// What is wrong is a *throughput.RowError. name is for errors.
func ReadGavelTrace(name string, r io.Reader, start time.Time) ([]*planner.Job, error) {
	curves, err := newGavelCurves(nil)
	if err != nil {
		return nil, err
	}
	var jobs []*planner.Job
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		if strings.TrimSpace(lines.Text()) == "" {
			continue
		}
		f := newRow(name, n, strings.Split(lines.Text(), "\t"))
		g := gavelRow{id: fmt.Sprintf("%06d", len(jobs)), weight: 1, slo: -1, jobType: f.text(0, "job type")}
		switch len(f.fields) {
		case gavelFields:
			g.steps, g.scale = f.positive(5, "total steps"), f.count(6, "scale factor")
			g.weight, g.slo, g.arrival = f.positive(7, "priority weight"), f.number(8, "SLO factor"), f.number(9, "arrival time")
		case oldFields:
			g.steps, g.arrival, g.scale = f.positive(4, "total steps"), f.number(5, "arrival time"), f.count(6, "scale factor")
		default:
			f.fail("fields", fmt.Sprintf("%d, tabs between: want %d, or %d as in older traces", len(f.fields), gavelFields, oldFields))
		}
		job := curves.job(f, g, start)
		if f.err != nil {
			return nil, f.err
		}
		jobs = append(jobs, job)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return inOrder(name, jobs)
}

// streamColumns are those of a stream of jobs as Gavel's simulations draw them.
var streamColumns = []string{"job", "unit_arrival", "model", "scale_factor", "total_steps"}

// Stream says which part of a stream of jobs is read, and how fast it comes.
type Stream struct {
	PerHour float64 // jobs; 0: all come at the start
	Jobs    int     // the first so many; 0: all

	Pairs *throughput.Pairs // what two job types do on the same accelerators; nil: it is not known
}

// ReadGavelStream reads a stream of jobs in the order in which Gavel's simulations draw
// them, as a CSV with the columns job, unit_arrival (of a Poisson process of rate 1),
// model (a job type), scale_factor and total_steps; others are not looked at. At PerHour
// jobs an hour, job n arrives at unit_arrival/PerHour hours after start.
func ReadGavelStream(name string, r io.Reader, s Stream, start time.Time) ([]*planner.Job, error) {
	if s.PerHour < 0 || math.IsNaN(s.PerHour) || math.IsInf(s.PerHour, 0) || s.Jobs < 0 {
		return nil, fmt.Errorf("%s: %g jobs per hour, the first %d: want no negative number", name, s.PerHour, s.Jobs)
	}
	curves, err := newGavelCurves(s.Pairs)
	if err != nil {
		return nil, err
	}
	var jobs []*planner.Job
	err = eachRecord(name, r, streamColumns, func(f *row) error {
		g := gavelRow{
			id: fmt.Sprintf("%06d", f.whole(0, "job")), jobType: f.text(2, "model"), scale: f.count(3, "scale_factor"),
			steps: f.positive(4, "total_steps"), weight: 1, slo: -1,
		}
		at := f.number(1, "unit_arrival")
		if s.PerHour > 0 {
			g.arrival = at * 3600 / s.PerHour
		}
		jobs = append(jobs, curves.job(f, g, start))
		if f.err == nil && len(jobs) == s.Jobs {
			return errEnough
		}
		return f.err
	})
	if err != nil {
		return nil, err
	}
	return inOrder(name, jobs)
}

// errEnough ends the reading of a file.
var errEnough = errors.New("enough")

// gavelRow is a job as Gavel's files tell it.
type gavelRow struct {
	id, jobType string
	scale       int
	steps       float64 // one batch on one worker each
	weight, slo float64
	arrival     float64 // s
}

// gavelCurves are the job types of Gavel's table, each with the speed of a gang on one
// machine, wherever it is.
type gavelCurves struct {
	table  *throughput.Table
	pairs  *throughput.Pairs // nil: not known
	curves map[string]planner.Curve
}

func newGavelCurves(pairs *throughput.Pairs) (*gavelCurves, error) {
	table, err := throughput.Gavel()
	if err != nil {
		return nil, err
	}
	return &gavelCurves{table, pairs, map[string]planner.Curve{}}, nil
}

func (g *gavelCurves) curve(jobType string) (planner.Curve, error) {
	if c, ok := g.curves[jobType]; ok {
		return c, nil
	}
	p, ok := g.table.Profile(jobType)
	if !ok {
		return nil, fmt.Errorf("%q: Gavel's table has no such job type", jobType)
	}
	var entries []throughput.Entry
	for _, e := range p.Entries() {
		if e.Nodes == 1 {
			e.Nodes = 0
			entries = append(entries, e)
		}
	}
	wherever, err := throughput.NewProfile(throughput.ProfileConfig{Name: jobType, Entries: entries})
	if err != nil {
		return nil, err
	}
	g.curves[jobType] = planner.PairedCurve(wherever, g.pairs)
	return g.curves[jobType], nil
}

// GavelStep is how many samples a step of a job type is: the batch that its name tells,
// and 1 where it tells none.
func GavelStep(jobType string) float64 {
	_, of, ok := strings.Cut(jobType, "(batch size ")
	batch := 0.0
	if _, err := fmt.Sscanf(of, "%g)", &batch); !ok || err != nil || !(batch >= 1) {
		return 1
	}
	return batch
}

// job makes a job of a row; nil where the row cannot be used.
func (g *gavelCurves) job(f *row, x gavelRow, start time.Time) *planner.Job {
	if f.err != nil {
		return nil
	}
	curve, err := g.curve(x.jobType)
	if err != nil {
		f.fail("job type", err.Error())
		return nil
	}
	at, ok := after(start, x.arrival)
	if !ok {
		f.fail("arrival time", fmt.Sprintf("%g s: want 0 to ten years", x.arrival))
		return nil
	}
	job := &planner.Job{
		ID: planner.JobID(x.id), Family: x.jobType, Submitted: at, Curve: curve,
		Work:      planner.Work{Samples: x.steps * GavelStep(x.jobType), Kind: planner.WorkExact},
		Resources: planner.Resources{Replicas: planner.Replicas{Set: []int{x.scale}}},
	}
	if x.weight != 1 {
		job.Weight = x.weight
	}
	if x.slo < 0 {
		return job
	}
	v100, ok := curve.Speed("V100", 1, x.scale)
	if !ok {
		f.fail("SLO factor", fmt.Sprintf("%g: no speed of %s on %d V100 is known that it could be counted by", x.slo, x.jobType, x.scale))
		return nil
	}
	if job.Deadline, ok = after(at, x.slo*3600*job.Work.Samples/v100.Goodput); !ok {
		f.fail("SLO factor", fmt.Sprintf("%g: the deadline is more than ten years away", x.slo))
	}
	return job
}

// longest is the longest time that a trace may tell: beyond, a unit is wrong.
const longest = 10 * 365 * 24 * time.Hour

// after is an instant so many seconds after another.
func after(start time.Time, sec float64) (time.Time, bool) {
	if !(sec >= 0 && sec <= longest.Seconds()) {
		return time.Time{}, false
	}
	return start.Add(time.Duration(math.Round(sec * float64(time.Second)))), true
}

// inOrder sorts jobs by submission, as they came in the file where that is alike.
func inOrder(name string, jobs []*planner.Job) ([]*planner.Job, error) {
	if len(jobs) == 0 {
		return nil, fmt.Errorf("%s: no jobs", name)
	}
	slices.SortStableFunc(jobs, func(a, b *planner.Job) int { return a.Submitted.Compare(b.Submitted) })
	return jobs, nil
}
