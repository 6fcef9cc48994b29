package autoscale

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/goodfleet/goodfleet/provider"
)

// trip stops everything until a person has looked: nothing is bought, moved or
// ended while the breaker is open. Gangs go on, and what they cost is booked.
func (l *Loop) trip(now time.Time, why string) {
	if _, open := l.cache.overrides.of(Breaker, ""); open {
		return
	}
	l.cache.setOverride(Override{OverrideKey: OverrideKey{Kind: Breaker}, Who: "goodfleet", Why: why, Since: now})
	l.event(Event{At: now, Kind: EventBreaker, Text: why + ": nothing is done until resume"})
	l.last.changed = true
}

// Resume lifts the breaker. The round that follows may end as much as it wants to,
// believes the clock and takes listings for what they are. confirm must be true:
// the caller has shown a person what Overrides tells and was told to go on.
func (l *Loop) Resume(ctx context.Context, now time.Time, who string, confirm bool) error {
	if !confirm {
		return errors.New("resume: it must be confirmed")
	}
	release, err := l.take(ctx)
	if err != nil {
		return fmt.Errorf("resume: %w", err)
	}
	defer release()
	l.cache.liftOverride(OverrideKey{Kind: Breaker})
	l.event(Event{At: now, Kind: EventResume, Text: "by " + who})
	l.last.changed = true
	if err := l.cache.commit(ctx, l.cfg.Store); err != nil {
		return fmt.Errorf("resume: %w", err)
	}
	l.allowed = true // a restart forgets it, and then the breaker opens again
	return nil
}

// readFreeze asks for the freeze that lies outside the store, and notes that it came
// or went.
func (l *Loop) readFreeze(now time.Time) {
	was := l.frozenBy
	l.frozenBy = ""
	if why, frozen := l.cfg.frozen(); frozen {
		l.frozenBy = "freeze from outside the store: " + why
	}
	switch {
	case l.frozenBy == was:
		return
	case l.frozenBy != "":
		l.event(Event{At: now, Kind: EventOverride, Text: l.frozenBy})
	default:
		l.event(Event{At: now, Kind: EventLifted, Text: was})
	}
	l.last.changed = true
}

// halted says why nothing may change now; "" when it may.
func (l *Loop) halted() string {
	if l.frozenBy != "" {
		return l.frozenBy
	}
	for _, kind := range []OverrideKind{FrozenStart, Breaker, Freeze} {
		if o, ok := l.cache.overrides.of(kind, ""); ok {
			return o.String()
		}
	}
	return ""
}

// clockBack is how far the clock may go back between two rounds: by so much one
// that is set right may.
const clockBack = time.Minute

// badClock says why now cannot be believed; "" when it can. A fleet without
// machines has nothing to lose by a wrong clock.
func (l *Loop) badClock(now time.Time) string {
	if l.lastAt.IsZero() || l.allowed || !l.holdsMachines() {
		return ""
	}
	switch ahead := now.Sub(l.lastAt); {
	case ahead < -clockBack:
		return fmt.Sprintf("the clock went back by %v", -ahead)
	case ahead > l.cfg.Settings.ClockMax:
		return fmt.Sprintf("the clock is %v after the last round", ahead)
	}
	return ""
}

func (l *Loop) holdsMachines() bool {
	for _, m := range l.cache.machines {
		if m.Instance.State != provider.Ended {
			return true
		}
	}
	return false
}

// doubt says why a full listing cannot be believed; "" when it can. One that lacks
// more machines than a round may end is a fault of the listing until it shows them
// again: machines that go away in such numbers are told of by the cloud. A person
// who knows better says Resume.
func (l *Loop) doubt(v *cloudView, now time.Time) string {
	if l.allowed {
		return ""
	}
	listed := make(map[provider.InstanceID]bool, len(v.instances))
	for _, inst := range v.instances {
		listed[inst.ID] = true
	}
	for _, word := range v.interruptions {
		listed[word.Instance] = listed[word.Instance] || !word.Hint
	}
	seen, missing := 0, 0
	for _, m := range l.cache.machines {
		if m.Instance.Offering.Cloud != v.name || m.Instance.State == provider.Ended || now.Sub(m.Instance.Launched) < l.cfg.Settings.Grace {
			continue
		}
		seen++
		if !listed[m.Instance.ID] && m.EndAsked.IsZero() && m.Noticed.IsZero() {
			missing++
		}
	}
	few := missing <= endAlways && !(missing == seen && seen > 1)
	if few || float64(missing) <= endShare*float64(seen) {
		return ""
	}
	return fmt.Sprintf("its listing lacks %d of %d machines, and nothing tells of their loss", missing, seen)
}
