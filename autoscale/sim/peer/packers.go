package peer

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/goodfleet/goodfleet/planner/share"
)

// packGain is the sum of what two jobs keep of their speeds alone that is worth sharing for, to
// FIFO.
const packGain = 1.5

// PackFIFO shares as Gavel's FIFO with packing: jobs in order of arrival get the fastest kind with
// enough free workers, until one fits nowhere. Those who are left, in order, each join the one
// of those who were placed, and have nobody yet, that makes most of what both keep of their
// speeds; the first that finds nobody ends it.
func PackFIFO(p *share.Problem) (jobs, pairs [][]float64, err error) {
	jobs, pairs = nothing(p)
	free := make([]int, len(p.Types))
	for w, t := range p.Types {
		free[w] = t.Workers
	}
	var placed, queue []int
	on := make([]int, len(p.Jobs))
	for j := range p.Jobs {
		best, fits := -1, false
		for w := range p.Types {
			if free[w] < p.Jobs[j].Scale {
				continue
			}
			fits = true
			if v := p.Jobs[j].Throughput[w]; v > 0 && (best < 0 || v > p.Jobs[j].Throughput[best]) {
				best = w
			}
		}
		if !fits {
			if slices.Max(free) > 0 {
				j++ // the head that holds up the others is forgotten
			}
			for ; j < len(p.Jobs); j++ {
				queue = append(queue, j)
			}
			break
		}
		if best >= 0 {
			free[best] -= p.Jobs[j].Scale
			placed, on[j] = append(placed, j), best
		}
	}
	of := pairsOf(p)
	for _, j := range queue {
		most, with, pair := packGain, -1, -1
		for n, i := range placed {
			if q, ok := of[[2]int{i, j}]; ok {
				if sum := keep(p, q, on[i]); sum > most {
					most, with, pair = sum, n, q
				}
			}
		}
		if with < 0 {
			break
		}
		pairs[pair][on[placed[with]]] = 1
		placed = slices.Delete(placed, with, with+1)
	}
	for _, j := range placed {
		jobs[j][on[j]] = 1
	}
	return jobs, pairs, nil
}

// nothing is no shares.
func nothing(p *share.Problem) (jobs, pairs [][]float64) {
	jobs, pairs = make([][]float64, len(p.Jobs)), make([][]float64, len(p.Pairs))
	for _, list := range [][][]float64{jobs, pairs} {
		for i := range list {
			list[i] = make([]float64, len(p.Types))
		}
	}
	return jobs, pairs
}

// pairsOf finds pairs by their jobs, the one that came first before the other.
func pairsOf(p *share.Problem) map[[2]int]int {
	of := make(map[[2]int]int, len(p.Pairs))
	for q := range p.Pairs {
		of[[2]int{p.Pairs[q].A, p.Pairs[q].B}] = q
	}
	return of
}

// keep is the sum of what the jobs of a pair keep of their speeds alone on a type; 0 where they do
// not fit.
func keep(p *share.Problem, pair, w int) float64 {
	q := &p.Pairs[pair]
	v := q.Throughput[w]
	if v[0] <= 0 || v[1] <= 0 {
		return 0
	}
	return v[0]/p.Jobs[q.A].Throughput[w] + v[1]/p.Jobs[q.B].Throughput[w]
}

// Gandiva shares as the model of Gandiva in Gavel's simulator: while there are workers for all,
// equal parts of all kinds to each job. Else jobs are paired at random and stay so, unless the two
// do not fit everywhere or keep too little together, and pairs, and who found nobody, get equal
// parts.
type Gandiva struct {
	rng  *rand.Rand
	with map[string]string // mates, by job
}

// streamPairs keeps the pairs drawn apart from all other randomness.
const streamPairs = 0x70_61_69_72

// gandivaLeast is what two jobs must keep together, summed over all kinds.
const gandivaLeast = 1

// NewGandiva begins with no pairs.
func NewGandiva(seed uint64) *Gandiva {
	return &Gandiva{rng: rand.New(rand.NewPCG(seed, streamPairs)), with: map[string]string{}}
}

// Pack is a Packing.
func (g *Gandiva) Pack(p *share.Problem) (jobs, pairs [][]float64, err error) {
	jobs, pairs = nothing(p)
	of := pairsOf(p)
	index := make(map[string]int, len(p.Jobs))
	asked, workers := 0, 0
	for j := range p.Jobs {
		index[p.Jobs[j].ID] = j
		asked += p.Jobs[j].Scale
	}
	for _, t := range p.Types {
		workers += t.Workers
	}
	pairOf := func(a, b int) int { return of[[2]int{min(a, b), max(a, b)}] }
	for a, b := range g.with {
		i, here := index[a]
		j, there := index[b]
		if !here || !there || !bears(p, pairOf(i, j)) {
			delete(g.with, a)
			delete(g.with, b)
		}
	}
	if asked <= workers {
		for j := range p.Jobs {
			equalParts(p, jobs[j], p.Jobs[j].Scale, len(p.Jobs))
		}
		return jobs, pairs, nil
	}
	var single []int
	for j := range p.Jobs {
		if _, paired := g.with[p.Jobs[j].ID]; !paired {
			single = append(single, j)
		}
	}
	for range len(single) {
		if len(single) < 2 {
			break
		}
		i := g.rng.IntN(len(single))
		k := (i + 1 + g.rng.IntN(len(single)-1)) % len(single)
		a, b := single[i], single[k]
		if p.Jobs[a].Scale != p.Jobs[b].Scale {
			continue
		}
		g.with[p.Jobs[a].ID], g.with[p.Jobs[b].ID] = p.Jobs[b].ID, p.Jobs[a].ID
		single = slices.DeleteFunc(single, func(j int) bool { return j == a || j == b })
	}
	all := len(single) + len(g.with)/2
	for _, j := range single {
		equalParts(p, jobs[j], p.Jobs[j].Scale, all)
	}
	for a, b := range g.with {
		if i, j := index[a], index[b]; i < j {
			equalParts(p, pairs[pairOf(i, j)], p.Jobs[i].Scale, all)
		}
	}
	return jobs, pairs, nil
}

// bears reports whether a pair is worth having, by what both keep on all kinds.
func bears(p *share.Problem, pair int) bool {
	sum := 0.0
	for w := range p.Types {
		v := keep(p, pair, w)
		if v == 0 {
			return false
		}
		sum += v
	}
	return sum >= gandivaLeast
}

// equalParts gives one of n the part of each kind that is its own, within all of its time.
func equalParts(p *share.Problem, x []float64, scale, n int) {
	total := 0.0
	for w, t := range p.Types {
		x[w] = float64(t.Workers) / float64(n*scale)
		total += x[w]
	}
	for w := range x {
		x[w] /= max(1, total)
	}
}

// PackFair shares by max-min fairness with packing, of equally fair shares such as our simplex
// method ends at.
func PackFair(p *share.Problem) (jobs, pairs [][]float64, err error) {
	rule, ok := share.Find(fairPacked)
	if !ok {
		return nil, nil, fmt.Errorf("there is no rule %q", fairPacked)
	}
	a, err := rule.Share(p, share.Options{Gap: 1e-6})
	if err != nil {
		return nil, nil, err
	}
	jobs, pairs = nothing(p)
	copy(jobs, a.Share)
	for i, v := range a.PairShare {
		pairs[i/len(p.Types)][i%len(p.Types)] = v
	}
	return jobs, pairs, nil
}

// fairPacked is max-min fairness with packing.
const fairPacked = "max_min_fairness_packed"
