package main

import (
	"time"

	"github.com/goodfleet/goodfleet/autoscale"
	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/pricing"
)

// whyClosed is a cap of a budget policy that lets a job begin nothing, or stops it.
type whyClosed struct {
	Policy string        `json:"policy"`
	Step   string        `json:"step"` // "no-new", "drain", "stop"
	Says   string        `json:"says"`
	Spent  pricing.Money `json:"spent"`
	Amount pricing.Money `json:"amount"`
	Until  *time.Time    `json:"until"` // when its period is over; null: it has no end
	Some   bool          `json:"some"`  // only some of the offerings that the job could run on are closed to it
}

// closedTo are the caps that are closed to a job.
func (a *asked) closedTo(job *planner.Job) []whyClosed {
	var list []whyClosed
	for _, c := range a.state.ClosedTo(job) {
		list = append(list, whyClosed{
			Policy: c.Policy, Step: string(c.Step), Says: c.Says, Spent: c.Spent, Amount: c.Amount, Until: timeOrNil(c.Until), Some: c.Some,
		})
	}
	return list
}

// is reports whether a barrier is this cap.
func (c *whyClosed) is(b whyBarrier) bool {
	return b.What == planner.RefusalText([]planner.Refusal{{By: c.Policy, Why: c.Says}})
}

// text is a closed cap in a sentence.
func (c *whyClosed) text() string {
	text := "budget policy " + c.Policy
	if c.Some {
		text += ", of some of what it could run on"
	}
	return text + ": " + c.Says
}

// putOff is why a part of the plan cannot begin now, and who is to answer what about it.
func (a *asked) putOff(d autoscale.Deferral) string {
	switch {
	case d.Question == "":
		return d.Reason
	case d.Unasked:
		return d.Reason + ", whom the next round asks"
	}
	return d.Reason + ": goodfleet budget approve " + d.Question + " --state " + a.cfg.state + " --who YOU --why WHY"
}
