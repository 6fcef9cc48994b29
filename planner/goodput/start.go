package goodput

import "math"

// publishedStart is where AdaptDL's fit begins.
var publishedStart = Theta{AlphaC: 0.1, BetaC: 0.01, AlphaN: 0.1, BetaN: 0.01, AlphaR: 0.1, BetaR: 0.01, Gamma: 1.001}

// starts lists where the search for theta begins: at the published point, and at
// points read off the samples for several degrees of overlap. Each of the latter
// comes with retrogression terms that matter and with such that hardly do. Where
// synchronization is next to free its parameters are no longer felt, and a search
// that comes there stays, as AdaptDL's own does on BERT.
func starts(samples []Sample, quick bool) []Theta {
	list := []Theta{publishedStart}
	gammas := []float64{1.05, 2, 4}
	if quick {
		gammas = []float64{1.5}
	}
	for _, gamma := range gammas {
		t := readOff(samples, gamma)
		list = append(list, t)
		if quick {
			continue
		}
		flat := t
		flat.BetaN, flat.BetaR = 1e-3*flat.AlphaN, 1e-3*flat.AlphaR
		steep := t
		steep.BetaN, steep.BetaR = 0.3*steep.AlphaN, 0.3*steep.AlphaR
		list = append(list, flat, steep)
	}
	return list
}

// readOff estimates theta by lines through the samples: computation over the
// local batch, and what synchronization must have been at this gamma over the
// replicas.
func readOff(samples []Sample, gamma float64) Theta {
	var compute, one, several line
	for _, s := range samples {
		compute.add(float64(s.AtomicBatch), s.AccumSec)
	}
	t := Theta{Gamma: gamma}
	t.AlphaC, t.BetaC = compute.fit()
	for _, s := range samples {
		if s.Replicas == 1 {
			continue
		}
		// At least a tenth of the step: a smaller rest is lost in the noise.
		rest := 1 - math.Pow(min(s.AccumSec/s.OptimSec, 1), gamma)
		sync := s.OptimSec * math.Pow(max(rest, math.Pow(0.1, gamma)), 1/gamma)
		if s.Nodes > 1 {
			several.add(beyondTwo(s.Replicas), sync)
		} else {
			one.add(beyondTwo(s.Replicas), sync)
		}
	}
	t.AlphaN, t.BetaN = several.fit()
	t.AlphaR, t.BetaR = one.fit()
	return t
}

// line is a fit of y = a + b·x with relative errors.
type line struct{ n, w, wx, wxx, wy, wxy float64 }

func (l *line) add(x, y float64) {
	weight := 1 / (y * y)
	l.n++
	l.w += weight
	l.wx += weight * x
	l.wxx += weight * x * x
	l.wy += weight * y
	l.wxy += weight * x * y
}

// fit returns a and b, both kept positive: a term that comes out below takes a
// hundredth of the other's part.
func (l *line) fit() (a, b float64) {
	if l.n == 0 {
		return publishedStart.AlphaN, publishedStart.BetaN
	}
	meanX, meanY := l.wx/l.w, l.wy/l.w
	spread := l.wxx/l.w - meanX*meanX
	if spread <= 1e-9*max(meanX*meanX, 1e-9) {
		return max(0.5*meanY, minTerm), max(0.5*meanY/max(meanX, 1), minTerm)
	}
	b = (l.wxy/l.w - meanX*meanY) / spread
	a = meanY - b*meanX
	if b <= 0 {
		a, b = meanY, 0.01*meanY/max(meanX, 1)
	}
	if a <= 0 {
		a, b = 0.01*meanY, 0.99*meanY/meanX
	}
	return max(a, minTerm), max(b, minTerm)
}
