package main

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goodfleet/goodfleet/autoscale"
	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/planner/policy"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/provider"
)

// whyMachine is why a machine that is there is kept or ended.
type whyMachine struct {
	Instance   string            `json:"instance"`
	Offering   provider.Offering `json:"offering"`
	Does       string            `json:"does"` // "keep", "keep idle", "end", "leave"
	Jobs       []planShare       `json:"jobs"`
	Reason     string            `json:"reason"`
	HoldTo     *time.Time        `json:"holdTo"` // not ended before
	Difference *whyDifference    `json:"difference"`
	WorthUpTo  *string           `json:"worthUpTo"` // rate up to which machines of its offering are used
	Override   string            `json:"override,omitempty"`
	Binds      []string          `json:"binds,omitempty"`  // limits over the plan without which machines of its offering would be used
	Hinted     *time.Time        `json:"hinted,omitempty"` // when the cloud said that it may take it
}

// whyMachine asks the plan about a machine.
func (a *asked) whyMachine(r *autoscale.InstanceRecord) (answer, error) {
	id := r.Instance.ID
	w := &whyMachine{Instance: string(id), Offering: r.Instance.Offering, Hinted: timeOrNil(r.Hinted), Does: "leave", Reason: "it is leaving, or its cloud is frozen: the plan does not decide on it", Jobs: []planShare{}}
	if r.Draining && r.Reason != "" {
		w.Reason = "it is drained: " + r.Reason
	}
	problem := a.reasons.Problem()
	for i := range problem.Machines {
		if m := &problem.Machines[i]; m.ID == id && m.HoldTo.After(problem.Now) {
			w.HoldTo = &m.HoldTo
		}
	}
	for _, o := range a.state.Overrides {
		if (o.Kind == autoscale.HoldMachine || o.Kind == autoscale.DrainMachine) && o.Subject == string(id) {
			w.Override = o.String()
		}
	}
	for _, m := range a.plan.Machines {
		if m.Instance != id {
			continue
		}
		w.Does, w.Reason = doesIdle, m.Reason
		for _, share := range m.Jobs {
			w.Jobs = append(w.Jobs, planShare{string(share.Job), share.Accelerators})
			w.Does = doesKeep
		}
		if w.Does == doesKeep && w.Reason == "" {
			w.Reason = "carries " + shareText(w.Jobs)
		}
		d, err := a.reasons.Machine(m.Offering, id)
		if err != nil {
			return answer{}, err
		}
		w.Difference = newWhyDifference(d)
	}
	for _, e := range a.plan.Releases {
		if e.Instance == id {
			w.Does, w.Reason = doesEnd, e.Reason
			d, err := a.reasons.Machine(e.Offering, "")
			if err != nil {
				return answer{}, err
			}
			w.Difference = newWhyDifference(d)
			if w.Binds, err = a.reasons.KeptFrom(e.Offering); err != nil {
				return answer{}, err
			}
		}
	}
	t, err := a.reasons.PriceOf(w.Offering)
	if err != nil {
		return answer{}, err
	}
	w.WorthUpTo = thresholdRate(t)
	data := a.newWhyAnswer()
	data.Instance = w
	return answer{data: data, grid: w.about()}, nil
}

// hintText is a cloud's hint in a sentence.
func hintText(at time.Time) string {
	return "the cloud said at " + at.UTC().Format("2006-01-02 15:04") + " that it may take machines of its pool: it counts as lost sooner, and is left when another place is worth a restart"
}

func shareText(list []planShare) string {
	words := make([]string, len(list))
	for i, s := range list {
		words[i] = fmt.Sprintf("%s (%d)", s.Job, s.Accelerators)
	}
	return strings.Join(words, ", ")
}

func (w *whyMachine) about() grid {
	g := aboutGrid(w.Instance)
	g.row("is", "%s", w.Offering)
	g.row("in the plan", "%s: %s", w.Does, w.Reason)
	if d := w.Difference; d != nil {
		g.row("worth", "%s", d.text())
	}
	if w.WorthUpTo != nil {
		g.row("would be used", "up to %s USD/h a machine", digits(*w.WorthUpTo))
	}
	for _, what := range w.Binds {
		g.row("in the way", "%s: planned without it, machines of its offering would be used", what)
	}
	if w.HoldTo != nil {
		g.row("not ended before", "%s, so its rate until then is no choice", w.HoldTo.UTC().Format("2006-01-02 15:04"))
	}
	if w.Hinted != nil {
		g.row("hint", "%s", hintText(*w.Hinted))
	}
	if w.Override != "" {
		g.row("override", "%s", w.Override)
	}
	return g.grid
}

// whyOffering is why an offering is bought or not.
type whyOffering struct {
	Offering   provider.Offering `json:"offering"`
	Unsold     string            `json:"unsold,omitempty"` // why it is not among what may be bought
	Rate       *pricing.Rate     `json:"rate"`
	QuotedAt   *time.Time        `json:"quotedAt"`
	Stale      bool              `json:"stale"`
	Bought     int               `json:"bought"`
	Held       int               `json:"held"`  // used, bought ones included
	Price      *string           `json:"price"` // rate at which the first would be bought; of one in use: up to which it is
	Blocked    string            `json:"blocked,omitempty"`
	Until      *time.Time        `json:"until,omitempty"`
	Binds      []string          `json:"binds,omitempty"`     // limits over the plan without which it would be used
	Unblocked  *int              `json:"unblocked,omitempty"` // how many would be in use were it not blocked
	Difference *whyDifference    `json:"difference"`
	Jobs       []whyCompared     `json:"jobs"`
}

// whyCompared is a job beside an offering.
type whyCompared struct {
	Job    string  `json:"job"`
	Lacks  string  `json:"lacks,omitempty"`
	Runs   string  `json:"runs,omitempty"`
	Dearer float64 `json:"dearer"` // share above its cheapest way
	Egress float64 `json:"egress"`
}

// whyOffering asks the plan about an offering.
func (a *asked) whyOffering(o provider.Offering) (answer, error) {
	w := &whyOffering{Offering: o, Jobs: []whyCompared{}}
	problem := a.reasons.Problem()
	at := slices.IndexFunc(problem.Offers, func(x planner.Offer) bool { return x.Offering == o })
	offer := &problem.Offers[at]
	w.Rate = &offer.Rate
	w.QuotedAt, w.Stale = quoted(a.book, o, a.state.Now)
	for _, m := range a.plan.Machines {
		if m.Offering == o {
			w.Held++
			if m.Instance == "" {
				w.Bought++
			}
		}
	}
	w.Blocked, w.Until = offer.Blocked, timeOrNil(offer.Until)
	if w.Blocked == "" && offer.Cap == 0 {
		w.Blocked = a.quotaText(offer)
	}
	reasons := a.reasons
	if w.Blocked != "" && offer.Rate > 0 {
		lifted, err := a.reasons.Lifted(o)
		if err != nil {
			return answer{}, err
		}
		reasons = lifted
		n := 0
		for _, m := range lifted.Plan.Machines {
			if m.Offering == o {
				n++
			}
		}
		w.Unblocked = &n
	}
	t, err := reasons.PriceOf(o)
	if err != nil {
		return answer{}, err
	}
	w.Price = thresholdRate(t)
	d, err := a.reasons.Machine(o, "")
	if err != nil {
		return answer{}, err
	}
	w.Difference = newWhyDifference(d)
	jobs, err := a.reasons.On(o)
	if err != nil {
		return answer{}, err
	}
	for _, c := range jobs {
		x := whyCompared{Job: string(c.Job), Lacks: c.Lacks, Dearer: c.Dearer, Egress: c.Egress}
		if c.Lacks == "" {
			x.Runs = a.gangText(c.Config)
		}
		w.Jobs = append(w.Jobs, x)
	}
	for i := range a.state.Jobs { // those that a cap stops are in no program
		job := a.state.Jobs[i].Job
		if closed := a.closedTo(job); len(closed) > 0 && !a.planned(job.ID) {
			w.Jobs = append(w.Jobs, whyCompared{Job: string(job.ID), Lacks: closed[0].text()})
		}
	}
	if w.Blocked == "" {
		if w.Binds, err = a.reasons.KeptFrom(o); err != nil {
			return answer{}, err
		}
	}
	data := a.newWhyAnswer()
	data.Offering = w
	return answer{data: data, grid: a.aboutOffering(w, offer, jobs), more: comparedTable(w.Jobs)}, nil
}

// quotaText names the quota that lets nothing more of an offer be bought.
func (a *asked) quotaText(o *planner.Offer) string {
	for _, q := range a.reasons.Problem().Quotas {
		class := provider.QuotaClassOf(o.Offering, o.Type)
		class.Account = q.Class.Account
		if class == q.Class {
			return quotaName(q) + fmt.Sprintf(": %d of it left, a machine takes %d", q.Left, q.Unit.Use(o.Type))
		}
	}
	return "no more of it may be bought"
}

// quotaName is a quota in words.
func quotaName(q planner.QuotaLeft) string {
	text := fmt.Sprintf("quota %s (%s) in %s", q.Class.Family, q.Class.Market, q.Class.Region)
	if q.Code != "" {
		text += ", code " + q.Code
	}
	return text
}

func (a *asked) aboutOffering(w *whyOffering, offer *planner.Offer, jobs []policy.Compared) grid {
	g := aboutGrid(w.Offering.String())
	g.row("is", "%s at %s USD/h, price %s old", a.typeText(w.Offering), w.Rate, orUnknown(ageOf(w.QuotedAt, w.Stale, a.state.Now)))
	if low, high, ok := offer.Hazard.Interval80(); ok {
		g.row("is lost", "%s times per hour (80 %% interval %s to %s), and comes back after %s", short(offer.Hazard.PoolPerHour), short(low), short(high), age(offer.Hazard.Down))
	}
	if at, hinted := a.state.Hints[w.Offering.Pool()]; hinted {
		g.row("hint", "%s", hintText(at))
	}
	switch {
	case w.Held > 0:
		g.row("in the plan", "%s, %d of them bought now", counted(w.Held, "machine"), w.Bought)
	default:
		g.row("in the plan", "not bought: %s", a.notBought(w, jobs))
	}
	if w.Blocked != "" {
		until := ""
		if w.Until != nil {
			until = ", until " + w.Until.UTC().Format("2006-01-02 15:04")
		}
		g.row("in the way", "%s%s", w.Blocked, until)
		if w.Unblocked != nil {
			g.row("without that", "%s would be in use", counted(*w.Unblocked, "machine"))
		}
	}
	uses := w.Held > 0 || w.Unblocked != nil && *w.Unblocked > 0
	switch {
	case w.Price == nil && uses:
		g.row("would be used", "at any rate that was tried: nothing else does as well")
	case w.Price == nil:
		g.row("would be bought", "at no rate: no job gains by it")
	case uses:
		g.row("would be used", "up to %s USD/h a machine", digits(*w.Price))
	default:
		g.row("would be bought", "at %s USD/h a machine or less", digits(*w.Price))
	}
	g.row("worth", "%s", w.Difference.text())
	for _, what := range w.Binds {
		g.row("in the way", "%s: planned without it, it would be used", what)
	}
	return g.grid
}

// notBought says in a few words why nobody buys an offering.
func (a *asked) notBought(w *whyOffering, jobs []policy.Compared) string {
	closest := -1
	for i, c := range jobs {
		if c.Lacks == "" && (closest < 0 || c.Dearer < jobs[closest].Dearer) {
			closest = i
		}
	}
	switch {
	case w.Blocked != "":
		return "it may not be bought now"
	case closest < 0:
		return "it carries no job of the plan"
	case jobs[closest].Dearer > 0.0005:
		return fmt.Sprintf("for %s, which it suits best, money and time would be %.1f %% dearer than on its cheapest", jobs[closest].Job, 100*jobs[closest].Dearer)
	}
	if slices.ContainsFunc(a.plan.Waits, func(x planner.Wait) bool { return x.Job == jobs[closest].Job }) {
		return fmt.Sprintf("%s would run on it, and waits", jobs[closest].Job)
	}
	return fmt.Sprintf("%s would do as well on it, and has what it needs", jobs[closest].Job)
}

func (a *asked) typeText(o provider.Offering) string {
	t, _ := a.state.Catalogue.Lookup(o.Cloud, o.Type)
	return fmt.Sprintf("%d × %s, %s", t.Count, t.Accelerator, o.Market)
}

// mostCompared is how many jobs a table shows.
const mostCompared = 12

// comparedTable shows each job beside the offering, those that it suits best first.
func comparedTable(jobs []whyCompared) func(out io.Writer) error {
	return func(out io.Writer) error {
		g := grid{head: []string{"job", "would run on it as", "dearer by", "egress USD", "why not"}, right: []bool{false, false, true, true, false}}
		sorted := slices.Clone(jobs)
		slices.SortStableFunc(sorted, func(a, b whyCompared) int {
			switch {
			case (a.Lacks == "") != (b.Lacks == ""):
				if a.Lacks == "" {
					return -1
				}
				return 1
			case a.Dearer < b.Dearer:
				return -1
			case a.Dearer > b.Dearer:
				return 1
			}
			return 0
		})
		for _, c := range sorted[:min(len(sorted), mostCompared)] {
			if c.Lacks != "" {
				g.rows = append(g.rows, []string{c.Job, unknown, unknown, unknown, c.Lacks})
				continue
			}
			g.rows = append(g.rows, []string{c.Job, c.Runs, strconv.FormatFloat(100*c.Dearer, 'f', 1, 64) + " %", cents(c.Egress), ""})
		}
		if more := len(sorted) - mostCompared; more > 0 {
			g.notes = append(g.notes, fmt.Sprintf("and %s more", counted(more, "job")))
		}
		if _, err := fmt.Fprintln(out); err != nil {
			return err
		}
		g.table(out)
		return nil
	}
}
