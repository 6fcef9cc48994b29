// Package store keeps a fleet's jobs, machines, intents, charges and events:
// Memory for simulations, SQLite for everything that must outlive a crash. Both
// fill autoscale.Store and pass one suite of tests.
//
// A store is born with a random fleet id and an epoch; every machine carries both
// in its tags. A change is stored whole or not at all, and only by who has seen
// the newest version. Times are instants in UTC, money is exact.
//
// Who asks the file by SQL finds the charges in the view charges. They are stored as
// lines that name a run, a bearer and terms, of which there are far fewer: a million
// lines take 221 MB and are summed in under 2 CPU seconds
// (go test ./cmd/goodfleet -run '^$' -bench AMillion -benchtime 3x).
package store

import (
	"github.com/google/uuid"

	"github.com/goodfleet/goodfleet/planner"
)

// Codec writes a job as the JSON of its document and reads it back: what a job
// can do is known by the document that it came from.
type Codec struct {
	Encode func(*planner.Job) ([]byte, error)
	Decode func([]byte) (*planner.Job, error)
}

// newFleet is a random id of a fleet.
func newFleet() string { return uuid.NewString() }
