package share

import "math"

// Rule is what an assignment is for.
type Rule uint8

// The rules. Both take the goodput of an option relative to the least of its job's
// options, times MinGPUs: v. A job that holds a config, and would change it, counts
// v times what its restarts leave.
const (
	// Sia sums v^p: maximised for p > 0, minimised for p < 0. A job without config
	// counts Lambda, taken off for p > 0 and added for p < 0 (SOSP 2023).
	Sia Rule = iota
	// Pollux maximises the power mean (mean (v + 0.001)^p)^(1/p), v = 0 for a job without
	// config (OSDI 2021); p = 0 is the geometric mean.
	Pollux
)

// Powers that the rules take. A job without config counts 0.001^p to Pollux: below −2
// double precision holds little else beside it.
const (
	leastWholePower = -2
	mostSiaPower    = 20
)

// RuleNames lists the rules by name, with what they optimise.
func RuleNames() []RuleName {
	return []RuleName{
		{Pollux, "pollux", "max (mean of (v + 0.001)^p)^(1/p), v = goodput over the least, less by restarts; 0 without config"},
		{Sia, "sia", "sum of v^p, lambda for each job without config; max for p > 0, min for p < 0"},
	}
}

// RuleName names a rule.
type RuleName struct {
	Rule Rule
	Name string
	Line string
}

// sense is −1 where Sia minimises.
func (a *Assignment) sense() float64 {
	if a.Power < 0 {
		return -1
	}
	return 1
}

// worth is what a job at v counts, in the sense of a maximum.
func (a *Assignment) worth(v float64) float64 {
	if a.Rule == Sia {
		return a.sense() * math.Pow(v, a.Power)
	}
	return powerOf(v+tiny, a.Power)
}

// none is what a job without config counts, in the sense of a maximum.
func (a *Assignment) none() float64 {
	if a.Rule == Sia {
		return -a.Lambda
	}
	return powerOf(tiny, a.Power)
}

// objective turns the sum of worths into what the rule states.
func (a *Assignment) objective(sum float64) float64 {
	if a.Rule == Sia {
		return a.sense() * sum
	}
	return meanOf(sum, len(a.Requests), a.Power)
}

// slope is by how much the objective improves with the sum of worths.
func (a *Assignment) slope(objective float64) float64 {
	if a.Rule == Sia || len(a.Requests) == 0 {
		return 1
	}
	return math.Pow(objective, 1-a.Power) / float64(len(a.Requests))
}

// relative turns a gap of the objective into one of the sum of worths, and tells what that is
// relative to (0: to the sum itself). best is the most that each job can count.
func (a *Assignment) relative(gap float64, best []float64) (sum, scale float64) {
	switch p := math.Abs(a.Power); {
	case a.Rule == Sia:
		return gap, 0
	case p >= flatPower: // the sum is that of u^p, and the objective its power 1/p
		return -math.Expm1(p * math.Log1p(-min(gap, 0.5))), 0
	}
	// The sum is about that of logarithms: u^p, by which it differs, is near 1.
	least := math.Pow(tiny, math.Abs(a.Power))
	for _, v := range best {
		least = min(least, max(1+a.Power*v, math.SmallestNonzeroFloat64))
	}
	return gap, max(least*float64(len(best)), math.SmallestNonzeroFloat64)
}

// factor is the share of a new config's worth that a change leaves. To Sia, a job
// younger than one restart changes freely.
func (a *Assignment) factor(r Restart) float64 {
	if r.AgeSec+r.CostSec == 0 || a.Rule == Sia && r.AgeSec < r.CostSec {
		return 1
	}
	return max(r.AgeSec-r.Count*r.CostSec, 0) / (r.AgeSec + r.CostSec)
}

// flatPower is the power from which u^p tells large u apart by itself: boxCox takes 1 off,
// and with it all digits of u^p below 1e-16.
const flatPower = 0.05

// powerOf orders u as boxCox does, by u^p/p where that has more digits: large u differ by less than
// the last digit of 1 at powers below 0.
func powerOf(u, p float64) float64 {
	if math.Abs(p) < flatPower {
		return boxCox(u, p)
	}
	return math.Pow(u, p) / p
}

// boxCox is (u^p − 1)/p, and ln u at p = 0: it grows with u for every p, and its sum
// with the power mean.
func boxCox(u, p float64) float64 {
	if math.Abs(p) < noPower {
		return math.Log(u)
	}
	return math.Expm1(p*math.Log(u)) / p // where 1 taken off u^p would take the digits with it
}

// noPower is the power below which the mean is the geometric one in all digits that are told.
const noPower = 1e-12

// meanOf is the power mean of n numbers whose powerOf add to sum; 0 for none.
func meanOf(sum float64, n int, p float64) float64 {
	switch {
	case n == 0:
		return 0
	case math.Abs(p) < noPower:
		return math.Exp(sum / float64(n))
	case math.Abs(p) < flatPower:
		return math.Exp(math.Log1p(max(-1, p*sum/float64(n))) / p)
	}
	return math.Pow(max(0, p*sum/float64(n)), 1/p)
}
