package share

import "math"

// counting is what the time of a job counts by for a policy's objective: so types are ranked for the
// job, and not always by speed. Jobs' weights are the same on all types and left out.
type counting uint8

const (
	byRule    counting = iota // a rule divides, and no objective
	bySpeed                   // throughput alone, or a level of it
	byTime                    // types are alike
	perDollar                 // throughput per price
	bySpend                   // what is not spent
	byRatio                   // throughput beyond what the spend would bring at the ratio reached
)

// of is what a unit of the time of job j counts on type w, where it has v steps/s.
func (c counting) of(p *Problem, a *Answer, j, w int, v float64) float64 {
	spend := p.Types[w].Price * float64(p.Jobs[j].Scale)
	switch c {
	case byTime:
		return 1
	case perDollar:
		return v / p.Types[w].Price
	case bySpend:
		return -spend
	case byRatio:
		if due := a.Objective * spend; math.Abs(v-due) > usedTol*v {
			return v - due
		}
		return 0
	}
	return v
}

// mean is what a unit of the time of job j counts where it is, alone and in pairs, on average.
func (c counting) mean(p *Problem, a *Answer, j int, time float64) float64 {
	if time == 0 {
		return 0
	}
	sum := 0.0
	for w, x := range a.Share[j] {
		if x > 0 {
			sum += x * c.of(p, a, j, w, p.Jobs[j].Throughput[w])
		}
	}
	for i, x := range a.PairShare {
		w, q := i%len(p.Types), p.Pairs[i/len(p.Types)]
		switch {
		case x <= 0:
		case q.A == j:
			sum += x * c.of(p, a, j, w, q.Throughput[w][0])
		case q.B == j:
			sum += x * c.of(p, a, j, w, q.Throughput[w][1])
		}
	}
	return sum / time
}
