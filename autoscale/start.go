package autoscale

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/goodfleet/goodfleet/provider"
)

// checkTags compares the tags of a cloud's machines with the store. A store that is
// older than a tag was lost and made anew, or restored from a copy; one that sees
// a later epoch than its own has a rival. Neither knows what its machines are for:
// it starts frozen, keeps what runs, and ends nothing until a person has looked.
func (l *Loop) checkTags(v *cloudView, rows []provider.Instance, now time.Time) {
	first := !v.checked
	v.checked = true
	if _, frozen := l.cache.overrides.of(FrozenStart, ""); frozen {
		return
	}
	if first && l.cache.bornRound == 0 {
		l.tellStrangers(v, now)
	}
	var newest provider.Instance
	var unknown []string
	for _, inst := range rows {
		if newest.ID == "" || compareTags(newest.Tags, inst.Tags) < 0 {
			newest = inst
		}
		if _, known := l.cache.everMachine[inst.ID]; !known && inst.Live() && l.cache.intent(inst.Tags.Intent) == nil {
			unknown = append(unknown, string(inst.ID))
		}
	}
	t := newest.Tags
	if newest.ID == "" || t.Epoch <= l.cache.epoch && !(first && t.Epoch == l.cache.epoch && t.Round > l.cache.bornRound) {
		return
	}
	why := fmt.Sprintf("the store stands at epoch %d, round %d, and %s was launched at epoch %d, round %d",
		l.cache.epoch, l.cache.bornRound, newest.ID, t.Epoch, t.Round)
	l.cache.setEpoch(max(l.cache.epoch, t.Epoch) + 1)
	l.cache.setOverride(Override{OverrideKey: OverrideKey{Kind: FrozenStart}, Who: "goodfleet", Why: why, Since: now})
	text := why + ". Nothing is bought, moved or ended. Make sure that no other controller runs with a store of this fleet, look at the machines that no record knows"
	if len(unknown) > 0 {
		text += " (" + strings.Join(unknown, ", ") + ")"
	}
	l.event(Event{At: now, Kind: EventFrozenStart, Text: text + ", then adopt them, or end them with gc --yes"})
	l.last.changed = true
}

func compareTags(a, b provider.Tags) int {
	return cmp.Or(cmp.Compare(a.Epoch, b.Epoch), cmp.Compare(a.Round, b.Round))
}

// tellStrangers says, at the birth of a store, which machines of other fleets there
// are: they may be those of a store that was lost.
func (l *Loop) tellStrangers(v *cloudView, now time.Time) {
	fleets := map[string]int{}
	var names []string
	for _, inst := range v.instances {
		if f := inst.Tags.Fleet; f != "" && !l.mine(inst) && inst.Live() {
			if fleets[f]++; fleets[f] == 1 {
				names = append(names, f)
			}
		}
	}
	slices.Sort(names)
	for _, f := range names {
		l.event(Event{At: now, Kind: EventOrphan, Text: fmt.Sprintf(
			"this store is new, and %s has %d machines of fleet %s: they are left alone. If they are yours, restore that fleet's store, or adopt them by name", v.name, fleets[f], f)})
	}
}

// Orphan is a machine of this fleet that no intent and no gang accounts for.
type Orphan struct {
	Instance provider.Instance
	Since    time.Time // when it was first seen so
}

// orphans are those that are here, in the order of their launch.
func (l *Loop) orphans() []Orphan {
	var list []Orphan
	for _, m := range l.cache.machines {
		if m.Instance.Live() && !m.Orphan.IsZero() && !l.wanted(m.Instance.ID) {
			list = append(list, Orphan{Instance: m.Instance, Since: m.Orphan})
		}
	}
	return list
}

// GC lists the machines of this fleet that nothing accounts for, as of the last
// round. With yes it has them ended in the next round, and ends a frozen start.
func (l *Loop) GC(ctx context.Context, now time.Time, who string, yes bool) ([]Orphan, error) {
	release, err := l.take(ctx)
	if err != nil {
		return nil, fmt.Errorf("gc: %w", err)
	}
	defer release()
	list := l.orphans()
	if !yes {
		return list, nil
	}
	for _, o := range list {
		m := l.cache.machine[o.Instance.ID]
		if l.cache.overrides.held(m.Instance.ID) != "" {
			continue
		}
		m.Draining, m.Reason = true, "gc by "+who
		l.cache.touchMachine(m)
		l.machineEvent(now, EventDrain, m, m.Reason)
	}
	l.thaw(now, who)
	if err := l.cache.commit(ctx, l.cfg.Store); err != nil {
		return nil, fmt.Errorf("gc: %w", err)
	}
	return list, nil
}

// Adopt takes machines into the fleet that nothing accounts for, all of them when
// none is named, and ends a frozen start. A machine of another fleet is taken over
// when it is named: whoever launched it must have lost its store.
func (l *Loop) Adopt(ctx context.Context, now time.Time, who string, ids ...provider.InstanceID) error {
	release, err := l.take(ctx)
	if err != nil {
		return fmt.Errorf("adopt: %w", err)
	}
	defer release()
	var strangers []provider.Instance
	for _, id := range ids {
		if l.cache.machine[id] != nil {
			continue
		}
		inst, listed := l.listed(id)
		if !listed {
			return fmt.Errorf("adopt %s: no record and no listing of the last round has it", id)
		}
		strangers = append(strangers, inst)
	}
	for _, inst := range strangers {
		l.readMachine(l.adopt(inst, now), inst, now)
	}
	for _, m := range l.cache.machines {
		if m.Orphan.IsZero() || len(ids) > 0 && !slices.Contains(ids, m.Instance.ID) {
			continue
		}
		m.Orphan = time.Time{}
		l.cache.touchMachine(m)
		l.machineEvent(now, EventAdopt, m, "by "+who)
	}
	l.thaw(now, who)
	if err := l.cache.commit(ctx, l.cfg.Store); err != nil {
		return fmt.Errorf("adopt: %w", err)
	}
	return nil
}

// thaw ends a frozen start.
func (l *Loop) thaw(now time.Time, who string) {
	if l.cache.liftOverride(OverrideKey{Kind: FrozenStart}) {
		l.event(Event{At: now, Kind: EventLifted, Text: "frozen start, by " + who})
	}
	l.last.changed = true
}

// listed finds a live machine in the listings of the last round.
func (l *Loop) listed(id provider.InstanceID) (provider.Instance, bool) {
	for _, v := range l.clouds {
		for _, inst := range v.instances {
			if inst.ID == id && inst.Live() && v.oddRow(inst) == "" {
				return inst, true
			}
		}
	}
	return provider.Instance{}, false
}
