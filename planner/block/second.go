package block

import (
	"math"
)

// second chooses, among the points of the best level, one of most gain. What a job
// may not reach beyond the level is settled: if its gains go with its speeds, as they
// mostly do, so is its gain, and only the other jobs have a choice.
func (v *polish) second(o Options) {
	v.join(-lockTol, false)
	v.s.Lock(lockTol)
	gain := make([]float64, v.p.Columns())
	unit, open := 0.0, 0
	for j := range v.p.Jobs() {
		if v.row[j] >= 0 && v.s.Held(int(v.row[j])) && v.proportional(j) {
			continue
		}
		open++
		for i := v.sc.First[j]; i < v.sc.First[j+1]; i++ {
			c := v.sc.column[i]
			gain[c] = v.p.Gain[c]
			if v.in[i] >= 0 {
				unit = max(unit, math.Abs(gain[c]))
			}
		}
	}
	if unit == 0 {
		return
	}
	if open >= secondHelp {
		v.inside(gain, o)
	}
	for i, c := range v.in {
		if c >= 0 {
			v.lp.Cost[c] = gain[v.sc.column[i]] / unit
		}
	}
	v.lp.Cost[v.level] = 0
	v.s.Primal(v.limit)
}

// proportional reports whether job j gains the same from each unit of speed.
func (v *polish) proportional(j int) bool {
	ratio := -1.0
	for i := v.sc.First[j]; i < v.sc.First[j+1]; i++ {
		gain, speed := v.p.Gain[v.sc.column[i]], v.sc.Speed[i]
		if gain == 0 && speed == 0 {
			continue
		}
		r := gain / speed
		if ratio >= 0 && !(math.Abs(r-ratio) <= 1e-12*ratio) {
			return false
		}
		ratio = r
	}
	return true
}

// inside moves the simplex method to an interior point that is good for the gain
// and keeps the level, from where few pivots are left.
func (v *polish) inside(gain []float64, o Options) {
	q := *v.p
	q.Level, q.Follow, q.Gain = false, nil, gain
	q.Floor = make([]float64, q.Jobs())
	t := v.s.Value(v.level) * v.sc.level
	for j := range q.Floor {
		q.Floor[j] = (v.p.floor(j) + v.p.follow(j)*t) * (1 - insideSlack)
	}
	keep := make([]bool, q.Columns())
	for i, c := range v.in {
		keep[v.sc.column[i]] = c >= 0
	}
	sc := q.scale(q.everyone(), keep, 1)
	it := newInterior(sc)
	it.begin()
	it.run(1e-6, o.iterations())
	if it.primal > 1e-5 {
		return // no better than the vertex it would leave
	}
	x := make([]float64, q.Columns())
	for i, c := range sc.column {
		x[c] = it.x[i]
	}
	q.repair(x)
	at := make([]float64, v.lp.Columns())
	for i, c := range v.in {
		if c >= 0 {
			at[c] = x[v.sc.column[i]]
		}
	}
	at[v.level] = v.s.Value(v.level)
	v.s.Start(at)
}
