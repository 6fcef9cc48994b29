package pricing

import "time"

// Hazard is how machines of one offering are lost and how long lost capacity
// stays away. The zero value means: never lost, always there.
//
// The numbers are rates of an exponential law, MODEL.md 2: a gang of N machines
// sees L = PoolPerHour + N·OnePerHour losses per hour that it is up.
type Hazard struct {
	PoolPerHour float64       // losses that take the pool (zone × type) nearly whole, per hour up
	OnePerHour  float64       // losses of single machines, per machine and hour up
	Down        time.Duration // mean unpaid wait until this or the next-best offering runs
	Low, High   float64       // 80 % interval of PoolPerHour; both 0 when not learned or assumed
}

// PerHour is the rate of losses that a gang of n machines sees, per hour up.
func (h Hazard) PerHour(n int) float64 { return h.PoolPerHour + float64(n)*h.OnePerHour }
