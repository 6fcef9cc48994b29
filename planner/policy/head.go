package policy

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/goodfleet/goodfleet/planner"
)

// The row of the jobs that never ran. A job joins it when it has waited for headWait and
// for headTimes the time of all its work alone. The head of the row is the first to join
// of those that the caps would carry alone and whose work is worth its machines at what
// money counts now. It runs, before all that need not by a deadline, until it has run
// for leastRun and runTimes what a start takes: then the next is the head.
//
// So the wait for a first start is bounded, however much that is worth more comes for
// ever: where k jobs joined before it, a job starts at the latest
//
//	max(headWait, headTimes·T) + k·(U + B + max(leastRun, runTimes·S)) + U
//
// after it came, with T its time alone, S a start and B a boot, and U the time in which
// what runs gives way: the minimum run time of a machine and the rounds in which it
// saves and ends. Who joins later never counts. Where the rest of a budget is set aside
// for what runs (setaside.go), nothing gives way, and the row waits for the next period.
// The bonus of Value is for all who wait, and starts most of them long before that.
const (
	headWait  = 6 * time.Hour
	headTimes = 6
	leastRun  = 10 * time.Minute
	runTimes  = 10
)

// headAt is when a job that never ran has waited for long enough to join the row.
func headAt(d *planner.Demand, w *worth) time.Time {
	return d.State.Job.Submitted.Add(max(headWait, hours(headTimes*w.alone)))
}

// firstRun is how long a job runs as the head.
func firstRun(d *planner.Demand) time.Duration {
	if d.Current < 0 {
		return leastRun
	}
	c := &d.Columns[d.Current]
	return max(leastRun, hours(runTimes*(c.Resume+c.Boot)))
}

// inRow reports whether a job is in the row: it never ran, and has waited for long
// enough, or had when it began its first run, which is still short. That it had is
// judged by half of the time: what its time alone is may have changed since.
func inRow(p *planner.Problem, d *planner.Demand, w *worth) bool {
	s := d.State
	long := headAt(d, w)
	switch {
	case s.Barred || w.aside || len(d.Columns) == 0 || w.pledge != nil && w.pledge.must || s.Restarts > 0:
		return false
	case s.Running == nil:
		return s.Held == 0 && !p.Now.Before(long)
	}
	waited := s.Running.Since.Sub(s.Job.Submitted)
	return d.Current >= 0 && s.Held < firstRun(d) && waited >= long.Sub(s.Job.Submitted)/2
}

// headOf is the head of the row; -1: nobody is in it whom the caps would carry.
func headOf(pr *planner.Program, know []worth) int {
	var row []int
	for i := range pr.Jobs {
		if inRow(pr.Problem, &pr.Jobs[i], &know[i]) {
			row = append(row, i)
		}
	}
	slices.SortFunc(row, func(a, b int) int {
		x, y := &pr.Jobs[a], &pr.Jobs[b]
		return cmp.Or(headAt(x, &know[a]).Compare(headAt(y, &know[b])), cmp.Compare(x.State.Job.ID, y.State.Job.ID))
	})
	for _, i := range row {
		if pr.Admits(i) {
			return i
		}
	}
	return -1
}

// makeWay takes the head out of a program of which the solution has no room for it yet,
// and keeps what it needs from others. It reports whether it did.
func makeWay(pr *planner.Program, know []worth, sol planner.Solution) bool {
	for i := range know {
		w := &know[i]
		w.short = ""
		if w.head == 0 || len(pr.Jobs[i].Columns) == 0 || !sol.Waits(i) {
			continue
		}
		w.short = cmp.Or(sol.CouldStart(i), "what is held")
		pr.KeepRoom(i)
		pr.Jobs[i].Columns, pr.Jobs[i].Current = nil, -1
		return true
	}
	return false
}

// headReason says why the head runs.
func headReason(p *planner.Problem, d *planner.Demand) string {
	since := p.Now
	if d.State.Running != nil {
		since = d.State.Running.Since
	}
	return fmt.Sprintf("it waited for %s and never ran: the first of those, it runs for %s at least",
		since.Sub(d.State.Job.Submitted).Round(time.Minute), firstRun(d).Round(time.Minute))
}

// prizeOf is what a job is put before others by, in the worth of each of its columns.
func prizeOf(w *worth) float64 {
	prize := w.head
	if w.pledge != nil {
		prize += w.pledge.prize
	}
	return prize
}
