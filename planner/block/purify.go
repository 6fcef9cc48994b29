package block

import (
	"math"
	"slices"
)

// Settings of purification.
const (
	heldTol   = 1e-9  // room, relative, below which a job's row counts as held
	shareTol  = 1e-12 // part of a job's largest share that counts as none
	thinTol   = 1e-8  // share of time that an interior point leaves where nothing belongs
	secondGap = 1e-6  // of the second objective, where pivots would take seconds
	capTol    = 1e-9  // distance, relative, of the bound from what one job could reach alone, at which it caps
	rankTol   = 1e-11 // pivot, relative, below which directions depend on each other
)

// purify moves x along directions that keep the use of every capacity row, and each job's
// time and reach where these are held, until at most as many directions are left as
// there are capacity rows: shares that a job has beyond its own rows are one direction
// each, so that no more jobs than rows stay split. More directions than rows always have
// a combination that uses nothing; along it x goes until a share or some job's room is
// used up (Carathéodory), to the side on which the gain grows. It changes x alone, and
// neither the level nor, but for the better, the gain.
func (p *Program) purify(x []float64, t float64) {
	u := &purification{p: p, x: x, t: t, k: len(p.Capacity), dx: make([]float64, p.Columns())}
	var open []way
	var jobs []int32
	for j := range p.Jobs() {
		ways := u.ways(int32(j))
		if len(ways) == 0 {
			continue
		}
		open, jobs = append(open, ways...), append(jobs, int32(j))
		for len(open) > u.k {
			if !u.step(open[:u.k+1]) {
				return
			}
			open = open[:0]
			keep := jobs[:0]
			for _, q := range jobs {
				if w := u.ways(q); len(w) > 0 {
					open, keep = append(open, w...), append(keep, q)
				}
			}
			jobs = keep
		}
	}
}

type purification struct {
	p      *Program
	x, dx  []float64
	t      float64
	k      int
	active []int32
}

// way is a direction of one job: by[n] in column[n].
type way struct {
	job    int32
	n      int
	column [3]int32
	by     [3]float64
}

// room is what job j has left of its time, and of its reach beyond what it needs.
func (u *purification) room(j int32) (time, reach float64) {
	p := u.p
	time = 1
	for i := p.First[j]; i < p.First[j+1]; i++ {
		time -= u.x[i]
	}
	need := p.floor(int(j)) + p.follow(int(j))*u.t
	if need <= 0 {
		return time, math.Inf(1)
	}
	reach = (p.reach(u.x, int(j)) - need) / need
	return time, reach
}

// ways lists the directions of job j.
func (u *purification) ways(j int32) []way {
	p := u.p
	u.active = u.active[:0]
	most := slices.Max(u.x[p.First[j]:p.First[j+1]])
	for i := p.First[j]; i < p.First[j+1]; i++ {
		if u.x[i] > shareTol*most {
			u.active = append(u.active, i)
		} else {
			u.x[i] = 0
		}
	}
	if len(u.active) == 0 {
		return nil
	}
	time, reach := u.room(j)
	high, low := u.active[0], u.active[0]
	for _, i := range u.active {
		if p.speed(i) > p.speed(high) {
			high = i
		}
		if p.speed(i) < p.speed(low) {
			low = i
		}
	}
	top := p.speed(high)
	full, bound := time <= heldTol, reach <= heldTol && top > 0
	spread := (top - p.speed(low)) / max(top, 1e-300)
	if full && bound && spread < 1e-9 {
		bound = false // equal speeds: held time holds the reach
	}
	list := make([]way, 0, len(u.active))
	for _, i := range u.active {
		w := way{job: j, n: 1}
		w.column[0], w.by[0] = i, 1
		switch {
		case full && bound:
			if i == high || i == low {
				continue
			}
			// by[1] of high and by[2] of low: no time and no reach in all.
			w.n, w.column[1], w.column[2] = 3, high, low
			w.by[1] = -(p.speed(i) - p.speed(low)) / (top - p.speed(low))
			w.by[2] = -1 - w.by[1]
		case full:
			if i == high {
				continue
			}
			w.n, w.column[1], w.by[1] = 2, high, -1
		case bound:
			if i == high {
				continue
			}
			w.n, w.column[1], w.by[1] = 2, high, -p.speed(i)/top
		}
		list = append(list, w)
	}
	return list
}

// step goes along a combination of the ways that uses no capacity.
func (u *purification) step(ways []way) bool {
	p, k := u.p, u.k
	n := len(ways)
	a := make([]float64, k*n)
	for c, w := range ways {
		for q := range w.n {
			i := w.column[q]
			for e := p.Entry[i]; e < p.Entry[i+1]; e++ {
				r := int(p.Row[e])
				a[r*n+c] += p.Use[e] * w.by[q] / max(p.Capacity[r], 1e-300)
			}
		}
	}
	alpha := dependence(a, k, n)
	gain := 0.0
	for c, w := range ways {
		for q := range w.n {
			gain += alpha[c] * w.by[q] * p.Gain[w.column[q]]
		}
	}
	side := 1.0
	if gain < 0 {
		side = -1
	}
	var columns, jobs []int32
	for c, w := range ways {
		if alpha[c] == 0 {
			continue
		}
		if len(jobs) == 0 || jobs[len(jobs)-1] != w.job {
			jobs = append(jobs, w.job)
		}
		for q := range w.n {
			i := w.column[q]
			u.dx[i] += side * alpha[c] * w.by[q]
			columns = append(columns, i)
		}
	}
	most, last := math.Inf(1), int32(-1)
	for _, i := range columns {
		if d := u.dx[i]; d < 0 && -u.x[i] > d*most {
			most, last = -u.x[i]/d, i
		}
	}
	for _, j := range jobs {
		time, reach := u.room(j)
		used, lost := 0.0, 0.0
		for i := p.First[j]; i < p.First[j+1]; i++ {
			used += u.dx[i]
			lost -= u.dx[i] * p.speed(i)
		}
		if time > heldTol && used > 0 && time < used*most {
			most, last = time/used, -1
		}
		need := p.floor(int(j)) + p.follow(int(j))*u.t
		if reach > heldTol && lost > 0 && reach*need < lost*most {
			most, last = reach*need/lost, -1
		}
	}
	ok := !math.IsInf(most, 1)
	for _, i := range columns {
		if ok {
			u.x[i] = max(0, u.x[i]+most*u.dx[i])
		}
		u.dx[i] = 0
	}
	if last >= 0 {
		u.x[last] = 0
	}
	for _, j := range jobs {
		u.restore(int(j))
	}
	return ok
}

// restore gives job j what rounding took of its need, where next to nothing is left of a large
// share.
func (u *purification) restore(j int) {
	need := u.p.floor(j) + u.p.follow(j)*u.t
	reach := u.p.reach(u.x, j)
	if reach >= need || reach < need/2 {
		return
	}
	for i := u.p.First[j]; i < u.p.First[j+1]; i++ {
		u.x[i] *= need / reach
	}
}

// dependence is a combination of the n columns of a (k rows, n > k) that is zero, the
// largest factor 1. It destroys a.
func dependence(a []float64, k, n int) []float64 {
	pivot := make([]int, 0, k) // row → column of its pivot
	used := make([]bool, n)
	size := 0.0
	for _, v := range a {
		size = max(size, math.Abs(v))
	}
	rows := 0
	for r := range k {
		best := -1
		for c := range n {
			if !used[c] && (best < 0 || math.Abs(a[r*n+c]) > math.Abs(a[r*n+best])) {
				best = c
			}
		}
		if math.Abs(a[r*n+best]) <= rankTol*size {
			continue
		}
		copy(a[rows*n:rows*n+n], a[r*n:r*n+n])
		used[best] = true
		pivot = append(pivot, best)
		f := 1 / a[rows*n+best]
		for c := range n {
			a[rows*n+c] *= f
		}
		for q := range k {
			if (q < rows || q > r) && a[q*n+best] != 0 {
				f := a[q*n+best]
				for c := range n {
					a[q*n+c] -= f * a[rows*n+c]
				}
			}
		}
		rows++
	}
	alpha := make([]float64, n)
	for c := range n {
		if used[c] {
			continue
		}
		alpha[c] = 1
		for r, q := range pivot {
			alpha[q] = -a[r*n+c]
		}
		break
	}
	return alpha
}
