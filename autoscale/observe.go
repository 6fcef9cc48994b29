package autoscale

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/provider"
)

// repeat is a word to the runner that may not have arrived.
type repeat struct {
	job *JobRecord
	was Progress // what the runner says; zero: it knows nothing of the gang
}

// observe brings the records up to what the clouds, the book and the runner say,
// and asks again for lost answers. A cloud that cannot be listed is frozen; only a
// store that fails is an error. The state is nil when nothing that a plan depends
// on has changed since the last one.
func (l *Loop) observe(ctx context.Context, now time.Time) (*State, error) {
	why := l.badClock(now)
	if l.misread = why != ""; l.misread {
		l.halt = why
		l.trip(now, why)
		return nil, l.cache.commit(ctx, l.cfg.Store)
	}
	l.look(ctx, now)
	if err := l.readTotals(ctx, now); err != nil {
		return nil, err
	}
	l.readFreeze(now)
	if l.halt = l.halted(); l.halt == "" {
		l.judge(now)
		l.halt = l.halted()
	}
	if l.halt != "" {
		l.condemned = nil
		if err := l.cache.commit(ctx, l.cfg.Store); err != nil {
			return nil, err
		}
		l.tellGuard(now)
		return nil, nil
	}
	heedErr := l.heed(ctx, now) // first of all: there may be seconds left
	if heedErr != nil {
		l.cfg.Log.Warn("a gang on a leaving machine was not told", "err", heedErr)
	}
	if err := l.cache.commit(ctx, l.cfg.Store); err != nil {
		return nil, err
	}
	l.endAgain(ctx, now)
	l.tellGuard(now) // what came late is held too, before anything is asked for again
	if err := l.resend(ctx, now); err != nil {
		return nil, err
	}
	l.tellGuard(now)
	clock, due := l.wake(now)
	if !due && !l.last.goesOn {
		return nil, nil
	}
	state := l.state(now)
	state.Woke, state.Stands = clock, !due
	return state, nil
}

// look reads everything there is to read, and calls nothing that changes anything.
func (l *Loop) look(ctx context.Context, now time.Time) {
	l.said, l.repeats, l.strays, l.newer, l.used = nil, nil, nil, nil, map[provider.InstanceID]bool{}
	l.condemned, l.ending = nil, endsLimit{}
	if err := l.quote(now); err != nil {
		l.cfg.Log.Warn("the last book is used", "err", err)
	}
	l.list(ctx, now)
	l.readProgress(ctx, now)
	l.readMachines(now)
	l.takeOver(now)
	l.readInterruptions(now)
	l.readOverrides(now)
	l.leaveReservations(now)
	l.readReady(now)
	l.readUnfit(now)
	l.sweep(now)
	l.readShortages(now)
	l.tellHazards(now)
}

// readInterruptions takes over the clouds' words that they take machines back. A
// word seen twice changes nothing more.
func (l *Loop) readInterruptions(now time.Time) {
	for _, v := range l.clouds {
		off := l.offByAll(v.instances)
		for _, word := range v.interruptions {
			m, ok := l.cache.machine[word.Instance]
			if !ok || !m.Instance.Live() || !m.Noticed.IsZero() {
				continue
			}
			if word.Hint {
				l.heedHint(m, word, off, now)
				continue
			}
			m.Noticed, m.Loss = earlier(word.Noticed.Add(-off), now), word.Loss.Add(-off)
			if word.Noticed.IsZero() {
				m.Noticed = now
			}
			l.cache.touchMachine(m)
			l.last.changed = true
			l.machineEvent(now, EventNotice, m, "until "+m.Loss.UTC().Format(time.RFC3339))
			// The pool is being taken back: what is bought there now goes with it.
			l.markDown(scopeOf(m.Instance.Offering), errTaken, max(0, m.Loss.Sub(now))+l.cfg.Settings.BackOffMin, now)
			l.abandon(m.Instance.ID, now)
		}
	}
}

// heedHint takes over a cloud's word that it may take a machine. Nothing stops: its pool
// is planned with at a higher risk from now on, and what is on it leaves when another
// place is worth that.
func (l *Loop) heedHint(m *InstanceRecord, word provider.Interruption, off time.Duration, now time.Time) {
	if !m.Hinted.IsZero() {
		return
	}
	if m.Hinted = earlier(word.Noticed.Add(-off), now); word.Noticed.IsZero() {
		m.Hinted = now
	}
	l.hints.learn(m)
	l.cache.touchMachine(m)
	l.last.changed = true
	l.machineEvent(now, EventHint, m, "the cloud may take it")
}

// readReady notes which machines became ready since the last round.
func (l *Loop) readReady(now time.Time) {
	for _, m := range l.cache.machines {
		if !m.Ready && m.ready(now) {
			m.Ready = true
			l.countFit(m)
			l.cache.touchMachine(m)
			l.happened(l.allWanted(m)) // else others may come to it that would not wait for it
			l.machineEvent(m.ReadyAt, EventReady, m, "")
		}
	}
}

// allWanted reports whether jobs are to have every accelerator of a machine.
func (l *Loop) allWanted(m *InstanceRecord) bool {
	t, ok := l.typeOf(m.Instance.Offering)
	if !ok {
		return false
	}
	wanted := 0
	for _, r := range l.cache.jobs {
		if r.Target != nil && slices.Contains(r.Target.Machines, m.Instance.ID) {
			wanted += r.Target.Config.Replicas / r.Target.Config.Nodes
		}
	}
	return wanted >= t.Count
}

// tellHazards passes on what happened to the pools that we hold something of. A
// pool is lost when the cloud takes machines of it and no more are left than it
// took: one out of many is the loss of that one. Those of frozen clouds are left
// out: nothing is known of them.
func (l *Loop) tellHazards(now time.Time) {
	type span struct {
		from, to   time.Time // something was held
		lost       time.Time // the last that the cloud took
		took, left int
	}
	spans := map[provider.Pool]*span{}
	for _, m := range l.cache.machines {
		inst := m.Instance
		if inst.Started.IsZero() || m.Settled || l.frozen(inst.Offering.Cloud) != "" {
			continue
		}
		to := now
		if !inst.Ended.IsZero() && inst.Ended.Before(now) {
			to = inst.Ended
		}
		s := spans[inst.Offering.Pool()]
		if s == nil {
			s = &span{from: inst.Started}
			spans[inst.Offering.Pool()] = s
		}
		if inst.Started.Before(s.from) {
			s.from = inst.Started
		}
		s.to = later(s.to, to)
		switch {
		case inst.Live():
			s.left++
		case inst.Cause == provider.Interrupted:
			s.took++
			s.lost = later(s.lost, to)
		}
	}
	for _, pool := range slices.SortedFunc(maps.Keys(spans), provider.Pool.Compare) {
		s := spans[pool]
		if s.took > 0 && s.left <= s.took {
			l.cfg.Hazards.Observe(pool, s.from, s.lost, true)
		}
		l.cfg.Hazards.Observe(pool, s.from, s.to, false)
	}
}

// state is what a decision may depend on, as of now.
func (l *Loop) state(now time.Time) *State {
	s := &State{
		Now: now, Round: l.cfg.Settings.Round, BurnCap: l.cfg.Settings.BurnCap, Hold: l.cfg.Settings.Hold, Grace: l.cfg.Settings.OrphanGrace, Recheck: l.cfg.Settings.DeniedWait,
		Catalogue: l.cfg.Catalogue, Overrides: l.cache.overrides,
		Used: l.used, Strays: map[planner.JobID]bool{}, MaxMoves: l.cfg.Settings.MaxMoves, MaxGrowth: l.cfg.Settings.MaxGrowth,
		Ending: l.ending.count, EndingRate: l.ending.rate, MayEndAll: l.allowed,
	}
	s.Offers, s.Unpriced = l.offers(now)
	s.Still = now.Sub(l.stirred)
	s.Reservations, s.EndFirst, s.Windows, s.Rows = l.cfg.Reservations, l.cfg.Settings.EndFirst, l.cfg.Settings.Windows, l.cfg.Settings.Rows
	s.Hints = maps.Clone(l.hints)
	s.Budgets, s.Teams = l.budgetPrices(now), l.cfg.Settings.Teams
	if limits := l.limits(now); len(l.enforced) > 0 {
		s.Position, s.ListRate = l.position(limits), l.listRate
		s.Rows = slices.Concat(s.Rows, l.policyRows(now, limits, s.Position))
		s.Closures, s.Policies, s.Questions = l.closures(), l.enforced, slices.Clone(l.cache.questions)
		s.Gates = l.gates(now, s.Closures)
	}
	s.Stepped = !slices.Equal(s.Budgets, l.last.budgets)
	for _, p := range l.strays {
		s.Strays[p.Job] = true
	}
	l.beliefs.Own(l.ownedOnly())
	s.Jobs, s.Machines = make([]JobRecord, 0, len(l.cache.jobs)), make([]InstanceRecord, 0, len(l.cache.machines))
	for _, r := range l.cache.jobs {
		if r.Ended.IsZero() || r.Gang != nil {
			s.Jobs = append(s.Jobs, *r)
			s.Jobs[len(s.Jobs)-1].Job = l.beliefs.Of(r.Job)
			s.Alike = append(s.Alike, l.cache.alike(r.Job))
		}
	}
	for _, j := range l.cache.past {
		if came(j, now) {
			s.Past = append(s.Past, j)
		}
	}
	for _, m := range l.cache.machines {
		if m.Instance.State != provider.Ended {
			s.Machines = append(s.Machines, *m)
		}
		if now.Sub(m.Instance.Launched) < time.Minute && l.intentOf(m) == nil {
			s.Grown++
		}
	}
	for _, x := range l.cache.intents {
		if x.State == IntentOpen {
			open := *x
			open.Instances = slices.Clone(x.Instances)
			s.Intents = append(s.Intents, open)
			if now.Sub(x.Created) < time.Minute {
				s.Grown += x.Count
			}
		}
	}
	for _, x := range l.cache.shortages {
		if x.Until.After(now) {
			s.Shortages = append(s.Shortages, *x)
		}
	}
	for _, v := range l.clouds {
		if v.frozen != "" {
			s.Frozen = append(s.Frozen, Frozen{v.name, v.frozen})
		}
		if v.busy {
			s.Busy = append(s.Busy, v.name)
		}
		s.Quotas = append(s.Quotas, l.quotas(v)...)
	}
	return s
}

// intentOf is the open intent of a machine; nil when it is answered.
func (l *Loop) intentOf(m *InstanceRecord) *Intent { return l.cache.intent(m.Instance.Tags.Intent) }

// quotas are the limits of a cloud, less what machines that are not ours take.
func (l *Loop) quotas(v *cloudView) []provider.Quota {
	list := slices.Clone(v.quotas)
	slices.SortStableFunc(list, func(a, b provider.Quota) int { return scopeOfClass(a.Class).Compare(scopeOfClass(b.Class)) })
	for _, inst := range v.instances {
		t, ok := l.typeOf(inst.Offering)
		if !ok || l.mine(inst) || !inst.Live() {
			continue
		}
		class := provider.QuotaClassOf(inst.Offering, t)
		for i := range list {
			if list[i].Class == class || sameButAccount(list[i].Class, class) && (list[i].Class.Account == "" || class.Account == "") {
				list[i].Limit = max(0, list[i].Limit-list[i].Unit.Use(t))
				break
			}
		}
	}
	return list
}

// burn is the sum of the rates of all machines that are here, now.
func (l *Loop) burn() pricing.Rate {
	var sum pricing.Rate
	for _, m := range l.cache.machines {
		if m.Instance.State == provider.Ended {
			continue
		}
		if rate, ok := l.rateOf(m.Instance.Offering); ok {
			sum += rate
		} else {
			sum += m.Rate
		}
	}
	return sum
}
