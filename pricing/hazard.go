package pricing

import (
	"time"

	"gonum.org/v1/gonum/stat/distuv"
)

// Hazard is how machines of one offering are lost and how long lost capacity
// stays away. The zero value means: never lost, always there.
//
// The numbers are rates of an exponential law, MODEL.md 2: a gang of N machines
// sees L = PoolPerHour + N·OnePerHour losses per hour that it is up.
type Hazard struct {
	PoolPerHour float64       // losses that take the pool (zone × type) nearly whole, per hour up
	OnePerHour  float64       // losses of single machines, per machine and hour up
	Down        time.Duration // mean unpaid wait until this or the next-best offering runs

	// The Gamma law that PoolPerHour is the mean of; both 0 when it is not learned.
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
