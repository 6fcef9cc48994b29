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
	// tallyStep is the grain at which a fleet is followed while it runs.
	tallyStep = 5 * time.Minute

	// seriesPoints is the most points of a series that leaves: more than a
	// picture can show are merged.
	seriesPoints = 360
)

// tally sums charges by every dimension and over time as they come.
type tally struct {
	from time.Time

	cost, spotPaid, spotList             pricing.Money
	unknownHours, acceleratorHours       float64
	byAccount, byTeam, byMarket, byCloud map[string]*Sum
	byType, byJob                        map[string]*Sum
	byInstance                           map[provider.InstanceID]pricing.Money
	fleet                                map[fleetKey][]float64 // accelerator-hours in each step
	costs                                []pricing.Money        // booked for each step
	count                                int
}

type fleetKey struct {
	cloud, kind string
	market      provider.Market
}

func newTally(from time.Time) *tally {
	return &tally{
		from:      from,
		byAccount: map[string]*Sum{}, byTeam: map[string]*Sum{}, byMarket: map[string]*Sum{},
		byCloud: map[string]*Sum{}, byType: map[string]*Sum{}, byJob: map[string]*Sum{},
		byInstance: map[provider.InstanceID]pricing.Money{},
		fleet:      map[fleetKey][]float64{},
	}
}

// add books one charge.
func (t *tally) add(c ledger.Charge) {
	t.count++
	hours := 0.0
	if c.Kind == ledger.Usage {
		hours = c.To.Sub(c.From).Hours() * float64(c.Share)
		t.acceleratorHours += hours
		if !c.Known && c.Of > 0 {
			t.unknownHours += hours / float64(c.Of)
		}
	}
	t.cost += c.Amount
	t.byInstance[c.Instance] += c.Amount
	for _, to := range []struct {
		sums map[string]*Sum
		key  string
	}{
		{t.byAccount, string(c.Account)},
		{t.byTeam, c.Team},
		{t.byMarket, c.Offering.Market.String()},
		{t.byCloud, c.Offering.Cloud},
		{t.byType, c.Offering.Type},
		{t.byJob, c.Job},
	} {
		sum, ok := to.sums[to.key]
		if !ok {
			sum = &Sum{Key: to.key}
			to.sums[to.key] = sum
		}
		sum.Amount += c.Amount
		sum.AcceleratorHours += hours
	}
	if c.Offering.Market == provider.Spot && c.List > 0 {
		t.spotPaid += c.Amount
		if c.Kind == ledger.Usage {
			t.spotList += proportion(c.List.Over(c.To.Sub(c.From)), int64(c.Share), int64(c.Of))
		}
	}
	t.spread(c)
}

// proportion is amount × part / whole, rounded towards zero.
func proportion(amount pricing.Money, part, whole int64) pricing.Money {
	if amount < 0 {
		return -proportion(-amount, part, whole)
	}
	if part == whole || whole <= 0 {
		return amount
	}
	hi, lo := bits.Mul64(uint64(amount), uint64(part))
	quotient, _ := bits.Div64(hi, lo, uint64(whole))
	return pricing.Money(quotient)
}

// spread lays a charge over the steps of time that it covers. The money goes to
// them by time, to the nano dollar; what is booked outside usage, at its end.
func (t *tally) spread(c ledger.Charge) {
	if c.Kind == ledger.Transfer {
		return // from account to account: no money moves in time
	}
	if c.Kind != ledger.Usage || !c.To.After(c.From) {
		t.book(t.step(c.To), c.Amount)
		return
	}
	key := fleetKey{c.Offering.Cloud, c.Offering.Type, c.Offering.Market}
	whole := c.To.Sub(c.From)
	left := c.Amount
	for from := c.From; from.Before(c.To); {
		step := t.step(from)
		until := t.from.Add(time.Duration(step+1) * tallyStep)
		if until.After(c.To) {
			until = c.To
		}
		steps := grown(t.fleet[key], step)
		steps[step] += until.Sub(from).Hours() * float64(c.Share)
		t.fleet[key] = steps
		part := left
		if until.Before(c.To) {
			part = proportion(c.Amount, int64(until.Sub(from)), int64(whole))
		}
		t.book(step, part)
		left -= part
		from = until
	}
}

func (t *tally) step(at time.Time) int { return max(0, int(at.Sub(t.from)/tallyStep)) }

func (t *tally) book(step int, amount pricing.Money) {
	t.costs = grown(t.costs, step)
	t.costs[step] += amount
}

// grown is list, long enough to hold index.
func grown[E any](list []E, index int) []E {
	if index < len(list) {
		return list
	}
	return append(list, make([]E, index+1-len(list))...)
}

// sorted lists sums by amount, largest first, then by key.
func sorted(sums map[string]*Sum) []Sum {
	list := make([]Sum, 0, len(sums))
	for _, sum := range sums {
		list = append(list, *sum)
	}
	slices.SortFunc(list, func(a, b Sum) int { return cmp.Or(cmp.Compare(b.Amount, a.Amount), cmp.Compare(a.Key, b.Key)) })
	return list
}

// amount is what an account or other key bears.
func amount(sums map[string]*Sum, key string) pricing.Money {
	if sum, ok := sums[key]; ok {
		return sum.Amount
	}
	return 0
}

// series merges the steps into at most seriesPoints, over so long a stretch.
func (t *tally) series(span time.Duration, jobs []jobCount) Series {
	steps := int((span + tallyStep - 1) / tallyStep)
	merge := max(1, (steps+seriesPoints-1)/seriesPoints)
	points := (steps + merge - 1) / merge
	step := time.Duration(merge) * tallyStep
	out := Series{
		StepSeconds: step.Seconds(),
		Cost:        make([]pricing.Money, points),
		Running:     make([]float64, points),
		Waiting:     make([]float64, points),
	}
	for i, amount := range t.costs {
		out.Cost[min(i/merge, points-1)] += amount
	}
	keys := slices.SortedFunc(maps.Keys(t.fleet), func(a, b fleetKey) int {
		return cmp.Or(cmp.Compare(a.cloud, b.cloud), cmp.Compare(a.kind, b.kind), cmp.Compare(a.market, b.market))
	})
	for _, key := range keys {
		held := FleetSeries{Cloud: key.cloud, Type: key.kind, Market: key.market, Accelerators: make([]float64, points)}
		for i, hours := range t.fleet[key] {
			held.Accelerators[min(i/merge, points-1)] += hours / step.Hours()
		}
		for i := range held.Accelerators {
			held.Accelerators[i] = rounded(held.Accelerators[i])
		}
		out.Fleet = append(out.Fleet, held)
	}
	at := 0
	for point := range points {
		ends := t.from.Add(time.Duration(point+1) * step)
		for at+1 < len(jobs) && !jobs[at+1].at.After(ends) {
			at++
		}
		if at < len(jobs) && !jobs[at].at.After(ends) {
			out.Running[point], out.Waiting[point] = float64(jobs[at].running), float64(jobs[at].waiting)
		}
	}
	return out
}

// jobCount is how many jobs held machines and waited from an instant on.
type jobCount struct {
	at               time.Time
	running, waiting int
}
