package autoscale

import (
	"time"

	"github.com/goodfleet/goodfleet/provider"
)

// bootWeight is how much the newest boot counts against all before it: about the
// last five matter.
const bootWeight = 0.2

// bootTimes are the times from launch to running that were seen, by cloud and type.
type bootTimes map[[2]string]time.Duration

// learn takes in one boot.
func (b bootTimes) learn(t provider.InstanceType, took time.Duration) {
	if took < 0 {
		return // clocks that disagree say nothing
	}
	key := [2]string{t.Cloud, t.Name}
	if known, ok := b[key]; ok {
		took = known + time.Duration(bootWeight*float64(took-known))
	}
	b[key] = took.Round(time.Second)
}

// bootOf is the expected time from launch to running of an offering.
func (l *Loop) bootOf(o provider.Offering) time.Duration {
	if seen, ok := l.boots[[2]string{o.Cloud, o.Type}]; ok {
		return seen
	}
	t, ok := l.typeOf(o)
	if !ok || l.cfg.Boot == nil {
		return l.cfg.Settings.Boot
	}
	return l.cfg.Boot(t)
}
