package share

import (
	"math"
	"slices"
)

// price adds, for each job, the pairs that earn most at the present prices, and counts
// them. excess is by how much the objective could exceed the prices' bound because of
// columns that earn something: each job's time, sold at the most that any column of
// which it is the first job earns.
func (f *pairing) price(infeasible bool) (added int, excess float64) {
	m, n := len(f.p.Jobs), f.types
	price := f.s.Price
	if infeasible {
		price = f.s.Ray
	}
	time, speed, rent := make([]float64, m), make([]float64, m), make([]float64, n)
	for j := range m {
		time[j], speed[j] = price(j), price(m+j)/f.speed[j]
	}
	for w, t := range f.p.Types {
		if t.Workers > 0 {
			rent[w] = price(2*m+w) / float64(t.Workers)
		}
	}
	type option struct {
		i    int
		earn float64
	}
	best := make([][]option, m)
	keep := func(j int, o option) {
		list := best[j]
		at := len(list)
		for at > 0 && list[at-1].earn < o.earn {
			at--
		}
		if at < packedPerJob {
			list = slices.Insert(list, at, o)
			best[j] = list[:min(len(list), packedPerJob)]
		}
	}
	short := make([]float64, m)
	for k, q := range f.p.Pairs {
		scale := float64(f.p.Jobs[q.A].Scale)
		for w, v := range q.Throughput {
			if f.p.Types[w].Workers == 0 || v[0] <= 0 && v[1] <= 0 || f.pair[k*n+w] >= 0 {
				continue
			}
			earn := v[0]*speed[q.A] + v[1]*speed[q.B] - time[q.A] - time[q.B] - scale*rent[w]
			if f.d.follow == nil && !infeasible {
				earn += f.pairValue(k, w) / f.gain
			}
			if earn > packedEarn {
				o := option{k*n + w, earn}
				keep(q.A, o)
				keep(q.B, o)
				short[q.A] = max(short[q.A], earn)
			}
		}
	}
	for j := range m {
		excess += short[j]
		for _, o := range best[j] {
			if f.pair[o.i] < 0 {
				f.add(o.i)
				added++
			}
		}
	}
	return added, excess
}

// support bounds Σ worth·theta over all points by the prices of time and workers, and
// what columns earn beyond them.
func (f *pairing) support(r *plan) float64 {
	m := len(f.p.Jobs)
	total := 0.0
	time := make([]float64, m)
	for j := range m {
		time[j] = max(0, f.s.Price(j)) * f.gain
	}
	short := make([]float64, m)
	for j := range m {
		for w, t := range f.p.Types {
			if v := f.d.throughput(j, w); v > 0 && t.Workers > 0 {
				short[j] = max(short[j], v*r.worth[j]-time[j]-float64(f.p.Jobs[j].Scale)*r.prices[w])
			}
		}
	}
	for _, q := range f.p.Pairs {
		for w, v := range q.Throughput {
			if f.p.Types[w].Workers > 0 {
				earn := v[0]*r.worth[q.A] + v[1]*r.worth[q.B] - time[q.A] - time[q.B] - float64(f.p.Jobs[q.A].Scale)*r.prices[w]
				short[q.A] = max(short[q.A], earn)
			}
		}
	}
	for j := range m {
		total += time[j] + short[j]
	}
	for w, t := range f.p.Types {
		total += r.prices[w] * float64(t.Workers)
	}
	return total
}

func (f *pairing) conflict() []int {
	var list []int
	m := len(f.p.Jobs)
	for j := range m {
		if at(f.d.floor, j) > 0 && math.Abs(f.s.Ray(m+j)) > 1e-9 {
			list = append(list, j)
		}
	}
	return list
}
