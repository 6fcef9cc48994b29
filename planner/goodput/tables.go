package goodput

import "math"

// Place is an allocation that tables have a column for.
type Place struct{ Nodes, Replicas int }

// PlacesOf lists the allocations worth a look on machines of perNode accelerators,
// up to most in all: powers of two on one machine, and whole machines. With these
// alone every plan that the counts allow can be placed without two jobs of several
// machines on one (Sia, section 3).
func PlacesOf(perNode, most int) []Place {
	var list []Place
	for k := 1; k < perNode && k <= most; k *= 2 {
		list = append(list, Place{1, k})
	}
	for n := 1; n*perNode <= most; n++ {
		list = append(list, Place{n, n * perNode})
	}
	return list
}

// noiseStep is the width of a bucket of noise scales, as a logarithm. Within it
// the goodput of a batch changes by less than that, since
//
//	d ln efficiency / d ln phi = phi/(phi + M0) − phi/(phi + M)  lies in [0, 1),
//
// and a bucket is computed at its middle: the error is below exp(noiseStep/2) − 1,
// which is 0.91 %.
const noiseStep = 0.018

// noiseFar is where the logarithm of var/sqr stops to matter: e^40 times more of one
// than of the other is all noise or none at any batch, to the last digit.
const noiseFar = 40.0

// bucketOf is the bucket of a noise, and the noise at its middle. Noise without
// variance, without gradient and without either have buckets of their own.
func bucketOf(n Noise) (bucket int, middle Noise) {
	switch {
	case n.Sqr == 0 && n.Var == 0:
		return math.MinInt, n
	case n.Sqr == 0:
		return math.MaxInt, UnknownNoise
	case n.Var == 0:
		return math.MinInt + 1, Noise{Sqr: 1}
	}
	log := math.Log(n.Var) - math.Log(n.Sqr)
	log = max(-noiseFar, min(log, noiseFar))
	bucket = int(math.Floor(log / noiseStep))
	return bucket, Noise{Sqr: 1, Var: math.Exp((float64(bucket) + 0.5) * noiseStep)}
}

// tableKey is what a row of tables depends on.
type tableKey struct {
	theta  Theta
	bucket int
	limits Limits
}

// pointKey is what one value of tables depends on.
type pointKey struct {
	tableKey
	place Place
}

// Tables computes the best batch of many models at a fixed list of places, and
// keeps each row for as long as it is asked for: by theta, limits, and the noise
// rounded to a bucket, so that a job whose noise drifts a little is not computed
// anew. A goodput from it is within 1 % of what Model.Best says. It is not safe
// for concurrent use.
type Tables struct {
	variant   Variant
	places    []Place
	old, rows map[tableKey][]Choice
	computed  int

	oldPoints, points map[pointKey]Choice // of places asked for one by one
}

// NewTables prepares tables with a column for each place; Best needs none.
func NewTables(v Variant, places []Place) *Tables {
	return &Tables{variant: v, places: places, rows: make(map[tableKey][]Choice), points: make(map[pointKey]Choice)}
}

// Row is the best batch of m at every place, with goodput 0 where it cannot run.
// The caller must not change it.
func (t *Tables) Row(m Model) []Choice {
	bucket, middle := bucketOf(m.Noise)
	key := tableKey{m.Theta, bucket, m.Limits}
	if row, ok := t.rows[key]; ok {
		return row
	}
	row, ok := t.old[key]
	if !ok {
		m.Noise = middle
		row = make([]Choice, len(t.places))
		for i, p := range t.places {
			row[i], _ = m.Best(t.variant, p.Nodes, p.Replicas)
		}
		t.computed++
	}
	t.rows[key] = row
	return row
}

// Best is the best batch of m at one place, for callers that ask for places one by
// one. ok is false where it cannot run.
func (t *Tables) Best(m Model, nodes, replicas int) (best Choice, ok bool) {
	bucket, middle := bucketOf(m.Noise)
	key := pointKey{tableKey{m.Theta, bucket, m.Limits}, Place{nodes, replicas}}
	best, known := t.points[key]
	if !known {
		if best, known = t.oldPoints[key]; !known {
			m.Noise = middle
			best, _ = m.Best(t.variant, nodes, replicas)
			t.computed++
		}
		t.points[key] = best
	}
	return best, best.Goodput > 0
}

// SameBucket reports whether tables take two noises for the same.
func SameBucket(a, b Noise) bool {
	first, _ := bucketOf(a)
	second, _ := bucketOf(b)
	return first == second
}

// NextRound forgets what was not asked for since it was last called.
func (t *Tables) NextRound() {
	t.oldPoints, t.points = t.points, make(map[pointKey]Choice, len(t.points))
	t.old, t.rows = t.rows, make(map[tableKey][]Choice, len(t.rows))
}

// Computed is how many rows and single values were computed so far rather than found.
func (t *Tables) Computed() int { return t.computed }
