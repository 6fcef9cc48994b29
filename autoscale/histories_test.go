package autoscale_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goodfleet/goodfleet/autoscale"
	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/pricing/budget"
	"github.com/goodfleet/goodfleet/pricing/ledger"
	"github.com/goodfleet/goodfleet/provider"
)

var (
	histories   = flag.Int("budget.histories", 20, "histories of TestSpendingStaysWithinItsCaps")
	historySeed = flag.Uint64("budget.seed", 1, "seed of the first of them")
)

// story is a history under budget policies, drawn from a seed.
type story struct {
	w        *world
	rng      *rand.Rand
	policies []*budget.Policy
	amounts  map[string]pricing.Money // the most that each policy ever had
	caps     int                      // that were held to, of each period and key
	bound    int                      // of them, used by half at least
	overruns pricing.Money
	trouble  bool // something of the three that may pass a cap may have happened
}

func (s *story) one(n int) bool { return s.rng.IntN(n) == 0 }

// drawPolicies makes caps that the jobs of the story pass, were they let.
func (s *story) drawPolicies() {
	usd := func(least, most int) pricing.Money {
		return pricing.Money(least+s.rng.IntN(most-least+1)) * pricing.Dollar / 2
	}
	about := []budget.Match{{}, {Team: "Vision"}, {Team: "Speech"}, {Market: "spot"}, {Where: `team == "Vision" || accelerators > 1`}, {Project: "release", Market: "on-demand"}}
	for i := range 1 + s.rng.IntN(4) {
		p := &budget.Policy{Name: fmt.Sprintf("policy-%d", i), Owner: "o", Over: selector(s.w.t, about[s.rng.IntN(len(about))])}
		p.Cap = &budget.Cap{Amount: usd(2, 12), Period: []budget.Period{budget.Hour, budget.Hour, budget.Day, budget.Dated, budget.Always}[s.rng.IntN(5)]}
		switch {
		case p.Cap.Period == budget.Dated:
			p.Cap.From = start.Add(time.Duration(s.rng.IntN(60)) * time.Minute)
			p.Cap.Until = p.Cap.From.Add(time.Duration(30+s.rng.IntN(90)) * time.Minute)
		case s.one(2):
			p.Cap.Each = []budget.Each{budget.PerJob, budget.PerTeam, budget.PerProject}[s.rng.IntN(3)]
		case p.Cap.Period == budget.Hour && s.one(2):
			p.Cap.Unused = 0.5 // without overdraft: a debt is no cap to be held to
		}
		for _, at := range []float64{0.5, 0.7, 0.9} {
			if s.one(3) {
				p.Steps = append(p.Steps, budget.Step{At: at, Measure: budget.Committed, Do: []budget.Action{budget.Warn, budget.NoNew, budget.Drain, budget.Stop}[s.rng.IntN(4)]})
			}
		}
		if s.one(4) {
			p.Burn = pricing.Rate(2+s.rng.IntN(12)) * pricing.DollarPerHour
		}
		s.policies = append(s.policies, p)
		s.amounts[p.Name] = p.Cap.Amount + pricing.Money(p.Cap.Unused*float64(p.Cap.Amount))
	}
	s.inForce()
}

// inForce hands the policies to the loop.
func (s *story) inForce() {
	list, err := budget.NewPolicies(s.policies...)
	if err != nil {
		s.w.t.Fatal(err)
	}
	s.w.cfg.Policies = list
	if err := s.w.loop.SetPolicies(context.Background(), list); err != nil {
		s.w.t.Fatal(err)
	}
}

func (s *story) drawJobs() {
	for n := range 2 + s.rng.IntN(6) {
		sizes := [][]int{{1}, {2}, {1, 2, 4}, {4}, {2, 4, 8}}[s.rng.IntN(5)]
		j := testJob(planner.JobID(fmt.Sprintf("job-%d", n)), 0.2+4*s.rng.Float64(), sizes...)
		j.Team = []string{"Vision", "Speech"}[s.rng.IntN(2)]
		j.Project = []string{"", "release"}[s.rng.IntN(2)]
		j.ValueOfTime = pricing.RateOf(1 + 50*s.rng.Float64())
		if s.one(2) { // it takes data and checkpoints along from cloud to cloud, which costs at once
			home := []provider.Offering{smallSpot, slowSpot}[s.rng.IntN(2)]
			j.Data = planner.Data{Cloud: home.Cloud, Region: home.Region, Size: planner.Size{GiB: 8 * s.rng.Float64(), Known: true}}
			j.Checkpoint.Size = planner.Size{GiB: 2 * s.rng.Float64(), Known: true}
		}
		s.w.submit(j)
	}
}

// troubles draws what goes wrong in a round, and says how late the round is.
func (s *story) troubles() (late time.Duration) {
	w := s.w
	for _, c := range w.clouds {
		c.list, c.deny = nil, false
		switch s.rng.IntN(25) {
		case 0:
			c.list, s.trouble = errors.New("503"), true
		case 1:
			c.deny, s.trouble = true, true
		}
	}
	if s.one(12) { // a price jumps, between two rounds
		spot := []provider.Offering{smallSpot, smallSpotB, largeSpot, slowSpot}[s.rng.IntN(4)]
		list, ok := w.prices.ListRate(spot, w.now)
		if !ok {
			list = 2 * w.prices.rates[spot]
		}
		at := w.now.Add(time.Duration(s.rng.IntN(60)) * time.Second)
		w.prices.jumps = append(w.prices.jumps, jump{at, spot, pricing.Rate(float64(list) * (0.1 + 0.9*s.rng.Float64()))})
	}
	switch s.rng.IntN(40) {
	case 0: // the controller is away for a while
		late, s.trouble = time.Duration(2+s.rng.IntN(20))*time.Minute, true
		w.restart()
	case 1:
		w.restart()
	}
	return late
}

// clockStep runs a round at a time that is off.
func (s *story) clockStep() {
	w := s.w
	off := time.Duration(s.rng.IntN(481)-240) * time.Second
	s.trouble = s.trouble || off > time.Minute // as if it had been away
	for _, c := range w.clouds {
		c.unlisted = false
	}
	if r, err := w.loop.Round(context.Background(), w.now.Add(off)); err == nil && r.Breaker != "" {
		if err := w.loop.Resume(context.Background(), w.now, "a person", true); err != nil {
			w.t.Fatal(err)
		}
	}
}

// tell lets the history happen.
func (s *story) tell() {
	w := s.w
	faults := true
	for i, c := range w.clouds {
		rng := rand.New(rand.NewPCG(s.rng.Uint64(), uint64(i)))
		c.launch = func(provider.LaunchRequest) fault {
			if !faults {
				return fault{}
			}
			return drawFault(rng)
		}
	}
	s.drawPolicies()
	s.drawJobs()
	for range 60 + s.rng.IntN(120) {
		late := s.troubles()
		if s.one(60) {
			s.clockStep()
		}
		if s.one(50) { // somebody changes an amount
			p := *s.policies[s.rng.IntN(len(s.policies))]
			limit := *p.Cap
			limit.Amount = pricing.Money(float64(limit.Amount) * (0.3 + 1.4*s.rng.Float64()))
			p.Cap = &limit
			for i := range s.policies {
				if s.policies[i].Name == p.Name {
					s.policies[i] = &p
				}
			}
			s.amounts[p.Name] = max(s.amounts[p.Name], limit.Amount+pricing.Money(limit.Unused*float64(limit.Amount)))
			s.inForce()
		}
		if _, err := w.tryRound(time.Duration(20+s.rng.IntN(41))*time.Second + late); err != nil {
			w.t.Fatalf("round at %v: %v", w.now.Sub(start), err)
		}
	}
	faults = false
	for _, c := range w.clouds {
		c.list, c.deny = nil, false
	}
	if err := w.loop.Cancel(context.Background(), w.now, w.submitted...); err != nil {
		w.t.Fatal(err)
	}
	w.until(300, func() bool { return len(w.live()) == 0 })
	w.round(time.Minute)
}

// check holds the ledger against every cap: in each period, of each key, no more than
// the amount is spent but for what is booked as an overrun.
func (s *story) check() {
	charges, err := s.w.store.Charges(context.Background(), time.Time{}, time.Time{})
	if err != nil {
		s.w.t.Fatal(err)
	}
	type account struct {
		policy, key string
		from        time.Time
	}
	sums, over, lines := map[account]pricing.Money{}, pricing.Money(0), map[account][]string{}
	for _, c := range charges {
		t, _ := s.w.catalogue.Lookup(c.Offering.Cloud, c.Offering.Type)
		f := budget.FactsOf(c.Offering, t).For(c.Job, c.Team, c.Project)
		if c.Account == ledger.Overrun {
			over += c.Amount
			continue
		}
		for _, p := range s.policies {
			key := p.Cap.Each.Key(f)
			total := p.Total(key)
			if p.Cap.Each != budget.ForAll && key == "" || !total.Covers(f) {
				continue
			}
			for at := c.From; ; { // a line that takes back a run may lie in several periods
				from, until := total.Span(at)
				a, part := account{p.Name, key, from}, c.Amount.Between(c.From, c.To, from, until)
				if part != 0 {
					sums[a] += part
					lines[a] = append(lines[a], fmt.Sprintf("%8v to %8v %-8s %-7s %s %s %s at %s", c.From.Sub(start), c.To.Sub(start), c.Account, c.Job, c.Instance, c.Offering, part, c.Rate))
				}
				if total.Period == budget.Dated || total.Period.Endless() || !until.Before(c.To) {
					break
				}
				at = until
			}
		}
	}
	for a, spent := range sums {
		s.caps++
		if 2*spent >= s.amounts[a.policy] {
			s.bound++
		}
		if most := s.amounts[a.policy]; spent > most {
			i := slices.IndexFunc(s.policies, func(p *budget.Policy) bool { return p.Name == a.policy })
			s.w.t.Errorf("%s %s from %v: %s USD are spent, the cap is %s: about %s, %s\n%s", a.policy, a.key, a.from.Sub(start), spent, most, s.policies[i].Over, strings.Join(s.policies[i].Says(), "; "), strings.Join(lines[a], "\n"))
		}
	}
	s.overruns = over
	if over != 0 && !s.trouble && len(s.w.prices.jumps) == 0 {
		s.w.t.Errorf("%s USD are booked as overruns, and nothing gave cause for one", over)
	}
}

// In any history of launches at once, crashes, prices that jump, clocks that step and
// interruptions, no more is spent than every cap allows, but for what is booked as an
// overrun: a spot rate that rose within its hour, an end that the cloud does not
// confirm, a machine out of contact.
func TestSpendingStaysWithinItsCaps(t *testing.T) {
	caps, bound, passed := 0, 0, 0
	for i := range uint64(*histories) {
		seed := *historySeed + i
		rng := rand.New(rand.NewPCG(seed, 8))
		w := newWorld(t, setup{
			interruptions: []float64{0, 0.3, 1}[rng.IntN(3)], notice: []time.Duration{0, 2 * time.Minute}[rng.IntN(2)],
			gcp: rng.IntN(2) == 0, settings: func(x *autoscale.Settings) { x.SkipUnchanged = seed%2 == 0 },
		})
		s := &story{w: w, rng: rng, amounts: map[string]pricing.Money{}}
		s.tell()
		s.check()
		if t.Failed() {
			t.Fatalf("with -budget.seed=%d\n%s", seed, w.history())
		}
		caps, bound = caps+s.caps, bound+s.bound
		if s.overruns > 0 {
			passed++
		}
	}
	t.Logf("%d histories from seed %d: %d caps, %d of them used by half at least; overruns are booked in %d histories", *histories, *historySeed, caps, bound, passed)
}

func selector(t fataler, m budget.Match) *budget.Selector {
	s, err := budget.NewSelector(m)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
