package provider

import (
	"fmt"
	"time"
)

// InstanceID is the cloud's own id of a machine. It is the only identity of a
// machine: names and addresses are used again, ids are not.
type InstanceID string

// InstanceState is where an instance stands in its life.
type InstanceState uint8

const (
	Pending InstanceState = iota + 1 // asked for, not yet running; not billed
	Running                          // billed
	Ending                           // on its way out
	Ended                            // gone; listed for a while after
)

var stateNames = [...]string{Pending: "pending", Running: "running", Ending: "ending", Ended: "ended"}

// String returns the state's word.
func (s InstanceState) String() string {
	if s < Pending || s > Ended {
		return fmt.Sprintf("state(%d)", uint8(s))
	}
	return stateNames[s]
}

// EndCause says who ended an instance: billing rules differ by it.
type EndCause uint8

const (
	NotEnded    EndCause = iota
	EndedByUs            // we terminated it
	Interrupted          // the cloud took it back
	Failed               // it broke, or never came up
)

var causeNames = [...]string{NotEnded: "", EndedByUs: "by us", Interrupted: "interrupted", Failed: "failed"}

// String returns the cause's words.
func (c EndCause) String() string {
	if int(c) >= len(causeNames) {
		return fmt.Sprintf("cause(%d)", uint8(c))
	}
	return causeNames[c]
}

// Tags are what goodfleet writes on every machine it launches, under TagKeys.
type Tags struct {
	Fleet  string // id of the fleet; born with the store
	Epoch  int64  // epoch of the store that launched it
	Round  int64  // round that launched it
	Intent string // token of the intent behind it
}

// Instance is a machine leased to us, as the cloud lists it.
type Instance struct {
	ID       InstanceID
	Offering Offering
	State    InstanceState
	Tags     Tags
	Launched time.Time // the cloud accepted the launch
	Started  time.Time // entered Running: the bill's clock starts; zero before
	Ended    time.Time // the bill's clock stopped; zero before
	Cause    EndCause

	// What the machine says of itself, apart from what the cloud says of it.
	CalledHome   time.Time // its first word; zero before, and where nothing listens
	Accelerators int       // usable ones that it counted; means nothing before CalledHome
	MemGiB       float64   // memory that a job can use, as it measured; 0: it has not told
}

// Live reports whether the instance is here or on its way here.
func (i Instance) Live() bool { return i.State == Pending || i.State == Running }

// Interruption is a cloud's word that it takes an instance back, or a hint that it may.
type Interruption struct {
	Instance InstanceID
	Offering Offering
	Noticed  time.Time // when the word came
	Loss     time.Time // when the machine goes; equals Noticed when there was no warning; zero of a hint

	// Hint is set when the cloud only says that the machine is likelier to go than
	// others (EC2: rebalance recommendation). It may go without another word, with a
	// notice, or never.
	Hint bool
}
