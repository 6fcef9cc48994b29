package autoscale

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/pricing/budget"
	"github.com/goodfleet/goodfleet/pricing/ledger"
	"github.com/goodfleet/goodfleet/provider"
)

// SetPolicies puts other budget policies in force, from the next round on. What is
// spent counts by them at once; nothing that was spent is forgotten.
func (l *Loop) SetPolicies(ctx context.Context, policies budget.Policies) error {
	release, err := l.take(ctx)
	if err != nil {
		return fmt.Errorf("budget policies: %w", err)
	}
	defer release()
	l.cfg.Policies = policies
	l.makeTotals()
	l.last.changed = true
	return nil
}

// makeTotals begins to count anew: what is in the store is counted by the next round.
func (l *Loop) makeTotals() {
	l.totals, l.enforced = nil, l.cfg.Policies.Enforced()
	for _, t := range l.cfg.Totals {
		l.totals = append(l.totals, total{Total: t, price: l.cache.budget(t.Name).Price})
	}
	for _, p := range l.cfg.Policies {
		if p.Cap != nil && p.Cap.Each == budget.ForAll {
			l.addTotal(p, "")
		}
	}
}

// addTotal counts by a policy, for one key.
func (l *Loop) addTotal(p *budget.Policy, key string) {
	t := total{Total: p.Total(key), policy: p, key: key, base: p.Cap.Amount}
	// Only rates of the fleet or of a team can be priced; and without an end there is
	// no burn that lasts.
	t.Unpriced = p.DryRun || t.Over != nil || t.Period == budget.Always
	b := l.cache.budget(t.Name)
	t.price, t.mark = b.Price, b.Mark
	if slices.ContainsFunc(p.Steps, func(s budget.Step) bool { return s.Measure == budget.Foretold }) {
		t.tally = budget.NewTally(t.Period)
	}
	l.totals = append(l.totals, t)
}

// meetKeys begins to count for the jobs, teams and projects that are new.
func (l *Loop) meetKeys() {
	for _, p := range l.cfg.Policies {
		if p.Cap == nil || p.Cap.Each == budget.ForAll {
			continue
		}
		for _, r := range l.cache.jobs {
			key := p.Cap.Each.Key(budget.Facts{Job: string(r.Job.ID), Team: r.Job.Team, Project: r.Job.Project})
			known := key == "" || slices.ContainsFunc(l.totals, func(t total) bool { return t.policy == p && t.key == key })
			if !known {
				l.addTotal(p, key)
			}
		}
	}
}

// factsOf are those of what nobody holds of an offering.
func (l *Loop) factsOf(o provider.Offering) budget.Facts {
	t, _ := l.typeOf(o)
	return budget.FactsOf(o, t)
}

// parts are who bears which part of a machine: those who are on it bear what nobody has
// of it, as the ledger books it (ledger.Bear) and a row of the program counts it. ahead
// counts jobs that are to run on it too: they will have it in a moment.
func (l *Loop) parts(id provider.InstanceID, o provider.Offering, ahead bool) []budget.Part {
	var shares []ledger.Share
	for _, r := range l.cache.on(id) {
		shares = r.sharesOn(shares, id, false)
	}
	lumps := make([][]budget.Lump, len(shares)) // who is there has paid
	if ahead {
		for _, r := range l.cache.jobs {
			if r.Gang == nil || !r.Gang.holds(id) {
				shares = r.sharesOn(shares, id, true)
				if len(shares) > len(lumps) {
					lumps = append(lumps, r.Lumps(o, r.Target.Config.Nodes))
				}
			}
		}
	}
	return withLumps(borne(l.factsOf(o), shares), lumps)
}

// sharesOn appends what a job has of a machine or, ahead, is to have.
func (r *JobRecord) sharesOn(shares []ledger.Share, id provider.InstanceID, ahead bool) []ledger.Share {
	if r.Gang != nil && r.Gang.holds(id) {
		for _, n := range r.Gang.Nodes {
			if n.Instance == id {
				shares = append(shares, shareOf(r, len(n.Accelerators)))
			}
		}
		return shares
	}
	if ahead && r.Target != nil && slices.Contains(r.Target.Machines, id) {
		shares = append(shares, shareOf(r, r.Target.Config.Replicas/r.Target.Config.Nodes))
	}
	return shares
}

// shareOf is a job's share of a machine.
func shareOf(r *JobRecord, accelerators int) ledger.Share {
	return ledger.Share{Job: string(r.Job.ID), Team: r.Job.Team, Project: r.Job.Project, Accelerators: accelerators}
}

// borne is who bears which part of a machine: those who have shares of it, or nobody.
func borne(idle budget.Facts, shares []ledger.Share) []budget.Part {
	of := max(idle.Accelerators, 1)
	if len(shares) == 0 {
		return []budget.Part{{Facts: idle, Count: of}}
	}
	list := make([]budget.Part, 0, len(shares))
	for i, n := range ledger.Bear(of, shares) {
		s := &shares[i]
		list = append(list, budget.Part{Facts: idle.For(s.Job, s.Team, s.Project), Count: n})
	}
	return list
}

// withLumps puts what each share takes at once beside its part.
func withLumps(parts []budget.Part, lumps [][]budget.Lump) []budget.Part {
	for i := range lumps {
		parts[i].Lumps = lumps[i]
	}
	return parts
}

// intentParts are for whom the machines of a launch are that nobody has seen yet.
func (l *Loop) intentParts(x *Intent) []budget.Part {
	var list []budget.Part
	for k := range x.Count {
		list = append(list, l.parts(standIn(x.Token, k), x.Offering, true)...)
	}
	return list
}

// listRate is what a machine costs on demand in the same place; 0: not known.
func (l *Loop) listRate(o provider.Offering) pricing.Rate {
	o.Market, o.Reservation = provider.OnDemand, ""
	rate, _ := l.rateOf(o)
	return rate
}

// paid is the rate that a machine is paid at, and may be paid at until it could be
// stopped: of spot the highest of its instance-hour and the rate on demand, since a
// price may jump as the next hour begins.
func (l *Loop) paid(m *InstanceRecord, now time.Time) (rate, most pricing.Rate) {
	o := m.Instance.Offering
	rate, ok := l.rateOf(o)
	if !ok {
		rate = m.Rate
	}
	if o.Market != provider.Spot {
		return rate, rate
	}
	start := m.Instance.Started
	if start.IsZero() || now.Before(start) {
		return rate, max(rate, l.listRate(o))
	}
	hour := int64(now.Sub(start) / time.Hour)
	was, seen := l.hours[m.Instance.ID]
	if !seen {
		was = hourRate{hour: hour, rate: m.Rate, last: m.Rate}
	}
	if was.hour != hour {
		was.hour, was.rate = hour, was.last // the price at the turn was that before, or that now
	}
	if turn, ok := l.meter.RateAt(o, start.Add(time.Duration(hour)*time.Hour)); ok {
		was.rate = max(was.rate, turn+l.beside(o)) // it may have been between two rounds, or before a restart
	}
	was.rate, was.last = max(was.rate, rate), rate
	l.hours[m.Instance.ID] = was
	return was.rate, max(was.rate, l.listRate(o))
}

// hourRate is the highest rate that was seen of a machine in an instance-hour.
type hourRate struct {
	hour       int64
	rate, last pricing.Rate
}

// limits are what launches are held to beside the burn cap, in this round.
func (l *Loop) limits(now time.Time) []budget.Limit {
	var list []budget.Limit
	for i := range l.totals {
		t := &l.totals[i]
		if t.policy == nil || t.policy.DryRun || t.Amount == 0 {
			continue
		}
		left := budget.Left{Spent: t.spent, Amount: t.Amount, Lasts: t.lasts + l.cfg.Settings.Hold}
		limit := budget.Limit{Name: t.Name, Over: t.covers(), Burn: left.Burn(), Left: &left}
		if t.Period != budget.Dated && t.Period != budget.Always {
			// What runs on as the next period begins must be stopped in time there.
			next := budget.Left{Amount: t.base, Lasts: left.Lasts}
			limit.Burn = min(limit.Burn, next.Burn())
		}
		if t.outside(now) {
			limit.Burn, limit.Left = budget.Unlimited, nil
		}
		if t.level.AtLeast(budget.NoNew) {
			limit.Closed = t.says
		}
		list = append(list, limit)
	}
	for _, p := range l.enforced {
		if burn, _ := p.BurnAt(now); burn > 0 {
			list = append(list, budget.Limit{Name: p.BurnName(), Over: p.Over.Covers, Burn: burn})
		}
		if open, _ := p.ActiveAt(now); open && (p.MaxRate > 0 || p.OfList > 0) {
			list = append(list, budget.Limit{Name: p.PriceName(), Over: p.Over.Covers, Burn: budget.Unlimited, MaxRate: p.MaxRate, OfList: p.OfList})
		}
	}
	return list
}

// policyRows are the limits on rates as rows of the program. What is held already may
// stay: a lower limit stops nothing by itself, and a cap stops it when its time comes.
func (l *Loop) policyRows(now time.Time, limits []budget.Limit, at *budget.Position) []planner.Row {
	var rows []planner.Row
	held := map[string]pricing.Rate{}
	for _, u := range at.Uses() {
		held[u.Policy] = u.Held
	}
	over := func(covers func(budget.Facts) bool) func(*planner.Job, provider.Offering) bool {
		return func(j *planner.Job, o provider.Offering) bool {
			f := l.factsOf(o)
			if j != nil {
				f = f.For(string(j.ID), j.Team, j.Project)
			}
			return covers == nil || covers(f)
		}
	}
	add := func(name string, s *budget.Selector, each bool, covers func(budget.Facts) bool, row planner.Row) {
		row.Name, row.Word, row.OfJobs = name, "budget policy", each || s.OfJobs()
		if row.OfJobs || !s.All() {
			row.Over = over(covers)
		}
		rows = append(rows, row)
	}
	dearer := l.dearer()
	for i := range l.totals {
		t := &l.totals[i]
		k := slices.IndexFunc(limits, func(x budget.Limit) bool { return x.Name == t.Name && x.Left != nil })
		if t.policy != nil && k >= 0 {
			row := planner.Row{Kind: planner.BurnRow, Most: max(limits[k].Burn, held[t.Name])}
			if pace, ok := t.pace(now, l.stopOf(t), dearer); ok {
				row.Swing = pace.Counts(dearer) - 1
				row.Most = max(min(limits[k].Burn, pace.Burn()), t.runs.counted(row.Swing))
			}
			add(t.Name, t.policy.Over, t.key != "", t.Covers, row)
		}
	}
	for _, p := range l.enforced {
		if burn, _ := p.BurnAt(now); burn > 0 {
			add(p.Name, p.Over, false, p.Over.Covers, planner.Row{Kind: planner.BurnRow, Most: max(burn, held[p.BurnName()])})
		}
		open, _ := p.ActiveAt(now)
		if !open || p.Spot == nil {
			continue
		}
		if p.Spot.Max < 1 {
			add(p.Name+": spot", p.Over, false, p.Over.Covers, planner.Row{Kind: planner.SpotRow, Part: p.Spot.Max})
		}
		if p.Spot.Min > 0 {
			// Beside a most, on demand is bought first: a job that is alone meets no share between.
			add(p.Name+": spot", p.Over, false, p.Over.Covers, planner.Row{Kind: planner.LeastSpotRow, Part: p.Spot.Min, Spare: l.mostSpot(p, now)})
		}
	}
	return rows
}

// mostSpot reports whether something holds down the share of spot of what a policy covers:
// the policy itself, another, or a limit of the settings.
func (l *Loop) mostSpot(p *budget.Policy, now time.Time) bool {
	team, ofTeam := p.Over.Team()
	mayMeet := func(other string, one bool) bool { return !one || !ofTeam || other == team }
	for _, q := range l.enforced {
		open, _ := q.ActiveAt(now)
		if open && q.Spot != nil && q.Spot.Max < 1 && mayMeet(q.Over.Team()) {
			return true
		}
	}
	return slices.ContainsFunc(l.cfg.Settings.Rows, func(r planner.Row) bool {
		return r.Kind == planner.SpotRow && r.Part < 1 && mayMeet(r.Team, r.Team != "")
	})
}

// gates are what policies forbid to jobs.
func (l *Loop) gates(now time.Time, closures []closure) []gate {
	var list []gate
	for _, c := range closures {
		list = append(list, gate{policy: c.policy, refuses: func(r *JobRecord, f budget.Facts, o *planner.Offer) (string, time.Time) {
			stays := !c.stops && r.Target != nil && r.Target.Offering == o.Offering
			if stays || !c.over(f) {
				return "", time.Time{}
			}
			return c.says, time.Time{} // its period may end with more of the same
		}})
	}
	for _, p := range l.enforced {
		open, _ := p.ActiveAt(now)
		if !open {
			continue
		}
		if p.MaxRate > 0 || p.OfList > 0 {
			limit := budget.Limit{Name: p.PriceName(), Over: p.Over.Covers, Burn: budget.Unlimited, MaxRate: p.MaxRate, OfList: p.OfList}
			list = append(list, gate{policy: p.Name, refuses: func(r *JobRecord, f budget.Facts, o *planner.Offer) (string, time.Time) {
				if r.Target != nil && r.Target.Offering == o.Offering {
					return "", time.Time{} // what is held already may stay
				}
				return limit.Refuses(f, o.Rate, l.listRate(o.Offering)), time.Time{}
			}})
		}
		if p.Fallback != nil {
			list = append(list, l.fallback(p, now))
		}
	}
	return list
}
