package fake

import (
	"context"
	"slices"
	"time"

	"github.com/goodfleet/goodfleet/provider"
)

// Instances lists the machines that are live and those that ended within the
// climate's Keep, in launch order.
func (c *Cloud) Instances(ctx context.Context) ([]provider.Instance, error) {
	return serve(ctx, c, ListingCall, nothing, 0, func(f *fault) ([]provider.Instance, error) {
		c.forget()
		c.shape(f, ListingCall, nil, 0)
		list := make([]provider.Instance, 0, len(c.listed))
		for _, m := range c.listed {
			if i, there := m.asOf(c.now.Add(-f.lag)); there {
				list = append(list, i)
			}
		}
		for _, r := range c.shown {
			if !c.now.Before(r.from) && (r.until.IsZero() || c.now.Before(r.until)) {
				list = append(list, r.inst)
			}
		}
		return cut(f, c.tell(list)), nil
	})
}

// Interruptions lists the notices and hints in force and the losses within the
// climate's Keep, in launch order of their machines.
func (c *Cloud) Interruptions(ctx context.Context) ([]provider.Interruption, error) {
	return serve(ctx, c, NoticesCall, nothing, 0, func(f *fault) ([]provider.Interruption, error) {
		c.forget()
		c.shape(f, NoticesCall, nil, 0)
		var list []provider.Interruption
		skew := c.skew()
		for _, m := range c.listed {
			inForce := m.inst.Live() && !m.loss.IsZero() || m.inst.Cause == provider.Interrupted
			seen := c.now.Add(-f.lag)
			switch {
			case inForce && !m.noticed.After(seen):
				list = append(list, provider.Interruption{Instance: m.inst.ID, Offering: m.inst.Offering, Noticed: m.noticed.Add(skew), Loss: m.loss.Add(skew)})
			case m.inst.Live() && !m.hinted.IsZero() && !m.hinted.After(seen) && m.hintEnds.After(seen):
				list = append(list, provider.Interruption{Instance: m.inst.ID, Offering: m.inst.Offering, Noticed: m.hinted.Add(skew), Hint: true})
			}
		}
		return cut(f, list), nil
	})
}

// cut leaves out and repeats rows as a fault says.
func cut[T any](f *fault, list []T) []T {
	if f.empty {
		return nil
	}
	if f.half {
		kept := list[:0]
		for i, x := range list {
			if i%2 == 0 {
				kept = append(kept, x)
			}
		}
		list = kept
	}
	if f.twice {
		list = slices.Concat(list, list)
	}
	return list
}

// forget drops from the listing what ended longer than Keep ago.
func (c *Cloud) forget() {
	c.listed = slices.DeleteFunc(c.listed, func(m *machine) bool {
		return m.inst.State == provider.Ended && m.inst.Ended.Add(c.cfg.Climate.Keep).Before(c.now)
	})
}

// asOf is the machine as it was at an instant. there is false before its launch.
func (m *machine) asOf(at time.Time) (i provider.Instance, there bool) {
	i = m.inst
	if i.Launched.After(at) {
		return provider.Instance{}, false
	}
	if i.Started.After(at) {
		i.Started = time.Time{}
	}
	if i.CalledHome.After(at) {
		i.CalledHome, i.Accelerators, i.MemGiB = time.Time{}, 0, 0
	}
	switch {
	case i.State == provider.Ended && !i.Ended.After(at):
		return i, true
	case !m.ending.IsZero() && !m.ending.After(at):
		i.State = provider.Ending
	case i.Started.IsZero():
		i.State = provider.Pending
	default:
		i.State = provider.Running
	}
	i.Ended, i.Cause = time.Time{}, provider.NotEnded
	return i, true
}

// skewed is a time in which the cloud's clock is off.
type skewed struct {
	from, until time.Time // until zero: no end
	by          time.Duration
}

// skew is how far the cloud's clock is off now.
func (c *Cloud) skew() time.Duration {
	for _, s := range slices.Backward(c.skews) {
		if !c.now.Before(s.from) && (s.until.IsZero() || c.now.Before(s.until)) {
			return s.by
		}
	}
	return 0
}

// tell puts the times of instances on the cloud's own clock.
func (c *Cloud) tell(list []provider.Instance) []provider.Instance {
	skew := c.skew()
	if skew == 0 {
		return list
	}
	for n := range list {
		i := &list[n]
		for _, t := range []*time.Time{&i.Launched, &i.Started, &i.Ended, &i.CalledHome} {
			if !t.IsZero() {
				*t = t.Add(skew)
			}
		}
	}
	return list
}

// skewing is a statement about the clock.
type skewing struct{ by, span time.Duration }

// readSkew reads "TIME [for TIME]"; the time may be negative.
func readSkew(l *line) (deed, pattern) {
	return &skewing{by: l.duration("the skew", true), span: l.span()}, ""
}

func (d *skewing) fits(*Cloud) error { return nil }

func (d *skewing) begin(c *Cloud, at time.Time) {
	s := skewed{from: at, by: d.by}
	if d.span > 0 {
		s.until = at.Add(d.span)
	}
	c.skews = append(c.skews, s)
}
