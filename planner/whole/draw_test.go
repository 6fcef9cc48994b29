package whole

import (
	"math"
	"math/rand/v2"
	"slices"
)

// sizing says whose sizes the options of a draw have.
type sizing int

const (
	ofAll  sizing = iota // the same for all
	ofRows               // each row its own
	ofJobs               // each job its own
	ofEach               // each job in each row its own
)

// worths turns goodputs, of which one is least, into what Sia's program counts: their power,
// 1.1 more than none. Half of the jobs run already and lose a part by any change.
func worths(r *rand.Rand, list []Option, least, power float64) []Option {
	now, factor := -1, 1.0
	if r.IntN(2) == 0 {
		now, factor = r.IntN(len(list)), r.Float64()
	}
	for i := range list {
		v := list[i].Value / least
		if now >= 0 && i != now {
			v *= factor
		}
		list[i].Value = 1.1 + math.Copysign(math.Pow(v, power), power)
	}
	return list
}

// anySizes draws jobs that run at sizes of 1 to 16, at most 60 options each, with goodput as
// in configs, on about perJob units a job. Options are worth goodput to the power, 1.1
// more than none, as Sia's program counts them.
func anySizes(jobs, rows int, perJob, power float64, sizes sizing, seed uint64) *Problem {
	r := rand.New(rand.NewPCG(seed, 99))
	p := &Problem{}
	speed := make([]float64, rows)
	for k := range speed {
		speed[k] = math.Exp(0.7 * r.NormFloat64())
		p.Capacity = append(p.Capacity, math.Floor(perJob*float64(jobs)/float64(rows)*(0.4+1.2*r.Float64())))
	}
	pick := func() []float64 {
		list := make([]float64, 0, 8)
		for len(list) < max(1, min(60/rows, 8)) {
			if u := float64(1 + r.IntN(16)); !slices.Contains(list, u) {
				list = append(list, u)
			}
		}
		return list
	}
	all := pick()
	own := make([][]float64, rows)
	for k := range own {
		own[k] = pick()
	}
	for range jobs {
		bend, least := 0.35+0.6*r.Float64(), math.Inf(1)
		var list []Option
		mine := pick()
		for k := range rows {
			rate := speed[k] * math.Exp(0.25*r.NormFloat64())
			for _, g := range [][]float64{all, own[k], mine, pick()}[sizes] {
				list = append(list, Option{Row: k, Units: g, Value: rate * math.Pow(g, bend)})
				least = min(least, list[len(list)-1].Value)
			}
		}
		p.Options = append(p.Options, worths(r, list, least, power))
	}
	p.Offset = -1.1 * float64(jobs)
	return p
}
