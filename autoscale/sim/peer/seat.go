package peer

import (
	"cmp"
	"slices"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/provider"
)

// seat is a job and the number of its replicas, on a kind of machines; if it is negative,
// on any on which the job makes progress. A loose one may lie on more machines than hold it.
type seat struct {
	*planner.JobState
	n     int
	kind  int
	loose bool
}

// kindsOf are the kinds that a seat may be on: where none is named, those on which the
// job, packed, is known to be faster than 0.
func (f *floor) kindsOf(s seat) []int {
	if s.kind >= 0 {
		return []int{s.kind}
	}
	var list []int
	for w := range f.kinds {
		if f.runs(s, w) {
			list = append(list, w)
		}
	}
	return list
}

// seatAll seats jobs: those who run stay, then the others, large ones first. One that
// finds no place drives out smaller ones of a single machine, as few accelerators of them
// as may be; they find another. Whoever finds none waits.
func (f *floor) seatAll(chosen []seat) {
	queue := slices.Clone(chosen)
	slices.SortStableFunc(queue, func(a, b seat) int { return b.n - a.n })
	guests := map[provider.InstanceID][]seat{} // that may be driven out
	var rest []seat
	for _, s := range queue {
		kept := false
		for _, w := range f.kindsOf(s) {
			kept = kept || f.keeps(s.JobState, &f.kinds[w], s.n)
		}
		if !kept {
			rest = append(rest, s)
		} else if ms := s.Running.Machines; len(ms) == 1 {
			guests[ms[0]] = append(guests[ms[0]], s)
		}
	}
	for len(rest) > 0 {
		s := rest[0]
		rest = rest[1:]
		if f.seatOne(s) {
			continue
		}
		for _, w := range f.kindsOf(s) {
			out := f.drive(s, &f.kinds[w], guests)
			if len(out) == 0 {
				continue
			}
			f.seatOne(seat{s.JobState, s.n, w, false})
			rest = append(rest, out...)
			slices.SortStableFunc(rest, func(a, b seat) int { return b.n - a.n })
			break
		}
	}
}

// seatOne places a job where it may be. It reports whether there is room.
func (f *floor) seatOne(s seat) bool {
	for _, w := range f.kindsOf(s) {
		if f.place(s.JobState, &f.kinds[w], s.n, s.loose) {
			return true
		}
	}
	return false
}

// drive takes guests off machines of a kind so that a gang finds room, and returns them;
// none if it would not.
func (f *floor) drive(s seat, k *kind, guests map[provider.InstanceID][]seat) []seat {
	nodes, ok := k.spread(s.n)
	if !ok {
		return nil
	}
	each := s.n / nodes
	type room struct {
		machine, lacks int
		out            []seat
	}
	var rooms []room
	for _, m := range k.machines {
		r := room{machine: m, lacks: each - f.free[m]}
		lacks := r.lacks
		list := slices.Clone(guests[f.p.Machines[m].ID])
		slices.SortStableFunc(list, func(a, b seat) int { return a.n - b.n })
		for _, g := range list {
			if lacks > 0 && g.n < each {
				r.out = append(r.out, g)
				lacks -= g.n
			}
		}
		if lacks <= 0 {
			rooms = append(rooms, r)
		}
	}
	if len(rooms) < nodes {
		return nil
	}
	slices.SortStableFunc(rooms, func(a, b room) int { return cmp.Compare(a.lacks, b.lacks) })
	var out []seat
	for _, r := range rooms[:nodes] {
		id := f.p.Machines[r.machine].ID
		for _, g := range r.out {
			f.leave(g.Job.ID, r.machine)
			guests[id] = slices.DeleteFunc(guests[id], func(x seat) bool { return x.Job.ID == g.Job.ID })
		}
		out = append(out, r.out...)
	}
	return out
}

// leave takes a job of one machine off it.
func (f *floor) leave(job planner.JobID, machine int) {
	m := &f.plan.Machines[machine]
	m.Jobs = slices.DeleteFunc(m.Jobs, func(s planner.Share) bool {
		if s.Job == job {
			f.free[machine] += s.Accelerators
		}
		return s.Job == job
	})
	f.plan.Allocations = slices.DeleteFunc(f.plan.Allocations, func(a planner.Allocation) bool { return a.Job == job })
}
