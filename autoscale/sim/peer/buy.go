package peer

import (
	"slices"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/provider"
)

// buy adds machines of an offer to the floor, and returns their kind and which they are.
func (f *floor) buy(o *planner.Offer, n int) (*kind, []int) {
	k := f.kindOf(o.Offering)
	if k == nil {
		f.kinds = append(f.kinds, kind{name: planner.KindOf(o.Offering), typ: o.Type, offering: o.Offering})
		k = &f.kinds[len(f.kinds)-1]
	}
	var list []int
	for range n {
		i := len(f.plan.Machines)
		f.plan.Machines = append(f.plan.Machines, planner.PlannedMachine{Offering: o.Offering, Rate: o.Rate})
		f.free = append(f.free, o.Type.Count)
		k.machines = append(k.machines, i)
		k.workers += o.Type.Count
		list = append(list, i)
	}
	if o.Cap > 0 {
		o.Cap -= n
	}
	return k, list
}

// sells reports whether n machines of an offer may be bought now.
func sells(o *planner.Offer, n int) bool { return o.Blocked == "" && (o.Cap < 0 || o.Cap >= n) }

// stay gives the jobs that run the machines that they have, and returns those that wait,
// in order of arrival.
func (f *floor) stay() []*planner.JobState {
	var waiting []*planner.JobState
	for i := range f.p.Jobs {
		j := &f.p.Jobs[i]
		if j.Running != nil {
			if k := f.kindOf(j.Running.Offering); k != nil && f.keeps(j, k, j.Running.Config.Replicas) {
				continue
			}
		}
		waiting = append(waiting, j)
	}
	slices.SortStableFunc(waiting, func(a, b *planner.JobState) int { return a.Job.Submitted.Compare(b.Job.Submitted) })
	return waiting
}

// end gives back, or does not buy, the machines that carry nobody and that ends picks.
func (f *floor) end(why string, ends func(machine int) bool) {
	at := make([]planner.MachineRef, len(f.plan.Machines))
	var kept []planner.PlannedMachine
	for i, m := range f.plan.Machines {
		at[i] = planner.MachineRef(len(kept))
		switch {
		case len(m.Jobs) > 0 || !ends(i):
			kept = append(kept, m)
		case m.Instance != "":
			f.plan.Releases = append(f.plan.Releases, planner.Release{Instance: m.Instance, Offering: m.Offering, Reason: why})
		}
	}
	f.plan.Machines = kept
	for _, a := range f.plan.Allocations {
		for n, ref := range a.Machines {
			a.Machines[n] = at[ref]
		}
	}
}

// kindOf is the machines of an offering; nil where there are none.
func (f *floor) kindOf(o provider.Offering) *kind {
	for i := range f.kinds {
		if f.kinds[i].offering == o {
			return &f.kinds[i]
		}
	}
	return nil
}
