package autoscale

import (
	"time"

	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/pricing/budget"
	"github.com/goodfleet/goodfleet/provider"
)

// burning is what the machines that a total covers burn.
type burning struct {
	burn, spot pricing.Rate // of all, and of those on spot
	most       pricing.Rate // that they may burn until they could be stopped
}

// add counts a part of a machine.
func (b *burning) add(market provider.Market, rate, most pricing.Rate, share float64) {
	part := pricing.Rate(float64(rate) * share)
	b.burn += part
	b.most += pricing.Rate(float64(most) * share)
	if market == provider.Spot {
		b.spot += part
	}
}

// counted is the burn where spot counts more by a part.
func (b *burning) counted(swing float64) pricing.Rate {
	return b.burn + pricing.Rate(float64(b.spot)*swing)
}

// pace is how fast a total of hours may be burnt, where a stop takes lasts at most. A
// longer period has the time to be steered by its price, and what has no next one may be
// spent as it comes.
func (t *total) pace(now time.Time, lasts time.Duration, dearer float64) (budget.Pace, bool) {
	if t.policy == nil || t.Period != budget.Hour || t.tells() || t.outside(now) {
		return budget.Pace{}, false
	}
	p := budget.Pace{
		Amount: t.base, Left: t.Amount - t.spent, Length: t.until.Sub(t.from), Ends: t.until.Sub(now), Lasts: lasts,
		Dearer: dearer, Idle: t.runs.burn <= 0,
	}
	if !p.Idle {
		p.Dearer = float64(t.runs.most) / float64(t.runs.burn)
	}
	return p, true
}

// stopOf is how long a stop takes of what a total covers, were all jobs to run that wait,
// and a round to spare: a rate that rises a little is to stop nothing.
func (l *Loop) stopOf(t *total) time.Duration {
	if t.Period != budget.Hour {
		return t.lasts
	}
	save := time.Duration(0)
	for _, r := range l.cache.jobs {
		if r.Job.Checkpoint.Save > save && r.Ended.IsZero() && (t.policy.Over.OfOffers() || t.Covers(budget.Facts{}.For(string(r.Job.ID), r.Job.Team, r.Job.Project))) {
			save = r.Job.Checkpoint.Save
		}
	}
	return max(t.lasts, l.cfg.Settings.Tail(save)) + l.cfg.Settings.Round
}

// dearer is how many times its rate a spot machine may come to cost: the most of what is
// sold now.
func (l *Loop) dearer() float64 {
	most := 1.0
	for i, o := range l.cfg.Offerings {
		if rate := l.rates[i]; o.Market == provider.Spot && rate > 0 {
			most = max(most, float64(l.listRate(o))/float64(rate))
		}
	}
	return most
}

// paceStep is by which part a pace grows until those who wait for it are planned anew.
const paceStep = 0.25

// paceGrows is when more may burn of a total of which nothing runs, while a job waits;
// zero: not before its period is over.
func (l *Loop) paceGrows(t *total, now time.Time) time.Time {
	if p, ok := t.pace(now, t.lasts, 1); ok && p.Idle && !t.level.AtLeast(budget.NoNew) {
		for _, r := range l.cache.jobs {
			if in, ok := p.Grows(paceStep); ok && r.Ended.IsZero() && r.Gang == nil {
				return now.Add(in)
			}
		}
	}
	return time.Time{}
}
