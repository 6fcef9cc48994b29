package crash

import (
	"context"
	"errors"

	"github.com/goodfleet/goodfleet/autoscale"
	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/provider"
)

// errKilled is what a loop gets that has been killed: it can do nothing any more.
// Nothing outside sees the difference to a process that is gone.
var errKilled = errors.New("killed")

// moment is when, of a call, the loop is killed.
type moment int

const (
	before moment = iota // the call is not made
	during               // it is made, perhaps in part, and its answer is lost
	after                // it is made and answered, and then the loop is gone
	moments
)

// killer counts the calls of one life of the loop and ends it at one of them. The
// loop calls one cloud after the other here, so that their order is fixed.
type killer struct {
	left  int    // calls until the kill; negative: never
	only  string // only calls of that name count; "": all
	when  moment
	dead  bool
	calls int
	at    string // the call at which it was killed
}

func newKiller(left int, when moment) *killer {
	return &killer{left: left, when: when}
}

// next is one call. It says whether it may be made, and whether its answer arrives.
func (k *killer) next(call string) (made, answered bool) {
	if k.dead {
		return false, false
	}
	k.calls++
	if k.left < 0 || k.only != "" && k.only != call {
		return true, true
	}
	if k.left--; k.left >= 0 {
		return true, true
	}
	k.dead, k.at = true, call
	return k.when != before, k.when == after
}

func (k *killer) isDead() bool { return k.dead }

// through makes a call under the killer's eyes.
func through[T any](k *killer, call string, do func() (T, error)) (T, error) {
	var none T
	made, answered := k.next(call)
	if !made {
		return none, errKilled
	}
	got, err := do()
	if !answered {
		return none, errKilled
	}
	return got, err
}

// mortalStore is a store behind which the loop may die. A commit at which it is
// killed is stored or not, never in part.
type mortalStore struct {
	autoscale.Store
	w *world
}

func (s *mortalStore) Commit(ctx context.Context, c autoscale.Change) error {
	_, err := through(s.w.killer, "commit", func() (struct{}, error) {
		if s.w.killer.isDead() && s.w.killer.when == during && s.w.rng.IntN(2) == 0 {
			return struct{}{}, errKilled
		}
		return struct{}{}, s.w.bug.commit(ctx, s.Store, c)
	})
	return err
}

func (s *mortalStore) Load(ctx context.Context) (autoscale.Snapshot, error) {
	return through(s.w.killer, "load", func() (autoscale.Snapshot, error) { return s.Store.Load(ctx) })
}

// mortalCloud is a cloud behind which the loop may die, and that watches what is
// asked of it.
type mortalCloud struct {
	provider.Cloud
	w      *world
	listed []provider.Instance // in the look under way
}

func (c *mortalCloud) Instances(ctx context.Context) ([]provider.Instance, error) {
	return through(c.w.killer, "listing", func() ([]provider.Instance, error) {
		list, err := c.Cloud.Instances(ctx)
		c.w.shown(list)
		c.listed = list
		return list, err
	})
}

// Quotas is the last call of a look: with its answer the loop has seen the listing.
func (c *mortalCloud) Quotas(ctx context.Context) ([]provider.Quota, error) {
	return through(c.w.killer, "quotas", func() ([]provider.Quota, error) {
		list, err := c.Cloud.Quotas(ctx)
		if err == nil {
			c.w.swept(c.listed)
		}
		return list, err
	})
}

func (c *mortalCloud) Interruptions(ctx context.Context) ([]provider.Interruption, error) {
	return through(c.w.killer, "notices", func() ([]provider.Interruption, error) { return c.Cloud.Interruptions(ctx) })
}

func (c *mortalCloud) Launch(ctx context.Context, req provider.LaunchRequest) ([]provider.Instance, error) {
	return through(c.w.killer, "launch", func() ([]provider.Instance, error) {
		c.w.checkLaunch(req)
		list, err := c.Cloud.Launch(ctx, req)
		c.w.shown(list)
		return list, err
	})
}

// Terminate ends half of the machines when the loop is killed on the way.
func (c *mortalCloud) Terminate(ctx context.Context, ids ...provider.InstanceID) error {
	_, err := through(c.w.killer, "terminate", func() (struct{}, error) {
		c.w.checkEnd(ids)
		if c.w.killer.isDead() && c.w.killer.when == during {
			ids = ids[:(len(ids)+1)/2]
		}
		return struct{}{}, c.Cloud.Terminate(ctx, ids...)
	})
	return err
}

// mortalRunner is a runner behind which the loop may die. The gangs go on.
type mortalRunner struct{ w *world }

func (r *mortalRunner) Start(ctx context.Context, g autoscale.Gang) error {
	_, err := through(r.w.killer, "start", func() (struct{}, error) { return struct{}{}, r.w.runner.Start(ctx, g) })
	return err
}

func (r *mortalRunner) Stop(ctx context.Context, job planner.JobID, generation int64, mode autoscale.StopMode) error {
	_, err := through(r.w.killer, "stop", func() (struct{}, error) { return struct{}{}, r.w.runner.Stop(ctx, job, generation, mode) })
	return err
}

func (r *mortalRunner) Progress(ctx context.Context) ([]autoscale.Progress, error) {
	return through(r.w.killer, "progress", func() ([]autoscale.Progress, error) { return r.w.runner.Progress(ctx) })
}

// String is the moment's word.
func (m moment) String() string { return [...]string{"before", "during", "after"}[m] }
