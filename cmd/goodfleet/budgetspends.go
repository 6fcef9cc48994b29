package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/goodfleet/goodfleet/pricing/budget"
	"github.com/goodfleet/goodfleet/pricing/ledger"
	"github.com/goodfleet/goodfleet/provider"
)

// policies reads the policies that the settings name.
func (s settings) policies() (budget.Policies, error) {
	if len(s.budgets) == 0 {
		return nil, errors.New("no budget policies: name their files with --budgets, or budgets in the settings file")
	}
	return readPolicies(s.budgets, nil)
}

// spends are charges as policies see them: those that take from budgets.
func spends(charges []ledger.Charge, catalogue *provider.Catalogue) []budget.Spend {
	list := make([]budget.Spend, 0, len(charges))
	for i := range charges {
		c := &charges[i]
		if !c.Budgeted() {
			continue
		}
		t, _ := catalogue.Lookup(c.Offering.Cloud, c.Offering.Type)
		x := budget.Spend{
			Facts: budget.FactsOf(c.Offering, t).For(c.Job, c.Team, c.Project), At: c.From, To: c.To, Amount: c.Amount,
			Overrun: c.Account == ledger.Overrun, Reversed: c.Kind != ledger.Usage,
		}
		if c.Item == ledger.Machine && c.Of > 0 {
			x.Rate, x.List, x.Share = c.Rate, c.List, float64(c.Share)/float64(c.Of)
		}
		list = append(list, x)
	}
	return list
}

// spendsOf reads the ledger of the settings.
func (s settings) spendsOf(in span) ([]budget.Spend, error) {
	catalogue, err := provider.EmbeddedCatalogue()
	if err != nil {
		return nil, err
	}
	charges, err := chargesIn(s.ledger, in)
	if err != nil {
		return nil, fmt.Errorf("budget: %w", err)
	}
	return spends(charges, catalogue), nil
}

// books are the policies, and what was spent in the window that is asked for.
func (cfg budgetConfig) books(now time.Time) (policies budget.Policies, all []budget.Spend, in span, err error) {
	if policies, err = cfg.settings.policies(); err != nil {
		return nil, nil, span{}, err
	}
	if in, err = cfg.span.read(now); err != nil {
		return nil, nil, span{}, err
	}
	all, err = cfg.settings.spendsOf(in)
	return policies, all, in, err
}
