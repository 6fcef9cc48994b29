package providertest

import (
	"testing"
	"time"

	"github.com/goodfleet/goodfleet/provider"
)

// Setup is a driver under test.
type Setup struct {
	// Open makes a stage with nothing launched; it is called once for each clause.
	Open func(t testing.TB) Stage

	// CannotShow declares the clauses that cannot be shown, and why, by name.
	CannotShow map[string]string
}

// Stage is an account in which one clause is shown.
type Stage struct {
	Cloud    provider.Cloud
	Offering provider.Offering   // what is bought: Many machines of it can be had
	Other    provider.Offering   // the same in another zone, where two can be had
	Many     int                 // more than fit into one answer of the listing; at least 8
	Unknown  provider.InstanceID // looks like the cloud's ids, and is none
	Grace    time.Duration       // how long a machine may be missing from listings after its launch
	Boot     time.Duration       // how long a machine may take to run
	Wait     func(time.Duration) // lets time pass for the cloud

	// TagKeys are the keys of all tags that the cloud holds of a machine; nil: they
	// cannot be seen.
	TagKeys func(provider.InstanceID) []string

	Trouble Trouble
}

// Trouble makes the cloud misbehave, from now on. What is nil cannot be provoked.
type Trouble struct {
	Refuse      func(kind error)          // the next launch alone ends in kind, and buys nothing
	Refusals    []error                   // the kinds that Refuse can provoke
	Room        func(n int)               // capacity for n more machines of the offering, and no more
	QuotaRoom   func(n int)               // a limit of the account that leaves room for n more
	LoseAnswer  func()                    // the next launch is done, and its answer lost
	FailListing func(kind error)          // the next listing of instances ends in kind
	Hang        func()                    // the next launch is never answered
	Protect     func(provider.InstanceID) // it cannot be terminated
	Interrupt   func(provider.InstanceID) // the cloud takes it back, within the hour
	Hint        func(provider.InstanceID) // the cloud says that it may take it, and does not
	Foreign     func(fleet string)        // another fleet launches a machine
}
