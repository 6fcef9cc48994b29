package pricing

import (
	"fmt"
	"math"
	"time"
)

// Bounds of the checkpoint interval that CheckpointEvery chooses.
const (
	// MinCheckpointEvery keeps a job from writing checkpoints all the time.
	MinCheckpointEvery = time.Minute

	// MaxCheckpointEvery is the most work that a failure which nobody expected may
	// destroy.
	MaxCheckpointEvery = 4 * time.Hour
)

// UsefulPaid is the share of paid time that becomes saved progress, for a gang
// that is lost at an exponential rate of lossPerHour while up, starts again in
// restart, and after every interval of work takes save to write a checkpoint.
//
// With covered, a notice leaves time to stop and save, so only the restart and
// the saving are lost:
//
//	a = e^(−L·S) / (1 + d/tau)
//
// Without, the work since the last checkpoint is lost too:
//
//	a = e^(−L·S) · L·tau / (e^(L·(tau + d)) − 1)
//
// Both are exact for exponential lives; for L → 0 both tend to tau/(tau + d). An
// interval of 0 means that every step is saved, which is free only if save is 0.
func UsefulPaid(lossPerHour float64, restart, save, every time.Duration, covered bool) float64 {
	if !(lossPerHour >= 0) || math.IsInf(lossPerHour, 0) || restart < 0 || save < 0 || every < 0 {
		panic(fmt.Sprintf("pricing: useful share at %g losses/h, restart %v, save %v, every %v", lossPerHour, restart, save, every))
	}
	started := math.Exp(-lossPerHour * restart.Hours())
	if every == 0 {
		if save > 0 {
			return 0
		}
		return started
	}
	d, tau := save.Hours(), every.Hours()
	lost := lossPerHour * (tau + d)
	if covered || lost == 0 {
		return started * tau / (tau + d)
	}
	return started * lossPerHour * tau / math.Expm1(lost)
}

// UsefulWall is the share of wall time that becomes saved progress: the share of
// paid time, less the waits after each loss, of down on average.
func UsefulWall(usefulPaid, lossPerHour float64, down time.Duration) float64 {
	return usefulPaid / (1 + lossPerHour*down.Hours())
}

// CheckpointEvery is the interval of work between two checkpoints that take save
// each, by Young and Daly's rule sqrt(2·d/L), where L is the rate of losses that
// come without a notice long enough to save. It lies within MinCheckpointEvery
// and MaxCheckpointEvery, and is never shorter than save itself.
//
// J. W. Young, "A first order approximation to the optimum checkpoint interval",
// CACM 1974; J. T. Daly, FGCS 2006.
func CheckpointEvery(save time.Duration, unannouncedPerHour float64) time.Duration {
	lo := max(MinCheckpointEvery, save)
	hi := max(MaxCheckpointEvery, save)
	if !(unannouncedPerHour > 0) {
		return hi
	}
	hours := math.Sqrt(2 * save.Hours() / unannouncedPerHour)
	if hours >= hi.Hours() {
		return hi
	}
	return max(lo, time.Duration(hours*float64(time.Hour)))
}
