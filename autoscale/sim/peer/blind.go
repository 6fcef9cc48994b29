package peer

import (
	"math/rand/v2"
	"slices"

	"github.com/goodfleet/goodfleet/planner"
)

// one is all kinds as if they were one, of machines of the smallest.
func (f *floor) one() *kind {
	k := f.kinds[0]
	k.workers = 0
	for _, x := range f.kinds {
		k.workers += x.workers
		if x.typ.Count < k.typ.Count {
			k.typ, k.offering, k.name = x.typ, x.offering, x.name
		}
	}
	return &k
}

// least is how many accelerators there are of the scarcest kind.
func (f *floor) least() int {
	n := f.kinds[0].workers
	for _, x := range f.kinds {
		n = min(n, x.workers)
	}
	return n
}

// seatBlind seats jobs that were chosen as if all kinds were one: those who have as much
// as they are to have stay; the others, large ones first, on kinds in an order that is
// drawn for each job and restart. Who finds room nowhere gets half as much, and so on. Where
// gangs may be mixed it is as Pollux.Mixed has it.
func (f *floor) seatBlind(chosen []seat, mixed bool) {
	var rest []seat
	for _, s := range chosen {
		if r := s.Running; mixed && r != nil && r.Since.Equal(f.p.Now) {
			s.n = r.Config.Replicas // one draw at an instant
		}
		kept := false
		for w := range f.kinds {
			kept = kept || f.keeps(s.JobState, &f.kinds[w], s.n)
		}
		if !kept {
			rest = append(rest, s)
		}
	}
	slices.SortStableFunc(rest, func(a, b seat) int { return b.n - a.n })
	if mixed {
		byService(rest)
	}
	for _, s := range rest {
		order := f.drawn(s.JobState)
		if mixed && s.n > f.one().typ.Count {
			if w, n := f.trimmed(s); n > 0 {
				order, s.n = []int{w}, n
			}
		}
		for seated := false; !seated && s.n > 0; s.n /= 2 {
			for _, w := range order {
				if seated = f.runs(s, w) && f.place(s.JobState, &f.kinds[w], s.n, false); seated {
					break
				}
			}
		}
	}
}

// runs reports whether a job can run on a kind at the size of a seat, packed.
func (f *floor) runs(s seat, w int) bool {
	k := &f.kinds[w]
	nodes, fits := k.spread(s.n)
	if !fits {
		return false
	}
	speed, ok := s.Job.Curve.Speed(k.typ.Accelerator, nodes, s.n)
	return ok && speed.Goodput > 0
}

// drawn is all kinds in an order drawn for a job and its restarts, each accelerator as
// likely to be the next.
func (f *floor) drawn(j *planner.JobState) []int {
	rng := rand.New(rand.NewPCG(hashOf(j.Job.ID), streamKinds+uint64(j.Restarts)))
	var order []int
	for len(order) < len(f.kinds) {
		all := 0
		for w := range f.kinds {
			if !slices.Contains(order, w) {
				all += f.kinds[w].workers
			}
		}
		at := rng.IntN(all)
		for w := range f.kinds {
			if slices.Contains(order, w) {
				continue
			}
			if at -= f.kinds[w].workers; at < 0 {
				order = append(order, w)
				break
			}
		}
	}
	return order
}
