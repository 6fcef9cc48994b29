package share

import (
	"math"
	"slices"
)

// price adds, for each job, the pairs that earn most at the present prices, and counts
// them. No point exceeds bound, by the prices alone: they buy all time and workers, and what
// a column earns beyond them is at most the most that any column of its first job does, for
// all of that job's time.
func (f *pairing) price(infeasible bool) (added int, bound float64) {
	m, n := len(f.p.Jobs), f.types
	price := func(r int) float64 { return max(0, f.dual(r)) }
	if infeasible {
		price = f.ray
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
			if f.p.Types[w].Workers == 0 || v[0] <= 0 && v[1] <= 0 {
				continue
			}
			earn := v[0]*speed[q.A] + v[1]*speed[q.B] - scale*rent[w]
			if f.d.follow == nil && !infeasible {
				earn += f.pairValue(k, w) / f.gain
			}
			earn = f.part[q.A]*earn - time[q.A] - time[q.B]
			short[q.A] = max(short[q.A], earn)
			if earn > packedEarn && f.pair[k*n+w] < 0 {
				o := option{k*n + w, earn}
				keep(q.A, o)
				keep(q.B, o)
			}
		}
	}
	flow := 0.0
	for j := range m {
		for w, t := range f.p.Types {
			if v := f.d.throughput(j, w); v > 0 && t.Workers > 0 {
				earn := v*speed[j] - float64(f.p.Jobs[j].Scale)*rent[w]
				if f.d.follow == nil {
					earn += f.p.value(f.d, j, w, v) / f.gain
				}
				short[j] = max(short[j], f.part[j]*earn-time[j])
			}
		}
		bound += time[j] + short[j] - speed[j]*at(f.d.floor, j)
		flow += speed[j] * at(f.d.follow, j)
		for _, o := range best[j] {
			if f.pair[o.i] < 0 {
				f.add(o.i)
				added++
			}
		}
	}
	for w, t := range f.p.Types {
		bound += rent[w] * float64(t.Workers)
	}
	if f.d.follow != nil { // to follow a unit of the level costs flow
		return added, bound / flow
	}
	return added, bound * f.gain
}

// support bounds Σ worth·theta over all points by the prices of time and workers, and
// what columns earn beyond them.
func (f *pairing) support(r *plan) float64 {
	m := len(f.p.Jobs)
	total := 0.0
	time := make([]float64, m)
	for j := range m {
		time[j] = max(0, f.dual(j)) * f.gain
	}
	short := make([]float64, m)
	for j := range m {
		for w, t := range f.p.Types {
			if v := f.d.throughput(j, w); v > 0 && t.Workers > 0 {
				short[j] = max(short[j], f.part[j]*(v*r.worth[j]-float64(f.p.Jobs[j].Scale)*r.prices[w])-time[j])
			}
		}
	}
	for _, q := range f.p.Pairs {
		for w, v := range q.Throughput {
			if f.p.Types[w].Workers > 0 {
				earn := v[0]*r.worth[q.A] + v[1]*r.worth[q.B] - float64(f.p.Jobs[q.A].Scale)*r.prices[w]
				short[q.A] = max(short[q.A], f.part[q.A]*earn-time[q.A]-time[q.B])
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
		if at(f.d.floor, j) > 0 && math.Abs(f.ray(m+j)) > 1e-9 {
			list = append(list, j)
		}
	}
	return list
}
