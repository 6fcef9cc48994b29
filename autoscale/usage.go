package autoscale

import (
	"context"
	"slices"
	"time"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/pricing/ledger"
	"github.com/goodfleet/goodfleet/provider"
)

// book charges for a machine up to an instant, to those who held it: until it is
// ready to boot, a gang that restores or saves to restart, a gang that runs to its
// job, the rest to nobody. It must be called before a gang leaves the machine.
func (l *Loop) book(m *InstanceRecord, to time.Time) {
	inst := m.Instance
	if m.Gone && inst.Ended.Before(to) {
		to = inst.Ended
	}
	if m.Gone {
		inst.Ended, inst.Cause = time.Time{}, provider.NotEnded // no cloud has said so: its books stay open
	}
	l.bookAs(m, inst, to)
}

// bookAs books a machine as what inst says of it.
func (l *Loop) bookAs(m *InstanceRecord, inst provider.Instance, to time.Time) {
	if inst.Started.IsZero() {
		return
	}
	if !inst.Ended.IsZero() && inst.Ended.Before(to) {
		to = inst.Ended
	}
	from := later(m.Booked, inst.Started)
	final := !inst.Ended.IsZero() && !inst.Ended.After(to)
	if !to.After(from) && !final {
		return
	}
	t, ok := l.typeOf(inst.Offering)
	if !ok {
		t.Count = 1 // a type that the catalogue has lost: its machine is one thing
	}
	holders := l.cache.on(inst.ID)
	for _, at := range l.turns(m, holders, from, to) {
		shares := l.sharesAt(m, holders, from, t.Count)
		if one, other := apart(shares, holders); other != nil {
			l.charge(l.meter.Settle(inst, t.Count, one, from.Add(at.Sub(from)/2), l.cache.round))
			shares = other
		}
		l.charge(l.meter.Settle(inst, t.Count, shares, at, l.cache.round))
		from = at
	}
	m.Booked = later(m.Booked, to)
	l.cache.touchMachine(m)
}

// turns are the instants in (from, to] up to which one and the same set of
// holders bore the machine, ascending; the last is to.
func (l *Loop) turns(m *InstanceRecord, holders []*JobRecord, from, to time.Time) []time.Time {
	list := []time.Time{to}
	add := func(at time.Time) {
		if at.After(from) && at.Before(to) {
			list = append(list, at)
		}
	}
	add(m.ReadyAt)
	if at := l.astray(m); !at.IsZero() {
		add(at)
	}
	for i := range l.totals {
		l.totals[i].turns(from, to, add)
	}
	for _, r := range holders {
		add(r.Times.Started)
		add(r.Times.Running)
		add(r.Times.Stopping)
	}
	slices.SortFunc(list, time.Time.Compare)
	return slices.CompactFunc(list, time.Time.Equal)
}

// sharesAt says who holds what of a machine from an instant on.
func (l *Loop) sharesAt(m *InstanceRecord, holders []*JobRecord, at time.Time, of int) []ledger.Share {
	var shares []ledger.Share
	for _, r := range holders {
		if r.Times.Started.After(at) {
			continue
		}
		share := ledger.Share{Job: string(r.Job.ID), Team: r.Job.Team, Project: r.Job.Project, Account: ledger.ToJob}
		restoring := r.Times.Running.IsZero() || at.Before(r.Times.Running)
		saving := !r.Times.Stopping.IsZero() && !at.Before(r.Times.Stopping)
		if restoring || saving {
			share.Account = ledger.ToRestart
		}
		for _, n := range r.Gang.Nodes {
			if n.Instance == m.Instance.ID {
				share.Accelerators = len(n.Accelerators)
			}
		}
		shares = append(shares, share)
	}
	if from := l.astray(m); len(shares) == 0 && !from.IsZero() && !at.Before(from) {
		return []ledger.Share{{Account: ledger.Overrun, Accelerators: of}}
	}
	if len(shares) == 0 && at.Before(m.ReadyAt) {
		return []ledger.Share{{Account: ledger.ToBoot, Accelerators: of}}
	}
	return shares
}

// apart are two lists of the shares of a machine, each with one of any two jobs that have the
// same accelerators: either bears them for half of the time. other is nil where nobody shares.
func apart(shares []ledger.Share, holders []*JobRecord) (one, other []ledger.Share) {
	with := map[string]string{} // of jobs that share
	for _, r := range holders {
		if w := r.Gang.Config.With; w != "" {
			with[string(r.Job.ID)] = string(w)
		}
	}
	paired := func(s ledger.Share) bool {
		w := with[s.Job]
		return w != "" && with[w] == s.Job && slices.ContainsFunc(shares, func(x ledger.Share) bool { return x.Job == w })
	}
	if len(with) == 0 || !slices.ContainsFunc(shares, paired) {
		return shares, nil
	}
	for _, s := range shares {
		if !paired(s) || s.Job < with[s.Job] {
			one = append(one, s)
		}
		if !paired(s) || s.Job > with[s.Job] {
			other = append(other, s)
		}
	}
	return one, other
}

// astray is from when on a machine costs money against our will: it was out of
// contact and taken for gone, or its cloud does not confirm that it ended. Zero: it
// does not.
func (l *Loop) astray(m *InstanceRecord) time.Time {
	if m.Astray.IsZero() && !m.EndAsked.IsZero() {
		return m.EndAsked.Add(l.cfg.Settings.Grace)
	}
	return m.Astray
}

// waste moves what a job bore of its gang's machines in a stretch of time to waste.
func (l *Loop) waste(r *JobRecord, from, to time.Time) {
	mv := ledger.Move{Out: ledger.ToJob, Into: ledger.ToWaste, Job: string(r.Job.ID), From: from, To: to, Round: l.cache.round}
	for _, n := range r.Gang.Nodes {
		mv.Instances = append(mv.Instances, n.Instance)
	}
	l.charge(l.meter.Transfer(mv))
}

// charge keeps charges for the next commit, and what each job has spent by them.
func (l *Loop) charge(charges []ledger.Charge) {
	l.cache.charges = append(l.cache.charges, charges...)
	for _, c := range charges {
		for i := range l.totals {
			l.count(&l.totals[i], &c)
		}
		if r, ok := l.cache.job[planner.JobID(c.Job)]; ok && c.Job != "" {
			r.Spent += c.Amount
			l.cache.touchJob(r)
		}
	}
}

// settle books every machine that it is time for, and marks those that are over
// and booked to their end. A machine that cannot be seen waits: it is booked when
// it is seen again, as far as it lived.
func (l *Loop) settle(ctx context.Context, now time.Time) error {
	if l.misread {
		return l.cache.commit(ctx, l.cfg.Store)
	}
	ended := map[string]bool{} // reservations of which a machine did
	for _, m := range l.cache.machines {
		if m.Settled || l.frozen(m.Instance.Offering.Cloud) != "" {
			continue
		}
		// By a clock that is off a machine may end a little after now, and one that only
		// listings have forgotten may come back: both are settled later.
		over := m.Instance.State == provider.Ended && !m.Instance.Ended.After(now) && (!m.Gone || now.Sub(m.Instance.Ended) >= l.cfg.Settings.Forget)
		if over {
			l.bookAs(m, m.Instance, now)
		} else if m.Seen.Equal(now) && now.Sub(later(m.Booked, m.Instance.Started)) >= l.cfg.Settings.Book {
			l.book(m, now)
		}
		if over {
			m.Settled, ended[m.Instance.Offering.Reservation] = true, true
			l.cache.touchMachine(m)
		}
	}
	l.bookBills(now, ended)
	l.bookGaps(now)
	l.tellGuard(now)
	return l.cache.commit(ctx, l.cfg.Store)
}
