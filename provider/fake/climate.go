package fake

import (
	"fmt"
	"math"
	"time"

	"github.com/goodfleet/goodfleet/provider"
)

// Climate is how a cloud's capacity behaves. Measured gives the one that is fitted
// on real machines; tests write their own. The zero value is invalid.
type Climate struct {
	// Law is how a pool of that type comes and goes, before the factors of the
	// pool itself (SpreadUp, SpreadDown) and of the run (Config.InterruptionScale).
	Law func(p provider.Pool, t provider.InstanceType) Law

	// Boot is the time from an accepted launch to Running.
	Boot func(t provider.InstanceType) Boot

	// Depth is how many machines a pool that is up holds for us.
	Depth func(t provider.InstanceType) Depth

	// SpreadUp and SpreadDown are how much pools of one law differ: each multiplies
	// its up and its down spells by lognormal factors of median 1 with these standard
	// deviations of the logarithm.
	SpreadUp, SpreadDown float64

	Notice Notice

	// Together is the probability that a spot pool that goes down takes all of its
	// machines; otherwise it takes each with probability Alone.
	Together, Alone float64

	// OnePerHour is the rate at which a spot machine is lost by itself while its
	// pool stays up.
	OnePerHour float64

	// Keep is how long an ended machine and a past loss stay listed.
	Keep time.Duration
}

// Boot is the lognormal law of a boot delay.
type Boot struct {
	Mean   time.Duration
	Spread time.Duration // standard deviation; 0: always the mean
}

// Depth is the lognormal law of a pool's number of machines, at least one.
type Depth struct {
	Median float64 // machines
	Sigma  float64 // standard deviation of the logarithm; 0: always the median
}

// Notice is the warning before a loss.
type Notice struct {
	Lead    time.Duration // from the notice to the loss
	Missing float64       // probability that a machine is lost without one
}

func (c *Climate) validate() error {
	switch {
	case c.Law == nil || c.Boot == nil || c.Depth == nil:
		return fmt.Errorf("climate: law, boot and depth are required")
	case !(c.SpreadUp >= 0 && c.SpreadUp <= 3) || !(c.SpreadDown >= 0 && c.SpreadDown <= 3):
		return fmt.Errorf("climate: spreads %g and %g: want 0 to 3", c.SpreadUp, c.SpreadDown)
	case c.Notice.Lead < 0:
		return fmt.Errorf("climate: notice lead %v is negative", c.Notice.Lead)
	case !(c.OnePerHour >= 0) || math.IsInf(c.OnePerHour, 0):
		return fmt.Errorf("climate: single losses %g per hour: want a number of at least 0", c.OnePerHour)
	case c.Keep < 0:
		return fmt.Errorf("climate: keep %v is negative", c.Keep)
	}
	for _, p := range []struct {
		name  string
		value float64
	}{{"together", c.Together}, {"alone", c.Alone}, {"missing notice", c.Notice.Missing}} {
		if !(p.value >= 0 && p.value <= 1) {
			return fmt.Errorf("climate: probability of %s is %g: want 0 to 1", p.name, p.value)
		}
	}
	return nil
}

// draw turns a standard normal into a boot delay in whole seconds.
func (b Boot) draw(normal float64) time.Duration {
	return b.lognormal(normal).Round(time.Second)
}

func (b Boot) lognormal(normal float64) time.Duration {
	if b.Spread == 0 || b.Mean == 0 {
		return b.Mean
	}
	ratio := b.Spread.Seconds() / b.Mean.Seconds()
	sigma := math.Sqrt(math.Log1p(ratio * ratio))
	return time.Duration(float64(b.Mean) * math.Exp(sigma*normal-sigma*sigma/2))
}

func (b Boot) validate() error {
	if b.Mean < 0 || b.Spread < 0 {
		return fmt.Errorf("boot of %v ± %v: want no negative time", b.Mean, b.Spread)
	}
	return nil
}

// draw turns a standard normal into a number of machines.
func (d Depth) draw(normal float64) int {
	return max(1, int(math.Round(d.Median*math.Exp(d.Sigma*normal))))
}

func (d Depth) validate() error {
	if !(d.Median >= 1 && d.Median <= 1e6) || !(d.Sigma >= 0 && d.Sigma <= 3) {
		return fmt.Errorf("depth of median %g, sigma %g: want a median of 1 to 1e6 and a sigma of 0 to 3", d.Median, d.Sigma)
	}
	return nil
}
