package report

import (
	"math"
	"strconv"
	"time"
)

// axis maps values onto a length in pixels.
type axis struct {
	lo, hi float64
	log    bool
	ticks  []tick
}

// tick is a labelled mark of an axis.
type tick struct {
	at    float64
	label string
}

// pos is where v lies on the axis, from 0 to 1 inside of it.
func (a axis) pos(v float64) float64 {
	if a.log {
		return (math.Log(v) - math.Log(a.lo)) / (math.Log(a.hi) - math.Log(a.lo))
	}
	return (v - a.lo) / (a.hi - a.lo)
}

// linear is an axis from 0 to at least most, with about n ticks at round values.
func linear(most float64, n int) axis {
	if !(most > 0) {
		most = 1
	}
	step := roundStep(most / float64(n))
	top := math.Ceil(most/step-1e-9) * step
	a := axis{hi: top}
	decimals := max(0, int(math.Ceil(-math.Log10(step)-1e-9)))
	if whole := step * math.Pow(10, float64(decimals)); math.Abs(whole-math.Round(whole)) > 1e-6 {
		decimals++ // a step of 0.25
	}
	for i := 0; float64(i)*step <= top*(1+1e-9); i++ {
		a.ticks = append(a.ticks, tick{float64(i) * step, number(float64(i)*step, decimals)})
	}
	return a
}

// roundStep is the smallest of 1, 2, 2.5 or 5 times a power of ten that is at
// least step.
func roundStep(step float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(step)))
	for _, m := range []float64{1, 2, 2.5, 5} {
		if m*power >= step*(1-1e-9) {
			return m * power
		}
	}
	return 10 * power
}

// logarithmic is an axis over lo..hi, both positive, with ticks at 1 and 3 times
// powers of ten.
func logarithmic(lo, hi float64) axis {
	a := axis{lo: lo, hi: max(hi, lo*1.01), log: true}
	for power := math.Floor(math.Log10(lo)); power <= math.Ceil(math.Log10(hi)); power++ {
		for _, m := range []float64{1, 3} {
			v := m * math.Pow(10, power)
			if v >= lo*(1-1e-9) && v <= hi*(1+1e-9) {
				a.ticks = append(a.ticks, tick{v, strconv.FormatFloat(v, 'g', 6, 64)})
			}
		}
	}
	return a
}

// timeline is an axis of hours since from, with ticks at round times in UTC.
func timeline(from time.Time, hours float64) axis {
	if !(hours > 0) {
		hours = 1
	}
	a := axis{hi: hours}
	from = from.UTC()
	midnight := from.Truncate(24 * time.Hour)
	step, layout := 24*time.Hour, "Jan 2"
	switch {
	case hours <= 12:
		step, layout = time.Hour, "15:04"
	case hours <= 36:
		step, layout = 3*time.Hour, "15:04"
	case hours <= 4*24:
		step, layout = 12*time.Hour, "Jan 2 15:04"
	}
	for hours/step.Hours() > 14 {
		step *= 2
	}
	for at := midnight; at.Sub(from).Hours() <= hours; at = at.Add(step) {
		if !at.Before(from) {
			a.ticks = append(a.ticks, tick{at.Sub(from).Hours(), at.Format(layout)})
		}
	}
	return a
}
