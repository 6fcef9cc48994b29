package budget

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/goodfleet/goodfleet/pricing"
)

// Finding is what a policy would have done to a history, for one key and period.
type Finding struct {
	Policy string        `json:"policy"`
	Key    string        `json:"key,omitempty"`
	Period string        `json:"period,omitempty"` // "": it is about no period
	From   time.Time     `json:"from,omitzero"`    // of the period; zero: it has no start
	What   string        `json:"what"`
	At     time.Time     `json:"at"` // when it would first have been done
	Spent  pricing.Money `json:"spent"`
	Limit  string        `json:"limit"`
	After  pricing.Money `json:"after"` // what was spent from then on and is covered
}

// Replay tells what policies would have done to a history. What was spent after a stop
// is what would not have been spent then; whether it would have been later, or elsewhere,
// a ledger cannot tell: a simulation under the policies does.
func Replay(policies Policies, spends []Spend) []Finding {
	sorted := slices.SortedStableFunc(slices.Values(spends), func(a, b Spend) int { return a.At.Compare(b.At) })
	var list []Finding
	for _, p := range policies {
		if p.Cap != nil {
			for _, key := range p.keys(sorted) {
				list = append(list, p.replayCap(key, sorted)...)
			}
		}
		list = append(list, p.replayPrices(sorted)...)
		list = append(list, p.replayBurn(sorted)...)
	}
	return list
}

// pieces are the spends that a total covers, divided where its periods begin and end, by
// time.
func (t *Total) pieces(spends []Spend) []Spend {
	var list []Spend
	for i := range spends {
		if !t.Covers(spends[i].Facts) {
			continue
		}
		rest := spends[i]
		for more := true; more; {
			from, until := t.Span(rest.At)
			edge := until
			if rest.At.Before(from) { // of a window
				edge = from
			}
			parts := rest.cut(edge)
			list = append(list, parts[0])
			if more = len(parts) == 2; more {
				rest = parts[1]
			}
		}
	}
	slices.SortStableFunc(list, func(a, b Spend) int { return a.At.Compare(b.At) })
	return list
}

// opens are the parts of a spend in which the limits of a policy hold.
func (p *Policy) opens(x Spend) []Spend {
	var list []Spend
	for {
		open, next := p.ActiveAt(x.At)
		parts := x.cut(next)
		if next.IsZero() {
			parts = []Spend{x}
		}
		if open {
			list = append(list, parts[0])
		}
		if len(parts) == 1 {
			return list
		}
		x = parts[1]
	}
}

// replayPrices sums what was paid for machines that would have been too dear.
func (p *Policy) replayPrices(spends []Spend) []Finding {
	if p.MaxRate == 0 && p.OfList == 0 {
		return nil
	}
	limit := Limit{Over: p.Over.Covers, MaxRate: p.MaxRate, OfList: p.OfList}
	f := Finding{Policy: p.Name, What: "not bought: too dear"}
	var open []Spend
	for i := range spends {
		if spends[i].Rate != 0 && p.Over.Covers(spends[i].Facts) {
			open = append(open, p.opens(spends[i])...)
		}
	}
	for i := range open {
		x := &open[i]
		if why := limit.refuses(x.Rate, x.List); why != "" {
			if f.At.IsZero() {
				f.At, f.Limit = x.At, why
			}
			f.After += x.Amount
		}
	}
	if f.At.IsZero() {
		return nil
	}
	f.Spent = f.After
	return []Finding{f}
}

// replayBurn sums what was burnt above a burn cap.
func (p *Policy) replayBurn(spends []Spend) []Finding {
	if p.Burn == 0 {
		return nil
	}
	type turn struct {
		at   time.Time
		rate float64 // USD/h that begins or ends
	}
	var turns []turn
	for i := range spends {
		x := &spends[i]
		if x.Rate > 0 && !x.Reversed && p.Over.Covers(x.Facts) && x.To.After(x.At) {
			rate := x.Rate.Dollars() * x.Share
			turns = append(turns, turn{x.At, rate}, turn{x.To, -rate})
		}
	}
	slices.SortStableFunc(turns, func(a, b turn) int { return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.rate, b.rate)) })
	f := Finding{Policy: p.Name, What: "not bought: over the burn"}
	burn, most, above := 0.0, 0.0, 0.0
	for i, x := range turns {
		for at := turns[max(0, i-1)].at; at.Before(x.at); { // the cap may turn on the way
			limit, next := p.BurnAt(at)
			end := x.at
			if !next.IsZero() {
				end = earliest(end, next)
			}
			if limit > 0 && burn > limit.Dollars()+1e-9 {
				if f.At.IsZero() {
					f.At = at
				}
				most = max(most, burn)
				above += (burn - limit.Dollars()) * end.Sub(at).Hours()
			}
			at = end
		}
		burn += x.rate
	}
	if f.At.IsZero() {
		return nil
	}
	f.After, f.Limit = pricing.Money(above*1e9), fmt.Sprintf("%s USD/h, burnt up to %.2f", p.Burn, most)
	f.Spent = f.After
	return []Finding{f}
}
