package main

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/goodfleet/goodfleet/autoscale"
	"github.com/goodfleet/goodfleet/autoscale/document"
	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/planner/policy"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/provider"
)

// planAnswer is the JSON of the plan verb; docs/plan.md explains each field. Money
// and rates are decimal text in USD; null is not known.
type planAnswer struct {
	APIVersion   string        `json:"apiVersion"`
	Kind         string        `json:"kind"`
	At           time.Time     `json:"at"`
	Currency     string        `json:"currency"`
	BurnCap      *pricing.Rate `json:"burnCap"`
	Jobs         []planJob     `json:"jobs"`
	Machines     []planMachine `json:"machines"`
	Releases     []planRelease `json:"releases"`
	Burn         pricing.Rate  `json:"burn"`
	Policy       string        `json:"policy"`
	Value        float64       `json:"value"`
	Unit         string        `json:"unit"` // of value and bound
	Bound        planBound     `json:"bound"`
	Gap          float64       `json:"gap"`
	NextDecision *time.Time    `json:"nextDecision"`
	NextClock    string        `json:"nextClock,omitempty"`
	Later        int           `json:"later"`
	Prices       *priceUse     `json:"prices,omitempty"`
	Broken       []string      `json:"broken,omitempty"` // rows of the store that cannot be read

	runs bool // something runs already
}

type planBound struct {
	Value float64 `json:"value"`
	Kind  string  `json:"kind"`
}

// States of a job in a plan.
const (
	jobRuns  = "runs"
	jobWaits = "waits"
	jobNever = "never"
)

// planJob is what a job gets, or why it gets nothing.
type planJob struct {
	Job       string             `json:"job"`
	Team      string             `json:"team,omitempty"`
	State     string             `json:"state"`
	Config    *planner.Config    `json:"config"`
	Offering  *provider.Offering `json:"offering"`
	Machines  []int              `json:"machines,omitempty"`
	PerHour   *float64           `json:"samplesPerHour"`
	Estimated bool               `json:"estimated"`
	Rate      *pricing.Rate      `json:"rate"`
	Alone     *pricing.Rate      `json:"alone"`
	Finish    *time.Time         `json:"finish"`
	Cost      *pricing.Money     `json:"cost"`
	Keeps     bool               `json:"keeps"`
	Reason    string             `json:"reason"`
	RunnerUp  *planRunnerUp      `json:"runnerUp"`
	Clock     string             `json:"clock,omitempty"`
	Retries   *time.Time         `json:"retries,omitempty"`
	Change    string             `json:"change"`
	Deadline  *planDeadline      `json:"deadline"`
	QuotedAt  *time.Time         `json:"quotedAt"` // of its machines' rate
	Stale     bool               `json:"stale"`
	PutOff    string             `json:"putOff,omitempty"` // why what is planned cannot begin now

	accelerator string
}

// planDeadline is a deadline, and how the plan stands to it.
type planDeadline struct {
	At    time.Time `json:"at"`
	State string    `json:"state"`        // "met", "late", "open"
	Spare *float64  `json:"spareSeconds"` // from the expected finish to it; negative: late; null: not known

	Promise string      `json:"promise,omitempty"` // "kept", "net", "open", "late"
	Slack   *float64    `json:"slackSeconds"`      // that may be lost before the net is due; null: there is no net
	NetFrom *time.Time  `json:"netFrom"`           // when it starts at the latest
	Net     *planCourse `json:"net"`               // what surely runs and is reserved
	Soonest *time.Time  `json:"soonest"`           // late: the end on the fastest way that surely runs
	Later   *planCourse `json:"later"`             // late: the cheapest end
	Says    string      `json:"says,omitempty"`    // all that in a sentence
}

// planCourse is a way to the end of a job, begun now.
type planCourse struct {
	Config   planner.Config    `json:"config"`
	Offering provider.Offering `json:"offering"`
	Rate     pricing.Rate      `json:"rate"`
	Finish   time.Time         `json:"finish"`
	Cost     pricing.Money     `json:"cost"`
}

// States of a deadline in a plan.
const (
	deadlineMet  = "met"
	deadlineLate = "late"
	deadlineOpen = "open" // nobody knows: the job waits, or its work is not known
)

// promiseOpen is a promise without a net.
var promiseOpen = planner.PromiseOpen.String()

// What a plan does with a job.
const (
	changeStarts = "starts"
	changeKeeps  = "keeps"
	changeMoves  = "moves"
	changeStops  = "stops"
	changeWaits  = "waits"
)

// planRunnerUp is the config that came second, and why it lost.
type planRunnerUp struct {
	Config   planner.Config    `json:"config"`
	Offering provider.Offering `json:"offering"`
	Rate     pricing.Rate      `json:"rate"`
	Reason   string            `json:"reason"`

	accelerator string
}

// planMachine is a machine that the plan holds.
type planMachine struct {
	Instance string            `json:"instance,omitempty"`
	Buy      bool              `json:"buy"`
	Offering provider.Offering `json:"offering"`
	Rate     pricing.Rate      `json:"rate"`
	Jobs     []planShare       `json:"jobs"`
	Reason   string            `json:"reason,omitempty"`
	QuotedAt *time.Time        `json:"quotedAt"`
	Stale    bool              `json:"stale"`
}

type planShare struct {
	Job          string `json:"job"`
	Accelerators int    `json:"accelerators"`
}

type planRelease struct {
	Instance string            `json:"instance"`
	Offering provider.Offering `json:"offering"`
	Reason   string            `json:"reason"`
}

// newPlanAnswer puts jobs in the order of the file.
func newPlanAnswer(a *asked) planAnswer {
	state, book, plan := &a.state, a.book, a.plan
	data := planAnswer{
		APIVersion: document.APIVersion, Kind: "Plan", At: state.Now, Currency: "USD", BurnCap: rateOrNil(state.BurnCap),
		Jobs: []planJob{}, Machines: []planMachine{}, Releases: []planRelease{},
		Burn: plan.Burn, Policy: cmp.Or(a.cfg.policy, policy.Default), Value: plan.Value, Unit: cmp.Or(plan.Unit, "USD/h"), Bound: planBound{plan.Bound.Value, plan.Bound.Kind}, Gap: plan.Gap,
		NextDecision: timeOrNil(plan.NextDecision), NextClock: string(plan.NextClock), Later: a.later, Prices: a.prices,
	}
	if a.running.store != nil {
		data.Broken = a.running.store.Broken
	}
	accelerator := func(c planner.Config) string {
		t, _ := state.Catalogue.Lookup(c.Cloud, c.Type)
		return t.Accelerator
	}
	allocations := map[planner.JobID]*planner.Allocation{}
	for i := range plan.Allocations {
		allocations[plan.Allocations[i].Job] = &plan.Allocations[i]
	}
	waits := map[planner.JobID]planner.Wait{}
	for _, w := range plan.Waits {
		waits[w.Job] = w
	}
	for _, r := range state.Jobs {
		j := planJob{Job: string(r.Job.ID), Team: r.Job.Team}
		if a := allocations[r.Job.ID]; a != nil {
			j.runs(a, accelerator)
		} else {
			w := waits[r.Job.ID]
			j.State, j.Reason, j.Retries = jobWaits, w.Reason, timeOrNil(w.Retries)
			if w.Never {
				j.State = jobNever
			}
		}
		j.Change = changeOf(&r, allocations[r.Job.ID])
		j.Deadline = deadlineOf(r.Job.Deadline, j.Finish)
		if i := slices.IndexFunc(plan.Promises, func(p planner.Promise) bool { return p.Job == r.Job.ID }); i >= 0 {
			j.Deadline = deadlineOf(plan.Promises[i].Deadline, j.Finish) // some policies give one to a job that has none
			j.Deadline.promised(plan.Promises[i])
		}
		if j.Offering != nil {
			j.QuotedAt, j.Stale = quoted(book, *j.Offering, state.Now)
		}
		for _, d := range a.diff.Deferred {
			if d.Job == r.Job.ID {
				j.PutOff = a.putOff(d)
			}
		}
		data.runs = data.runs || r.Target != nil
		data.Jobs = append(data.Jobs, j)
	}
	data.runs = data.runs || len(state.Machines) > 0
	for _, m := range plan.Machines {
		machine := planMachine{Instance: string(m.Instance), Buy: m.Instance == "", Offering: m.Offering, Rate: m.Rate, Reason: m.Reason, Jobs: []planShare{}}
		machine.QuotedAt, machine.Stale = quoted(book, m.Offering, state.Now)
		for _, share := range m.Jobs {
			machine.Jobs = append(machine.Jobs, planShare{string(share.Job), share.Accelerators})
		}
		data.Machines = append(data.Machines, machine)
	}
	for _, r := range plan.Releases {
		data.Releases = append(data.Releases, planRelease{string(r.Instance), r.Offering, r.Reason})
	}
	return data
}

// changeOf says what a plan does with a job.
func changeOf(r *autoscale.JobRecord, a *planner.Allocation) string {
	switch {
	case a == nil && r.Target != nil:
		return changeStops
	case a == nil:
		return changeWaits
	case a.Keeps:
		return changeKeeps
	case r.Target != nil:
		return changeMoves
	}
	return changeStarts
}

func deadlineOf(at time.Time, finish *time.Time) *planDeadline {
	if at.IsZero() {
		return nil
	}
	d := &planDeadline{At: at, State: deadlineOpen}
	if finish != nil {
		spare := at.Sub(*finish).Seconds()
		d.State, d.Spare = deadlineMet, &spare
		if spare < 0 {
			d.State = deadlineLate
		}
	}
	return d
}

// promised adds what the plan promises.
func (d *planDeadline) promised(p planner.Promise) {
	course := func(c *planner.Course) *planCourse {
		if c == nil {
			return nil
		}
		return &planCourse{c.Config, c.Offering, c.Rate, c.Finish.UTC(), c.Cost}
	}
	d.Promise, d.Says = p.State.String(), p.String()
	d.Net, d.Soonest, d.Later = course(p.Net), timeOrNil(p.Soonest), course(p.Later)
	if p.Net != nil {
		slack := max(0, p.Slack.Seconds())
		d.Slack, d.NetFrom = &slack, timeOrNil(p.From)
	}
}

// A quote is stale when it is older than prices of its market commonly hold: spot
// moves within days, lists within quarters.
const (
	spotStale = 7 * 24 * time.Hour
	listStale = 90 * 24 * time.Hour
)

// quoted is when the price of an offering was last read, and whether that is too long
// ago to be relied on.
func quoted(book *pricing.Book, o provider.Offering, now time.Time) (at *time.Time, stale bool) {
	q, ok := book.Quote(o)
	if !ok {
		return nil, false
	}
	seen := pricing.SeenAt(q, now)
	return &seen, isStale(o.Market, now.Sub(seen))
}

func isStale(m provider.Market, age time.Duration) bool {
	if m == provider.Spot {
		return age > spotStale
	}
	return age > listStale
}

// runs fills in an allocation.
func (j *planJob) runs(a *planner.Allocation, accelerator func(planner.Config) string) {
	j.State, j.Config, j.Offering = jobRuns, &a.Config, &a.Offering
	for _, ref := range a.Machines {
		j.Machines = append(j.Machines, int(ref))
	}
	j.PerHour, j.Estimated = &a.Speed.Goodput, a.Speed.Estimated
	j.Rate, j.Alone, j.Keeps, j.Reason, j.Clock = &a.Rate, &a.Alone, a.Keeps, a.Reason, string(a.Clock)
	if !a.Finish.IsZero() {
		j.Finish, j.Cost = &a.Finish, &a.Cost
	}
	j.accelerator = accelerator(a.Config)
	if r := a.RunnerUp; r != nil {
		j.RunnerUp = &planRunnerUp{r.Config, r.Offering, r.Rate, r.Reason, accelerator(r.Config)}
	}
}

// gang is the accelerators of a job and the machines that hold them.
func (j planJob) gang() string {
	text := fmt.Sprintf("%d × %s on %s", j.Config.Replicas, j.accelerator, j.Config.Type)
	if j.Config.Nodes > 1 {
		text = fmt.Sprintf("%d × %s on %d × %s", j.Config.Replicas, j.accelerator, j.Config.Nodes, j.Config.Type)
	}
	return text
}

func rateOrNil(r pricing.Rate) *pricing.Rate {
	if r == 0 {
		return nil
	}
	return &r
}

func timeOrNil(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}
