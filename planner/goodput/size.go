package goodput

import "math"

// FrontPoint is a candidate size of a cluster, with the best use that was found
// for it.
type FrontPoint struct {
	Performance float64 // higher is better
	Nodes       int
	Utility     float64
}

// UtilityBand is the range of utilities in which a cluster keeps its size.
type UtilityBand struct {
	Min, Max float64
}

// PublishedBand is the band that AdaptDL uses.
var PublishedBand = UtilityBand{Min: 0.35, Max: 0.65}

// DesiredNodes is the size that a cluster of current nodes should have, by the
// rule of AdaptDL's released scheduler. It keeps its size when the best use of at
// most that many nodes lies in the band; else it takes the size of the front
// whose utility is nearest to the middle, not counting those below the band. Of
// two utilities that are about the same the larger cluster wins if it comes
// later.
func DesiredNodes(front []FrontPoint, current int, band UtilityBand) int {
	held := -1
	for i, p := range front {
		if p.Nodes <= current && (held < 0 || p.Performance > front[held].Performance) {
			held = i
		}
	}
	if held >= 0 && band.Min <= front[held].Utility && front[held].Utility <= band.Max {
		return current
	}
	target := (band.Min + band.Max) / 2
	nodes, utility := current, math.Inf(1)
	for _, p := range front {
		if p.Utility < band.Min {
			continue
		}
		if aboutEqual(p.Utility, utility) && p.Nodes > nodes {
			nodes = p.Nodes
		}
		if math.Abs(p.Utility-target) < math.Abs(utility-target) {
			nodes, utility = p.Nodes, p.Utility
		}
	}
	return nodes
}

// aboutEqual compares as NumPy's isclose does with its defaults.
func aboutEqual(a, b float64) bool {
	return !math.IsInf(b, 0) && math.Abs(a-b) <= 1e-8+1e-5*math.Abs(b)
}

// GrowthRule is when a single job's cluster grows, and how far: fractions are of
// ideal scaling, the goodput per accelerator over that of one accelerator.
type GrowthRule struct {
	Grow   float64 // above this fraction the cluster grows
	Target float64 // to the size whose fraction is nearest to this
}

// PublishedGrowth is the rule of the paper's cloud experiment.
var PublishedGrowth = GrowthRule{Grow: 2. / 3, Target: 1. / 2}

// PaperNodes is the size that the cluster of a single job should have, from nodes
// of perNode accelerators each, and the fraction that it has now. It never
// shrinks; of two sizes as near to the target the smaller wins. ok is false when
// the job cannot run on one accelerator.
func (m *Model) PaperNodes(v Variant, rule GrowthRule, perNode, nodes, most int) (wanted int, fraction float64, ok bool) {
	one, ok := m.Best(v, 1, 1)
	if !ok {
		return 0, 0, false
	}
	fractionOf := func(n int) float64 {
		best, _ := m.Best(v, n, n*perNode)
		return best.Goodput / float64(n*perNode) / one.Goodput
	}
	fraction, wanted = fractionOf(nodes), nodes
	if fraction <= rule.Grow {
		return nodes, fraction, true
	}
	distance := math.Abs(fraction - rule.Target)
	for n := nodes + 1; n <= most; n++ {
		if d := math.Abs(fractionOf(n) - rule.Target); d < distance {
			wanted, distance = n, d
		}
	}
	return wanted, fraction, true
}

// Limits of AdaptDL's rule for a single job on rented workers.
const (
	workerEfficiency = 0.5  // speedup per node, of that of one replica, that growth must keep
	workerGain       = 1.05 // of speedup that a change must bring
	workerChange     = 0.15 // of the replicas that a change must move
)

// Workers is the number of replicas that a single job should have on nodes of
// perNode accelerators, by AdaptDL's rule for Ray: the most whose speedup per node
// is at least half of that of one replica, unless that brings too little or
// changes too few against current (0: none yet).
func (s *Speedups) Workers(current, perNode, most int) int {
	wanted := 1
	for n := 1; n <= most; n++ {
		nodes := (n + perNode - 1) / perNode
		if s.Of(n, n)/float64(nodes) >= workerEfficiency*s.Of(1, 1) {
			wanted = n
		}
	}
	change := math.Abs(float64(wanted - current))
	if current > 0 && (s.Of(wanted, wanted) < workerGain*s.Of(current, current) || change < workerChange*float64(current)) {
		return current
	}
	return wanted
}
