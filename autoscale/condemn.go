package autoscale

import (
	"fmt"
	"time"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/provider"
)

// verdict is a machine that is to end because of what it is, not because of the plan.
type verdict struct {
	machine *InstanceRecord
	now     time.Time
	kind    string // of the event
	reason  string
	then    func() // what follows when it is carried out; nil: nothing more
}

// condemn says that a machine is to end. It is carried out by judge, if no more
// are condemned at once than a round may end.
func (l *Loop) condemn(v verdict) {
	m := v.machine
	if !m.Denied.IsZero() && v.now.Before(m.Denied.Add(l.cfg.Settings.DeniedWait)) {
		return // the cloud has just refused
	}
	if m.Draining || !m.EndAsked.IsZero() || !m.Instance.Live() || l.cache.overrides.held(m.Instance.ID) != "" {
		return
	}
	l.condemned = append(l.condemned, v)
}

// judge carries out what was condemned in this round. Many at once are a sign that
// something else is wrong: then none is.
func (l *Loop) judge(now time.Time) {
	if len(l.condemned) == 0 {
		return
	}
	seen := map[provider.InstanceID]bool{}
	ends := l.endsLimit()
	for _, v := range l.condemned {
		if id := v.machine.Instance.ID; !seen[id] {
			seen[id] = true
			ends.add(v.machine.Rate)
		}
	}
	if why := ends.over(); why != "" && !l.allowed {
		l.trip(now, fmt.Sprintf("%s, the first because %s", why, l.condemned[0].reason))
		l.condemned = nil
		return
	}
	for _, v := range l.condemned {
		m := v.machine
		if m.Draining {
			continue // condemned twice
		}
		m.Draining, m.Reason = true, v.reason
		l.cache.touchMachine(m)
		l.last.changed = true
		l.machineEvent(now, v.kind, m, v.reason)
		if v.then != nil {
			v.then()
		}
		l.abandon(m.Instance.ID, now)
		l.ending.count++
		l.ending.rate += m.Rate
	}
	l.condemned = nil
}

// The breaker's limits: of the machines, with a number that may always end, and of
// the burn.
const (
	endShare     = 0.20
	endAlways    = 2
	endBurnShare = 0.25
)

// endsLimit counts what a round ends against what it may.
type endsLimit struct {
	count, machines int
	rate, burn      pricing.Rate
}

func (l *Loop) endsLimit() endsLimit {
	e := l.ending
	for _, m := range l.cache.machines {
		if m.Instance.State != provider.Ended {
			e.machines++
			e.burn += m.Rate
		}
	}
	return e
}

func (e *endsLimit) add(rate pricing.Rate) {
	e.count++
	e.rate += rate
}

// fits reports whether one more of a rate may end.
func (e endsLimit) fits(rate pricing.Rate) bool {
	e.add(rate)
	return e.over() == ""
}

// over says by what the limits are passed; "" when they hold.
func (e endsLimit) over() string {
	switch {
	case e.count <= endAlways:
		return ""
	case float64(e.count) > endShare*float64(e.machines):
		return fmt.Sprintf("%d of %d machines would end at once", e.count, e.machines)
	case float64(e.rate) > endBurnShare*float64(e.burn):
		return fmt.Sprintf("machines of %s of %s USD/h would end at once", e.rate, e.burn)
	}
	return ""
}

// limitEnds keeps a decision within what a round may end. Machines that nobody is
// on are ended step by step: what is too much waits for the next round. A decision
// that would take too many machines from under jobs which then have no place is not
// carried out at all, and says so; but a cap that was lowered, money that became
// dearer and the head of the jobs that never ran, as far as its own machines cost, are
// reasons of their own, and a job that moves gives its machines up only when it has left
// them.
func (s *State) limitEnds(d *decision, robbed map[provider.InstanceID]bool) {
	if s.MayEndAll || len(d.diff.Drains)+len(d.diff.Terminations) == 0 {
		return
	}
	ends := endsLimit{count: s.Ending, rate: s.EndingRate}
	for i := range s.Machines {
		if m := &s.Machines[i]; m.Instance.State != provider.Ended {
			ends.machines++
			ends.burn += m.Rate
		}
	}
	rate := map[provider.InstanceID]pricing.Rate{}
	draining := map[provider.InstanceID]bool{}
	for i := range s.Machines {
		m := &s.Machines[i]
		rate[m.Instance.ID], draining[m.Instance.ID] = m.Rate, m.leaving()
	}
	head := d.headRate()
	for _, drain := range d.diff.Drains {
		if draining[drain.Instance] || !robbed[drain.Instance] {
			continue
		}
		if head > 0 {
			head -= rate[drain.Instance]
			continue
		}
		ends.add(rate[drain.Instance])
	}
	if why := ends.over(); why != "" && ends.count > s.Ending && !s.overCap(ends.burn) && !s.Stepped {
		d.diff = Diff{Breaker: why, Deferred: d.diff.Deferred}
		d.refs = nil
		return
	}
	kept := d.diff.Terminations[:0]
	for _, end := range d.diff.Terminations {
		if !draining[end.Instance] {
			if !ends.fits(rate[end.Instance]) {
				d.paced = true
				continue
			}
			ends.add(rate[end.Instance])
		}
		kept = append(kept, end)
	}
	d.diff.Terminations = kept
}

// headRate is the rate of the machines that a plan gives to the head of the jobs that
// never ran, as it starts.
func (d *decision) headRate() pricing.Rate {
	for _, a := range d.plan.Allocations {
		if a.Clock == planner.HeadClock {
			return a.Alone
		}
	}
	return 0
}

// overCap reports whether the cap has been lowered below what is held.
func (s *State) overCap(burn pricing.Rate) bool { return s.BurnCap > 0 && burn > s.BurnCap }
