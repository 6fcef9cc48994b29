package planner

import (
	"time"

	"github.com/goodfleet/goodfleet/provider"
)

// Claim is a job's right to time on one kind of machine, by a policy of shares, and
// what it has had of it. Had may pass Due, since machines that nobody has a right to
// are given to those who can use them.
type Claim struct {
	Kind  string        `json:"kind"`  // cloud and instance type
	Share float64       `json:"share"` // of the time, as last planned, in [0, 1]
	Due   time.Duration `json:"due"`   // what the shares planned so far come to
	Had   time.Duration `json:"had"`   // time with machines of the kind
}

// JobShares is what a policy of shares gives a job from now on.
type JobShares struct {
	Job    JobID
	Claims []Claim   // Kind and Share; Due and Had are not looked at
	Lease  time.Time // until when it keeps its machines; zero: it has none
}

// Way is one way to lay out a gang: so many accelerators on each of so many machines
// of an offering.
type Way struct {
	Kind           string
	Offering       provider.Offering
	Nodes, PerNode int
}

// Room is a machine that gangs may be laid onto.
type Room struct {
	Instance     provider.InstanceID // "" for one that is to be had yet
	Offering     provider.Offering
	Accelerators int
}

// Contender is a job that takes part in a round.
type Contender struct {
	Job    JobID
	Claims []Claim
	Ways   []Way // the better ones of a kind first
	Now    *Way  // what it runs on; nil: it waits
	Rooms  []int // of Now, indices of rooms
	Leased bool  // it keeps them in this round, whatever comes
	Shares bool  // its machines may carry other gangs of several nodes that share too
}

// Turn is a contender that gets machines in a round.
type Turn struct {
	Contender int
	Way       Way
	Rooms     []int // one per node
	Keeps     bool  // those that it has
}

// KindOf is the kind of machine that an offering is of.
func KindOf(o provider.Offering) string { return o.Cloud + "/" + o.Type }
