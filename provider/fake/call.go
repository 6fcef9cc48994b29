package fake

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/goodfleet/goodfleet/provider"
)

// Call names a call of the seam.
type Call uint8

const (
	AnyCall Call = iota // in a fault: whichever comes
	LaunchCall
	TerminateCall
	ListingCall // Instances
	NoticesCall // Interruptions
	QuotasCall
)

var callNames = [...]string{AnyCall: "call", LaunchCall: "launch", TerminateCall: "terminate", ListingCall: "listing", NoticesCall: "notices", QuotasCall: "quotas"}

// String is the call's word in scenarios.
func (c Call) String() string {
	if int(c) >= len(callNames) {
		return fmt.Sprintf("call(%d)", uint8(c))
	}
	return callNames[c]
}

// trying is what a failed call says was tried.
var trying = [...]string{LaunchCall: "launch", TerminateCall: "terminate", ListingCall: "list instances", NoticesCall: "list interruptions", QuotasCall: "list quotas"}

// fault is what befalls one call. The zero value is nothing.
type fault struct {
	// The call does not reach the cloud.
	refusal     error // it is answered with this
	requestLost bool  // it is answered with ErrUnknown
	hangs       bool  // it is never answered

	// The call is done, but its answer does not arrive.
	answerLost bool
	hangsAfter bool

	// Of a launch with a new token.
	capped  bool          // at most this many come up
	most    int           //
	silent  bool          // and nothing is said about the rest
	surplus int           // come up beside those that were asked for
	late    time.Duration // the answer is lost, and the machines come up this much later

	// Of a termination.
	ignored bool          // it is accepted, and nothing happens
	takes   time.Duration // until the machines have ended

	// Of a listing.
	lag          time.Duration // it shows what was true this long ago
	empty, twice bool          // no row; every row two times
	half         bool          // every second row
}

// stage is when a rule is looked at, so that a fault that could not show is not used up.
type stage uint8

const (
	refusing stage = iota // before the call reaches the cloud; the first rule that fits is the only one
	shaping               // of the deed; for a launch: only if its token is new
	marking               // of machines that a launch creates
)

// rule befalls calls from an instant on.
type rule struct {
	call  Call
	of    pattern
	count int // only launches of that many machines; 0: of any
	// Only machines of a type with that many accelerators; 0: any.
	accelerators int
	stage        stage
	from         time.Time
	until        time.Time // zero: no end
	left         int       // calls that it will still befall; negative: all in its time
	set          func(*fault)
	mark         func(*machine) // of a marking rule
}

func (r *rule) fits(now time.Time, call Call, about []provider.Offering, count int) bool {
	switch {
	case r.left == 0 || now.Before(r.from) || !r.until.IsZero() && !now.Before(r.until):
		return false
	case r.call != AnyCall && r.call != call || r.count != 0 && r.count != count:
		return false
	}
	return r.of == "" || slices.ContainsFunc(about, r.of.matches)
}

// befalls takes the rules of one stage that fit a call, and counts them down.
func (c *Cloud) befalls(s stage, call Call, about []provider.Offering, count int, use func(*rule)) {
	for _, r := range c.rules {
		if r.stage != s || !r.fits(c.now, call, about, count) || r.accelerators != 0 && !c.carries(about, r.accelerators) {
			continue
		}
		if r.left > 0 {
			r.left--
		}
		use(r)
		if s == refusing {
			return
		}
	}
	c.rules = slices.DeleteFunc(c.rules, func(r *rule) bool {
		return r.left == 0 || !r.until.IsZero() && !c.now.Before(r.until)
	})
}

// carries reports whether one of the offerings has that many accelerators.
func (c *Cloud) carries(about []provider.Offering, accelerators int) bool {
	return slices.ContainsFunc(about, func(o provider.Offering) bool {
		t, ok := c.cfg.Catalogue.Lookup(o.Cloud, o.Type)
		return ok && t.Count == accelerators
	})
}

// serve is the gate that every call of the seam passes. do runs with the lock
// held, unless a fault keeps the call from the cloud; about lists what the call is
// about, and count is the number of machines that a launch asks for.
func serve[T any](ctx context.Context, c *Cloud, call Call, about func() []provider.Offering, count int, do func(f *fault) (T, error)) (T, error) {
	var none T
	if err := ctx.Err(); err != nil {
		return none, fmt.Errorf("%s: %w", trying[call], err)
	}
	c.mu.Lock()
	c.asked[call]++
	if err := c.throttled(call); err != nil {
		c.mu.Unlock()
		return none, fmt.Errorf("%s: %w", trying[call], err)
	}
	var f fault
	if len(c.rules) > 0 {
		c.befalls(refusing, call, about(), count, func(r *rule) { r.set(&f) })
	}
	switch {
	case f.refusal != nil:
		c.mu.Unlock()
		return none, fmt.Errorf("%s: %w", trying[call], f.refusal)
	case f.requestLost:
		c.mu.Unlock()
		return none, fmt.Errorf("%s: %w: no answer", trying[call], provider.ErrUnknown)
	case f.hangs:
		c.mu.Unlock()
		return none, fmt.Errorf("%s: %w: %w", trying[call], provider.ErrUnknown, c.wait(ctx))
	}
	got, err := do(&f)
	c.mu.Unlock()
	switch {
	case f.hangsAfter:
		return none, fmt.Errorf("%s: %w: %w", trying[call], provider.ErrUnknown, c.wait(ctx))
	case f.answerLost:
		return none, fmt.Errorf("%s: %w: no answer", trying[call], provider.ErrUnknown)
	}
	return got, err
}

// wait is how a call ends that is not answered.
func (c *Cloud) wait(ctx context.Context) error {
	if c.cfg.NoWait {
		return context.DeadlineExceeded
	}
	<-ctx.Done()
	return ctx.Err()
}

// shape takes the rules that say how a call is done.
func (c *Cloud) shape(f *fault, call Call, about []provider.Offering, count int) {
	if len(c.rules) > 0 {
		c.befalls(shaping, call, about, count, func(r *rule) { r.set(f) })
	}
}

// Asked is how often a call was made so far, refused ones too.
func (c *Cloud) Asked(call Call) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.asked[call]
}
