package ledger

import (
	"cmp"
	"slices"
	"time"

	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/provider"
)

// Bearer is whom charges are booked to. The zero value is nobody.
type Bearer struct{ Job, Team, Project string }

func (b Bearer) compare(c Bearer) int {
	return cmp.Or(cmp.Compare(b.Job, c.Job), cmp.Compare(b.Team, c.Team), cmp.Compare(b.Project, c.Project))
}

// Bearers are whom an instance was booked to between two instants, the later excluded:
// each once, in order, ended jobs too. It reaches back as far as Reach.
func (m *Meter) Bearers(id provider.InstanceID, from, to time.Time) []Bearer {
	var list []Bearer
	for key, r := range m.runs { // sorted below: the order does not matter
		if key.item != Machine || key.id != id {
			continue
		}
		since, until := from.Sub(r.started), to.Sub(r.started)
		for _, s := range r.stretches {
			if s.from >= until || since >= s.to {
				continue
			}
			for _, c := range s.claims {
				list = append(list, Bearer{c.job, c.team, c.project})
			}
		}
	}
	slices.SortFunc(list, Bearer.compare)
	return slices.Compact(list)
}

// RateAt is what a machine is charged at from an instant on: the price then, with what
// was negotiated. ok is false when it is not known.
func (m *Meter) RateAt(o provider.Offering, at time.Time) (rate pricing.Rate, ok bool) {
	rate, ok = m.prices.RateAt(o, at)
	if !ok || rate < 0 {
		return 0, false
	}
	return m.rules.negotiated(o, rate), true
}
