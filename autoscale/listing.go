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

	checked bool            // its tags were compared with the store since that was loaded
	odd     map[string]bool // rows that were skipped in the last full listing
	vanish  bool            // more is missing from its listing than can be believed
}

// list asks every cloud what there is, all at once. A cloud that does not answer
// in full is frozen: half an answer says nothing about any machine.
func (l *Loop) list(ctx context.Context, now time.Time) {
	was := make([]string, len(l.clouds))
	for i, v := range l.clouds {
		was[i] = v.frozen
	}
	l.eachCloud(func(v *cloudView) { v.look(ctx, &l.cfg.Settings) }) // which keeps its error in the view
	for i, v := range l.clouds {
		if why := ""; v.frozen == "" {
			why = l.doubt(v, now)
			if v.frozen = why; why != "" && !v.vanish {
				l.event(Event{At: now, Kind: EventBreaker, Text: v.name + ": " + why})
			}
			v.vanish = why != ""
		}
		l.tellFrozen(v, was[i], now)
	}
}

// eachCloud asks something of every cloud, of as many at the same time as the settings say.
func (l *Loop) eachCloud(ask func(v *cloudView)) {
	if l.cfg.Settings.Parallel == 1 {
		for _, v := range l.clouds {
			ask(v)
		}
		return
	}
	var group errgroup.Group
	group.SetLimit(l.cfg.Settings.Parallel)
	for _, v := range l.clouds {
		group.Go(func() error {
			ask(v)
			return nil
		})
	}
	_ = group.Wait() // nothing returns one
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

// mine reports whether a listed machine is of this fleet: it carries our tag, or
// was adopted. Others are never touched; they only count against quotas.
func (l *Loop) mine(inst provider.Instance) bool {
	return inst.Tags.Fleet == l.cache.fleet || l.cache.machine[inst.ID] != nil
}

// readMachines brings the records up to what the clouds list.
func (l *Loop) readMachines(now time.Time) {
	for _, v := range l.clouds {
		if v.frozen != "" {
			continue
		}
		rows, there := l.rows(v, now)
		l.checkTags(v, rows, now)
		for _, inst := range rows {
			r, known := l.cache.machine[inst.ID]
			if !known {
				if was, ever := l.cache.everMachine[inst.ID]; ever && (!was.gone || !inst.Live()) {
					continue // settled, and listed for a while; or by a listing that lags
				}
				r = l.adopt(inst, now)
			}
			l.noteGap(r, now)
			r.Seen, r.Missed = now, time.Time{}
			l.readMachine(r, inst, now)
		}
		for _, r := range l.cache.machines {
			if r.Instance.Offering.Cloud == v.name && !there[r.Instance.ID] {
				l.missMachine(r, now)
			}
		}
	}
}

// adopt makes a record for a machine of ours that none knows: the answer to its
// launch was lost, or came too late. One that no intent accounts for is an orphan
// until a gang does.
func (l *Loop) adopt(inst provider.Instance, now time.Time) *InstanceRecord {
	x := l.cache.intent(inst.Tags.Intent)
	earliest := time.Time{}
	if x != nil {
		earliest = x.Created
	}
	r := &InstanceRecord{Instance: firstSight(inst, earliest, now), Reason: "found in a listing"}
	if was, ever := l.cache.everMachine[inst.ID]; ever {
		r.Draining, r.Reason = true, "seen again after it was settled"
		r.Astray = was.ended
		r.Instance.Started = was.ended // what it costs from there on is still to be booked
	}
	switch rate, ok := l.rateOf(inst.Offering); {
	case x != nil:
		r.Reason, r.Rate = x.Reason, x.Rate
		if ok && inst.Offering != x.Offering {
			r.Rate = rate
		}
		if !slices.Contains(x.Instances, inst.ID) {
			x.Instances = append(x.Instances, inst.ID)
			l.cache.touchIntent(x)
		}
	case ok:
		r.Rate = rate
		fallthrough
	default:
		r.Orphan = now
	}
	r.ReadyAt = now.Add(l.bootOf(inst.Offering) + l.cfg.Settings.Setup)
	l.cache.addMachine(r)
	if x != nil {
		if k := slices.Index(x.Instances, inst.ID); k >= 0 {
			l.renamePlaceholder(x, k, inst.ID)
		}
	}
	l.cache.touchMachine(r)
	l.last.changed = true
	l.machineEvent(now, EventAdopt, r, r.Reason)
	return r
}

// readMachine takes over what a listing says of one machine.
func (l *Loop) readMachine(r *InstanceRecord, inst provider.Instance, now time.Time) {
	old := r.Instance
	if old.State == provider.Ended && r.Gone && inst.State != provider.Ended {
		// It was taken for gone. Its gangs were given up, so it is to end.
		r.Instance.State, r.Instance.Ended, r.Instance.Cause = provider.Pending, time.Time{}, provider.NotEnded
		r.Instance = heard(r.Instance, inst, now)
		r.Gone, r.Draining, r.Reason, r.EndAsked = false, true, "seen again after it was gone", time.Time{}
		r.Astray = old.Ended
		l.cache.touchMachine(r)
		l.last.changed = true
		l.machineEvent(now, EventAdopt, r, r.Reason)
		return
	}
	if r.Gone && inst.State == provider.Ended {
		r.Instance.State, r.Gone = provider.Ending, false // now the cloud says when it really ended
		r.Instance.Ended = time.Time{}
	}
	r.Instance = heard(r.Instance, inst, now)
	if r.Instance == old {
		return
	}
	l.cache.touchMachine(r)
	l.readArrival(r, old, now)
	if old.Live() && !r.Instance.Live() {
		l.loseMachine(r, now)
	}
}

// readArrival takes over how far a machine has come on its way to carrying gangs.
func (l *Loop) readArrival(r *InstanceRecord, old provider.Instance, now time.Time) {
	inst := r.Instance
	if inst.MemGiB != old.MemGiB {
		l.readMeasured(r, now)
	}
	ran, called := old.Started.IsZero() && !inst.Started.IsZero(), old.CalledHome.IsZero() && !inst.CalledHome.IsZero()
	if !ran && !called {
		return
	}
	came := later(inst.Started, inst.CalledHome)
	r.Silent = l.cfg.Settings.Agents && inst.CalledHome.IsZero()
	r.ReadyAt = came.Add(l.cfg.Settings.Setup)
	if t, ok := l.typeOf(inst.Offering); ok && !r.Silent {
		l.boots.learn(t, came.Sub(inst.Launched))
		l.known = nil
	}
}

// missMachine deals with a machine that a full listing does not show. Just after
// its launch that means nothing; later it is gone, and was paid for until it was
// first missed. Its books stay open for a while: listings have forgotten machines
// that were there.
func (l *Loop) missMachine(r *InstanceRecord, now time.Time) {
	if r.Instance.State == provider.Ended {
		return
	}
	if r.Missed.IsZero() {
		r.Missed = now
		l.cache.touchMachine(r)
	}
	if now.Sub(later(r.Missed, r.Instance.Launched)) < l.cfg.Settings.Grace {
		return
	}
	live := r.Instance.Live()
	r.Gone, r.Instance.State, r.Instance.Ended = true, provider.Ended, later(r.Missed, r.Instance.Launched)
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
