package autoscale

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/goodfleet/goodfleet/provider"
)

// cloudView is what the loop saw of one cloud in this round.
type cloudView struct {
	cloud provider.Cloud
	name  string

	frozen        string // why nothing there is bought, ended or moved in this round; "": it may be
	busy          bool   // it throttles: nothing more is asked of it in this round
	instances     []provider.Instance
	interruptions []provider.Interruption
	quotas        []provider.Quota
}

// list asks every cloud what there is, all at once. A cloud that does not answer
// in full is frozen: half an answer says nothing about any machine.
func (l *Loop) list(ctx context.Context, now time.Time) {
	was := make([]string, len(l.clouds))
	var group errgroup.Group
	group.SetLimit(4)
	for i, v := range l.clouds {
		was[i] = v.frozen
		group.Go(func() error {
			v.look(ctx, &l.cfg.Settings)
			return nil
		})
	}
	_ = group.Wait() // look keeps its error in the view
	for i, v := range l.clouds {
		l.tellFrozen(v, was[i], now)
	}
}

// tellFrozen notes that a cloud froze or thawed since the last round.
func (l *Loop) tellFrozen(v *cloudView, was string, now time.Time) {
	switch {
	case v.frozen != "" && was == "":
		l.last.changed = true
		l.event(Event{At: now, Kind: EventFrozen, Text: v.name + ": " + v.frozen})
	case v.frozen == "" && was != "":
		l.last.changed = true
		l.event(Event{At: now, Kind: EventThawed, Text: v.name})
	}
}

// look asks one cloud.
func (v *cloudView) look(ctx context.Context, s *Settings) {
	v.busy, v.frozen = false, ""
	v.instances, v.interruptions, v.quotas = nil, nil, nil
	err := func() (err error) {
		ctx, cancel := s.deadline(ctx)
		defer cancel()
		if v.instances, err = v.cloud.Instances(ctx); err != nil {
			return fmt.Errorf("list instances: %w", err)
		}
		if v.interruptions, err = v.cloud.Interruptions(ctx); err != nil {
			return fmt.Errorf("list interruptions: %w", err)
		}
		if v.quotas, err = v.cloud.Quotas(ctx); err != nil {
			return fmt.Errorf("list quotas: %w", err)
		}
		return nil
	}()
	if err != nil {
		v.frozen = err.Error()
		v.instances, v.interruptions, v.quotas = nil, nil, nil
		return
	}
	slices.SortFunc(v.instances, func(a, b provider.Instance) int {
		if c := a.Launched.Compare(b.Launched); c != 0 {
			return c
		}
		return strings.Compare(string(a.ID), string(b.ID))
	})
	slices.SortFunc(v.interruptions, func(a, b provider.Interruption) int {
		if c := a.Noticed.Compare(b.Noticed); c != 0 {
			return c
		}
		return strings.Compare(string(a.Instance), string(b.Instance))
	})
}

// freeze holds every cloud still for this round.
func (l *Loop) freeze(reason string, now time.Time) {
	for _, v := range l.clouds {
		if v.frozen == "" {
			v.frozen = reason
			l.tellFrozen(v, "", now)
		}
	}
}

// frozen tells why nothing of a cloud may be touched in this round; "" when it may.
func (l *Loop) frozen(cloud string) string {
	v := l.view(cloud)
	if v == nil {
		return "no access to " + cloud
	}
	return v.frozen
}

// mine reports whether a listed machine carries this fleet's tag. Others are
// never touched; they only count against quotas.
func (l *Loop) mine(inst provider.Instance) bool { return inst.Tags.Fleet == l.cache.fleet }

// readMachines brings the records up to what the clouds list.
func (l *Loop) readMachines(now time.Time) {
	for _, v := range l.clouds {
		if v.frozen != "" {
			continue
		}
		listed := make(map[provider.InstanceID]bool, len(v.instances))
		for _, inst := range v.instances {
			if !l.mine(inst) {
				continue
			}
			listed[inst.ID] = true
			r, known := l.cache.machine[inst.ID]
			if !known {
				if l.cache.everMachine[inst.ID] && !inst.Live() {
					continue // settled long ago, still listed for a while
				}
				r = l.adopt(inst, now)
			}
			r.Seen = now
			l.readMachine(r, inst, now)
		}
		for _, r := range l.cache.machines {
			if r.Instance.Offering.Cloud == v.name && !listed[r.Instance.ID] {
				l.missMachine(r, now)
			}
		}
	}
}

// adopt makes a record for a machine of ours that none knows: the answer to its
// launch was lost, or came too late.
func (l *Loop) adopt(inst provider.Instance, now time.Time) *InstanceRecord {
	r := &InstanceRecord{Instance: inst, Reason: "found in a listing"}
	if l.cache.everMachine[inst.ID] {
		r.Draining, r.Reason = true, "seen again after it was gone"
	}
	r.Instance.State, r.Instance.Started, r.Instance.Ended, r.Instance.Cause = provider.Pending, time.Time{}, time.Time{}, provider.NotEnded
	if x := l.cache.intent(inst.Tags.Intent); x != nil {
		r.Reason, r.Rate = x.Reason, x.Rate
		if !slices.Contains(x.Instances, inst.ID) {
			x.Instances = append(x.Instances, inst.ID)
			l.cache.touchIntent(x)
			l.renamePlaceholder(x, len(x.Instances)-1, inst.ID)
		}
	} else if rate, ok := l.rateOf(inst.Offering); ok {
		r.Rate = rate
	}
	r.ReadyAt = now.Add(l.bootOf(inst.Offering) + l.cfg.Settings.Setup)
	l.cache.addMachine(r)
	l.cache.touchMachine(r)
	l.last.changed = true
	l.machineEvent(now, EventAdopt, r, r.Reason)
	return r
}

// readMachine takes over what a listing says of one machine.
func (l *Loop) readMachine(r *InstanceRecord, inst provider.Instance, now time.Time) {
	old := r.Instance
	if old == inst {
		return
	}
	if !old.Live() && inst.Live() {
		// It was taken for gone, or the listing lags: either way it is to end.
		if !r.Draining {
			r.Draining, r.Reason, r.EndAsked = true, "seen again after it was gone", time.Time{}
			l.machineEvent(now, EventAdopt, r, r.Reason)
		}
		r.Instance, r.Settled = inst, false
		l.cache.touchMachine(r)
		l.last.changed = true
		return
	}
	r.Instance = inst
	l.cache.touchMachine(r)
	if old.Started.IsZero() && !inst.Started.IsZero() {
		r.ReadyAt = inst.Started.Add(l.cfg.Settings.Setup)
		if t, ok := l.typeOf(inst.Offering); ok {
			l.boots.learn(t, inst.Started.Sub(inst.Launched))
		}
	}
	if old.Live() && !inst.Live() {
		l.loseMachine(r, now)
	}
}

// missMachine deals with a machine that a full listing does not show. Just after
// its launch that means nothing; later it is gone, and was paid for until now.
func (l *Loop) missMachine(r *InstanceRecord, now time.Time) {
	last := r.Seen
	if r.Instance.Launched.After(last) {
		last = r.Instance.Launched
	}
	if r.Instance.State == provider.Ended || now.Sub(last) < l.cfg.Settings.Grace {
		return
	}
	live := r.Instance.Live()
	r.Instance.State, r.Instance.Ended = provider.Ended, now
	r.Instance.Cause = provider.Failed
	if !r.EndAsked.IsZero() {
		r.Instance.Cause = provider.EndedByUs
	}
	l.cache.touchMachine(r)
	if live {
		l.loseMachine(r, now)
	}
}

func (l *Loop) machineEvent(at time.Time, kind string, r *InstanceRecord, text string) {
	o := r.Instance.Offering
	l.event(Event{At: at, Kind: kind, Instance: r.Instance.ID, Offering: &o, Text: text})
}
