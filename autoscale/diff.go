package autoscale

import (
	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/pricing/budget"
	"github.com/goodfleet/goodfleet/provider"
)

// Diff is what leads from the state to the plan. Each entry says why; Clock names
// the threshold that time alone has passed, if nothing else made the difference.
type Diff struct {
	Launches     []Launch
	Terminations []Termination
	Starts       []Start
	Stops        []Stop
	Drains       []Drain
	Targets      []Target   // jobs that were given other machines, or none
	Deferred     []Deferral // what the plan wants and cannot have yet
	Breaker      string     // why all of the plan is refused: it would end too much at once; "": it is not
}

// Launch buys machines of one offering with one call.
type Launch struct {
	Offering provider.Offering
	Count    int
	Min      int          // fewer is none: Count for the nodes of a gang
	Rate     pricing.Rate // of each
	Jobs     []planner.JobID
	For      []budget.Part // for whom its machines are
	Reason   string
	Clock    planner.Clock

	Alternates []provider.Offering // other zones that will do as well: the cloud chooses
}

// Termination ends a machine that carries no gang.
type Termination struct {
	Instance provider.InstanceID
	Offering provider.Offering
	Reason   string
	Clock    planner.Clock
}

// Start starts a gang whose machines are all ready.
type Start struct {
	Gang   Gang
	Reason string
	Clock  planner.Clock
}

// Stop stops a gang.
type Stop struct {
	Job        planner.JobID
	Generation int64
	Mode       StopMode
	Reason     string
	Clock      planner.Clock
}

// Drain marks a machine that is to be ended when its gangs have left.
type Drain struct {
	Instance provider.InstanceID
	Offering provider.Offering
	Reason   string
	Clock    planner.Clock
}

// Target is a change of what a job is to run on.
type Target struct {
	Job    planner.JobID
	Target *planner.Running // nil: the job waits. Machines to be bought have names of their own
	Moves  bool             // it leaves other machines for these
	Reason string
	Clock  planner.Clock
}

// Deferral is a part of the plan that has to wait: the job stays as it is.
type Deferral struct {
	Job      planner.JobID
	Offering provider.Offering
	Reason   string

	Question string // id of the one whose answer it waits for; "": of none
	Unasked  bool   // nobody has been asked yet: the round that decides so asks
}

// Empty reports whether the diff changes nothing. What is deferred changes nothing.
func (d Diff) Empty() bool {
	return len(d.Launches)+len(d.Terminations)+len(d.Starts)+len(d.Stops)+len(d.Drains)+len(d.Targets) == 0
}

// name gives every entry without a clock the clock that woke the round.
func (d *Diff) name(c planner.Clock) {
	if c == planner.NoClock {
		return
	}
	set := func(own *planner.Clock) {
		if *own == planner.NoClock {
			*own = c
		}
	}
	for i := range d.Launches {
		set(&d.Launches[i].Clock)
	}
	for i := range d.Terminations {
		set(&d.Terminations[i].Clock)
	}
	for i := range d.Starts {
		set(&d.Starts[i].Clock)
	}
	for i := range d.Stops {
		set(&d.Stops[i].Clock)
	}
	for i := range d.Drains {
		set(&d.Drains[i].Clock)
	}
	for i := range d.Targets {
		set(&d.Targets[i].Clock)
	}
}
