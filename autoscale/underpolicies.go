package autoscale

import (
	"fmt"
	"slices"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/pricing/budget"
	"github.com/goodfleet/goodfleet/pricing/ledger"
	"github.com/goodfleet/goodfleet/provider"
)

// UnderPolicies puts a state under budget policies as a round at its instant would: their
// limits as rows of the program, what they forbid to jobs, what a launch is held to. The
// standings say what is spent of caps; of a cap that is not among them nothing is.
//
// Steps that were done in rounds before, and prices that rose in them, are not known.
func (s *State) UnderPolicies(policies budget.Policies, spent []budget.Standing, prices *pricing.History) error {
	l, err := s.under(policies, spent, prices, DefaultSettings())
	if err != nil {
		return err
	}
	limits := l.limits(s.Now)
	s.Overrides = l.cache.overrides
	if len(l.enforced) == 0 {
		return nil
	}
	s.Position, s.ListRate = l.position(limits), l.listRate
	s.Rows = slices.Concat(s.Rows, l.policyRows(s.Now, limits, s.Position))
	s.Closures, s.Policies = l.closures(), l.enforced
	s.Gates = l.gates(s.Now, s.Closures)
	return nil
}

// Tails are, for each of some standings, what the machines of a state cost since they were
// last booked, and go on to cost until all that the cap covers could be stopped: with what is
// spent by the ledger, it is what a round at the state's instant counts as committed. The
// settings say how long that takes.
func (s *State) Tails(policies budget.Policies, spent []budget.Standing, prices *pricing.History, settings Settings) ([]pricing.Money, error) {
	own := *s
	own.Jobs, own.Machines = slices.Clone(s.Jobs), slices.Clone(s.Machines) // a cap that is used up drains machines
	l, err := own.under(policies, spent, prices, settings)
	if err != nil {
		return nil, err
	}
	list := make([]pricing.Money, len(spent))
	for i := range spent {
		for k := range l.totals {
			if t := &l.totals[k]; t.policy == spent[i].Policy && t.key == spent[i].Key && !t.outside(s.Now) {
				list[i] = t.spent - t.booked + t.tail()
			}
		}
	}
	return list, nil
}

// under is a loop that has looked at its budgets, at the instant of a state.
func (s *State) under(policies budget.Policies, spent []budget.Standing, prices *pricing.History, settings Settings) (*Loop, error) {
	book, err := prices.Book(s.Now)
	if err != nil {
		return nil, fmt.Errorf("budget policies: %w", err)
	}
	l := &Loop{
		cfg:    Config{Catalogue: s.Catalogue, Policies: policies, Settings: settings, Reservations: s.Reservations},
		prices: book, beliefs: planner.NewBeliefs(), hours: map[provider.InstanceID]hourRate{}, meter: ledger.NewMeter(prices, ledger.Rules{}),
	}
	l.cfg.Settings.Rows = s.Rows
	l.cache = cache{
		job: map[planner.JobID]*JobRecord{}, machine: map[provider.InstanceID]*InstanceRecord{}, holders: map[provider.InstanceID][]*JobRecord{},
		everJob: map[planner.JobID]bool{}, everMachine: map[provider.InstanceID]past{}, overrides: slices.Clone(s.Overrides),
	}
	l.cache.clean()
	for _, o := range s.Offers {
		l.cfg.Offerings, l.rates = append(l.cfg.Offerings, o.Offering), append(l.rates, o.Rate)
	}
	for i := range s.Jobs {
		l.cache.addJob(&s.Jobs[i])
	}
	for i := range s.Machines {
		l.cache.addMachine(&s.Machines[i])
	}
	for i := range s.Intents {
		l.cache.intents = append(l.cache.intents, &s.Intents[i])
	}
	l.makeTotals()
	l.meetKeys()
	for i := range l.totals {
		t := &l.totals[i]
		t.from, t.until = t.Span(s.Now)
		if k := slices.IndexFunc(spent, func(x budget.Standing) bool { return x.Policy == t.policy && x.Key == t.key }); k >= 0 {
			t.booked, t.carried, t.past = spent[k].Spent, spent[k].Carried, spent[k].Before
		}
		l.holdTotal(t, s.Now)
	}
	return l, nil
}
