package sim

import (
	"cmp"
	"slices"
	"time"

	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/provider"
)

const (
	// pricedOfferings is of how many offerings an outcome tells the prices.
	pricedOfferings = 3
	// pricedPoints is the most changes of a price that are told one by one.
	pricedPoints = 1000
)

// priceSeries tells how the prices of the spot offerings most used went.
func priceSeries(history *pricing.History, machines []provider.Instance, from, to time.Time) []PriceSeries {
	held := map[provider.Offering][]Stretch{}
	hours := map[provider.Offering]float64{}
	var used []provider.Offering
	for _, m := range machines {
		o := m.Offering
		if o.Market != provider.Spot || m.Started.IsZero() {
			continue
		}
		if held[o] == nil {
			used = append(used, o)
		}
		held[o] = append(held[o], Stretch{From: m.Started, To: m.Ended, Interrupted: m.Cause == provider.Interrupted})
		hours[o] += m.Ended.Sub(m.Started).Hours()
	}
	slices.SortFunc(used, func(a, b provider.Offering) int { return cmp.Or(cmp.Compare(hours[b], hours[a]), a.Compare(b)) })
	var list []PriceSeries
	for _, o := range used[:min(len(used), pricedOfferings)] {
		s := PriceSeries{Offering: o, Held: held[o]}
		slices.SortStableFunc(s.Held, func(a, b Stretch) int { return a.From.Compare(b.From) })
		if rate, ok := history.ListRate(o, from); ok {
			s.List = &rate
		}
		if rate, ok := history.RateAt(o, from); ok {
			s.Prices = append(s.Prices, PricePoint{At: from, Rate: rate})
		}
		changes := history.ChangesOf(o, from, to)
		stride := 1 + len(changes)/pricedPoints
		for i := 0; i < len(changes); i += stride {
			if rate, ok := history.RateAt(o, changes[i]); ok {
				s.Prices = append(s.Prices, PricePoint{At: changes[i], Rate: rate})
			}
		}
		list = append(list, s)
	}
	return list
}
