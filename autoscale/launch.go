package autoscale

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/goodfleet/goodfleet/pricing/budget"
	"github.com/goodfleet/goodfleet/provider"
)

// answer is what a cloud said to a launch.
type answer struct {
	instances []provider.Instance
	err       error
}

// setback says why a launch did not bring all that was asked.
type setback struct {
	replan   bool   // the plan has to be made anew with what is known now
	noBuying string // why nothing more is bought in this round; "": it may be
}

// buy makes the launches of a decision: the budget is asked, the intents are
// stored, the clouds are called, the answers are stored, in this order. It renames
// the machines in the decision's targets to what came up. What was not had is
// told in the setback.
func (l *Loop) buy(ctx context.Context, d *decision, now time.Time) (setback, error) {
	var back setback
	intents := make([]*Intent, 0, len(d.diff.Launches))
	for _, n := range d.diff.Launches {
		x := &Intent{
			Token: l.cfg.Tokens(), Epoch: l.cache.epoch, Round: l.cache.round, Offering: n.Offering, Count: n.Count, Min: n.Min,
			Rate: n.Rate, Reason: n.Reason, Created: now, State: IntentOpen, Alternates: n.Alternates,
		}
		if err := l.afford(x, nil, n.For); err != nil {
			back.replan, back.noBuying = true, err.Error()
			l.offeringEvent(now, EventLaunchFailed, x.Offering, err.Error())
			break
		}
		intents = append(intents, x)
		l.cache.addIntent(x)
	}
	if back.replan {
		// Nothing was asked of any cloud yet, and the plan stands or falls as a whole.
		for _, x := range intents {
			l.cfg.Guard.Release(x.Token)
			x.State, x.Error = IntentFailed, "not asked: "+back.noBuying
		}
		l.cache.intents = slices.DeleteFunc(l.cache.intents, func(x *Intent) bool { return slices.Contains(intents, x) })
		for _, x := range intents {
			delete(l.cache.dirtyIntents, x.Token)
		}
		return back, nil
	}
	// The plan's own come first: what may come in the place of one may be dearer, and is
	// left out where the money is another's.
	for i, x := range intents {
		var admitted []provider.Offering
		for _, o := range x.Alternates {
			if more := append(slices.Clip(admitted), o); l.afford(x, more, d.diff.Launches[i].For) == nil {
				admitted = more
			}
		}
		x.Alternates = admitted
	}
	if err := l.cache.commit(ctx, l.cfg.Store); err != nil {
		for _, x := range intents {
			l.cfg.Guard.Release(x.Token)
		}
		return setback{}, err
	}
	answers := l.call(ctx, intents)
	names := map[provider.InstanceID]provider.InstanceID{}
	for i, x := range intents {
		if l.read(x, answers[i], now) {
			back.replan = true
		}
		for k, ref := range d.refs[i] {
			switch {
			case k < len(x.Instances):
				names[toBuy(ref)] = x.Instances[k]
			case x.State == IntentOpen:
				names[toBuy(ref)] = standIn(x.Token, k)
			}
		}
	}
	l.rename(d.diff.Targets, names)
	// The answers are stored even when the round is being broken off.
	return back, l.cache.commit(context.WithoutCancel(ctx), l.cfg.Store)
}

// afford holds back what a launch may cost: by each limit the dearest of it and of others
// that may come in its place. One in a reservation costs nothing more.
func (l *Loop) afford(x *Intent, others []provider.Offering, parts []budget.Part) error {
	if x.Offering.PaidAhead() {
		return nil
	}
	ask := l.ask(x, x.Count, others, parts)
	if len(others) > 0 {
		if why := l.beyondApproval(ask); why != "" {
			return errors.New(why)
		}
	}
	return l.cfg.Guard.Reserve(x.Token, ask)
}

// ask is what a launch of count machines takes from budgets.
func (l *Loop) ask(x *Intent, count int, others []provider.Offering, parts []budget.Part) budget.Ask {
	a := budget.Ask{Offering: x.Offering, Count: count, Rate: x.Rate, List: l.listRate(x.Offering), For: parts}
	for _, o := range others {
		rate, _ := l.rateOf(o) // 0: not known, and refused
		a.Or = append(a.Or, budget.Other{Offering: o, Rate: rate, List: l.listRate(o)})
	}
	return a
}

// beyondApproval says which policy would have to be asked for what may come in the place
// of a launch, and was not, since the launch itself costs less; "" when none would.
func (l *Loop) beyondApproval(a budget.Ask) string {
	planned := a
	planned.Or = nil
	for _, p := range l.cfg.Policies {
		if p.Approval == nil || p.DryRun {
			continue
		}
		limit := budget.Limit{Over: p.Over.Covers}
		if most := limit.Share(a); most > p.Approval.Above && most > limit.Share(planned) {
			return fmt.Sprintf("budget policy %s: a launch of up to %s USD/h would have to be asked for", p.Name, most)
		}
	}
	return ""
}

// rename puts the clouds' names into targets, and where the machines came from.
func (l *Loop) rename(targets []Target, names map[provider.InstanceID]provider.InstanceID) {
	for i := range targets {
		if targets[i].Target == nil {
			continue
		}
		renamed := *targets[i].Target
		renamed.Machines = slices.Clone(renamed.Machines)
		for k, id := range renamed.Machines {
			if name, ok := names[id]; ok {
				renamed.Machines[k] = name
				renamed.Offering = l.cameFrom(name, renamed.Offering)
			}
		}
		targets[i].Target = &renamed
	}
}

// cameFrom is the offering of a machine that is known, else what was planned.
func (l *Loop) cameFrom(id provider.InstanceID, planned provider.Offering) provider.Offering {
	if m, ok := l.cache.machine[id]; ok {
		return m.Instance.Offering
	}
	return planned
}

// request is the call behind an intent: the same whenever it is made.
func (l *Loop) request(x *Intent) provider.LaunchRequest {
	return provider.LaunchRequest{
		Token: x.Token, Offering: x.Offering, Count: x.Count, Min: x.Min, Alternates: x.Alternates,
		Tags: provider.Tags{Fleet: l.cache.fleet, Epoch: x.Epoch, Round: x.Round, Intent: x.Token},
	}
}

// call makes the launches of intents: those of one cloud one after the other, the
// clouds at the same time. A cloud that throttles is not asked any more.
func (l *Loop) call(ctx context.Context, intents []*Intent) []answer {
	answers := make([]answer, len(intents))
	l.eachCloud(func(v *cloudView) {
		for i, x := range intents {
			if x.Offering.Cloud != v.name {
				continue
			}
			if v.busy {
				answers[i].err = fmt.Errorf("%w: not asked again in this round", provider.ErrThrottled)
				continue
			}
			answers[i] = l.launch(ctx, v, x)
			v.busy = errors.Is(answers[i].err, provider.ErrThrottled)
		}
	})
	return answers
}

// launch makes one call, which may not hang.
func (l *Loop) launch(ctx context.Context, v *cloudView, x *Intent) answer {
	ctx, cancel := l.cfg.Settings.deadline(ctx)
	defer cancel()
	instances, err := v.cloud.Launch(ctx, l.request(x))
	return answer{instances, err}
}

// read takes over the answer to an intent. It reports whether less came up than
// was asked, and is known not to come.
func (l *Loop) read(x *Intent, a answer, now time.Time) (short bool) {
	kind := provider.KindOf(a.err)
	before := len(x.Instances)
	for _, inst := range a.instances {
		l.receive(x, inst, now)
	}
	for k := before; k < len(x.Instances); k++ {
		l.renamePlaceholder(x, k, x.Instances[k])
	}
	l.cache.touchIntent(x)
	if kind == provider.ErrUnknown && len(x.Instances) < x.Count {
		x.Error = kind.Error()
		l.offeringEvent(now, EventLaunchFailed, x.Offering, fmt.Sprintf("%v: the same launch is sent again", a.err))
		return false
	}
	missing := x.open()
	x.State = IntentFilled
	if len(x.Instances) == 0 {
		x.State = IntentFailed
		l.cfg.Guard.Release(x.Token)
	} else {
		l.cfg.Guard.Commit(x.Token, len(x.Instances))
	}
	if kind == nil && missing > 0 {
		kind = provider.ErrCapacity // a success with too little in it
	}
	if kind == nil || missing == 0 && kind != provider.ErrSpent {
		for _, id := range x.Instances {
			l.granted(l.cameFrom(id, x.Offering))
		}
		return false
	}
	x.Error = kind.Error()
	text := fmt.Sprintf("%d of %d came up: %s", len(x.Instances), x.Count, x.Error)
	if a.err != nil {
		text = fmt.Sprintf("%d of %d came up: %v", len(x.Instances), x.Count, a.err)
	}
	l.offeringEvent(now, EventLaunchFailed, x.Offering, text)
	for _, o := range append([]provider.Offering{x.Offering}, x.Alternates...) {
		l.refused(o, kind, now)
	}
	for k := len(x.Instances); k < x.Count; k++ {
		l.abandon(standIn(x.Token, k), now)
	}
	for _, id := range x.Instances {
		if m, ok := l.cache.machine[id]; ok && !m.Instance.Live() {
			l.abandon(id, now)
		}
	}
	return true
}

// receive makes a record of a machine that a launch brought.
func (l *Loop) receive(x *Intent, inst provider.Instance, now time.Time) {
	if !slices.Contains(x.Instances, inst.ID) {
		x.Instances = append(x.Instances, inst.ID)
	}
	if _, ever := l.cache.everMachine[inst.ID]; ever {
		return // found in a listing before
	}
	inst = heard(firstSight(inst, x.Created, now), inst, now)
	m := &InstanceRecord{Instance: inst, Reason: x.Reason, Rate: x.Rate, Silent: l.cfg.Settings.Agents && inst.CalledHome.IsZero()}
	if rate, ok := l.rateOf(inst.Offering); ok && inst.Offering != x.Offering {
		m.Rate = rate // the cloud chose another zone
	}
	m.ReadyAt = inst.Launched.Add(l.bootOf(inst.Offering) + l.cfg.Settings.Setup)
	if !inst.Started.IsZero() {
		m.ReadyAt = inst.Started.Add(l.cfg.Settings.Setup)
	}
	l.cache.addMachine(m)
	l.cache.touchMachine(m)
	l.bought = append(l.bought, inst)
	l.machineEvent(now, EventLaunch, m, x.Reason)
}

// renamePlaceholder gives the targets that wait for machine k of an intent its
// true name.
func (l *Loop) renamePlaceholder(x *Intent, k int, id provider.InstanceID) {
	old := standIn(x.Token, k)
	for _, r := range l.cache.jobs {
		if r.Target == nil || !slices.Contains(r.Target.Machines, old) {
			continue
		}
		target := *r.Target
		target.Machines = slices.Clone(target.Machines)
		target.Machines[slices.Index(target.Machines, old)] = id
		target.Offering = l.cameFrom(id, target.Offering)
		r.Target = &target
		l.cache.touchJob(r)
	}
}

// resend asks again for every launch whose answer was lost, before anything else
// is bought. One whose answer is still out after IntentMax is given up, if no
// listing shows what it brought; a cloud that was frozen is asked once more, unless
// it may have forgotten the token and would buy a second time.
func (l *Loop) resend(ctx context.Context, now time.Time) error {
	var open []*Intent
	for _, x := range l.cache.intents {
		if x.State != IntentOpen || l.frozen(x.Offering.Cloud) != "" || l.cache.overrides.closed(x.Offering) != "" {
			continue
		}
		if now.Sub(x.Created) >= l.cfg.Settings.TokenLife {
			l.hear(x, l.givenUp(x, now), now)
			continue
		}
		if err := l.afford(x, x.Alternates, l.intentParts(x)); err != nil {
			if l.expired(x, now) {
				l.hear(x, l.givenUp(x, now), now)
			}
			continue // it may have brought machines, but must not bring more: wait for listings
		}
		open = append(open, x)
	}
	for i, a := range l.call(ctx, open) {
		if errors.Is(a.err, provider.ErrThrottled) {
			continue
		}
		if x := open[i]; provider.KindOf(a.err) == provider.ErrUnknown && l.expired(x, now) {
			late := l.givenUp(x, now)
			late.instances, a = a.instances, late
		}
		l.hear(open[i], a, now)
	}
	return l.cache.commit(context.WithoutCancel(ctx), l.cfg.Store)
}

// expired reports whether an intent has waited for its answer long enough.
func (l *Loop) expired(x *Intent, now time.Time) bool {
	return now.Sub(x.Created) >= l.cfg.Settings.IntentMax
}

// givenUp is the answer to an intent that gets none.
func (l *Loop) givenUp(x *Intent, now time.Time) answer {
	return answer{err: fmt.Errorf("%w: no answer in %v, and no listing shows it", provider.ErrCapacity, now.Sub(x.Created))}
}

// hear takes over the answer to a launch that was sent again.
func (l *Loop) hear(x *Intent, a answer, now time.Time) {
	l.read(x, a, now)
	if x.State == IntentOpen {
		return
	}
	l.last.changed = true
	l.offeringEvent(now, EventAnswered, x.Offering, fmt.Sprintf("%d of %d came up", len(x.Instances), x.Count))
}

func (l *Loop) offeringEvent(at time.Time, kind string, o provider.Offering, text string) {
	l.event(Event{At: at, Kind: kind, Offering: &o, Text: text})
}
