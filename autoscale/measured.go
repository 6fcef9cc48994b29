package autoscale

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/goodfleet/goodfleet/provider"
)

// measurements are what machines of each cloud and type said of themselves. What a
// catalogue promises is more than what a job can use: the system takes its part, and
// some catalogues are wrong.
type measurements map[[2]string]*measured

type measured struct {
	memGiB []float64 // of the newest machines, the newest at the end
}

// measuredKept is how many machines of a type are remembered: the least of the last
// few is what the next one can be trusted to have.
const measuredKept = 5

// learn takes in what a machine measured.
func (m measurements) learn(inst provider.Instance) {
	if inst.MemGiB <= 0 {
		return
	}
	key := [2]string{inst.Offering.Cloud, inst.Offering.Type}
	seen, ok := m[key]
	if !ok {
		seen = &measured{}
		m[key] = seen
	}
	seen.memGiB = append(seen.memGiB, inst.MemGiB)
	if len(seen.memGiB) > measuredKept {
		seen.memGiB = slices.Delete(seen.memGiB, 0, 1)
	}
}

// of is the type as it was measured: what nobody measured is as catalogued.
func (m measurements) of(t provider.InstanceType) provider.InstanceType {
	if seen, ok := m[[2]string{t.Cloud, t.Name}]; ok {
		t.MemGiB = slices.Min(seen.memGiB)
	}
	return t
}

// memorySlack is by how much of the catalogue's memory a machine may differ before
// it is worth a line of history.
const memorySlack = 0.01

// readMeasured takes over what a machine measured. That it changes what the next plan
// believes is told once.
func (l *Loop) readMeasured(r *InstanceRecord, now time.Time) {
	t, ok := l.typeOf(r.Instance.Offering)
	if !ok {
		return
	}
	before := l.measured.of(t).MemGiB
	l.measured.learn(r.Instance)
	l.known = nil
	after := l.measured.of(t).MemGiB
	if math.Abs(after-before) <= memorySlack*before {
		return
	}
	l.last.changed = true
	l.machineEvent(now, EventMeasured, r, fmt.Sprintf("%s has %g GiB of memory, the catalogue says %g: planned with from now on", t.Name, after, t.MemGiB))
}
