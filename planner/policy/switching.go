package policy

import (
	"math"
	"time"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/provider"
)

// steadyAt is how long a job has held its machines at a time, h, rounded down to
// leastLife times a power of two; 0 when it holds none, or not for as long as that.
func steadyAt(d *planner.Demand, at time.Time) float64 {
	if d.Current < 0 {
		return 0
	}
	age := at.Sub(d.State.Running.Since).Hours() / leastLife
	if age < 1 {
		return 0
	}
	return leastLife * math.Pow(2, math.Floor(math.Log2(age)))
}

// longer is when the next move of a job is judged over a longer time.
func longer(d *planner.Demand, w *worth) time.Time {
	return d.State.Running.Since.Add(hours(max(leastLife, 2*w.steady)))
}

// life is the time over which a switch to c that takes s hours is judged, h. A job
// that has been where it is for long is expected to stay as long at another size
// there; elsewhere, prices may turn again. It is no longer than the job itself, than a
// spot machine's mean life, nor than jobs were left in peace so far.
func life(p *planner.Problem, c *planner.Column, w *worth, s float64) float64 {
	least := max(leastLife, lifePerS*s)
	if c.Offer == w.at {
		least = max(least, w.steady)
	}
	h := min(c.WallHours(w.left)+s, least)
	if w.lasts > 0 { // no less than the switch itself takes
		h = min(h, max(w.lasts, s))
	}
	if p.Offers[c.Offer].Offering.Market == provider.Spot && c.Loss > 0 {
		h = min(h, 1/c.Loss)
	}
	return max(h, 1.0/3600)
}

// switched is what base (USD/h) is worth on c when starting there takes s hours, and
// starting anyway takes reference.
func switched(p *planner.Problem, c *planner.Column, w *worth, base, s, reference float64) float64 {
	return base * max(1-(s-reference)/life(p, c, w, max(s, reference)), 0)
}

// leastCharge is what machines bought for the rest of a job on c cost beyond their use,
// since they are paid for as long as the problem holds them, USD.
func leastCharge(p *planner.Problem, c *planner.Column, w *worth) float64 {
	return c.Alone * max(0, p.Hold.Hours()-c.Boot-c.Resume-c.WallHours(w.left))
}

// nearlyDone reports whether a job ends where it is before a switch would be judged:
// its last minutes are worth what they cost there, and it is not moved.
func nearlyDone(d *planner.Demand, w *worth) bool {
	if d.Current < 0 {
		return false
	}
	cur := &d.Columns[d.Current]
	return cur.WallHours(w.left) < max(leastLife, lifePerS*(cur.Resume+cur.Boot))
}

// setWorth sets the worth of every column of a job.
func setWorth(p *planner.Problem, d *planner.Demand, w *worth) {
	start := w.start
	credit, reference := 0.0, start
	team := p.MuOf(d.State.Job.Team)
	if d.Current >= 0 {
		// Stopping it would cost this restart, at what money counts now; and it is
		// worth no less than when it was started.
		cur := &d.Columns[d.Current]
		base, s := (w.kappa+w.dear)*cur.Speed.Goodput*cur.Useful, cur.Resume+cur.Boot
		extra := dearerBy(p, d, cur) * cur.Alone
		plain := *w
		plain.at = -1
		credit = max((base+extra)*min(1, s/life(p, cur, &plain, s)),
			switched(p, cur, &plain, base, cur.Resume, start)-base,
			switched(p, cur, &plain, base, s, start)-base)
		reference = 0
	}
	near := nearlyDone(d, w) || d.Current >= 0 && d.State.Stays // what has no way elsewhere is not stopped for it
	for c := range d.Columns {
		col := &d.Columns[c]
		base := (w.kappa + w.dear) * col.Speed.Goodput * col.Useful
		if near {
			if c != d.Current {
				col.Stay, col.Here, col.Bought = 0, 0, 0
				continue
			}
			base = max(base, col.CostOfWork(w.v)*col.Speed.Goodput*col.Useful)
		}
		share := float64(col.PerNode) / float64(p.Offers[col.Offer].Type.Count)
		steady := w.bonus + w.keep + credit - w.v*col.Loss*col.Down - team*share*col.Alone
		if tries(p, d.State, col) {
			steady += max(0, d.State.Trial.Hourly()) // one that was begun is not broken off
		}
		col.Stay = base + steady
		col.Here = switched(p, col, w, base, col.Resume, reference) + steady
		col.Bought = switched(p, col, w, base, col.Resume+col.Boot, reference) + steady
		if d.Current < 0 {
			moving := once(col, w.left) * col.Speed.Goodput * col.Useful
			ahead := p.AheadOf(d.State.Job.Team, pricing.RateOf(col.Alone), pricing.RateOf(share*col.Alone))
			col.Here -= moving + ahead
			col.Bought -= moving + ahead + (leastCharge(p, col, w)-w.charge)/life(p, col, w, start)
			continue
		}
		// The old machines run until the new ones are up.
		col.Here -= col.OneOff / life(p, col, w, col.Resume)
		col.Bought -= (col.OneOff + col.Alone*col.Boot + leastCharge(p, col, w)) / life(p, col, w, col.Resume+col.Boot)
	}
}
