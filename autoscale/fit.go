package autoscale

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/provider"
)

// recall takes up what all jobs there ever were have found out about their speeds.
func (l *Loop) recall(ctx context.Context) error {
	l.beliefs = planner.NewBeliefs()
	records, err := l.cfg.Store.Jobs(ctx)
	if err != nil {
		return fmt.Errorf("load jobs: %w", err)
	}
	for i := range records {
		r := &records[i]
		job := r.Job
		if open, ok := l.cache.job[job.ID]; ok {
			job = open.Job // the beliefs know jobs by their pointers
		}
		for _, m := range r.Measured {
			if _, err := l.beliefs.Observe(job, m); err != nil {
				l.cfg.Log.Warn("a stored measurement is left out", "job", string(job.ID), "err", err)
			}
		}
		if _, open := l.cache.job[job.ID]; !open {
			l.beliefs.Forget(job.ID)
		}
	}
	return nil
}

// fit takes over what was measured of a gang: the curve of its job, and those of
// its family, follow what is seen. Of what it does beside another job nothing is learnt: alone
// it does something else.
func (l *Loop) fit(r *JobRecord, p Progress, now time.Time) {
	l.ranOut = false
	t, ok := l.typeOf(r.Gang.Offering)
	if !ok || r.Gang.Config.With != "" {
		return
	}
	for _, m := range p.Measured {
		m.Gang, m.Accelerator, m.Kind, m.MemGiB = p.Generation, t.Accelerator, t.Kind.String(), t.AcceleratorMemGiB
		m.Nodes, m.Replicas = r.Gang.Config.Nodes, r.Gang.Config.Replicas
		found, err := l.beliefs.Observe(r.Job, m)
		if err != nil {
			l.cfg.Log.Warn("a measurement is left out", "job", string(r.Job.ID), "err", err)
			continue
		}
		if found.Wrong != "" {
			l.jobEvent(now, EventCorrected, r, found.Wrong)
		}
		if !found.Changed {
			continue
		}
		l.ranOut = l.ranOut || m.OutOfMemory
		l.last.changed = true
		if noise, ok := l.beliefs.Noise(r.Job.ID); ok {
			m.Noise = &noise
		}
		r.keep(m)
		l.cache.touchJob(r)
	}
}

// keep remembers a measurement in the stead of an earlier one of the same.
func (r *JobRecord) keep(m planner.Measurement) {
	m.Steps = nil
	r.Measured = slices.Clone(r.Measured) // a store may hold the old one
	for i := range r.Measured {
		if r.Measured[i].Place() == m.Place() {
			r.Measured[i] = m
			return
		}
	}
	r.Measured = append(r.Measured, m)
}

// ownedOnly lists the accelerators of which some are owned and none can be bought.
func (l *Loop) ownedOnly() []string {
	var list []string
	for _, m := range l.cache.machines {
		t, ok := l.typeOf(m.Instance.Offering)
		if !ok || m.Instance.Offering.Market != provider.Reserved || slices.Contains(list, t.Accelerator) {
			continue
		}
		bought := slices.ContainsFunc(l.cfg.Offerings, func(o provider.Offering) bool {
			u, ok := l.typeOf(o)
			return ok && u.Accelerator == t.Accelerator && o.Market != provider.Reserved
		})
		if !bought {
			list = append(list, t.Accelerator)
		}
	}
	slices.Sort(list)
	return list
}
