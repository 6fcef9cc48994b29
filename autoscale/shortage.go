package autoscale

import (
	"errors"
	"fmt"
	"time"

	"github.com/goodfleet/goodfleet/provider"
)

// errTaken is the kind of a shortage of machines that stay: what is bought is taken
// back, or breaks before it is of use. That a launch is granted says nothing against
// it, so it outlasts refusals and grants until the offering has gone on without it.
var errTaken = errors.New("its machines are taken or break")

// markDown leaves a scope alone for a while. The wait starts at least and doubles
// with every refusal in a row, up to BackOffMax or to least, if that is more.
func (l *Loop) markDown(scope Scope, kind error, least time.Duration, now time.Time) {
	s := l.cache.shortage(scope)
	if s.Since.Equal(now) && s.Until.After(now) {
		return // told twice in one round
	}
	if s.forgotten(now, l.cfg.Settings.BackOffMax) {
		s.Streak = 0
	}
	s.Streak++
	wait := least
	for range s.Streak - 1 {
		if wait *= 2; wait >= l.cfg.Settings.BackOffMax {
			break
		}
	}
	wait = max(least, min(wait, l.cfg.Settings.BackOffMax))
	if s.Kind != errTaken.Error() || s.Streak == 1 {
		s.Kind = kind.Error()
	}
	s.Since, s.Until = now, now.Add(wait)
	l.cache.dirtyShortages[scope] = true
	l.event(Event{At: now, Kind: EventBackOff, Text: fmt.Sprintf("%s: %s, again in %v", scope, s.Kind, wait)})
}

// forgotten reports whether a shortage lies so far back that a refusal now is a
// new one: it went on without one for as long as the longest wait.
func (s *Shortage) forgotten(now time.Time, after time.Duration) bool {
	return !now.Before(s.Until.Add(after))
}

// refused marks down what an error kind of a launch says.
func (l *Loop) refused(o provider.Offering, kind error, now time.Time) {
	t, _ := l.typeOf(o)
	set := &l.cfg.Settings
	switch kind {
	case provider.ErrQuota:
		l.markDown(scopeOfClass(provider.QuotaClassOf(o, t)), kind, set.QuotaWait, now)
	case provider.ErrDenied:
		l.markDown(Scope{Cloud: o.Cloud, Account: o.Account, Region: o.Region, Market: o.Market}, kind, set.DeniedWait, now)
	case provider.ErrInvalid, provider.ErrNotFound:
		l.markDown(scopeOf(o), kind, set.BackOffMax, now) // it will not work as asked, whenever we ask
	case provider.ErrThrottled, provider.ErrSpent:
		// The first says nothing of the offering, the second only of the token.
	default:
		l.markDown(scopeOf(o), kind, set.BackOffMin, now)
	}
}

// granted ends the streak of an offering that could be bought, but for one of
// machines that do not stay.
func (l *Loop) granted(o provider.Offering) {
	for _, s := range l.cache.shortages {
		if s.Scope == scopeOf(o) && s.Streak > 0 && s.Kind != errTaken.Error() {
			s.Streak, s.Until = 0, time.Time{}
			l.cache.dirtyShortages[s.Scope] = true
		}
	}
}

// missing is when the last shortage of an offering that is remembered was over; zero:
// none is.
func (l *Loop) missing(o *provider.Offering, t *provider.InstanceType) (at time.Time) {
	for _, s := range l.cache.shortages {
		if s.Streak > 0 && s.Until.After(at) && s.Scope.holds(o, t) {
			at = s.Until
		}
	}
	return at
}

// readShortages notes which waits are over, and forgets old ones.
func (l *Loop) readShortages(now time.Time) {
	for _, s := range l.cache.shortages {
		if s.Streak == 0 {
			continue
		}
		if !l.lastAt.IsZero() && !s.Until.After(now) && s.Until.After(l.lastAt) {
			l.event(Event{At: s.Until, Kind: EventRetry, Text: s.Scope.String()})
		}
		if s.forgotten(now, l.cfg.Settings.BackOffMax) {
			s.Streak = 0
			l.cache.dirtyShortages[s.Scope] = true
		}
	}
}
