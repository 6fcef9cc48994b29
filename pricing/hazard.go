package pricing

import (
	"math"
	"time"

	"gonum.org/v1/gonum/stat/distuv"
)

// Hazard is how machines of one offering are lost and how long lost capacity
// stays away. The zero value means: never lost, always there.
//
// The numbers are rates of an exponential law, MODEL.md 2: a gang of N machines
// sees L = PoolPerHour + N·OnePerHour losses per hour that it is up. Where PoolPerHour
// is only believed it is the mean of what is believed, and Over tells what a stay meets.
type Hazard struct {
	PoolPerHour float64       // losses that take the pool (zone × type) nearly whole, per hour up
	OnePerHour  float64       // losses of single machines, per machine and hour up
	Down        time.Duration // mean unpaid wait until this or the next-best offering runs

	// The Gamma law that PoolPerHour is the mean of, but for what is known to come beside
	// it; both 0 when it is not learned.
	Shape, Rate float64 // Rate in hours
}

// PerHour is the rate of losses that a gang of n machines sees, per hour up.
func (h Hazard) PerHour(n int) float64 { return h.PoolPerHour + float64(n)*h.OnePerHour }

// Interval80 holds PoolPerHour with 80 % probability. ok is false when it was not learned.
// It takes some microseconds: it is for those who look at one offering, not for plans.
func (h Hazard) Interval80() (low, high float64, ok bool) {
	if !(h.Shape > 0 && h.Rate > 0) {
		return 0, 0, false
	}
	g := distuv.Gamma{Alpha: h.Shape, Beta: h.Rate}
	return g.Quantile(0.1), g.Quantile(0.9), true
}

// Over is h for one who holds machines of the pool for so many hours at most, and leaves
// with the first loss: PoolPerHour becomes his losses per hour up, and is known.
//
// A rate that is believed by a Gamma law is not met as its mean. Of the pools that such a
// law is about, many hardly ever go, and those are where hours are spent; the others are
// left at the first loss. With s the Shape and b the Rate, a pool stays for t hours with
// probability (b/(b + t))^s, so that
//
//	losses per hour up = [1 − (b/(b + t))^s] / ∫₀ᵗ (b/(b + x))^s dx.
//
// That is the mean s/b for a short stay, and falls with its length the more, the less is
// known.
func (h Hazard) Over(hours float64) Hazard {
	if h.Shape > 0 && h.Rate > 0 && hours > 0 {
		beside := max(0, h.PoolPerHour-h.Shape/h.Rate)
		grown := math.Log1p(hours / h.Rate)
		up := h.Rate * grown // the integral, for shape 1
		if e := (1 - h.Shape) * grown; e != 0 {
			up *= math.Expm1(e) / e
		}
		h.PoolPerHour = beside - math.Expm1(-h.Shape*grown)/up
	}
	h.Shape, h.Rate = 0, 0
	return h
}
