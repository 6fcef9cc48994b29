package block

import (
	"cmp"
	"math"
	"slices"
)

// dealTol is the part of its reach, or time, that a job may lack of what it is dealt.
const dealTol = 1e-13

// deal deals the shares that jobs alike in all have together out again, one job after the
// other, so that few of them are split: an interior point gives each a little of every column.
// Where they must reach something, a job takes of the slowest column, and, where that alone
// is too slow, as much of the fastest as fills its time. It changes neither what is used of
// the capacity nor, but for rounding, what each job reaches and all gain.
func (p *Program) deal(x []float64, t float64) {
	for _, jobs := range p.alike() {
		p.dealTo(jobs, x, p.floor(int(jobs[0]))+p.follow(int(jobs[0]))*t)
	}
}

// alike are the sets of two or more jobs that nothing tells apart.
func (p *Program) alike() [][]int32 {
	sets := make(map[uint64]int)
	var list [][]int32
	for j := range int32(p.Jobs()) {
		h := p.hash(j)
		n, ok := sets[h]
		if !ok {
			sets[h] = len(list)
			list = append(list, []int32{j})
		} else if p.same(list[n][0], j) {
			list[n] = append(list[n], j)
		}
	}
	return slices.DeleteFunc(list, func(jobs []int32) bool { return len(jobs) < 2 })
}

// hash is one number of all that same compares.
func (p *Program) hash(j int32) uint64 {
	h := uint64(14695981039346656037)
	add := func(v float64) { h = (h ^ math.Float64bits(v)) * 1099511628211 }
	add(p.floor(int(j)))
	add(p.follow(int(j)))
	for i := p.First[j]; i < p.First[j+1]; i++ {
		add(p.speed(i))
		add(p.Gain[i])
		for k := p.Entry[i]; k < p.Entry[i+1]; k++ {
			add(float64(p.Row[k]))
			add(p.Use[k])
		}
	}
	return h
}

// same reports whether two jobs have the same needs and columns.
func (p *Program) same(a, b int32) bool {
	i, j, n := p.First[a], p.First[b], p.First[a+1]-p.First[a]
	if p.First[b+1]-j != n || p.floor(int(a)) != p.floor(int(b)) || p.follow(int(a)) != p.follow(int(b)) {
		return false
	}
	for c := range n {
		if p.speed(i+c) != p.speed(j+c) || p.Gain[i+c] != p.Gain[j+c] ||
			!slices.Equal(p.Row[p.Entry[i+c]:p.Entry[i+c+1]], p.Row[p.Entry[j+c]:p.Entry[j+c+1]]) ||
			!slices.Equal(p.Use[p.Entry[i+c]:p.Entry[i+c+1]], p.Use[p.Entry[j+c]:p.Entry[j+c+1]]) {
			return false
		}
	}
	return true
}

// dealTo deals to jobs that are alike, and of which each must reach need.
func (p *Program) dealTo(jobs []int32, x []float64, need float64) {
	n := int(p.First[jobs[0]+1] - p.First[jobs[0]])
	total := make([]float64, n) // of each column, over the jobs
	reach, time := 0.0, 0.0
	for _, j := range jobs {
		for c, v := range x[p.First[j]:p.First[j+1]] {
			total[c] += v
			time += v
		}
		reach += p.reach(x, int(j))
	}
	many := float64(len(jobs))
	if reach < need*many*(1-1e-9) {
		return
	}
	left := make([]int, 0, n) // columns, the slowest first
	for c, v := range total {
		if v > 0 {
			left = append(left, c)
		}
	}
	speed := func(c int) float64 { return p.speed(p.First[jobs[0]] + int32(c)) }
	slices.SortStableFunc(left, func(a, b int) int { return cmp.Compare(speed(a), speed(b)) })
	dealt := make([]float64, n*len(jobs))
	for q := range jobs {
		to := dealt[q*n : q*n+n]
		take := func(c int, v float64) {
			v = min(v, total[c])
			to[c] += v
			total[c] -= v
		}
		hours, still := 1.0, reach/many
		if need <= 0 {
			hours = time / many
		}
		for len(left) > 0 {
			a, b := left[0], left[len(left)-1]
			switch {
			case need <= 0:
				v := min(hours, total[a])
				take(a, v)
				hours -= v
			case speed(a)*hours >= still || a == b:
				v := min(still/speed(a), total[a], hours)
				take(a, v)
				hours -= v
				still -= v * speed(a)
			default: // both fill the time that is left and reach what is still to be reached
				ya := max(0, (speed(b)*hours-still)/(speed(b)-speed(a)))
				yb := hours - ya
				f := 1.0
				if ya > total[a] {
					f = total[a] / ya
				}
				if yb*f > total[b] {
					f = total[b] / yb
				}
				take(a, f*ya)
				take(b, f*yb)
				hours *= 1 - f
				still *= 1 - f
			}
			left = slices.DeleteFunc(left, func(c int) bool { return total[c] <= dealTol })
			if need > 0 && still <= dealTol*reach/many || hours <= dealTol {
				break
			}
		}
	}
	for q, j := range jobs {
		copy(x[p.First[j]:p.First[j+1]], dealt[q*n:q*n+n])
	}
}
