package autoscale

import (
	"context"
	"fmt"
	"time"

	"github.com/goodfleet/goodfleet/provider"
)

// Skip lets the round at now pass, and reports whether it does. It is for a driver that
// knows what the loop cannot: that no cloud and no runner has anything to say that it had
// not in the last round, and that nobody handed anything in. Then a round changes nothing
// but the time at which machines were seen, unless a clock has passed, a rate moved by what
// is worth a plan, or books are due; for those, and whenever it is in doubt, the answer is
// no, and Round is to be called. A round that passed is counted.
//
// What depends on how often the loop looks is never skipped: totals and policies of a
// budget, bills beside machines, overrides, launches whose answer is out, machines and
// gangs on their way out.
func (l *Loop) Skip(ctx context.Context, now time.Time) (bool, error) {
	release, err := l.take(ctx)
	if err != nil {
		return false, fmt.Errorf("skip: %w", err)
	}
	defer release()
	if !l.still(now) || l.quote(now) != nil {
		return false, nil
	}
	if _, due := l.wake(now); due || l.last.goesOn {
		return false, nil
	}
	l.cache.round++
	l.lastAt = now
	for _, m := range l.cache.machines {
		m.Seen = now
	}
	l.tellHazards(now)
	return true, nil
}

// still reports whether the last round left nothing open that this one has to go on with.
func (l *Loop) still(now time.Time) bool {
	b := &l.cfg.Bills
	switch {
	case !l.cfg.Settings.SkipUnchanged || l.cfg.Settings.Agents || l.halt != "" || l.misread || l.allowed,
		len(l.totals)+len(l.enforced)+len(l.gaps)+len(l.cache.overrides)+len(l.cfg.Reservations) > 0,
		len(b.Capacities)+len(b.Grants) > 0 || b.Controller != nil,
		len(l.strays)+len(l.repeats)+len(l.newer)+len(l.condemned) > 0 || l.badClock(now) != "":
		return false
	}
	for _, v := range l.clouds {
		if v.frozen != "" || v.busy || v.vanish {
			return false
		}
	}
	for _, x := range l.cache.intents {
		if x.State == IntentOpen {
			return false
		}
	}
	for _, m := range l.cache.machines {
		moving := m.leaving() || !m.Ready || m.Gone || m.Silent || !m.Missed.IsZero() || !m.Orphan.IsZero() || !m.Denied.IsZero() || m.Instance.State != provider.Running
		if moving || now.Sub(later(m.Booked, m.Instance.Started)) >= l.cfg.Settings.Book {
			return false
		}
	}
	for _, r := range l.cache.jobs {
		if r.Stopping != 0 {
			return false
		}
	}
	return true
}
