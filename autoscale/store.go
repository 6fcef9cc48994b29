package autoscale

import (
	"context"
	"errors"
	"time"

	"github.com/goodfleet/goodfleet/pricing/ledger"
)

// ErrStale is what a store answers to a change that was decided on a snapshot
// which is no longer the newest: two loops, or two rounds, at once.
var ErrStale = errors.New("the store has moved on")

// Store keeps what must outlive a crash. A change is stored whole or not at all,
// and is durable when Commit returns nil. After any other answer the caller knows
// nothing and loads again.
type Store interface {
	// Load returns the running fleet. Rows that cannot be read are left out and named
	// in Snapshot.Broken.
	Load(ctx context.Context) (Snapshot, error)

	// Commit stores one change and makes the store's version one more than
	// c.Version. It answers ErrStale, and stores nothing, when that is not the
	// store's version.
	Commit(ctx context.Context, c Change) error

	// Jobs returns every job there ever was, by time of submission and id.
	Jobs(ctx context.Context) ([]JobRecord, error)

	// Instances returns every machine there ever was, by id.
	Instances(ctx context.Context) ([]InstanceRecord, error)

	// Charges returns the charges of which some time lies in [from, to), in the order
	// in which they were appended. A zero time leaves that side open.
	Charges(ctx context.Context, from, to time.Time) ([]ledger.Charge, error)

	// Events returns the events in [from, to), in the order in which they were
	// appended. A zero time leaves that side open.
	Events(ctx context.Context, from, to time.Time) ([]Event, error)
}
