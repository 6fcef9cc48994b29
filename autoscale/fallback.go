package autoscale

import (
	"fmt"
	"time"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/pricing/budget"
	"github.com/goodfleet/goodfleet/provider"
)

// fallback keeps jobs off on-demand until they have waited for spot, and on it, once
// they are there, until the cool-down is over.
func (l *Loop) fallback(p *budget.Policy, now time.Time) func(*JobRecord, budget.Facts, *planner.Offer) (string, time.Time) {
	return func(r *JobRecord, f budget.Facts, o *planner.Offer) (why string, until time.Time) {
		if !p.Over.Covers(f) {
			return "", time.Time{}
		}
		there := r.Target != nil && r.Target.Offering.Market == provider.OnDemand
		switch {
		case o.Offering.Market == provider.Spot && there && now.Sub(r.Target.Since) < p.Cooldown:
			back := r.Target.Since.Add(p.Cooldown)
			return "it goes back to spot at " + back.UTC().Format(time.RFC3339), back
		case o.Offering.Market != provider.OnDemand || there:
			return "", time.Time{}
		case !r.Waiting.IsZero() && now.Sub(r.Waiting) >= p.Fallback.After:
			return "", time.Time{}
		case p.Fallback.Deadlines && l.atRisk(r, now):
			return "", time.Time{}
		}
		until = now.Add(p.Fallback.After) // of one that is about to lose what it runs on
		if !r.Waiting.IsZero() {
			until = r.Waiting.Add(p.Fallback.After)
		}
		return fmt.Sprintf("on-demand after %v without spot", p.Fallback.After), until
	}
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
