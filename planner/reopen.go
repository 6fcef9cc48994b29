package planner

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
)

// reopen betters a plan by the relaxation: it empties some of its machines, those that
// earn least of the rent that the prices ask of them before all, and lets the jobs of
// these, with all that wait, be seated anew as a dive would. A better plan is gone on
// from, as leastOver has it. It ends after reopenTries, after reopenIdle in a row that found
// nothing, or within enough of the bound. The draws have a fixed seed.
func (r *relaxation) reopen(best *packing, slack, enough float64, exchanges int) *packing {
	if len(r.basis) == 0 {
		return best
	}
	random := rand.New(rand.NewPCG(1, streamReopen))
	idle := 0
	for try := 0; try < reopenTries && idle < reopenIdle && r.bound > best.value()+enough; try++ {
		next := best.clone()
		for _, b := range r.worst(best, try, random) {
			for i := range next.seats {
				if s := &next.seats[i]; s.column >= 0 && slices.Contains(s.bins, b) {
					next.unseat(i)
				}
			}
		}
		next = r.dive(next, exchanges)
		if next.rowsHold() && next.value() > best.value()+next.leastOver(best, slack) {
			best, idle = next, 0
		} else {
			idle++
		}
	}
	return best
}

const (
	streamReopen = 0x6f70656e
	reopenTries  = 8
	reopenIdle   = 4
	reopenPart   = 0.3 // of the machines that a plan uses are emptied
	reopenLeast  = 4   // and at least so many
)

// leastOver is by how much a plan must be better than another to take its place: by slack
// where it moves a job that the other seats on a machine that is there, else by a tie.
func (k *packing) leastOver(other *packing, slack float64) float64 {
	for i := range other.seats {
		s, mine := &other.seats[i], &k.seats[i]
		for n, b := range s.bins { // machines that are there are the first bins of every packing
			if other.bins[b].machine >= 0 && (mine.column != s.column || mine.bins[n] != b) {
				return slack
			}
		}
	}
	return tieSlack
}

// worst picks the machines of a plan to be emptied: at the first try those that earn
// least of their rent, then more and more at random.
func (r *relaxation) worst(k *packing, try int, random *rand.Rand) []int {
	type choice struct {
		bin int
		key float64
	}
	short := make([]float64, len(k.bins)) // of the rent of each
	sum, used := 0.0, 0
	for b := range k.bins {
		if c := r.classOf(&k.bins[b]); c >= 0 && k.bins[b].jobs > 0 {
			short[b] = r.rent[c]
		}
	}
	for i := range k.seats {
		s := &k.seats[i]
		for _, b := range s.bins {
			part := 1 / float64(len(s.bins))
			short[b] -= part * (s.worth - r.price[i])
		}
	}
	for b := range k.bins {
		if k.bins[b].jobs > 0 {
			short[b] = max(short[b], 0)
			sum += short[b]
			used++
		}
	}
	var list []choice
	for b := range k.bins {
		if k.bins[b].jobs == 0 {
			continue
		}
		weight := short[b] + 0.1*float64(try)*sum/float64(used) + 1e-9
		list = append(list, choice{b, -math.Log(1-random.Float64()) / weight})
		if try == 0 {
			list[len(list)-1].key = -short[b]
		}
	}
	slices.SortStableFunc(list, func(a, b choice) int { return cmp.Compare(a.key, b.key) })
	most := min(len(list), max(reopenLeast, int(reopenPart*float64(used))))
	bins := make([]int, 0, most)
	for _, c := range list[:most] {
		bins = append(bins, c.bin)
	}
	return bins
}
