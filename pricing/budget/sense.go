package budget

import (
	"fmt"
	"time"

	"github.com/goodfleet/goodfleet/pricing"
)

// Bounds of what a policy can mean: beyond them a unit or a digit is wrong.
const (
	mostTimes = 10                   // of an amount, in a step; of an on-demand rate
	mostMoney = 1e9 * pricing.Dollar // of an amount, or in an hour: what exceptions add to it can still be counted
	mostWait  = 366 * 24 * time.Hour
)

// senseless reports the first limit that nothing can come to, and the first step that
// would never be armed again, with the field.
func (p *Policy) senseless() (field string, err error) {
	money := func(at string, m pricing.Money) {
		if err == nil && m > mostMoney {
			field, err = at, fmt.Errorf("%s USD: no fleet costs as much: want %s at most", m, mostMoney)
		}
	}
	wait := func(at string, d time.Duration) {
		if err == nil && d > mostWait {
			field, err = at, fmt.Errorf("%g days: want %g at most", d.Hours()/24, mostWait.Hours()/24)
		}
	}
	if p.Cap != nil {
		money("spec.budget.amount", p.Cap.Amount)
	}
	money("spec.limits.burn", pricing.Money(p.Burn))
	money("spec.limits.rate", pricing.Money(p.MaxRate))
	if err == nil && p.OfList > mostTimes {
		return "spec.limits.rateOfOnDemand", fmt.Errorf("%s: it limits nothing: want %s at most", percent(p.OfList), percent(mostTimes))
	}
	wait("spec.cooldown", p.Cooldown)
	if p.Fallback != nil {
		wait("spec.fallback.after", p.Fallback.After)
	}
	if a := p.Approval; a != nil {
		money("spec.approval.above", pricing.Money(a.Above))
		wait("spec.approval.valid", a.Valid)
		wait("spec.approval.within", a.Within)
	}
	for i, e := range p.Exceptions {
		at := fmt.Sprintf("spec.exceptions[%d]", i)
		money(at+".add", e.Add)
		money(at+".burn", pricing.Money(e.Burn))
	}
	if err != nil {
		return field, err
	}
	if p.Margin >= 1 {
		return "spec.margin", fmt.Errorf("%s: want less than 100%%", percent(p.Margin))
	}
	for i, s := range p.Steps {
		switch {
		case s.At > mostTimes:
			return fmt.Sprintf("spec.steps[%d].at", i), fmt.Errorf("%s: no measure comes to it: want %s at most", percent(s.At), percent(mostTimes))
		case p.Margin >= s.At:
			return "spec.margin", fmt.Errorf("%s: the step at %s would never be armed again: want less than that", percent(p.Margin), percent(s.At))
		}
	}
	return "", nil
}
