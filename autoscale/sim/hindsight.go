package sim

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/pricing/ledger"
	"github.com/goodfleet/goodfleet/provider"
)

// Hindsight is the cheapest single way in which a job's work could have been done
// from its start on, by the prices as they came: whole machines of one offering
// that nobody takes, at the speed that was believed. No plan could have known it,
// and a shared machine or a change on the way may beat it.
type Hindsight struct {
	What  string        `json:"what"` // "2 × aws/use1-az1/p3.2xlarge/spot"
	Hours float64       `json:"hours"`
	Cost  pricing.Money `json:"cost"`
}

// closeCalls is how many ways, cheapest by the rate at the start, are worked out by
// the billing rules: prices seldom move enough to bring another one forward.
const closeCalls = 12

// hindsight finds the cheapest alternative of a job that did so much work from an
// instant on. It is nil when nothing that was sold could carry the job.
func (w *world) hindsight(job *planner.Job, done float64, start time.Time) *Hindsight {
	type way struct {
		offering provider.Offering
		nodes    int
		life     time.Duration
		rough    float64
	}
	if job.Curve == nil || done <= 0 || start.IsZero() {
		return nil
	}
	var ways []way
	for _, o := range w.s.Offerings {
		t, ok := w.s.Catalogue.Lookup(o.Cloud, o.Type)
		rate, priced := w.prices.RateAt(o, start)
		if !ok || !priced || w.s.Buy != nil && !w.s.Buy(o) {
			continue
		}
		if _, lacks := planner.Lacks(job, []planner.Offer{{Offering: o, Type: t, Rate: rate}}); lacks {
			continue
		}
		for _, n := range job.Resources.Replicas.Sizes() {
			nodes := (n + t.Count - 1) / t.Count
			speed, ok := job.Curve.Speed(t.Accelerator, nodes, n)
			if !ok || speed.Goodput <= 0 || nodes > 1 && n%t.Count != 0 {
				continue
			}
			hours := done / speed.Goodput
			if hours < float64(1<<62)/float64(time.Hour) {
				ways = append(ways, way{o, nodes, time.Duration(hours * float64(time.Hour)), hours * rate.Times(nodes).Dollars()})
			}
		}
	}
	slices.SortStableFunc(ways, func(a, b way) int {
		return cmp.Or(cmp.Compare(a.rough, b.rough), a.offering.Compare(b.offering), cmp.Compare(a.nodes, b.nodes))
	})
	var best *Hindsight
	for _, x := range ways[:min(len(ways), closeCalls)] {
		one := provider.Instance{ID: "hindsight", Offering: x.offering, State: provider.Ended, Started: start, Ended: start.Add(x.life), Cause: provider.EndedByUs}
		sum := ledger.Total(ledger.NewMeter(w.prices, w.s.Rules).Settle(one, 1, nil, one.Ended, 0)).Sum
		if cost := sum.Amount * pricing.Money(x.nodes); !sum.LowerBound() && (best == nil || cost < best.Cost) {
			best = &Hindsight{What: fmt.Sprintf("%d × %s", x.nodes, x.offering), Hours: rounded(x.life.Hours()), Cost: cost}
		}
	}
	return best
}
