package autoscale

import (
	"math"
	"time"
)

const (
	turnoverEvents = 20               // restarts from which on the life of what jobs hold is known
	turnoverUnit   = 10 * time.Minute // of which the life is a power of two, so that plans rest on it
)

// turnover is the mean time that a job was left where it was, rounded down to a power of two of ten
// minutes: the time that all jobs held machines over their restarts, by moves and by losses. It is
// Eva's expected life of a configuration, D = −1/(λ·ln(1 − q)) with λ events an hour of which a
// part q changes what is held (EuroSys 2025), for small q and one job at a time. 0: fewer than
// twenty restarts were seen.
func (s *State) turnover() time.Duration {
	var held time.Duration
	restarts := 0
	for i := range s.Jobs {
		r := &s.Jobs[i]
		restarts += r.Restarts
		held += r.Held
		if r.Gang != nil {
			held += max(0, s.Now.Sub(r.Times.Started))
		}
	}
	if restarts < turnoverEvents || held <= 0 {
		return 0
	}
	mean := float64(held) / float64(restarts)
	return time.Duration(float64(turnoverUnit) * math.Pow(2, math.Floor(math.Log2(mean/float64(turnoverUnit)))))
}
