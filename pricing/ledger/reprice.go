package ledger

import (
	"slices"
	"time"

	"github.com/goodfleet/goodfleet/provider"
)

// Repriced are the facts that other prices make of the machines in a ledger: a quote
// that came late, or was wrong. Give them to Reconcile. Machines whose rate is still
// not known, and capacity bought ahead, are left out.
func Repriced(charges []Charge, prices Prices, rules Rules) []Fact {
	type key struct {
		instanceKey
		run int
	}
	lives := map[key]*provider.Instance{}
	var order []key
	for i := range charges {
		c := &charges[i]
		if c.Item != Machine || c.Kind != Usage && c.Kind != Minimum {
			continue
		}
		k := key{instanceKey{cloud: c.Offering.Cloud, id: c.Instance}, c.Run}
		inst := lives[k]
		if inst == nil {
			inst = &provider.Instance{ID: c.Instance, Offering: c.Offering, Started: c.From, State: provider.Running}
			lives[k] = inst
			order = append(order, k)
		}
		if c.From.Before(inst.Started) {
			inst.Started = c.From
		}
	}
	held := map[key]time.Time{} // the end of what was not taken back
	closed := map[key]bool{}
	for i := range charges {
		c := &charges[i]
		k := key{instanceKey{cloud: c.Offering.Cloud, id: c.Instance}, c.Run}
		if lives[k] == nil || c.Item != Machine {
			continue
		}
		switch c.Kind {
		case Minimum:
			closed[k] = true
		case Usage:
			if c.To.After(held[k]) {
				held[k] = c.To
			}
		}
	}
	for i := range charges {
		c := &charges[i]
		k := key{instanceKey{cloud: c.Offering.Cloud, id: c.Instance}, c.Run}
		if c.Item == Machine && c.Kind == Reversal && lives[k] != nil && c.From.Before(held[k]) {
			held[k] = c.From
		}
	}
	var facts []Fact
	for _, k := range order {
		inst := *lives[k]
		end, seen := held[k]
		if !seen {
			end = inst.Started
		}
		if closed[k] {
			inst.State, inst.Ended, inst.Cause = provider.Ended, end, provider.EndedByUs
		}
		if _, ahead := rules.capacity(inst.Offering); ahead || !end.After(inst.Started) && !closed[k] {
			continue
		}
		lines := NewMeter(prices, rules).Settle(inst, 1, nil, end, 0)
		if slices.ContainsFunc(lines, func(c Charge) bool { return !c.Known }) {
			continue
		}
		for _, c := range lines {
			if c.Kind == Rise {
				continue // it moves what another line says
			}
			facts = append(facts, Fact{Cloud: c.Offering.Cloud, Instance: c.Instance, Offering: c.Offering, From: c.From, To: c.To, Amount: c.Amount, Says: "at " + c.Rate.String() + " USD/h"})
		}
	}
	return facts
}
