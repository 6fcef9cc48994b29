package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/goodfleet/goodfleet/autoscale"
	"github.com/goodfleet/goodfleet/autoscale/document"
	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/provider"
)

// diffAnswer is the JSON of plan --diff: what leads from what runs to the plan.
type diffAnswer struct {
	APIVersion string       `json:"apiVersion"`
	Kind       string       `json:"kind"`
	At         time.Time    `json:"at"`
	Changes    []diffChange `json:"changes"`
	Refused    string       `json:"refused,omitempty"` // why the loop would do nothing of it
	BurnBefore pricing.Rate `json:"burnBefore"`
	BurnAfter  pricing.Rate `json:"burnAfter"`
}

// diffChange is one thing that would happen.
type diffChange struct {
	Does     string             `json:"does"` // "buy", "end", "start", "move", "stop", "put off"
	Count    int                `json:"count"`
	Job      string             `json:"job,omitempty"`
	Instance string             `json:"instance,omitempty"`
	Offering *provider.Offering `json:"offering,omitempty"`
	Config   *planner.Config    `json:"config,omitempty"`
	From     *provider.Offering `json:"from,omitempty"`
	Reason   string             `json:"reason"`
	Clock    string             `json:"clock,omitempty"`
}

// changes is the difference of the plan to what runs, in the order in which it
// happens: buy, place, end.
func (a *asked) changes() answer {
	data := diffAnswer{
		APIVersion: document.APIVersion, Kind: "PlanDiff", At: a.state.Now, Changes: []diffChange{}, Refused: a.diff.Breaker, BurnAfter: a.plan.Burn,
	}
	for _, m := range a.reasons.Problem().Machines {
		data.BurnBefore += m.Rate
	}
	for _, l := range a.diff.Launches {
		data.Changes = append(data.Changes, diffChange{Does: "buy", Count: l.Count, Offering: &l.Offering, Reason: l.Reason, Clock: string(l.Clock)})
	}
	for _, t := range a.diff.Targets {
		data.Changes = append(data.Changes, a.target(t))
	}
	for _, d := range a.diff.Deferred {
		data.Changes = append(data.Changes, diffChange{Does: "put off", Count: 1, Job: string(d.Job), Offering: &d.Offering, Reason: a.putOff(d)})
	}
	for _, d := range a.diff.Drains {
		data.Changes = append(data.Changes, diffChange{Does: "end", Count: 1, Instance: string(d.Instance), Offering: &d.Offering, Reason: "when its jobs have left: " + d.Reason, Clock: string(d.Clock)})
	}
	for _, t := range a.diff.Terminations {
		data.Changes = append(data.Changes, diffChange{Does: "end", Count: 1, Instance: string(t.Instance), Offering: &t.Offering, Reason: t.Reason, Clock: string(t.Clock)})
	}
	return answer{data: data, grid: data.grid()}
}

// target is a job that gets other machines, or none.
func (a *asked) target(t autoscale.Target) diffChange {
	c := diffChange{Does: "start", Count: 1, Job: string(t.Job), Reason: t.Reason, Clock: string(t.Clock)}
	for i := range a.state.Jobs {
		if r := &a.state.Jobs[i]; r.Job.ID == t.Job && r.Target != nil {
			c.From = &r.Target.Offering
		}
	}
	switch {
	case t.Target == nil:
		c.Does = "stop"
	case c.From != nil:
		c.Does = "move"
	}
	if t.Target != nil {
		c.Offering, c.Config = &t.Target.Offering, &t.Target.Config
	}
	return c
}

func (data diffAnswer) grid() grid {
	g := grid{head: []string{"does", "what", "from", "to", "why"}}
	for _, c := range data.Changes {
		what, from, to := c.Job, unknown, unknown
		if c.Instance != "" {
			what = c.Instance
		}
		if c.Count > 1 || what == "" {
			what = strings.TrimSpace(what + " " + counted(c.Count, "machine"))
		}
		if c.From != nil {
			from = c.From.String()
		}
		if c.Offering != nil {
			to = c.Offering.String()
			if c.Does == "end" {
				from, to = to, unknown
			}
			if c.Config != nil {
				to = strconv.Itoa(c.Config.Replicas) + " replicas on " + to
			}
		}
		g.rows = append(g.rows, []string{c.Does, what, from, to, c.Reason})
	}
	g.notes = append(g.notes, "")
	if len(data.Changes) == 0 {
		g.notes = append(g.notes, "Nothing changes: what runs is the plan.")
	}
	if data.Refused != "" {
		g.notes = append(g.notes, "The loop would do nothing of it: "+data.Refused)
	}
	g.notes = append(g.notes, fmt.Sprintf("Burn %s USD/h now, %s after. Planned for %s.", cents(data.BurnBefore.Dollars()), cents(data.BurnAfter.Dollars()), data.At.Format(time.RFC3339)))
	return g
}
