package sim

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/provider"
	"github.com/goodfleet/goodfleet/provider/fake"
)

// scripted is the source of prices that a scenario makes.
const scripted = "scenario"

// moved is a history with what the clouds' scripts do to prices. A price that was
// set holds until the history's own next one, or the script's.
func moved(h *pricing.History, clouds []*fake.Cloud) (*pricing.History, error) {
	var changes []fake.PriceChange
	for _, c := range clouds {
		changes = append(changes, c.PriceChanges()...)
	}
	if len(changes) == 0 {
		return h, nil
	}
	for i := range changes {
		changes[i].At = changes[i].At.Truncate(time.Second) // as histories keep them
	}
	slices.SortStableFunc(changes, func(a, b fake.PriceChange) int {
		return cmp.Or(a.Offering.Compare(b.Offering), a.At.Compare(b.At))
	})
	var quotes []pricing.Quote
	var ends []pricing.End
	for i, change := range changes {
		o, at := change.Offering, change.At
		if next := i + 1; next < len(changes) && changes[next].Offering == o && changes[next].At.Equal(at) && change.Times == 0 && changes[next].Times == 0 {
			continue // twice in one instant: the last counts
		}
		if change.Unknown {
			ends = append(ends, pricing.End{Offering: o, At: at, Source: scripted})
			continue
		}
		rate, err := moveOf(h, change, quotes, ends)
		if err != nil {
			return nil, err
		}
		if rate == 0 {
			continue // a multiple of a price that is not known
		}
		quote := pricing.Quote{Offering: o, Rate: rate, At: at, Source: scripted}
		if n := len(quotes); n > 0 && quotes[n-1].Offering == o && quotes[n-1].At.Equal(at) {
			quotes[n-1] = quote
			continue
		}
		quotes = append(quotes, quote)
	}
	return h.With(quotes, ends...)
}

// moveOf is the rate after a change, 0 when it is not known. quotes and ends are
// what the script has made so far, in time order for each offering.
func moveOf(h *pricing.History, change fake.PriceChange, quotes []pricing.Quote, ends []pricing.End) (pricing.Rate, error) {
	if change.PerHour != "" {
		rate, err := pricing.ParseRate(change.PerHour)
		if err != nil {
			return 0, fmt.Errorf("price of %s at %s: %w", change.Offering, change.At.Format(time.RFC3339), err)
		}
		return rate, nil
	}
	before, ok := h.RateAt(change.Offering, change.At)
	own := func(o provider.Offering, at time.Time) bool { // it is the script's that holds
		return o == change.Offering && len(h.ChangesOf(o, at, change.At.Add(time.Second))) == 0
	}
	var last time.Time
	if n := len(quotes); n > 0 && own(quotes[n-1].Offering, quotes[n-1].At) {
		before, ok, last = quotes[n-1].Rate, true, quotes[n-1].At
	}
	if n := len(ends); n > 0 && ends[n-1].At.After(last) && own(ends[n-1].Offering, ends[n-1].At) {
		ok = false
	}
	if !ok {
		return 0, nil
	}
	return max(1, pricing.Rate(math.Round(float64(before)*change.Times))), nil
}
