package sim

import (
	"cmp"
	"maps"
	"math/bits"
	"slices"
	"time"

	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/pricing/ledger"
	"github.com/goodfleet/goodfleet/provider"
)

const (
	// seriesStep is the grain of a series of a short run.
	seriesStep = 5 * time.Minute

	// seriesPoints is the most points of a series: more than a picture can show are
	// merged.
	seriesPoints = 360
)

// jobCount is how many jobs ran and waited from an instant on.
type jobCount struct {
	at               time.Time
	running, waiting int
}

// fleetKey is what machines are told apart by in a series.
type fleetKey struct {
	cloud, kind string
	market      provider.Market
}

// seriesOf lays charges and counts of jobs over a stretch of time, in steps that
// are long enough for seriesPoints of them.
func seriesOf(from, to time.Time, charges []ledger.Charge, jobs []jobCount) Series {
	steps := int((to.Sub(from) + seriesStep - 1) / seriesStep)
	step := time.Duration(max(1, (steps+seriesPoints-1)/seriesPoints)) * seriesStep
	points := int((to.Sub(from) + step - 1) / step)
	out := Series{
		StepSeconds: step.Seconds(),
		Cost:        make([]pricing.Money, points),
		Running:     make([]float64, points),
		Waiting:     make([]float64, points),
	}
	if points == 0 {
		return out
	}
	fleet := map[fleetKey][]float64{}
	for i := range charges {
		out.spread(from, step, &charges[i], fleet)
	}
	keys := slices.SortedFunc(maps.Keys(fleet), func(a, b fleetKey) int {
		return cmp.Or(cmp.Compare(a.cloud, b.cloud), cmp.Compare(a.kind, b.kind), cmp.Compare(a.market, b.market))
	})
	for _, key := range keys {
		held := fleet[key]
		for i := range held {
			held[i] = rounded(held[i] / step.Hours())
		}
		out.Fleet = append(out.Fleet, FleetSeries{Cloud: key.cloud, Type: key.kind, Market: key.market, Accelerators: held})
	}
	at := -1
	for point := range points {
		ends := from.Add(time.Duration(point+1) * step)
		for at+1 < len(jobs) && !jobs[at+1].at.After(ends) {
			at++
		}
		if at >= 0 {
			out.Running[point], out.Waiting[point] = float64(jobs[at].running), float64(jobs[at].waiting)
		}
	}
	return out
}

// spread lays a charge over the steps that it covers. Its money goes to them by
// time, to the nano dollar; the rest of a minimum goes to the step of its start.
func (s *Series) spread(from time.Time, step time.Duration, c *ledger.Charge, fleet map[fleetKey][]float64) {
	last := len(s.Cost) - 1
	index := func(at time.Time) int { return min(max(0, int(at.Sub(from)/step)), last) }
	switch {
	case c.Kind == ledger.Transfer || c.Kind == ledger.Rise: // from account to account: the money stays
		return
	case c.Kind == ledger.Minimum || c.Kind == ledger.Credit || !c.To.After(c.From):
		s.Cost[index(c.From)] += c.Amount
		return
	}
	key := fleetKey{c.Offering.Cloud, c.Offering.Type, c.Offering.Market}
	held, ok := fleet[key]
	if !ok {
		held = make([]float64, len(s.Cost))
		if c.Item == ledger.Machine {
			fleet[key] = held
		}
	}
	whole, left := c.To.Sub(c.From), c.Amount
	for begins := c.From; begins.Before(c.To); {
		i := index(begins)
		ends := from.Add(time.Duration(i+1) * step)
		if i == last || ends.After(c.To) {
			ends = c.To
		}
		part := left
		if ends.Before(c.To) {
			part = proportion(c.Amount, ends.Sub(begins), whole)
		}
		if c.Item == ledger.Machine && c.Kind == ledger.Usage { // a machine that was free was held all the same
			held[i] += ends.Sub(begins).Hours() * float64(c.Share)
		}
		s.Cost[i] += part
		left -= part
		begins = ends
	}
}

// proportion is amount × part / whole, rounded towards zero.
func proportion(amount pricing.Money, part, whole time.Duration) pricing.Money {
	if amount < 0 {
		return -proportion(-amount, part, whole)
	}
	hi, lo := bits.Mul64(uint64(amount), uint64(part))
	quotient, _ := bits.Div64(hi, lo, uint64(whole))
	return pricing.Money(quotient)
}
