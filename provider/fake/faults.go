package fake

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/goodfleet/goodfleet/provider"
)

// Faults are rates of what goes wrong by chance. They are drawn from the seed,
// before anything happens and apart from what is launched, as lines of a scenario:
// Cloud.Script prints them. The n-th event of one fault is the same whatever the
// others do. The zero value is none.
type Faults struct {
	PerDay  map[Fault]float64 // events per day
	Horizon time.Duration     // from the start; after it nothing more goes wrong
	Seed    uint64            // that they are drawn from; 0: the cloud's
}

// Hostile lets everything that there is go wrong equally often.
func Hostile(perDay float64, horizon time.Duration) Faults {
	f := Faults{PerDay: make(map[Fault]float64), Horizon: horizon}
	for _, fault := range AllFaults() {
		f.PerDay[fault] = perDay
	}
	return f
}

// maxDrawn bounds the events that are expected in all.
const maxDrawn = 100_000

const streamFaults = "faults"

func (f Faults) validate() error {
	sum := 0.0
	for _, fault := range AllFaults() {
		rate := f.PerDay[fault]
		if !(rate >= 0) || math.IsInf(rate, 0) {
			return fmt.Errorf("faults: %s: %g per day: want a number of at least 0", fault, rate)
		}
		sum += rate
	}
	switch {
	case sum == 0:
		return nil
	case f.Horizon <= 0 || f.Horizon > longest:
		return fmt.Errorf("faults: horizon %v: want up to twenty years", f.Horizon)
	case sum*f.Horizon.Hours()/24 > maxDrawn:
		return fmt.Errorf("faults: about %.0f events in %v: want at most %d", sum*f.Horizon.Hours()/24, f.Horizon, maxDrawn)
	}
	return nil
}

// draw makes the scenario of the faults for a cloud.
func (f Faults) draw(c *Cloud) (*Scenario, error) {
	if err := f.validate(); err != nil {
		return nil, err
	}
	type drawn struct {
		at   time.Duration
		line string
	}
	var all []drawn
	seed := cmp.Or(f.Seed, c.cfg.Seed)
	for _, fault := range AllFaults() {
		rate := f.PerDay[fault]
		if rate == 0 {
			continue
		}
		rng := stream(seed, streamFaults, c.cfg.Name+"/"+c.cfg.Account+"/"+fault.String())
		d := &drawer{Rand: rng, c: c}
		for day := rng.ExpFloat64() / rate; day < f.Horizon.Hours()/24; day += rng.ExpFloat64() / rate {
			at := time.Duration(day*24*3600) * time.Second
			if line := faultNames[fault].line(d); line != "" {
				all = append(all, drawn{at, fmt.Sprintf("at %v on %s %s", at, c.cfg.Name, line)})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b drawn) int { return cmp.Compare(a.at, b.at) })
	var text strings.Builder
	for _, d := range all {
		text.WriteString(d.line + "\n")
	}
	s, err := ParseScenario("faults", text.String())
	if err != nil {
		return nil, fmt.Errorf("faults of seed %d: %w", seed, err)
	}
	return s, nil
}

// Script is the text of everything that was or is to go wrong: the scenario, the
// drawn faults and what Do was told. As the scenario of a cloud without faults, it
// makes the same cloud, but for the times of Do, which are counted from the call.
func (c *Cloud) Script() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var b strings.Builder
	for _, s := range c.played {
		b.WriteString(s.String())
	}
	return b.String()
}

// drawer draws the lines of one fault.
type drawer struct {
	*rand.Rand
	c *Cloud
}

// span is an exponential time in whole seconds, at least one.
func (d *drawer) span(mean time.Duration) time.Duration {
	return max(time.Second, time.Duration(d.ExpFloat64()*mean.Seconds())*time.Second)
}

// offering is one of those that are sold and that keep picks; "" when there is none.
// It takes one draw, whatever is sold.
func (d *drawer) offering(keep func(provider.Offering, provider.InstanceType) bool) (o provider.Offering, t provider.InstanceType, ok bool) {
	u := d.Float64()
	var list []provider.Offering
	for _, o := range d.c.sold {
		t, _ := d.c.cfg.Catalogue.Lookup(o.Cloud, o.Type)
		if keep == nil || keep(o, t) {
			list = append(list, o)
		}
	}
	if len(list) == 0 {
		return provider.Offering{}, provider.InstanceType{}, false
	}
	o = list[int(u*float64(len(list)))]
	t, _ = d.c.cfg.Catalogue.Lookup(o.Cloud, o.Type)
	return o, t, true
}

// about makes a line about any offering.
func (d *drawer) about(format string, args ...any) string {
	o, _, ok := d.offering(nil)
	if !ok {
		return ""
	}
	return strings.ReplaceAll(fmt.Sprintf(format, args...), "OFFERING", o.String())
}
