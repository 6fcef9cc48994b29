package ledger_test

import (
	"math/big"
	"slices"
	"time"

	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/provider"
)

// slowRule is what the reference knows of billing, stated anew.
type slowRule struct {
	minimum, free time.Duration
	fixed         bool
}

var slowRules = map[provider.Offering]slowRule{
	awsSpot:     {time.Minute, time.Hour, true},
	awsOnDemand: {time.Minute, 0, false},
	gcpSpot:     {time.Minute, time.Minute, false},
	tpuSpot:     {0, time.Minute, false},
}

// slowStep is a price from an instant on; nil: not known.
type slowStep struct {
	at   time.Time
	rate *big.Rat
}

// slowStretch is a time at one rate within one instance-hour.
type slowStretch struct {
	from, to time.Time
	rate     *big.Rat
}

func slowRate(steps []slowStep, at time.Time) *big.Rat {
	var rate *big.Rat
	for _, s := range steps {
		if !s.at.After(at) {
			rate = s.rate
		}
	}
	return rate
}

// slowStretches cuts [from, to) at every hour of the run and every step of price.
func slowStretches(rule slowRule, steps []slowStep, from, to time.Time) []slowStretch {
	cuts := []time.Time{to}
	for hour := from.Add(time.Hour); hour.Before(to); hour = hour.Add(time.Hour) {
		cuts = append(cuts, hour)
	}
	if !rule.fixed {
		for i, s := range steps {
			same := i > 0 && s.rate != nil && steps[i-1].rate != nil && s.rate.Cmp(steps[i-1].rate) == 0
			if s.at.After(from) && s.at.Before(to) && !same { // a price that is given again is no other
				cuts = append(cuts, s.at)
			}
		}
	}
	slices.SortFunc(cuts, time.Time.Compare)
	cuts = slices.CompactFunc(cuts, time.Time.Equal)
	var all []slowStretch
	for at := from; at.Before(to); at = cuts[0] {
		for !cuts[0].After(at) {
			cuts = cuts[1:]
		}
		all = append(all, slowStretch{at, cuts[0], slowRate(steps, at)})
	}
	return all
}

// slowCost is what a run costs: each stretch rounded once, half to even.
func slowCost(rule slowRule, steps []slowStep, from, to time.Time, cause provider.EndCause, ended bool) pricing.Money {
	lived := to.Sub(from)
	if ended && cause == provider.Interrupted && lived < rule.free {
		return 0
	}
	all := slowStretches(rule, steps, from, to)
	if ended && lived < rule.minimum {
		if len(all) == 0 {
			all = []slowStretch{{from, to, slowRate(steps, from)}}
		}
		all[len(all)-1].to = from.Add(rule.minimum)
	}
	total := new(big.Int)
	for _, s := range all {
		if s.rate != nil {
			total.Add(total, halfEven(new(big.Rat).Mul(s.rate, hoursOf(s.to.Sub(s.from)))))
		}
	}
	return pricing.Money(total.Int64())
}

// slowShare is what one bearer of some of a machine's accelerators owes for a part
// of a run, without any rounding.
func slowShare(rule slowRule, steps []slowStep, started, from, to time.Time, share, of int) *big.Rat {
	total := new(big.Rat)
	for _, s := range slowStretches(rule, steps, started, to) {
		begin := s.from
		if from.After(begin) {
			begin = from
		}
		if s.rate != nil && begin.Before(s.to) {
			part := new(big.Rat).Mul(s.rate, hoursOf(s.to.Sub(begin)))
			total.Add(total, part.Mul(part, big.NewRat(int64(share), int64(of))))
		}
	}
	return total
}

func hoursOf(d time.Duration) *big.Rat { return big.NewRat(int64(d), int64(time.Hour)) }

// halfEven rounds x, which is not negative.
func halfEven(x *big.Rat) *big.Int {
	whole, rest := new(big.Int).QuoRem(x.Num(), x.Denom(), new(big.Int))
	twice := rest.Lsh(rest, 1).Cmp(x.Denom())
	if twice > 0 || twice == 0 && whole.Bit(0) == 1 {
		whole.Add(whole, big.NewInt(1))
	}
	return whole
}
