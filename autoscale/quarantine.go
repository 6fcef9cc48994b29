package autoscale

import (
	"errors"
	"fmt"
	"time"

	"github.com/goodfleet/goodfleet/provider"
)

// errUnfit is the kind of a shortage of machines that come up as they should.
var errUnfit = errors.New("its machines do not come up")

// overdue is when a machine that has not come up is given up.
func (l *Loop) overdue(m *InstanceRecord) time.Time {
	return m.Instance.Launched.Add(l.upBy(m.Instance.Offering))
}

// readUnfit condemns machines that do not come up in time, do not call home, or
// have fewer accelerators than their type: what was asked for and never appears
// must not count as coming for ever.
func (l *Loop) readUnfit(now time.Time) {
	for _, m := range l.cache.machines {
		if !m.Instance.Live() || !m.Quarantined.IsZero() || l.frozen(m.Instance.Offering.Cloud) != "" {
			continue
		}
		why := l.unfit(m, now)
		if why == "" {
			continue
		}
		l.condemn(verdict{machine: m, now: now, kind: EventQuarantine, reason: why, then: func() {
			m.Quarantined = now
			l.countUnfit(m, now)
		}})
	}
}

// unfit says what is wrong with a machine; "" when nothing is.
func (l *Loop) unfit(m *InstanceRecord, now time.Time) string {
	took := now.Sub(m.Instance.Launched).Round(time.Second)
	late := !now.Before(l.overdue(m))
	switch {
	case m.Instance.State == provider.Pending && late:
		return fmt.Sprintf("it did not come up in %v", took)
	case m.Silent && late:
		return fmt.Sprintf("it did not call home in %v", took)
	case !l.cfg.Settings.Agents || m.Instance.CalledHome.IsZero():
		return ""
	}
	if t, ok := l.typeOf(m.Instance.Offering); ok && m.Instance.Accelerators < t.Count {
		return fmt.Sprintf("it has %d of %d accelerators", m.Instance.Accelerators, t.Count)
	}
	return ""
}

// countUnfit marks down the offering of a machine that came up unfit. After
// MaxUnfit of them in a row it is left alone for long.
func (l *Loop) countUnfit(m *InstanceRecord, now time.Time) {
	o := m.Instance.Offering
	l.unfitRow[o]++
	if n := l.unfitRow[o]; n >= l.cfg.Settings.MaxUnfit {
		l.markDown(scopeOf(o), fmt.Errorf("%w, %d in a row", errUnfit, n), l.cfg.Settings.UnfitWait, now)
		return
	}
	l.markDown(scopeOf(o), provider.ErrCapacity, l.cfg.Settings.BackOffMin, now)
}

// countFit ends the row of unfit machines of an offering.
func (l *Loop) countFit(m *InstanceRecord) { delete(l.unfitRow, m.Instance.Offering) }
