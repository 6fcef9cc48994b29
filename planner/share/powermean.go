package share

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/goodfleet/goodfleet/planner/block"
)

// tiny is added to each speedup, so that a job without workers has a power.
const tiny = 1e-3

// Powers that the mean takes: beyond 1 it is not concave, and below −10 double
// precision cannot tell it from the worst job, which max_min_fairness serves.
const (
	leastPower   = -10
	mostPower    = 1
	defaultPower = -1
)

// powerMean is the fitness of Pollux (Qiao et al., OSDI 2021): maximise
// (mean_j u_j^p)^(1/p), u_j = speedup_j + 0.001, p = −1 unless told otherwise; at p = 0
// the geometric mean. A job's speedup is its throughput over that on its isolated share.
// Pollux searches whole placements by a genetic algorithm; over shares the mean is
// concave, and solved with a bound. A job that can run nowhere is left out.
func powerMean(p *Problem, o Options) (Answer, error) {
	power := o.power()
	if !(power >= leastPower && power <= mostPower) {
		return Answer{}, fmt.Errorf("power %g: want %d to %d; max_min_fairness is the limit below", power, leastPower, mostPower)
	}
	f := fitness{p: p, power: power}
	for j := range p.Jobs {
		if p.isolated(j) > 0 {
			f.jobs = append(f.jobs, j)
		} else {
			f.left = append(f.left, j)
		}
	}
	if len(f.jobs) == 0 {
		a := exact(p, p.nothing(), 0)
		a.Left = f.left
		return a, nil
	}
	return f.solve(o), nil
}

// fitness is a power mean to be maximised, by the sum of powerOf(u).
type fitness struct {
	p     *Problem
	power float64
	jobs  []int // that can run
	left  []int
	rate  [][]float64 // per job that can run: speedup on each type, all the time
	scale []float64
	price []float64
}

// mean turns a sum of powerOf into the mean.
func (f *fitness) mean(sum float64) float64 { return meanOf(sum, len(f.jobs), f.power) }

func (f *fitness) solve(o Options) Answer {
	p := f.p
	start := make([][]float64, len(f.jobs))
	f.rate, f.scale = make([][]float64, len(f.jobs)), make([]float64, len(f.jobs))
	capacity := make([]float64, len(p.Types))
	for w, t := range p.Types {
		capacity[w] = float64(t.Workers)
	}
	for i, j := range f.jobs {
		part := p.part(j)
		start[i] = p.evenShare(j)
		f.rate[i] = make([]float64, len(p.Types))
		f.scale[i] = part * float64(p.Jobs[j].Scale)
		base := p.isolated(j)
		for w, v := range p.Jobs[j].Throughput {
			start[i][w] /= part
			if capacity[w] > 0 {
				f.rate[i][w] = part * v / base
			}
		}
	}
	a := newAscent(f.rate, start, f.scale, capacity, f.power)
	r := plan{status: block.Feasible, x: p.nothing(), theta: make([]float64, len(p.Jobs))}
	value, bound := math.Inf(-1), f.alone()
	f.price = make([]float64, len(p.Types)) // which that is at
	idle := 0
	a.run(func() bool {
		idle++
		if v := f.value(a.x); v > value {
			value, idle = v, 0
			for i, j := range f.jobs {
				part := p.part(j)
				for w, v := range a.x[i] {
					r.x[j][w] = part * v
				}
			}
		}
		if b := f.bound(a); b < bound {
			bound, idle = b, 0
			f.price = append(f.price[:0], a.lambda...)
		}
		return idle > meanPatience || distance(f.mean(value), f.mean(bound)) <= o.settings().gap/2
	})
	if b := f.tightest(a, f.price); b < bound {
		bound = b
	}
	for j := range r.x {
		r.theta[j] = dot(p.Jobs[j].Throughput, r.x[j])
	}
	asked := o.Gap
	if asked == 0 {
		asked = meanGap
	}
	if distance(f.mean(value), f.mean(bound)) <= asked {
		r.status = block.Optimal
	}
	best := f.mean(value)
	r.prices = make([]float64, len(p.Types))
	for w, v := range f.price {
		r.prices[w] = v * math.Pow(best, 1-f.power) / float64(len(f.jobs))
	}
	out := answerOf(r, best, max(best, f.mean(bound)))
	out.Left, out.Rounds = f.left, a.iterations
	return out
}

const (
	// meanGap is the gap from which the mean counts as found where none is asked for: its slopes
	// span many powers of ten, and the method ends where rounding begins, mostly below 1e-8.
	meanGap      = 1e-7
	meanPatience = 10 // steps without a better point or bound after which it ends
)

func (f *fitness) value(x [][]float64) float64 {
	sum := 0.0
	for i := range x {
		sum += powerOf(tiny+dot(f.rate[i], x[i]), f.power)
	}
	return sum
}

// evenShare is the share of each type that job j gets where its n-th of the fleet is more than
// its time: of each type its n-th, but of none more than a level. The isolated share cuts
// all types alike, which leaves nearly nothing of a type of few workers beside one of many.
func (p *Problem) evenShare(j int) []float64 {
	x := make([]float64, len(p.Types))
	order := make([]int, len(x))
	for w, t := range p.Types {
		order[w] = w
		x[w] = float64(t.Workers) / (float64(len(p.Jobs)) * float64(p.Jobs[j].Scale))
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(x[a], x[b]) })
	left := 1.0
	for i, w := range order {
		x[w] = min(x[w], left/float64(len(order)-i))
		left -= x[w]
	}
	return x
}

// alone is what no sharing exceeds, whatever the prices: each job alone on its fastest type.
func (f *fitness) alone() float64 {
	sum := 0.0
	for _, rates := range f.rate {
		sum += powerOf(tiny+slices.Max(rates), f.power)
	}
	return sum
}

// bound is what no sharing exceeds: powerOf lies below its tangents, so that at any prices
// of workers, and for any u, the workers' worth and each job's best offer along its
// tangent bound the sum.
func (f *fitness) bound(a *ascent) float64 {
	sum := 0.0
	for w, price := range a.lambda {
		sum += price * a.capacity[w]
	}
	for i := range f.rate {
		slope, best := a.slope(i), 0.0
		for w, v := range f.rate[i] {
			if v > 0 {
				best = max(best, slope*v-f.scale[i]*a.lambda[w])
			}
		}
		sum += powerOf(a.u[i], f.power) - slope*(a.u[i]-tiny) + best
	}
	return sum
}

// tightest is the least of the bounds that bound gives at the prices over all u, job by job:
// from 0 at u = tiny to the fastest type's, the slope of the best tangent is where the column
// that it pays most for has just its u.
func (f *fitness) tightest(a *ascent, prices []float64) float64 {
	sum := 0.0
	for w, price := range prices {
		sum += price * a.capacity[w]
	}
	for i, rates := range f.rate {
		low, high := tiny, tiny
		for _, v := range rates {
			high = max(high, v+tiny)
		}
		least := math.Inf(1)
		for range tangents {
			u := math.Sqrt(low * high)
			slope, best, reach := math.Pow(u, f.power-1), 0.0, 0.0
			for w, v := range rates {
				if d := slope*v - f.scale[i]*prices[w]; v > 0 && d > best {
					best, reach = d, v
				}
			}
			least = min(least, powerOf(u, f.power)-slope*(u-tiny)+best)
			if reach > u-tiny {
				low = u
			} else {
				high = u
			}
		}
		sum += least
	}
	return sum
}

// tangents is how often the range of a job's u is halved, in powers of ten.
const tangents = 60
