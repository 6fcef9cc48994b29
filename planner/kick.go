package planner

import (
	"math/rand/v2"
	"slices"
)

// kick takes a few jobs out at a time and seats them anew in another order and
// under another view of what a machine costs; what is better is kept. It ends
// after the given number of tries. The draws have a fixed seed: the same program
// gives the same plan.
func (k *packing) kick(tries int) *packing {
	best := k
	random := rand.New(rand.NewPCG(1, streamKicks))
	var able []int
	for i := range k.pr.Jobs {
		if len(k.pr.Jobs[i].Columns) > 0 {
			able = append(able, i)
		}
	}
	if len(able) < 2 {
		return best
	}
	for range tries {
		trial := best.clone()
		out := trial.ruin(able, random)
		for _, i := range out {
			trial.unseat(i)
		}
		random.Shuffle(len(out), func(a, b int) { out[a], out[b] = out[b], out[a] })
		shared, blur := random.Float64(), 0.4*random.Float64()
		for _, i := range out {
			if p, ok := trial.bestShared(i, shared, blur, random); ok {
				trial.seatAt(i, p)
			}
		}
		if trial.value() > best.value()+tieSlack && trial.rowsHold() {
			trial.improve(3)
			best = trial
		}
	}
	return best
}

const streamKicks = 0x6b69636b

// ruin picks the jobs to take out: one at random, those that share machines with
// it, and a few others.
func (k *packing) ruin(able []int, random *rand.Rand) []int {
	first := able[random.IntN(len(able))]
	out := []int{first}
	for _, i := range able {
		if i != first && k.shares(first, i) {
			out = append(out, i)
		}
	}
	for range 1 + random.IntN(min(4, len(able))) {
		if i := able[random.IntN(len(able))]; !slices.Contains(out, i) {
			out = append(out, i)
		}
	}
	return out
}

// shares reports whether two jobs sit on a common machine.
func (k *packing) shares(a, b int) bool {
	return slices.ContainsFunc(k.seats[a].bins, func(x int) bool { return slices.Contains(k.seats[b].bins, x) })
}

// bestShared is best when a machine that has to be paid for counts for less than
// its rate: shared = 1 counts the job's part of it, 0 the whole. Each column is
// seen up to blur (a share of its gain) worse than it is.
func (k *packing) bestShared(i int, shared, blur float64, random *rand.Rand) (proposal, bool) {
	d := &k.pr.Jobs[i]
	var best proposal
	found, most := false, 0.0
	for c := range d.Columns {
		p, ok := k.propose(i, c, nil)
		if !ok {
			continue
		}
		col := &d.Columns[c]
		part := float64(col.PerNode) / float64(k.pr.Problem.Offers[col.Offer].Type.Count)
		score := (p.worth - p.spend*(1-shared*(1-part))) * (1 - blur*random.Float64())
		if score > tieSlack && (!found || score > most+tieSlack) {
			best, found, most = p, true, score
			best.bins = slices.Clone(p.bins)
		}
	}
	return best, found
}
