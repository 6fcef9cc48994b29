package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/goodfleet/goodfleet/autoscale"
	"github.com/goodfleet/goodfleet/autoscale/report"
	"github.com/goodfleet/goodfleet/autoscale/sim"
	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/planner/policy"
)

// planning is what one plan takes: of so many jobs that wait, one to eight workers each,
// on a quarter as many workers of each of three types, as Gavel's authors measured (figure
// 12 of OSDI 2020).
type planning struct {
	policy string
	jobs   int
	cpuSec float64
}

// planningSizes are the numbers of jobs.
var planningSizes = []int{32, 64, 128, 256, 512, 1024, 2048}

// planningTries is how often a plan is made: the least time counts. Beyond planningLong
// once is enough.
const (
	planningTries = 3
	planningLong  = time.Second
)

// planners are the policies that are measured, in the order of the legend. Each is made
// anew for every plan.
var planners = []struct {
	name string
	plan func() (autoscale.PlanFunc, error)
}{
	{"srpt with a bound", func() (autoscale.PlanFunc, error) { return srptPlan(scheduler{}), nil }},
	{"srpt by local search", func() (autoscale.PlanFunc, error) { return srptPlan(scheduler{NoBound: true}), nil }},
	{"max-min fairness", func() (autoscale.PlanFunc, error) {
		return gavelPlan(scheduler{Rule: "max_min_fairness", Aware: true}, 0)
	}},
	{"finish-time fairness", func() (autoscale.PlanFunc, error) {
		return gavelPlan(scheduler{Rule: "finish_time_fairness", Aware: true}, 0)
	}},
	{"max-min fairness as ECOS solves it", func() (autoscale.PlanFunc, error) {
		return gavelPlan(scheduler{Rule: "max_min_fairness", Aware: true, Embedded: true}, 0)
	}},
}

// srptPlan is our default on machines that are owned.
func srptPlan(how scheduler) autoscale.PlanFunc {
	return func(p planner.Problem) (planner.Plan, error) { return policy.SRPT(p, how.settings()) }
}

// measurePlans measures all policies at all sizes.
func measurePlans(ctx context.Context, tell io.Writer, data string) ([]planning, error) {
	var list []planning
	for _, n := range planningSizes {
		p, err := allWaiting(ctx, data, n)
		if err != nil {
			return nil, fmt.Errorf("%d jobs: %w", n, err)
		}
		for _, by := range planners {
			x := planning{policy: by.name, jobs: n}
			for try := range planningTries {
				plan, err := by.plan()
				if err != nil {
					return nil, err
				}
				took, err := cpuOf(func() error { _, err := plan(p); return err })
				if err != nil {
					return nil, fmt.Errorf("%s of %d jobs: %w", by.name, n, err)
				}
				if try == 0 || took.Seconds() < x.cpuSec {
					x.cpuSec = took.Seconds()
				}
				if took > planningLong {
					break
				}
			}
			fmt.Fprintf(tell, "%s, %d jobs: %.4f CPU s\n", x.policy, x.jobs, x.cpuSec)
			list = append(list, x)
		}
	}
	return list, nil
}

// cpuOf is the processor time that something takes.
func cpuOf(do func() error) (time.Duration, error) {
	var before, after syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &before); err != nil {
		return 0, err
	}
	err := do()
	if err := errors.Join(err, syscall.Getrusage(syscall.RUSAGE_SELF, &after)); err != nil {
		return 0, err
	}
	nano := func(u *syscall.Rusage) int64 { return u.Utime.Nano() + u.Stime.Nano() }
	return time.Duration(nano(&after) - nano(&before)), nil
}

// allWaiting is the problem of a round in which the first n jobs of Gavel's stream have
// come and none runs: what the loop asks for once all machines stand.
func allWaiting(ctx context.Context, data string, n int) (planner.Problem, error) {
	part := n / 4
	e := experiment{Name: "planning", Stream: "multi", Cluster: fmt.Sprintf("%dxV100,%dxP100,%dxK80", part, part, part), Scheduler: scheduler{Peer: "srpt", NoBound: true}}
	s, _, err := settingOf(data, e, point{Jobs: n}, 0)
	if err != nil {
		return planner.Problem{}, err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var p *planner.Problem
	s.Plan = func(q planner.Problem) (planner.Plan, error) {
		if p == nil && len(q.Jobs) == n {
			p = &q
			stop()
		}
		return planner.Plan{}, nil
	}
	if _, err := sim.Simulate(ctx, s); p == nil {
		return planner.Problem{}, errors.Join(errors.New("the jobs never came"), err)
	}
	return *p, nil
}

// planningsIn is the file of plannings in a folder.
func planningsIn(folder string) string { return filepath.Join(folder, "plannings.csv") }

// planningColumns are those of the file.
var planningColumns = []string{"policy", "jobs", "CPU s"}

func writePlannings(folder string, list []planning) error {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	_ = w.Write(planningColumns) // a buffer never fails
	for _, x := range list {
		_ = w.Write([]string{x.policy, strconv.Itoa(x.jobs), strconv.FormatFloat(x.cpuSec, 'f', 6, 64)})
	}
	w.Flush()
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	return os.WriteFile(planningsIn(folder), b.Bytes(), 0o644)
}

// readPlannings reads what was measured; a file that is not there holds nothing.
func readPlannings(name string) ([]planning, error) {
	f, err := os.Open(name)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines, err := csv.NewReader(f).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(lines) == 0 || !slices.Equal(lines[0], planningColumns) {
		return nil, fmt.Errorf("%s: want the columns %v", name, planningColumns)
	}
	var list []planning
	for i, f := range lines[1:] {
		x := planning{policy: f[0]}
		var err error
		if x.jobs, err = strconv.Atoi(f[1]); err != nil || x.jobs < 1 {
			return nil, fmt.Errorf("%s:%d: jobs %q: want a number of at least 1", name, i+2, f[1])
		}
		if x.cpuSec, err = strconv.ParseFloat(f[2], 64); err != nil || !(x.cpuSec > 0) {
			return nil, fmt.Errorf("%s:%d: CPU s %q: want a number above 0", name, i+2, f[2])
		}
		list = append(list, x)
	}
	return list, nil
}

// overPlans draws what was measured, a line a policy.
func overPlans(list []planning) report.Chart {
	c := report.Chart{Title: "What a plan takes", X: "jobs", Y: "CPU s", LogX: true, LogY: true}
	for _, x := range list {
		at := slices.IndexFunc(c.Series, func(s report.ChartSeries) bool { return s.Name == x.policy })
		if at < 0 {
			at = len(c.Series)
			c.Series = append(c.Series, report.ChartSeries{Name: x.policy, Dots: true, Line: true})
		}
		c.Series[at].Points = append(c.Series[at].Points, report.ChartPoint{X: float64(x.jobs), Y: x.cpuSec})
	}
	return c
}
