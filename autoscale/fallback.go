package autoscale

import (
	"fmt"
	"time"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/pricing/budget"
	"github.com/goodfleet/goodfleet/provider"
)

// SpotWait is how a job stands with a policy that has it wait for spot before it goes on
// demand, or stay there for a while. The zero value: the policy says nothing of it.
type SpotWait struct {
	Why   string    // it has to wait; "": it need not
	Free  string    // why it need not, where the policy covers it
	Since time.Time // from when on it waits; zero: it has what it runs on
	Until time.Time // zero: it does not wait
}

// waitForSpot is how a job stands that would have an offering of a market.
func (l *Loop) waitForSpot(p *budget.Policy, r *JobRecord, market provider.Market, now time.Time) SpotWait {
	there := r.Target != nil && r.Target.Offering.Market == provider.OnDemand
	switch {
	case market == provider.Spot && there && now.Sub(r.Target.Since) < p.Cooldown:
		back := r.Target.Since.Add(p.Cooldown)
		return SpotWait{Why: "it goes back to spot at " + back.UTC().Format(time.RFC3339), Since: r.Target.Since, Until: back}
	case market != provider.OnDemand:
		return SpotWait{}
	case there:
		return SpotWait{Free: "it is on demand"}
	case !r.Waiting.IsZero() && now.Sub(r.Waiting) >= p.Fallback.After:
		return SpotWait{Free: "it waits for spot since " + r.Waiting.UTC().Format(time.RFC3339), Since: r.Waiting}
	case p.Fallback.Deadlines && l.atRisk(r, now):
		return SpotWait{Free: "its deadline is at risk"}
	}
	w := SpotWait{Why: fmt.Sprintf("on-demand after %v without spot", p.Fallback.After), Since: r.Waiting, Until: r.Waiting.Add(p.Fallback.After)}
	if r.Waiting.IsZero() { // it may be about to lose what it runs on
		w.Until = now.Add(p.Fallback.After)
	}
	return w
}

// fallback keeps jobs off on-demand until they have waited for spot, and on it, once
// they are there, until the cool-down is over.
func (l *Loop) fallback(p *budget.Policy, now time.Time) gate {
	waits := func(r *JobRecord, f budget.Facts, o provider.Offering) SpotWait {
		if !p.Over.Covers(f) {
			return SpotWait{}
		}
		return l.waitForSpot(p, r, o.Market, now)
	}
	return gate{policy: p.Name, waits: waits, refuses: func(r *JobRecord, f budget.Facts, o *planner.Offer) (string, time.Time) {
		w := waits(r, f, o.Offering)
		if w.Why == "" {
			return "", time.Time{}
		}
		return w.Why, w.Until
	}}
}

// SpotWait is how a job stands with the fallback of a policy, were it to have an offering.
func (s *State) SpotWait(policy string, r *JobRecord, o provider.Offering) SpotWait {
	for i := range s.Gates {
		if g := &s.Gates[i]; g.policy == policy && g.waits != nil {
			return g.waits(r, s.facts(r.Job, o), o)
		}
	}
	return SpotWait{}
}

// riskFactor is how much longer than it should the rest of a job may take before its
// deadline is at risk.
const riskFactor = 1.2

// atRisk reports whether a job would hardly meet its deadline if it began now, on
// demand, on what is fastest for it.
func (l *Loop) atRisk(r *JobRecord, now time.Time) bool {
	if r.Job.Deadline.IsZero() || r.Job.Curve == nil {
		return false
	}
	fastest := 0.0
	boot := time.Duration(0)
	for _, o := range l.cfg.Offerings {
		t, ok := l.typeOf(o)
		if !ok || o.Market != provider.OnDemand || t.Count <= 0 {
			continue
		}
		for _, n := range r.Job.Resources.Replicas.Sizes() {
			if speed, ok := r.Job.Curve.Speed(t.Accelerator, (n+t.Count-1)/t.Count, n); ok && speed.Goodput > fastest {
				fastest, boot = speed.Goodput, l.bootOf(o)
			}
		}
	}
	if fastest == 0 {
		return true // nothing is known that would meet it
	}
	s := planner.JobState{Job: r.Job, Done: max(r.Safe, r.Seen)}
	_, left := planner.Remaining(&s, fastest)
	c := r.Job.Checkpoint
	begin := boot + l.cfg.Settings.Setup + c.Save + c.Restore + 2*l.cfg.Settings.Round
	needs := time.Duration(min(riskFactor*left/fastest*float64(time.Hour), 1<<62)) + begin
	return r.Job.Deadline.Sub(now) <= needs
}

// fallbackClocks tells when the wait of a job is over.
func (l *Loop) fallbackClocks(tell func(at time.Time)) {
	for _, p := range l.enforced {
		if p.Fallback == nil {
			continue
		}
		for _, r := range l.cache.jobs {
			switch {
			case !r.Ended.IsZero():
			case !r.Waiting.IsZero():
				tell(r.Waiting.Add(p.Fallback.After))
			case r.Target != nil && r.Target.Offering.Market == provider.OnDemand:
				tell(r.Target.Since.Add(p.Cooldown))
			}
		}
	}
}
