package peer

import (
	"cmp"
	"hash/fnv"
	"math/rand/v2"
	"slices"

	"github.com/goodfleet/goodfleet/planner"
)

// streamSlots keeps the draws of slots apart from those of kinds.
const streamSlots = 0x51_07_5

// strongest is the order in which Sia's artifact keeps types of which a gang has equally
// many accelerators.
var strongest = []string{"A100", "Quadro RTX 6000", "RTX 2080 Ti", "T4"}

// byService orders seats by how long their jobs held machines, the shortest first. Sia's
// artifact gives them room in this order, by accelerator hours.
func byService(seats []seat) {
	slices.SortStableFunc(seats, func(a, b seat) int { return cmp.Compare(a.Held, b.Held) })
}

// trimmed is the kind and the size that are left of a gang of more than a slot, which is as
// much as the smallest machine has, when it lies on free slots that are drawn whatever
// their type: the type with the most of them stays, of equals the strongest. What a job
// has is a part of what it is to have. n is 0 when no slot is free.
func (f *floor) trimmed(s seat) (kind, n int) {
	slot := f.one().typ.Count
	want, counts := s.n/slot, make([]int, len(f.kinds))
	var free []int // its kind, for each
	for w := range f.kinds {
		k := &f.kinds[w]
		slots := 0
		for _, i := range k.machines {
			slots += f.free[i] / slot
		}
		if r := s.Running; r != nil && r.Offering == k.offering {
			counts[w] = min(r.Config.Replicas/slot, s.n/slot, slots)
			want, slots = want-counts[w], slots-counts[w]
		}
		for range slots {
			free = append(free, w)
		}
	}
	rng := rand.New(rand.NewPCG(hashOf(s.Job.ID), streamSlots+uint64(f.p.Now.Unix())))
	rng.Shuffle(len(free), func(a, b int) { free[a], free[b] = free[b], free[a] })
	for _, w := range free[:min(want, len(free))] {
		counts[w]++
	}
	for w := range counts {
		if counts[w] > counts[kind] || counts[w] == counts[kind] && f.strength(w) < f.strength(kind) {
			kind = w
		}
	}
	return kind, counts[kind] * slot
}

// strength is the place of a kind among the strongest, the last for one that is not there.
func (f *floor) strength(w int) int {
	if i := slices.Index(strongest, f.kinds[w].typ.Accelerator); i >= 0 {
		return i
	}
	return len(strongest)
}

func hashOf(id planner.JobID) uint64 {
	h := fnv.New64a()
	h.Write([]byte(id))
	return h.Sum64()
}
