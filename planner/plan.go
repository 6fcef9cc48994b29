package planner

import (
	"time"

	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/provider"
)

// MachineRef names a machine of a plan: its index in Plan.Machines.
type MachineRef int

// PlannedMachine is one machine that the plan holds, and who runs on it.
type PlannedMachine struct {
	Instance provider.InstanceID // "" for one to be bought
	Offering provider.Offering
	Rate     pricing.Rate // decision rate
	Jobs     []Share      // by job; empty for one kept idle
	Reason   string       // why it is bought, or kept idle
	Clock    Clock        // the threshold that made it so, if one did
}

// Share is the part of a machine that one job gets.
type Share struct {
	Job          JobID
	Accelerators int
}

// Allocation is what a job gets from a plan.
type Allocation struct {
	Job      JobID
	Config   Config
	Offering provider.Offering
	Machines []MachineRef // one per node
	Speed    Speed
	Rate     pricing.Rate  // its accelerators' share of its machines' rates
	Alone    pricing.Rate  // rate of its machines if it were alone on them
	Finish   time.Time     // expected, with losses and waits; zero when the work is unknown
	Cost     pricing.Money // expected, to the finish, with moving its data here; 0 with Finish zero
	Keeps    bool          // the job stays on the machines that it has
	Held     bool          // it stays although its work would be cheaper elsewhere: Reason says where, and why
	Reason   string        // why this config
	RunnerUp *RunnerUp     // the next-best, and why it lost; nil when there was none
	Clock    Clock         // the threshold that made it change, if one did

	// Alternates are other zones of the offering, of which all its machines are bought,
	// where it would be worth as much but for AlternateSlack: a launch may leave the
	// choice to the cloud.
	Alternates []provider.Offering
}

// AlternateSlack is the part of its worth that a job may lose by coming up in another
// zone than the plan's, when the cloud is left the choice.
const AlternateSlack = 0.02

// RunnerUp is the config that came second for a job.
type RunnerUp struct {
	Config   Config
	Offering provider.Offering
	Rate     pricing.Rate
	Reason   string
}

// Wait says why a job gets nothing.
type Wait struct {
	Job     JobID
	Reason  string // what it lacks, or the row that binds
	Never   bool   // nothing that is sold fits: it will not start until something changes
	Retries time.Time
}

// Release is a machine that the plan ends.
type Release struct {
	Instance provider.InstanceID
	Offering provider.Offering
	Reason   string
	Clock    Clock
}

// Clock names a threshold that passes with time alone: the only reason for a plan
// to change when nothing else did.
type Clock string

const (
	NoClock    Clock = ""
	HoldClock  Clock = "hold"     // a machine's minimum run time ended
	BonusClock Clock = "bonus"    // a job waited long enough
	HeadClock  Clock = "head"     // a job may come to the head of those that never ran, or has run for as long as that gives it
	BackClock  Clock = "back-off" // an offering may be tried again
	PriceClock Clock = "price"    // a quote changed
	LeaseClock Clock = "lease"    // a lease ends
	NetClock   Clock = "deadline" // a safety net is due
	FreeClock  Clock = "free"     // a machine becomes free on which a job waits
	OpenClock  Clock = "open"     // an offer opens to a job that waits for it
	IdleClock  Clock = "idle"     // a machine was idle for as long as another would boot
	StayClock  Clock = "stay"     // a job has been where it is for so long that a move is judged over a longer time
)

// Bound says how a plan's bound was found.
type Bound struct {
	Value float64 // in the plan's unit
	Kind  string  // "lp" or "proved"
}

// Plan is the decision: who gets what, which machines are kept, bought and ended.
// Everything is in a fixed order: jobs as in the problem, machines kept first.
type Plan struct {
	Machines    []PlannedMachine
	Allocations []Allocation
	Waits       []Wait
	Releases    []Release
	Shares      []JobShares // of a policy of shares
	Promises    []Promise   // of the jobs with a deadline, in the order of the problem

	Value float64 // worth of the plan
	Unit  string  // of Value and Bound; "": USD per hour
	Bound Bound   // no plan is worth more
	Gap   float64 // (bound − value) over the spend and time it decides on

	Roomy bool // no cap, quota, row or short supply kept anything from it: with more room it would be the same

	Burn         pricing.Rate // sum of rates of the machines held
	NextDecision time.Time    // when a clock passes if nothing else happens; zero: never
	NextClock    Clock
}
