package block

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// instance draws jobs whose speeds follow types with their own noise, as in a
// fleet of GPU generations: 60 % of the demand fits.
func instance(jobs, types int, seed uint64, level bool, templates int) *Program {
	r := rand.New(rand.NewPCG(seed, 7))
	speed := make([]float64, types)
	for k := range speed {
		speed[k] = r.Float64()
	}
	type row struct {
		a    []float64
		s    float64
		need float64
	}
	draw := func() row {
		h := math.Exp(r.Float64() * math.Log(20))
		base := math.Exp(r.NormFloat64())
		a := make([]float64, types)
		for k := range a {
			a[k] = base * math.Pow(h, speed[k]) * math.Exp(0.25*r.NormFloat64())
		}
		s := 1.0
		if u := r.Float64(); u > 0.7 {
			s = []float64{2, 4, 8}[int((u-0.7)*10)]
		}
		return row{a, s, 0.3 + 0.65*r.Float64()}
	}
	var rows []row
	for range templates {
		rows = append(rows, draw())
	}
	demand := 0.0
	list := make([]row, jobs)
	for j := range list {
		if templates > 0 {
			list[j] = rows[r.IntN(templates)]
		} else {
			list[j] = draw()
		}
		demand += list[j].s
	}
	capacity := make([]float64, types)
	total := 0.0
	for k := range capacity {
		capacity[k] = 0.5 + r.Float64()
		total += capacity[k]
	}
	for k := range capacity {
		capacity[k] = math.Ceil(0.6 * demand * capacity[k] / total)
	}
	cap := 0.0
	for _, c := range capacity {
		cap += c
	}
	p := New(capacity)
	p.Level = level
	for _, q := range list {
		e := 0.0
		for k := range q.a {
			e += q.a[k] * capacity[k] / cap
		}
		for k := range q.a {
			gain := q.a[k] / e
			if !level {
				gain = -q.s * (0.2 + speed[k]*speed[k])
			}
			p.Column(gain, q.a[k], []int32{int32(k)}, []float64{q.s})
		}
		if level {
			p.Job(0, e/q.s)
		} else {
			p.Job(0.4*q.need*e, 0)
		}
	}
	return p
}

func TestDbg(t *testing.T) {
	for _, c := range []struct{ m, k, tpl int }{{10, 3, 0}, {100, 3, 0}, {512, 3, 0}, {512, 3, 26}, {2048, 30, 0}, {2048, 30, 26}} {
		for _, level := range []bool{true, false} {
			p := instance(c.m, c.k, 1, level, c.tpl)
			for _, o := range []Options{{Gap: 1e-4}, {Gap: 1e-6}, {Gap: 1e-8}, {Vertex: true, Second: true}} {
				t0 := time.Now()
				s := Solve(p, o)
				split := 0
				for j := range p.Jobs() {
					n := 0
					for i := p.First[j]; i < p.First[j+1]; i++ {
						if s.X[i] > 1e-9 {
							n++
						}
					}
					if n > 1 {
						split++
					}
				}
				t.Log(c, level, o.Gap, s.Status, "obj", s.Objective, "gap", s.Gap, "viol", s.Violation, "it", s.Iterations, "piv", s.Pivots, "cols", s.Columns, "split", split, time.Since(t0).Milliseconds())
			}
		}
	}
}
