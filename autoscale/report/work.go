package report

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/goodfleet/goodfleet/autoscale/document"
	"github.com/goodfleet/goodfleet/autoscale/sim"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/pricing/ledger"
)

// Work is what jobs got done over their lives, in one unit that compares between
// models. It lies beside a ledger, which knows money alone.
type Work struct {
	APIVersion string    `json:"apiVersion"`
	Kind       string    `json:"kind"`
	Unit       string    `json:"unit"` // "V100-hours"
	Jobs       []JobWork `json:"jobs"`
}

// JobWork is what one job got done and kept.
type JobWork struct {
	Job  string       `json:"job"`
	Done float64      `json:"done"` // in the unit
	Best *Alternative `json:"cheapest_alternative"`
}

// Alternative is the cheapest single way in which the work could have been done
// from the job's start on, by the prices as they came: machines of one offering,
// whole, that nobody takes. It is a bound in hindsight, which no plan could know.
type Alternative struct {
	What  string        `json:"what"`
	Hours float64       `json:"hours"`
	Cost  pricing.Money `json:"cost"`
}

// NewWork takes the work of a simulation.
func NewWork(o sim.Outcome) Work {
	w := Work{APIVersion: "goodfleet/v1", Kind: "Work", Unit: o.Reference + "-hours", Jobs: []JobWork{}}
	for _, j := range o.JobOutcomes {
		job := JobWork{Job: string(j.Job), Done: j.ReferenceHours}
		if h := j.Hindsight; h != nil {
			job.Best = &Alternative{What: h.What, Hours: h.Hours, Cost: h.Cost}
		}
		w.Jobs = append(w.Jobs, job)
	}
	return w
}

// JSON writes the work as ReadWork reads it.
func (w Work) JSON(out io.Writer) error {
	if err := document.JSON(out, w, " "); err != nil {
		return fmt.Errorf("work: %w", err)
	}
	return nil
}

// ReadWork reads what JSON writes, and nothing else.
func ReadWork(in io.Reader) (Work, error) {
	var w Work
	decoder := json.NewDecoder(in)
	decoder.DisallowUnknownFields()
	err := decoder.Decode(&w)
	var wrong *json.UnmarshalTypeError
	switch {
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return Work{}, errors.New("it ends too soon")
	case errors.As(err, &wrong):
		return Work{}, fmt.Errorf("%s: a %s does not belong here", cmp.Or(wrong.Field, "document"), wrong.Value)
	case err != nil:
		return Work{}, err
	case decoder.More():
		return Work{}, errors.New("something follows the document")
	}
	if w.APIVersion != "goodfleet/v1" || w.Kind != "Work" {
		return Work{}, fmt.Errorf("kind: %q of %q: want Work of goodfleet/v1", w.Kind, w.APIVersion)
	}
	if w.Unit == "" {
		return Work{}, errors.New("unit: is missing")
	}
	seen := map[string]bool{}
	for i, j := range w.Jobs {
		at := fmt.Sprintf("jobs[%d]", i)
		switch {
		case j.Job == "":
			return Work{}, fmt.Errorf("%s.job: is missing", at)
		case seen[j.Job]:
			return Work{}, fmt.Errorf("%s.job: %q is given twice", at, j.Job)
		case j.Done < 0:
			return Work{}, fmt.Errorf("%s.done: %g: want 0 or more", at, j.Done)
		case j.Best != nil && j.Best.Hours < 0:
			return Work{}, fmt.Errorf("%s.cheapest_alternative.hours: %g: want 0 or more", at, j.Best.Hours)
		case j.Best != nil && j.Best.Cost < 0:
			return Work{}, fmt.Errorf("%s.cheapest_alternative.cost: %s: want 0 or more", at, j.Best.Cost)
		}
		seen[j.Job] = true
	}
	return w, nil
}

func (w *Work) best(job string) *Alternative {
	if w == nil {
		return nil
	}
	i := slices.IndexFunc(w.Jobs, func(j JobWork) bool { return j.Job == job })
	if i < 0 {
		return nil
	}
	return w.Jobs[i].Best
}

// jobLabels are the teams and projects of the jobs whose work is known, as their
// charges name them: a row's labels are those of the charges.
type jobLabels struct {
	byJob map[string]*jobLabel
}

type jobLabel struct {
	team, project string
	seen          bool
	teams         bool // more than one
	projects      bool // more than one
}

// labels is nil where no work is known.
func (w *Work) labels() *jobLabels {
	if w == nil {
		return nil
	}
	l := &jobLabels{byJob: make(map[string]*jobLabel, len(w.Jobs))}
	for _, j := range w.Jobs {
		l.byJob[j.Job] = &jobLabel{}
	}
	return l
}

func (l *jobLabels) add(c *ledger.Charge) {
	if l == nil || c.Job == "" {
		return
	}
	switch job := l.byJob[c.Job]; {
	case job == nil:
	case !job.seen:
		*job = jobLabel{team: c.Team, project: c.Project, seen: true}
	default:
		job.teams = job.teams || job.team != c.Team
		job.projects = job.projects || job.project != c.Project
	}
}

// row is the key of the one row that a job falls under.
func (l *jobLabels) row(job string, by []ledger.Dimension) (key []string, ok bool) {
	label := l.byJob[job]
	if label == nil || !label.seen {
		return nil, false
	}
	for _, d := range by {
		switch {
		case d == ledger.ByJob:
			key = append(key, job)
		case d == ledger.ByTeam && !label.teams:
			key = append(key, label.team)
		case d == ledger.ByProject && !label.projects:
			key = append(key, label.project)
		default:
			return nil, false
		}
	}
	return key, len(by) > 0
}

// by spreads the work over the rows of a report. A row has work only if a job falls
// under one row alone, and the window holds all of each job.
func (w *Work) by(cfg CostConfig, labels *jobLabels, t ledger.Totals) (rows []*float64, all *float64, cut bool) {
	rows = make([]*float64, len(t.Rows))
	if w == nil {
		return rows, nil, false
	}
	if !cfg.From.IsZero() || !cfg.To.IsZero() {
		return rows, nil, true
	}
	places := map[string]int{}
	for i, r := range t.Rows {
		places[strings.Join(r.Key, "\x00")] = i
	}
	total := 0.0
	for _, j := range w.Jobs {
		total += j.Done
		key, one := labels.row(j.Job, t.By)
		if at, ok := places[strings.Join(key, "\x00")]; one && ok {
			if rows[at] == nil {
				rows[at] = new(float64)
			}
			*rows[at] += j.Done
		}
	}
	return rows, &total, false
}

// best is the cheapest alternative of a job, in the currency of the report.
func (c Cost) best(job string) *Alternative {
	best := c.cfg.Work.best(job)
	if best == nil || c.cfg.Currency == nil {
		return best
	}
	converted := *best
	converted.Cost = c.cfg.Currency.Of(best.Cost)
	return &converted
}

// alternatives adds what each job's cheapest alternative in hindsight would have
// cost, in a report by job alone.
func (c Cost) alternatives(add func(title, of string, cell func(r *ledger.Row, i int) string, last string)) {
	if !slices.Equal(c.totals.By, []ledger.Dimension{ledger.ByJob}) || !slices.ContainsFunc(c.cfg.Work.Jobs, func(j JobWork) bool { return j.Best != nil }) {
		return
	}
	add("cheapest in hindsight", c.currency(), func(r *ledger.Row, _ int) string {
		best := c.best(r.Key[0])
		if best == nil {
			return unknown
		}
		return dollars(best.Cost)
	}, "")
	add("on", "", func(r *ledger.Row, _ int) string {
		if best := c.cfg.Work.best(r.Key[0]); best != nil {
			return best.What
		}
		return ""
	}, "")
}
