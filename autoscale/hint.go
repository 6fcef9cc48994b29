package autoscale

import (
	"time"

	"github.com/goodfleet/goodfleet/provider"
)

// hints are when the clouds last said of a machine of each pool that they may take it.
type hints map[provider.Pool]time.Time

// learn takes in a hint at a machine.
func (h hints) learn(m *InstanceRecord) {
	if pool := m.Instance.Offering.Pool(); m.Hinted.After(h[pool]) {
		h[pool] = m.Hinted
	}
}

// hintHours is the exposure of what is believed of a hint before anything is seen: one
// loss within so many hours. A guess: no cloud publishes what follows its hints.
const hintHours = 0.1

// risk is the losses per hour that a hint adds to those of its pool, for the machines
// that are there and for those that would come. The belief is a Gamma law of shape 1
// and exposure hintHours, so that a pool which has stayed for t hours after its hint is
// expected to go within hintHours + t: a hint wears off as it does not come true.
func (h hints) risk(o provider.Offering, now time.Time) float64 {
	at, ok := h[o.Pool()]
	if !ok || o.Market != provider.Spot {
		return 0
	}
	return 1 / (hintHours + max(0, now.Sub(at).Hours()))
}

// Hinted are the hints at machines, by pool: those in force, and those of the past.
func Hinted(machines []InstanceRecord) map[provider.Pool]time.Time {
	h := hints{}
	for i := range machines {
		h.learn(&machines[i])
	}
	return h
}
