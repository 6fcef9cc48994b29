package share

import (
	"cmp"
	"math"
	"slices"
)

const (
	alloxWork  = 2_000_000_000 // looks at a job on a type
	alloxNoise = 1e-13         // part of what is added up, by which a path is no shorter
)

// matching places jobs one by one, each by the cheapest path: it takes a seat at some place, whose
// job goes to another place, and so on to a free seat. So those that are placed have the least sum
// of completion times (successive shortest paths).
//
// The price of a place is what the rest of the path costs from there, 0 where a seat is free. In
// the queues of a type the longest jobs are at the end, so a path leaves a place inside the type
// for the next one by its shortest job, or for the one behind by its longest: two passes find it. The
// cheapest place of another type is, for all jobs in the order of their times there, a walk along
// the lower hull of the lines k·time + price. One look at all jobs on all types makes paths longer by
// any number of places and one type.
type matching struct {
	q       *queues
	time    [][]float64 // type × job, s; +Inf: not there
	kind    []int       // per job: its type; -1: not placed
	order   [][]int     // per type: jobs so far that could run there, the longest first
	members [][]int     // per type: those that do
	price   [][]float64 // type × place, from the end of the queues
	via     [][]int     // the job by which a path goes on from a place, or how else
	best    []float64   // per job: the least that a place of another type costs it, with its price
	entry   []place     // and which that is
	work    int         // left
	hull    []int
	below   []float64 // per line of the hull: the time from which on the next is lower
}

// Ways on from a place that are no job's to another type.
const (
	toFreeSeat = -1 - iota
	toNext     // by the shortest job of the place
	toLast     // by the longest
)

// paths places all jobs, and returns their types and prices of places that prove their sum to be
// the least. If the work ends before that, the jobs that are left go to their fastest types, and the
// prices prove less.
func (q *queues) paths(work int) (kind []int, prices [][]float64) {
	m := newMatching(q, work)
	prices = m.price
	for _, j := range q.jobs {
		m.enter(j)
		if !m.search() {
			break
		}
		prices = m.price
		m.follow(j)
	}
	if m.search() {
		prices = m.price
	}
	for _, j := range q.jobs {
		if m.kind[j] < 0 {
			m.kind[j] = m.fastest(j)
		}
	}
	return m.kind, prices
}

func newMatching(q *queues, work int) *matching {
	n, types := len(q.p.Jobs), len(q.p.Types)
	m := &matching{q: q, work: work, kind: make([]int, n), best: make([]float64, n), entry: make([]place, n),
		time: make([][]float64, types), order: make([][]int, types), members: make([][]int, types),
		price: make([][]float64, types), via: make([][]int, types)}
	for j := range m.kind {
		m.kind[j] = -1
	}
	for w, t := range q.p.Types {
		m.time[w] = make([]float64, n)
		for j := range n {
			if m.time[w][j] = math.Inf(1); t.Workers > 0 {
				m.time[w][j] = q.alone(j, w)
			}
		}
		if t.Workers > 0 {
			m.price[w] = []float64{0}
		}
	}
	return m
}

// fastest is the type on which job j takes the least time.
func (m *matching) fastest(j int) int {
	best := 0
	for w := range m.time {
		if m.time[w][j] < m.time[best][j] {
			best = w
		}
	}
	return best
}

// enter lists job j on each type where it can run.
func (m *matching) enter(j int) {
	for w := range m.order {
		if !math.IsInf(m.time[w][j], 1) {
			m.insert(w, &m.order[w], j)
		}
	}
}

// insert puts job j into a list of jobs by their time on type w.
func (m *matching) insert(w int, list *[]int, j int) {
	at, _ := m.find(w, *list, j)
	*list = slices.Insert(*list, at, j)
}

func (m *matching) find(w int, list []int, j int) (int, bool) {
	return slices.BinarySearchFunc(list, j, func(a, b int) int {
		return cmp.Or(cmp.Compare(m.time[w][b], m.time[w][a]), cmp.Compare(b, a)) // of equal jobs the first to arrive runs first
	})
}

// move gives job j another type.
func (m *matching) move(j, w int) {
	if old := m.kind[j]; old >= 0 {
		at, _ := m.find(old, m.members[old], j)
		m.members[old] = slices.Delete(m.members[old], at, at+1)
	}
	m.kind[j] = w
	m.insert(w, &m.members[w], j)
}

// search prices all places; false if the work ends first.
func (m *matching) search() bool {
	m.price = make([][]float64, len(m.time))
	for w, t := range m.q.p.Types {
		if t.Workers == 0 {
			continue
		}
		places := len(m.members[w])/t.Workers + 1
		m.price[w], m.via[w] = make([]float64, places), make([]int, places)
		for i := range m.price[w] {
			m.price[w][i], m.via[w][i] = math.Inf(1), toFreeSeat
		}
		m.price[w][places-1] = 0
	}
	for j := range m.best {
		m.best[j] = math.Inf(1)
	}
	fresh := make([]bool, len(m.time)) // types whose prices all jobs have seen
	for done := false; !done; {
		for w := range m.time {
			if !fresh[w] {
				if m.work -= len(m.order[w]); m.work < 0 {
					return false
				}
				m.offer(w)
				fresh[w] = true
			}
		}
		done = true
		for w := range m.time {
			if m.leave(w) {
				fresh[w], done = false, false
			}
		}
	}
	return true
}

// offer shows the places of type w to all jobs that are elsewhere.
func (m *matching) offer(w int) {
	price, time := m.price[w], m.time[w]
	m.hull, m.below = m.hull[:0], m.below[:0]
	meet := func(a, b int) float64 { return (price[a] - price[b]) / float64(b-a) }
	for i, v := range price {
		if math.IsInf(v, 1) {
			continue
		}
		for n := len(m.hull); n > 1 && meet(m.hull[n-1], i) >= m.below[n-2]; n-- {
			m.hull, m.below = m.hull[:n-1], m.below[:n-2]
		}
		if n := len(m.hull); n > 0 {
			m.below = append(m.below, meet(m.hull[n-1], i))
		}
		m.hull = append(m.hull, i)
	}
	at := 0
	for _, j := range m.order[w] {
		for at < len(m.below) && time[j] < m.below[at] {
			at++
		}
		if m.kind[j] == w {
			continue
		}
		i := m.hull[at]
		own := float64(i+1) * time[j]
		// A way that is shorter by rounding alone could lead back to where it comes from.
		if v := own + price[i]; math.IsInf(m.best[j], 1) || v < m.best[j]-alloxNoise*max(own, m.best[j]) {
			m.best[j], m.entry[j] = v, place{w, i}
		}
	}
}

// leave prices the places of type w by the ways that lead on from them, and reports whether any is
// cheaper than it was.
func (m *matching) leave(w int) (cheaper bool) {
	list, price, via, time := m.members[w], m.price[w], m.via[w], m.time[w]
	full := len(price) - 1 // places; the one after them has a free seat
	seats := m.q.p.Types[w].Workers
	take := func(i int, v, size float64, way int) {
		if v < price[i]-alloxNoise*size {
			price[i], via[i], cheaper = v, way, true
		}
	}
	for i := range full {
		for _, j := range list[i*seats : (i+1)*seats] {
			own := float64(i+1) * time[j]
			take(i, m.best[j]-own, max(own, m.best[j]), j)
		}
	}
	for i := full - 1; i >= 0; i-- {
		t := time[list[(i+1)*seats-1]]
		take(i, price[i+1]+t, max(price[i+1], t), toNext)
	}
	for i := 1; i < full; i++ {
		t := time[list[i*seats]]
		take(i, price[i-1]-t, max(price[i-1], t), toLast)
	}
	return cheaper
}

// follow places job j by the path from its cheapest place.
func (m *matching) follow(j int) {
	at := m.entry[j]
	m.move(j, at.w)
	for range len(m.q.jobs) * len(m.time) { // no path is longer; rounding might lead round in a circle
		switch way := m.via[at.w][at.k]; way {
		case toFreeSeat:
			return
		case toNext:
			at.k++
		case toLast:
			at.k--
		default:
			next := m.entry[way]
			m.move(way, next.w)
			at = next
		}
	}
}
