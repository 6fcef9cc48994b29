package crash

import (
	"context"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/goodfleet/goodfleet/autoscale"
)

// bug is a mistake that the harness must find. The zero value is none.
type bug int

const (
	noBug        bug = iota
	roundToken       // a token is derived from the number of the round
	lateIntent       // an intent is written after its call
	gracelessEnd     // what nothing accounts for is swept at first sight
)

// tokens makes the ids of launches: random, or what a bug makes of them.
func (b bug) tokens(w *world) func() string {
	if b == roundToken {
		first, n := w.rounds, 0
		return func() string { n++; return fmt.Sprintf("round-%d/%d", w.rounds-first, n) }
	}
	return func() string {
		var id [16]byte
		for i := range id {
			id[i] = byte(w.tokens.Uint32())
		}
		return hex.EncodeToString(id[:])
	}
}

// commit stores a change; a late intent goes with the next change.
func (b bug) commit(ctx context.Context, s autoscale.Store, c autoscale.Change) error {
	if b == lateIntent {
		var kept []autoscale.Intent
		for _, x := range c.Intents {
			if x.State != autoscale.IntentOpen || len(x.Instances) > 0 || x.Error != "" {
				kept = append(kept, x)
			}
		}
		c.Intents = kept
	}
	return s.Commit(ctx, c)
}

func (b bug) grace(right time.Duration) time.Duration {
	if b == gracelessEnd {
		return time.Nanosecond
	}
	return right
}
