package policy

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/goodfleet/goodfleet/planner"
)

// aside is what is left of the budgets whose period is near its end, and not yet set
// aside for a job.
type aside struct {
	p    *planner.Problem
	rows []*planner.BudgetPrice
	left []float64 // of each, USD
}

// setAside keeps the money of budgets whose period is near its end for what runs, up to
// its end or that of the period, in the order in which it started. Jobs for which there
// is enough are worth more than their machines at what money counts now: its price
// decides who starts and on what, and stops nobody for whom there is money. Those that
// wait start only on what is left, the ones whose work is worth most beside it first.
func setAside(pr *planner.Program, know []worth) {
	s := aside{p: pr.Problem}
	for i := range s.p.Budgets {
		if b := &s.p.Budgets[i]; b.Mu > 0 && !b.Since.IsZero() {
			s.rows, s.left = append(s.rows, b), append(s.left, b.LeftAt(s.p.Now))
		}
	}
	if len(s.rows) == 0 {
		return
	}
	var keep, wait []int
	gain, most := make([]float64, len(know)), 0.0
	for i := range pr.Jobs {
		d := &pr.Jobs[i]
		know[i].aside = s.about(d)
		switch {
		case len(d.Columns) == 0 || !know[i].aside:
			continue
		case d.Current >= 0:
			keep = append(keep, i)
		default:
			_, gain[i] = s.start(d)
			wait = append(wait, i)
		}
		best := 0.0
		for c := range d.Columns {
			best = max(best, d.Columns[c].Stay, d.Columns[c].Here)
		}
		most += best
	}
	slices.SortStableFunc(keep, func(a, b int) int { return startOrder(pr.Jobs[a].State, pr.Jobs[b].State) })
	slices.SortStableFunc(wait, func(a, b int) int { return cmp.Compare(gain[b], gain[a]) })
	for _, i := range keep {
		s.keep(&pr.Jobs[i], &know[i], most)
	}
	for k, b := range s.rows {
		s.left[k] -= b.Swing.Dollars()
	}
	for _, i := range wait {
		s.admit(&pr.Jobs[i], &know[i])
	}
}

// about reports whether any of the money counts for a job.
func (s *aside) about(d *planner.Demand) bool {
	return slices.ContainsFunc(s.rows, func(b *planner.BudgetPrice) bool { return covers(b, d) })
}

// keep sets aside what a job takes to its end where it is, and values it above its
// machines, and by most above anything that others would do on them, if there is as much.
func (s *aside) keep(d *planner.Demand, w *worth, most float64) {
	col := &d.Columns[d.Current]
	fits := s.fits(d, col, w)
	s.take(d, col, w)
	for i := range s.p.Budgets {
		b := &s.p.Budgets[i]
		fits = fits && (b.Mu == 0 || !b.Since.IsZero() || !covers(b, d)) // no other budget is dear
	}
	if fits {
		w.keep = max(0, (1+s.p.Mu())*col.Alone-col.Stay) + w.v + most
		setWorth(s.p, d, w)
	}
}

// admit leaves a job that waits the columns for which there is enough, and sets aside
// what it would start on.
func (s *aside) admit(d *planner.Demand, w *worth) {
	kept, best := d.Columns[:0:0], -1
	for c := range d.Columns {
		if s.fits(d, &d.Columns[c], w) {
			if c == w.best {
				best = len(kept)
			}
			kept = append(kept, d.Columns[c])
		}
	}
	if len(kept) == 0 {
		d.Lacks, d.Refused = "budget "+s.names(d)+": what is left is set aside for what runs", true
		w.next = s.enough(d, w)
	}
	d.Columns, w.best = kept, best
	if c, gain := s.start(d); gain > 0 {
		s.take(d, &d.Columns[c], w)
	}
}

// enough is when there will be enough for a job on some column if what runs goes on, since
// less of the period is left for it to cost money in.
func (s *aside) enough(d *planner.Demand, w *worth) (first time.Time) {
	for c := range d.Columns {
		var at time.Time
		for k, b := range s.rows {
			if covers(b, d) && s.left[k] > 0 {
				at = later(at, b.Until.Add(-hours(s.left[k]/hourly(s.p, &d.Columns[c]))))
			}
		}
		if at.After(s.p.Now) && (first.IsZero() || at.Before(first)) {
			first = at
		}
	}
	return first
}

// start is the column that a job alone would start on, and what it gains there beside
// its machines at what money counts now, USD/h.
func (s *aside) start(d *planner.Demand) (at int, gain float64) {
	gain = math.Inf(-1)
	for c := range d.Columns {
		if g := d.Columns[c].Here - (1+s.p.Mu())*d.Columns[c].Alone; g > gain {
			at, gain = c, g
		}
	}
	return at, gain
}

// fits reports whether there is enough for a job on a column.
func (s *aside) fits(d *planner.Demand, c *planner.Column, w *worth) bool {
	for k, b := range s.rows {
		if covers(b, d) && takes(s.p, c, w, b.Until) > s.left[k] {
			return false
		}
	}
	return true
}

// take sets that aside.
func (s *aside) take(d *planner.Demand, c *planner.Column, w *worth) {
	for k, b := range s.rows {
		if covers(b, d) {
			s.left[k] -= takes(s.p, c, w, b.Until)
		}
	}
}

// names are the budgets that count for a job.
func (s *aside) names(d *planner.Demand) string {
	var words []string
	for _, b := range s.rows {
		if covers(b, d) {
			words = append(words, b.Name)
		}
	}
	return strings.Join(words, ", ")
}

// startOrder puts jobs that run in the order in which they took their machines.
func startOrder(a, b *planner.JobState) int {
	return cmp.Or(a.Running.Since.Compare(b.Running.Since), cmp.Compare(a.Job.ID, b.Job.ID))
}

// takes is what a job costs on a column until it or the period ends, USD.
func takes(p *planner.Problem, c *planner.Column, w *worth, until time.Time) float64 {
	return hourly(p, c) * min(until.Sub(p.Now).Hours(), c.Boot+c.Resume+c.WallHours(w.p80))
}

// hourly is what a job costs on a column, USD/h: its accelerators' share of the machines.
func hourly(p *planner.Problem, c *planner.Column) float64 {
	return c.Alone * float64(c.PerNode) / float64(p.Offers[c.Offer].Type.Count)
}

// covers reports whether a budget is about a job.
func covers(b *planner.BudgetPrice, d *planner.Demand) bool {
	return b.Team == "" || b.Team == d.State.Job.Team
}
