package autoscale

import (
	"fmt"
	"slices"
	"time"

	"github.com/goodfleet/goodfleet/provider"
)

// sweep looks for machines that have lived too long, or that nothing accounts for.
// An orphan may be taken by a job like any idle machine; one that no job has taken
// at the end of the grace is ended.
func (l *Loop) sweep(now time.Time) {
	set := &l.cfg.Settings
	for _, m := range l.cache.machines {
		if !m.Instance.Live() || l.frozen(m.Instance.Offering.Cloud) != "" {
			continue
		}
		if age := now.Sub(m.Instance.Launched); set.MaxLife > 0 && age >= set.MaxLife {
			l.condemn(verdict{machine: m, now: now, kind: EventDrain, reason: fmt.Sprintf("it is %v old, more than %v", age.Round(time.Minute), set.MaxLife)})
		}
		switch {
		case m.Orphan.IsZero() || m.Draining:
		case l.wanted(m.Instance.ID):
			m.Orphan = time.Time{}
			l.cache.touchMachine(m)
		case now.Sub(m.Orphan) >= set.OrphanGrace:
			l.condemn(verdict{machine: m, now: now, kind: EventOrphan, reason: fmt.Sprintf("nothing has accounted for it in %v", now.Sub(m.Orphan).Round(time.Second))})
		}
	}
}

// wanted reports whether a gang is on a machine, by our records or by the runner's
// word, or a job is to run there.
func (l *Loop) wanted(id provider.InstanceID) bool {
	if len(l.cache.on(id)) > 0 || l.used[id] {
		return true
	}
	for _, r := range l.cache.jobs {
		if r.Target != nil && slices.Contains(r.Target.Machines, id) {
			return true
		}
	}
	return false
}
