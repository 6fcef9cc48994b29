package goodput

import "math"

// leastValue is what the power mean of exponent 0 raises smaller values to.
const leastValue = 1e-3

// PowerMean is the generalized mean of values with exponent p after floor was
// added to each: 1 is the arithmetic mean; towards minus infinity the smallest
// counts alone. Exponent 0 is the geometric mean; values below 1e-3 then count as
// that, and nothing is added. 0 for no values.
func PowerMean(values []float64, p, floor float64) float64 {
	if len(values) == 0 {
		return 0
	}
	n := float64(len(values))
	if p == 0 {
		sum := 0.0
		for _, v := range values {
			sum += math.Log(max(v, leastValue))
		}
		return math.Exp(sum / n)
	}
	// The value whose power is the greatest is taken out, so that none overflows.
	lead := values[0] + floor
	for _, v := range values[1:] {
		if p > 0 {
			lead = max(lead, v+floor)
		} else {
			lead = min(lead, v+floor)
		}
	}
	if lead <= 0 {
		return 0
	}
	sum := 0.0
	for _, v := range values {
		sum += math.Pow((v+floor)/lead, p)
	}
	return lead * math.Pow(sum/n, 1/p)
}

// RestartFactor is what the speedup of a job counts when its allocation changes:
// the share of its age that it would have trained for, had each of its restarts
// and one more taken delaySec. 0 for a job without age and delay.
func RestartFactor(ageSec float64, restarts int, delaySec float64) float64 {
	if ageSec+delaySec <= 0 {
		return 0
	}
	return max(ageSec-float64(restarts)*delaySec, 0) / (ageSec + delaySec)
}

// Utility is the sum of speedups, each against one accelerator, per accelerator
// on the nodes in use. 0 when no node is.
func Utility(speedups []float64, accelerators int) float64 {
	if accelerators <= 0 {
		return 0
	}
	sum := 0.0
	for _, s := range speedups {
		sum += s
	}
	return sum / float64(accelerators)
}
