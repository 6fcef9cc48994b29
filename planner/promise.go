package planner

import (
	"fmt"
	"time"

	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/provider"
)

// PromiseState says how a plan stands to the deadline of a job.
type PromiseState uint8

const (
	PromiseKept PromiseState = iota + 1 // there is a net, and its time has not come
	PromiseNet                          // the net's time has come: the job gets what surely runs
	PromiseOpen                         // it may be in time, but no net can be reserved for it
	PromiseLate                         // nothing that surely runs meets the deadline any more
)

var promiseNames = [...]string{PromiseKept: "kept", PromiseNet: "net", PromiseOpen: "open", PromiseLate: "late"}

func (s PromiseState) String() string {
	if s < PromiseKept || s > PromiseLate {
		return fmt.Sprintf("promise(%d)", uint8(s))
	}
	return promiseNames[s]
}

// Promise is what a plan says of a job's deadline. Finishes are of the 80 % quantile
// of the work left.
type Promise struct {
	Job      JobID
	Deadline time.Time
	State    PromiseState
	Finish   time.Time     // by this plan, if nothing more is decided; zero: it waits
	Slack    time.Duration // time that may be lost before the net is due; 0 when it is
	Net      *Course       // reserved; nil: none
	From     time.Time     // when the net starts at the latest; zero without one
	Later    *Course       // late: the cheapest way to the end
	Soonest  time.Time     // late: the end on the fastest way that surely runs; zero: there is none
	Reason   string        // the row, and the jobs, that stand in the way
}

// Course is a way to the end of a job.
type Course struct {
	Config   Config
	Offering provider.Offering
	Rate     pricing.Rate // of its whole machines
	Finish   time.Time    // begun now
	Cost     pricing.Money
}

// String says it in a sentence.
func (p Promise) String() string {
	switch p.State {
	case PromiseKept:
		return fmt.Sprintf("in time: %v of slack, from %s it gets %s", p.Slack.Round(time.Minute), p.From.UTC().Format("2006-01-02 15:04"), p.Net)
	case PromiseNet:
		return fmt.Sprintf("no slack is left: it gets what surely runs, and ends at %s", p.Finish.UTC().Format("2006-01-02 15:04"))
	case PromiseOpen:
		return "no net can be reserved: " + p.Reason
	}
	text := "late: nothing that surely runs meets the deadline"
	if !p.Soonest.IsZero() {
		text += fmt.Sprintf(", the fastest is %v after it", p.Soonest.Sub(p.Deadline).Round(time.Minute))
	}
	if p.Later != nil {
		text += fmt.Sprintf("; the cheapest end is at %s for %.2f USD", p.Later.Finish.UTC().Format("2006-01-02 15:04"), p.Later.Cost.Dollars())
	}
	return text
}

// String names what it runs on.
func (c *Course) String() string {
	if c.Config.Nodes > 1 {
		return fmt.Sprintf("%d × %s", c.Config.Nodes, c.Offering)
	}
	return c.Offering.String()
}
