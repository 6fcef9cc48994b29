package main

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/goodfleet/goodfleet/autoscale"
	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/planner/policy"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/provider"
)

// whyJob is why a job gets what it gets. Rates are decimal text in USD/h; null is not
// known, or at no rate.
type whyJob struct {
	planJob
	StaysUpTo    *string              `json:"staysUpTo"`           // rate of a machine of its offering up to which it stays there
	RunnerUpAt   *string              `json:"runnerUpAt"`          // rate of a machine of the runner-up from which on down it would be chosen
	CapToStart   *string              `json:"capToStart"`          // burn cap under which it would start
	ValueToStart *string              `json:"valueToStart"`        // value of time with which it would start
	Closed       []whyClosed          `json:"closed,omitempty"`    // caps of policies that let it begin nothing, or stop it
	Overrides    []autoscale.Override `json:"overrides,omitempty"` // that concern it
	Barriers     []whyBarrier         `json:"barriers"`            // what keeps it from a cheaper way
	Binds        []whyBarrier         `json:"binds"`               // limits over the whole plan that do
	Elsewhere    []whyElsewhere       `json:"elsewhere"`           // by region, the cheapest first
	More         *whyDifference       `json:"machine,omitempty"`   // one machine of its offering more or less
}

type whyBarrier struct {
	What     string            `json:"what"`
	Saves    float64           `json:"saves"` // share of money and time; 1: nothing else carries it
	Config   planner.Config    `json:"config"`
	Offering provider.Offering `json:"offering"`
	Rate     float64           `json:"ratePerHour"`
}

type whyElsewhere struct {
	Config        planner.Config    `json:"config"`
	Offering      provider.Offering `json:"offering"`
	Rate          float64           `json:"ratePerHour"`
	ToEnd         float64           `json:"toEnd"` // USD, without egress
	Egress        float64           `json:"egress"`
	TransferHours float64           `json:"transferHours"`
	Hours         float64           `json:"hours"`
	Total         float64           `json:"total"` // money and time, USD
	Here          bool              `json:"here"`  // where its data lie, or where it runs
}

// whyDifference is what one machine more or less would be worth, USD/h.
type whyDifference struct {
	Rate pricing.Rate `json:"rate"`
	Held int          `json:"held"`
	More float64      `json:"oneMore"`
	Less *float64     `json:"oneLess"`
}

func newWhyDifference(d policy.Difference) *whyDifference {
	w := &whyDifference{Rate: d.Rate, Held: d.Held, More: d.More}
	if d.Held > 0 {
		w.Less = &d.Less
	}
	return w
}

// text is the difference in a sentence.
func (d *whyDifference) text() string {
	text := fmt.Sprintf("one more would be worth %s USD/h", fourDigits(d.More))
	if d.Less != nil {
		text += fmt.Sprintf(", one less would lose %s USD/h", fourDigits(*d.Less))
	}
	return text + ", at a rate of " + fourDigits(d.Rate.Dollars()) + " USD/h"
}

// mostElsewhere is how many regions a table shows.
const mostElsewhere = 6

// whyJob asks the plan about a job.
func (a *asked) whyJob(r *autoscale.JobRecord) (answer, error) {
	id := r.Job.ID
	w := &whyJob{Barriers: []whyBarrier{}, Binds: []whyBarrier{}, Elsewhere: []whyElsewhere{}}
	for _, j := range newPlanAnswer(a).Jobs {
		if j.Job == string(id) {
			w.planJob = j
		}
	}
	for _, o := range a.state.Overrides {
		if o.Subject == "" && (o.Kind == autoscale.Pause || o.Kind == autoscale.Spent) || o.Subject == "job/"+string(id) || o.Subject == "team/"+r.Job.Team && r.Job.Team != "" ||
			o.Kind == autoscale.Pin && o.Subject == string(id) {
			w.Overrides = append(w.Overrides, o)
		}
	}
	w.Closed = a.closedTo(r.Job)
	if a.planned(id) {
		if err := a.askAboutJob(w, id); err != nil {
			return answer{}, err
		}
	}
	data := a.newWhyAnswer()
	data.Job = w
	return answer{data: data, grid: a.aboutJob(w, r), more: a.elsewhereTable(w)}, nil
}

// planned reports whether the plan decides on a job: it leaves those out that have to
// stay as they are in this round.
func (a *asked) planned(id planner.JobID) bool {
	for i := range a.reasons.Problem().Jobs {
		if a.reasons.Problem().Jobs[i].Job.ID == id {
			return true
		}
	}
	return false
}

// askAboutJob fills in what has to be planned anew to be known.
func (a *asked) askAboutJob(w *whyJob, id planner.JobID) error {
	rate := func(t policy.Threshold, err error) (*string, error) { return thresholdRate(t), err }
	var err error
	if w.Offering != nil {
		if w.StaysUpTo, err = rate(a.reasons.JobPriceOf(id, *w.Offering)); err != nil {
			return err
		}
		d, err := a.reasons.Machine(*w.Offering, "")
		if err != nil {
			return err
		}
		w.More = newWhyDifference(d)
	} else if w.State == jobWaits {
		if w.CapToStart, err = rate(a.reasons.CapToStart(id)); err != nil {
			return err
		}
		if w.ValueToStart, err = rate(a.reasons.ValueToStart(id)); err != nil {
			return err
		}
	}
	if w.RunnerUp != nil {
		if w.RunnerUpAt, err = rate(a.reasons.JobPriceOf(id, w.RunnerUp.Offering)); err != nil {
			return err
		}
	}
	barriers, err := a.reasons.Barriers(id)
	if err != nil {
		return err
	}
	for _, b := range barriers {
		w.Barriers = append(w.Barriers, whyBarrierOf(b))
	}
	binds, err := a.reasons.Binds(id)
	if err != nil {
		return err
	}
	for _, b := range binds {
		w.Binds = append(w.Binds, whyBarrierOf(b))
	}
	places, err := a.reasons.Elsewheres(id)
	if err != nil {
		return err
	}
	for _, e := range places {
		w.Elsewhere = append(w.Elsewhere, whyElsewhere{
			Config: e.Config, Offering: e.Offering, Rate: e.Rate, ToEnd: e.ToEnd, Egress: e.Egress,
			TransferHours: e.Transfer, Hours: e.Hours, Total: e.Cost, Here: e.Here,
		})
	}
	return nil
}

func whyBarrierOf(b policy.Barrier) whyBarrier {
	return whyBarrier{What: b.What, Saves: b.Saves, Config: b.Config, Offering: b.Offering, Rate: b.Rate}
}

// aboutJob is the answer in lines.
func (a *asked) aboutJob(w *whyJob, r *autoscale.JobRecord) grid {
	g := aboutGrid(w.Job)
	if w.Config != nil {
		g.row("in the plan", "%s: %s, %s, at %s USD/h", w.Change, w.gang(), w.Offering, cents(w.Rate.Dollars()))
	} else {
		g.row("in the plan", "%s", w.Change)
	}
	g.row("why", "%s", w.Reason)
	if w.PutOff != "" {
		g.row("put off", "%s", w.PutOff)
	}
	if w.Config != nil {
		switch {
		case w.StaysUpTo != nil:
			g.row("would stay there", "up to %s USD/h a machine", digits(*w.StaysUpTo))
		case w.Rate != nil && *w.Rate > 0:
			g.row("would stay there", "at any rate that was tried: nothing else does as well")
		}
	}
	if u := w.RunnerUp; u != nil {
		g.row("next best", "%s, %s, at %s USD/h: %s", a.gangText(u.Config), u.Offering, cents(u.Rate.Dollars()), u.Reason)
		if w.RunnerUpAt != nil {
			g.row("it would be chosen", "at %s USD/h a machine or less", digits(*w.RunnerUpAt))
		} else {
			g.row("it would be chosen", "at no rate: another place or a switch would still be better")
		}
	}
	if w.CapToStart != nil {
		g.row("it would start", "under a burn cap of %s USD/h", digits(*w.CapToStart))
	}
	if w.ValueToStart != nil {
		g.row("it would start", "if an hour of it were worth %s USD", digits(*w.ValueToStart))
	}
	if w.State == jobWaits && w.CapToStart == nil && w.ValueToStart == nil && a.planned(r.Job.ID) && len(w.Closed) == 0 {
		g.row("it would start", "under no cap and for no value of time that was tried: what it needs cannot be had now")
	}
	if d := w.Deadline; d != nil {
		g.row("deadline", "%s: %s", d.At.Format("2006-01-02 15:04"), d.text())
	}
	if budget := r.Job.Budget; budget > 0 {
		g.row("budget", "%s of %s USD are spent", r.Spent, budget)
	}
	if w.More != nil {
		g.row("its machines", "%s", w.More.text())
	}
	if r.Target != nil {
		for _, m := range a.state.Machines {
			if !m.Hinted.IsZero() && slices.Contains(r.Target.Machines, m.Instance.ID) {
				g.row("hint", "%s: %s", m.Instance.ID, hintText(m.Hinted))
			}
		}
	}
	for _, o := range w.Overrides {
		g.row("override", "%s", o)
	}
	without := func(b whyBarrier) string {
		does := "would do"
		if b.Saves < 1 {
			does = fmt.Sprintf("would save %.0f %% of money and time", 100*b.Saves)
		}
		return fmt.Sprintf("without it %s, %s, %s", a.gangText(b.Config), b.Offering, does)
	}
	for _, c := range w.Closed {
		text := c.text()
		if at := slices.IndexFunc(w.Barriers, c.is); at >= 0 {
			text += ": " + without(w.Barriers[at])
		}
		g.row("in the way", "%s", text)
	}
	for _, b := range w.Barriers {
		if !slices.ContainsFunc(w.Closed, func(c whyClosed) bool { return c.is(b) }) {
			g.row("in the way", "%s: %s", b.What, without(b))
		}
	}
	for _, b := range w.Binds {
		if b.Saves == 1 {
			g.row("in the way", "%s: planned without it, the job would have %s, %s", b.What, a.gangText(b.Config), b.Offering)
			continue
		}
		g.row("in the way", "%s: planned without it, the job would have %s, %s, and save %.0f %% of money and time", b.What, a.gangText(b.Config), b.Offering, 100*b.Saves)
	}
	if len(w.Closed)+len(w.Overrides)+len(w.Barriers)+len(w.Binds) == 0 && w.PutOff == "" {
		g.row("in the way", "nothing: no limit of its own or of the plan, override, quota or shortage keeps it from a cheaper way")
	}
	g.row("data", "%s", dataText(r))
	return g.grid
}

// digits is a rate of a threshold with as many digits as it was found to.
func digits(text string) string {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return text
	}
	return fourDigits(v)
}

// dataText says where a job's data and checkpoint lie, and how large they are.
func dataText(r *autoscale.JobRecord) string {
	place := func(cloud, region string) string {
		return strings.Trim(cloud+"/"+region, "/")
	}
	size := func(s planner.Size) string {
		if !s.Known {
			return "of unknown size"
		}
		return strconv.FormatFloat(s.GiB, 'f', -1, 64) + " GiB"
	}
	d := r.Job.Data
	text := "none named: nothing is paid for bringing them anywhere"
	if d.Region != "" {
		text = size(d.Size) + " in " + place(d.Cloud, d.Region)
	}
	if r.Target != nil && r.Job.Checkpoint.Size.Known {
		text += "; a move takes a checkpoint of " + size(r.Job.Checkpoint.Size) + " along from " + place(r.Target.Offering.Cloud, r.Target.Offering.Region)
	}
	return text
}

// elsewhereTable shows what running in other regions would cost, with egress.
func (a *asked) elsewhereTable(w *whyJob) func(out io.Writer) error {
	return func(out io.Writer) error {
		if len(w.Elsewhere) == 0 {
			return nil
		}
		g := grid{
			head:  []string{"elsewhere", "runs on", "market", "USD/h", "to the end USD", "egress USD", "transfer h", "hours", "money and time USD", ""},
			right: []bool{false, false, false, true, true, true, true, true, true, false},
		}
		here := false
		for i, e := range w.Elsewhere {
			if i >= mostElsewhere && (here || !e.Here) {
				continue
			}
			here = here || e.Here
			mark := ""
			if e.Here {
				mark = "here"
			}
			g.rows = append(g.rows, []string{
				e.Offering.Cloud + "/" + e.Offering.Region, a.gangText(e.Config), e.Offering.Market.String(), cents(e.Rate),
				cents(e.ToEnd), cents(e.Egress), strconv.FormatFloat(e.TransferHours, 'f', 2, 64), strconv.FormatFloat(e.Hours, 'f', 2, 64), cents(e.Total), mark,
			})
		}
		if more := len(w.Elsewhere) - len(g.rows); more > 0 {
			g.notes = append(g.notes, fmt.Sprintf("and %s that cost more", counted(more, "region")))
		}
		if _, err := fmt.Fprintln(out); err != nil {
			return err
		}
		g.table(out)
		return nil
	}
}
