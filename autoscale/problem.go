package autoscale

import (
	"maps"
	"slices"
	"time"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/pricing/budget"
	"github.com/goodfleet/goodfleet/provider"
)

// problem is what the planner is asked. Machines of frozen clouds and those that
// are leaving are not in it: their rates and quotas are taken off the caps. Jobs
// that have to stay as they are in this round are not in it either. Its offers are in room.
func (s *State) problem(room *[]planner.Offer) planner.Problem {
	p := planner.Problem{Now: s.Now, Round: s.Round, Hold: s.Hold, Turnover: s.turnover(), BurnCap: s.BurnCap, Rows: slices.Clone(s.Rows), Budgets: s.Budgets, Teams: s.Teams, Past: s.Past}
	p.Machines, p.Jobs = make([]planner.Machine, 0, len(s.Machines)), make([]planner.JobState, 0, len(s.Jobs))
	there := make(map[provider.InstanceID]bool, len(s.Machines))
	var aside, leaving pricing.Rate
	strange := s.strange()
	for i := range s.Machines {
		m := &s.Machines[i]
		rate := s.rate(m.Instance.Offering, m.Rate)
		_, known := s.Catalogue.Lookup(m.Instance.Offering.Cloud, m.Instance.Offering.Type)
		if !known || m.leaving() || strange[m.Instance.ID] || s.frozen(m.Instance.Offering.Cloud) != "" {
			aside += rate
			if m.leaving() {
				leaving += rate
			}
			continue
		}
		there[m.Instance.ID] = true
		p.Machines = append(p.Machines, planner.Machine{
			ID: m.Instance.ID, Offering: m.Instance.Offering, Rate: rate,
			ReadyAt: m.ReadyAt, HoldTo: s.holdTo(m),
		})
	}
	for i := range s.Intents {
		x := &s.Intents[i]
		rate := s.rate(x.Offering, x.Rate)
		if s.frozen(x.Offering.Cloud) != "" {
			aside += rate.Times(x.open())
			continue
		}
		for k := len(x.Instances); k < x.Count; k++ {
			id := standIn(x.Token, k)
			there[id] = true
			// It cannot be ended while nobody knows whether it is there.
			p.Machines = append(p.Machines, planner.Machine{
				ID: id, Offering: x.Offering, Rate: rate,
				ReadyAt: s.Now.Add(s.boot(x.Offering)), HoldTo: s.Now.Add(s.Hold),
			})
		}
	}
	p.Aside = leaving
	if p.BurnCap > 0 {
		p.BurnCap = max(1, p.BurnCap-aside) // 0 would be no cap at all
	}
	for n := range p.Rows { // what is not in the problem takes its part too
		if r := &p.Rows[n]; r.Team == "" && r.Over == nil && r.Kind == planner.BurnRow {
			r.Most = max(0, r.Most-aside)
		}
	}
	for i := range s.Jobs {
		if r := &s.Jobs[i]; r.Ended.IsZero() && !s.fixed(r) && !s.isSpent(r) {
			p.Jobs = append(p.Jobs, s.jobState(r, there))
			if i < len(s.Alike) {
				p.Jobs[len(p.Jobs)-1].Alike = s.Alike[i]
			}
		}
	}
	p.Quotas = s.quotasLeft()
	p.Offers = s.offers((*room)[:0], p.Machines, p.Quotas)
	*room = p.Offers
	p.Unpriced = s.Unpriced
	return p
}

// strange are the machines on which a gang runs of which no job of ours knows.
func (s *State) strange() map[provider.InstanceID]bool {
	list := maps.Clone(s.Used)
	for i := range s.Jobs {
		if g := s.Jobs[i].Gang; g != nil {
			for _, n := range g.Nodes {
				delete(list, n.Instance)
			}
		}
	}
	return list
}

// open is how many machines of an intent nobody has seen yet.
func (x *Intent) open() int { return max(0, x.Count-len(x.Instances)) }

// boot is the expected time from launch to ready of an offering.
func (s *State) boot(o provider.Offering) time.Duration {
	if i, ok := s.offer(o); ok {
		return s.Offers[i].Boot
	}
	return 0
}

// holdTo is until when a machine is not ended by us.
func (s *State) holdTo(m *InstanceRecord) time.Time {
	hold := m.Instance.Launched.Add(s.Hold)
	if !m.Denied.IsZero() {
		hold = later(hold, m.Denied.Add(s.Recheck))
	}
	if !m.Orphan.IsZero() {
		hold = later(hold, m.Orphan.Add(s.Grace))
	}
	if overrides(s.Overrides).held(m.Instance.ID) != "" {
		hold = later(hold, s.Now.Add(held))
	}
	return hold
}

// held is how far away the end of a machine is put that a person holds.
const held = 365 * 24 * time.Hour

// jobState is a job as the planner sees it. What it is to run on counts as what
// it runs on, so that a move that was begun is a place to keep.
func (s *State) jobState(r *JobRecord, there map[provider.InstanceID]bool) planner.JobState {
	j := planner.JobState{Job: r.Job, Done: r.Safe, Held: r.Held, Waiting: r.Waiting, Restarts: r.Restarts, Spent: r.Spent}
	if r.Gang != nil {
		// A move saves first, so what is done is safe unless a machine is lost.
		j.Done = max(r.Safe, r.Seen)
		j.Held += max(0, s.Now.Sub(r.Times.Started))
	}
	if pin, ok := overrides(s.Overrides).of(Pin, string(r.Job.ID)); ok {
		j.Job = s.pinned(r.Job, pin.Config)
	}
	j.Job, j.Barred = s.gated(r, j.Job), s.barred(r.Job)
	j.Claims, j.Lease = r.claims(s.Now), r.Lease
	j.Running = r.Target
	if r.Target != nil {
		for _, id := range r.Target.Machines {
			if !there[id] {
				j.Running = nil
			}
		}
	}
	if j.Running == nil && j.Waiting.IsZero() {
		j.Waiting = s.Now
	}
	if j.Running != nil {
		j.Waiting = time.Time{}
	}
	return j
}

// barred reports whether a person has a say in when a job starts: it is paused, or a
// launch for it may have to be asked for.
func (s *State) barred(job *planner.Job) bool {
	return overrides(s.Overrides).paused(job) != "" || slices.ContainsFunc(s.Policies, func(p *budget.Policy) bool {
		return p.Approval != nil && !p.DryRun && (p.Over.OfOffers() || p.Over.Covers(s.facts(job, provider.Offering{})))
	})
}

// pinned is a job that can run on one config alone.
func (s *State) pinned(job *planner.Job, c *planner.Config) *planner.Job {
	pinned := *job
	pinned.Types, pinned.Resources.Replicas = []string{c.Type}, planner.Replicas{Set: []int{c.Replicas}}
	if c.Cloud != "" {
		pinned.Clouds = []string{c.Cloud}
	}
	if t, ok := s.Catalogue.Lookup(c.Cloud, c.Type); ok {
		pinned.Resources.Accelerators = []string{t.Accelerator}
	}
	return &pinned
}

// quotasLeft is what may still be bought of each counter. Every machine that is
// here, leaving or on its way counts.
func (s *State) quotasLeft() []planner.QuotaLeft {
	list := make([]planner.QuotaLeft, len(s.Quotas))
	for i, q := range s.Quotas {
		list[i] = planner.QuotaLeft{Class: q.Class, Unit: q.Unit, Left: q.Limit, Code: q.Code}
	}
	take := func(o provider.Offering, n int) {
		t, ok := s.Catalogue.Lookup(o.Cloud, o.Type)
		if !ok {
			return
		}
		if i, ok := quotaFor(list, &o, &t); ok {
			list[i].Left -= n * list[i].Unit.Use(t)
		}
	}
	for i := range s.Machines {
		if s.Machines[i].Instance.State != provider.Ended {
			take(s.Machines[i].Instance.Offering, 1)
		}
	}
	for i := range s.Intents {
		take(s.Intents[i].Offering, s.Intents[i].open())
	}
	for i := range list {
		list[i].Left = max(0, list[i].Left)
	}
	return list
}

// quotaFor finds the counter that a launch of o is charged to. A counter without
// an account is that of every account. ok is false when nothing limits it.
func quotaFor(list []planner.QuotaLeft, o *provider.Offering, t *provider.InstanceType) (int, bool) {
	for i := range list {
		c := &list[i].Class
		if c.Market == o.Market && c.Family == t.QuotaFamily && c.Region == o.Region && c.Cloud == o.Cloud &&
			(c.Account == o.Account || c.Account == "" || o.Account == "") {
			return i, true
		}
	}
	return 0, false
}

func sameButAccount(a, b provider.QuotaClass) bool {
	a.Account, b.Account = "", ""
	return a == b
}

// offers is what may be bought, with what is left of it, and why some may not be
// bought now. Offerings that are only held are there too, closed.
func (s *State) offers(list []planner.Offer, held []planner.Machine, quotas []planner.QuotaLeft) []planner.Offer {
	list = slices.Grow(list, len(s.Offers))
	for i := range s.Offers {
		list = append(list, s.Offers[i])
		o := &list[i]
		o.Cap = -1
		if i, ok := quotaFor(quotas, &o.Offering, &o.Type); ok {
			if use := quotas[i].Unit.Use(o.Type); use > 0 {
				o.Cap = quotas[i].Left / use
			}
		}
		o.Blocked, o.Until = s.blocked(o)
		s.reserve(o)
		if len(s.Hints) > 0 {
			o.Hazard.PoolPerHour += hints(s.Hints).risk(o.Offering, s.Now)
		}
	}
	extra := map[provider.Offering]bool{}
	for _, m := range held {
		if _, ok := s.offer(m.Offering); ok || extra[m.Offering] {
			continue
		}
		t, ok := s.Catalogue.Lookup(m.Offering.Cloud, m.Offering.Type)
		if !ok {
			continue
		}
		extra[m.Offering] = true
		list = append(list, planner.Offer{
			Offering: m.Offering, Type: t, Rate: m.Rate, Booked: m.Rate, Cap: 0, Blocked: "it is not sold, or has no price",
		})
	}
	return list
}

// blocked tells why nothing of an offer may be bought now, and until when.
func (s *State) blocked(o *planner.Offer) (why string, until time.Time) {
	if s.NoBuying != "" {
		return s.NoBuying, time.Time{}
	}
	if why := s.frozen(o.Offering.Cloud); why != "" {
		return why, time.Time{}
	}
	if why := overrides(s.Overrides).closed(o.Offering); why != "" {
		return why, time.Time{}
	}
	if why, until := windows(s.Windows).shut(ofLaunches, s.Now); why != "" {
		return why, until
	}
	for i := range s.Shortages {
		if x := &s.Shortages[i]; x.Until.After(s.Now) && x.Scope.holds(&o.Offering, &o.Type) && x.Until.After(until) {
			why, until = x.Kind, x.Until
		}
	}
	return why, until
}
