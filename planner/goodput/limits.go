package goodput

import "fmt"

// Limits are the batches that a job allows. A zero field but InitialBatch means
// what its comment says.
type Limits struct {
	InitialBatch int  // M0: the reference batch, which the learning rate was tuned for
	MaxBatch     int  // of all replicas together; 0: InitialBatch
	MinLocal     int  // of one pass on one replica; 0: 1
	MaxLocal     int  // of one pass on one replica, by its memory; 0: MaxBatch
	Accumulation bool // a step may add up several passes
}

// whole fills in what zero fields mean.
func (l Limits) whole() Limits {
	if l.MaxBatch == 0 {
		l.MaxBatch = l.InitialBatch
	}
	if l.MinLocal == 0 {
		l.MinLocal = 1
	}
	if l.MaxLocal == 0 {
		l.MaxLocal = l.MaxBatch
	}
	return l
}

// maxCount bounds every count that is read, so that their products fit an int.
const maxCount = 1 << 30

// check says what is wrong; field is the name of examples and profiles.
func (l Limits) check() (field, reason string) {
	for _, q := range []struct {
		name  string
		value int
		zero  bool
	}{{"m0", l.InitialBatch, false}, {"max_batch", l.MaxBatch, true}, {"min_local", l.MinLocal, true}, {"max_local", l.MaxLocal, true}} {
		if q.value < 0 || q.value > maxCount || q.value == 0 && !q.zero {
			return q.name, fmt.Sprintf("%d: want 1 to %d", q.value, maxCount)
		}
	}
	w := l.whole()
	switch {
	case w.MaxBatch < w.InitialBatch:
		return "max_batch", fmt.Sprintf("%d: is below the initial batch of %d", w.MaxBatch, w.InitialBatch)
	case w.MaxLocal < w.MinLocal:
		return "max_local", fmt.Sprintf("%d: is below the least local batch of %d", w.MaxLocal, w.MinLocal)
	}
	return "", ""
}

// MaxReplicas is the most replicas worth trying for a job that has run on at most
// profiled replicas so far: twice that, so that a prediction is never far from
// what was measured; at most as many as the largest batch feeds; and within
// [atLeast, atMost] as the job says (0: no limit), atLeast going first.
func (l Limits) MaxReplicas(profiled, atLeast, atMost int) int {
	w := l.whole()
	n := max(2*profiled, 1)
	if atMost > 0 {
		n = min(n, atMost)
	}
	n = max(n, atLeast)
	if w.MaxBatch < w.MinLocal*n {
		n = w.MaxBatch / w.MinLocal
	}
	return n
}
