package fake

import (
	"fmt"
	"time"

	"github.com/goodfleet/goodfleet/provider"
)

// throttle is a time in which every call is refused.
type throttle struct {
	span  time.Duration
	storm time.Duration // by which each refused call prolongs it
}

// readThrottle reads "TIME [storm TIME]".
func readThrottle(l *line) (deed, pattern) {
	t := &throttle{span: l.duration("how long", false)}
	if l.has("storm") {
		t.storm = l.duration("what a refused call adds", false)
	}
	return t, ""
}

func (t *throttle) fits(*Cloud) error { return nil }

func (t *throttle) begin(c *Cloud, at time.Time) {
	c.throttles = append(c.throttles, &throttled{from: at, until: at.Add(t.span), last: at.Add(stormLimit * t.span), storm: t.storm})
}

// stormLimit is how many times its own length a throttling may reach: a caller
// that never waits is let in at last.
const stormLimit = 10

// throttled is a throttle under way or to come.
type throttled struct {
	from, until, last time.Time
	storm             time.Duration
}

// limit is a bound on calls per minute.
type limit struct {
	perMinute int
	span      time.Duration
}

// readLimit reads "N per minute".
func readLimit(l *line) (deed, pattern) {
	d := &limit{perMinute: l.count("the calls per minute")}
	l.need("per")
	l.need("minute")
	d.span = l.span()
	return d, ""
}

func (d *limit) fits(*Cloud) error { return nil }

func (d *limit) begin(c *Cloud, at time.Time) {
	w := limited{from: at, perMinute: d.perMinute}
	if d.span > 0 {
		w.until = at.Add(d.span)
	}
	c.limits = append(c.limits, &w)
}

// limited is a limit with what was used of the minute under way.
type limited struct {
	from, until time.Time // until zero: no end
	perMinute   int
	minute      int64 // since from
	used        int
}

// throttled says why a call is refused for being one too many; nil if it is not.
func (c *Cloud) throttled(call Call) error {
	for _, t := range c.throttles {
		if c.now.Before(t.from) || !c.now.Before(t.until) {
			continue
		}
		if t.until = t.until.Add(t.storm); t.until.After(t.last) {
			t.until = t.last
		}
		return fmt.Errorf("%w: no %s for a while", provider.ErrThrottled, call)
	}
	for _, w := range c.limits {
		if c.now.Before(w.from) || !w.until.IsZero() && !c.now.Before(w.until) {
			continue
		}
		if minute := int64(c.now.Sub(w.from) / time.Minute); minute != w.minute {
			w.minute, w.used = minute, 0
		}
		if w.used++; w.used > w.perMinute {
			return fmt.Errorf("%w: more than %d calls in a minute", provider.ErrThrottled, w.perMinute)
		}
	}
	return nil
}
