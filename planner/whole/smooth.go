package whole

import (
	"math"
	"slices"
)

// Settings of the search for prices.
const (
	smoothStart    = 0.1  // first smoothing, of the largest value
	smoothEnd      = 3e-9 // last smoothing, of the largest value
	smoothFall     = 0.2  // from one smoothing to the next
	smoothSteps    = 12   // Newton steps at one smoothing
	smoothFirst    = 60   // and where the last one was of another program
	smoothNear     = 0.3  // squared Newton decrement, in smoothings, that is near enough
	smoothFar      = 40   // smoothings below a job's best at which an option's share is nothing
	smoothReach    = 2000 // smoothings below a job's best from which an option is left out of one
	smoothStraight = 1e-3 // smoothing, of the largest value, from which the path is nearly straight
	priceKeep      = 0.95 // share of the way to a price of zero that a step may go
	sampleJobs     = 500  // jobs that stand for all at first
	sampleEnd      = 3e-3 // smoothing, of the largest value, from which all count
)

// entries are the options of all jobs in a row.
type entries struct {
	first  []int32 // job → its first entry
	cell   []int32 // row and units
	value  []float64
	option []int32
}

// near lists the entries that earn at most reach less than their job's best.
func (e *entries) near(rent []float64, reach float64) entries {
	n := entries{first: make([]int32, 1, len(e.first))}
	for j := range len(e.first) - 1 {
		best := 0.0
		for i := e.first[j]; i < e.first[j+1]; i++ {
			best = max(best, e.value[i]-rent[e.cell[i]])
		}
		for i := e.first[j]; i < e.first[j+1]; i++ {
			if e.value[i]-rent[e.cell[i]] >= best-reach {
				n.cell, n.value, n.option = append(n.cell, e.cell[i]), append(n.value, e.value[i]), append(n.option, e.option[i])
			}
		}
		n.first = append(n.first, int32(len(n.cell)))
	}
	return n
}

// part lists the entries of every n-th job.
func (e *entries) part(n int) entries {
	q := entries{first: make([]int32, 1)}
	for j := 0; j < len(e.first)-1; j += n {
		lo, hi := e.first[j], e.first[j+1]
		q.cell, q.value, q.option = append(q.cell, e.cell[lo:hi]...), append(q.value, e.value[lo:hi]...), append(q.option, e.option[lo:hi]...)
		q.first = append(q.first, int32(len(q.cell)))
	}
	return q
}

// smooth is the dual at one smoothing.
type smooth struct {
	p *Problem
	entries
	row   []int32   // cell → row
	units []float64 // and what an option of it takes

	earn  []float64 // of the present job's entries
	hit   []int32   // its entries that count
	flow  []float64 // what they take, by row
	moved []int32   // rows that they take of
	mass  []float64 // cell → jobs in it
	mu    float64
	most  float64 // largest value
	size  float64 // part of capacity that the entries are for

	rent               []float64 // cell → at the prices last looked at
	price, step, trial []float64
	slope, curve       []float64
}

func newSmooth(p *Problem, keep [][]bool) *smooth {
	k := len(p.Capacity)
	s := &smooth{p: p, size: 1}
	s.first = make([]int32, 1, len(p.Options)+1)
	for _, f := range []*[]float64{&s.price, &s.step, &s.trial, &s.slope, &s.flow} {
		*f = make([]float64, k)
	}
	s.curve = make([]float64, k*k)
	type cell struct {
		row   int
		units float64
	}
	cells := make(map[cell]int32)
	total, longest := 0.0, 0
	for j, list := range p.Options {
		best := 0.0
		for i, o := range list {
			if !keep[j][i] {
				continue
			}
			c, seen := cells[cell{o.Row, o.Units}]
			if !seen {
				c = int32(len(cells))
				cells[cell{o.Row, o.Units}] = c
				s.row, s.units = append(s.row, int32(o.Row)), append(s.units, o.Units)
			}
			s.cell, s.value, s.option = append(s.cell, c), append(s.value, o.Value), append(s.option, int32(i))
			best = max(best, o.Value)
		}
		longest = max(longest, len(s.cell)-int(s.first[j]))
		s.first = append(s.first, int32(len(s.cell)))
		s.most = max(s.most, best)
		total += best
	}
	for r, c := range p.Capacity { // prices at which half of what the jobs could earn is rent
		if c > 0 {
			s.price[r] = max(0.5*total/(float64(k)*c), 1e-12*s.most)
		}
	}
	s.earn = make([]float64, longest)
	s.rent, s.mass = make([]float64, len(cells)), make([]float64, len(cells))
	return s
}

// descend follows the smoothing down. The path of prices is nearly straight at its
// end, so that each smoothing begins where the last two point. While the smoothing is
// large, a part of many jobs stands for all of them.
func (s *smooth) descend() {
	if s.most == 0 {
		clear(s.price)
		s.rents(s.price)
		return
	}
	all := s.entries
	some := all
	n := len(s.p.Options) / sampleJobs
	if n > 1 {
		some = all.part(n)
		s.size = float64(len(some.first)-1) / float64(len(all.first)-1)
	}
	last, fresh := slices.Clone(s.price), true
	for s.mu = smoothStart * s.most; ; s.mu *= smoothFall {
		if n > 1 && s.mu < sampleEnd*s.most {
			n, some, s.size, fresh = 0, all, 1, true
		}
		s.rents(s.price)
		s.entries = some.near(s.rent, smoothReach*s.mu)
		if s.mu < smoothStart*s.most {
			s.extrapolate(last)
		}
		good, steps := false, smoothSteps
		if fresh {
			steps, fresh = smoothFirst, false
		}
		for range steps {
			here := s.evaluate(s.price, true)
			if !s.newton() {
				break
			}
			fall := 0.0
			for r, d := range s.step {
				fall -= s.slope[r] * d
			}
			if fall < smoothNear*s.mu {
				good = true
				break
			}
			if !(fall > 0) || !s.walk(here, fall) {
				break
			}
		}
		if !good && n <= 1 || s.mu*smoothFall < smoothEnd*s.most {
			break
		}
	}
	s.entries, s.size = all, 1
	for r, c := range s.p.Capacity { // prices that only the barrier keeps above zero
		if s.price[r]*c < 10*s.mu {
			s.price[r] = 0
		}
	}
	s.rents(s.price)
}

// rents computes what each cell pays at the prices.
func (s *smooth) rents(price []float64) {
	for c, r := range s.row {
		s.rent[c] = price[r] * s.units[c]
	}
}

// extrapolate goes on from the last prices through the present ones, if that is lower.
func (s *smooth) extrapolate(last []float64) {
	for r, price := range s.price {
		// From the last smoothing to this one it fell by 1/fall − 1 of what it falls next.
		s.trial[r] = max(price+smoothFall*(price-last[r]), (1-priceKeep)*price)
		last[r] = price
	}
	if s.mu < smoothStraight*s.most && s.evaluate(s.trial, false) < s.evaluate(s.price, false) {
		copy(s.price, s.trial)
	}
}

// walk goes along the step as far as the dual falls.
func (s *smooth) walk(here, fall float64) bool {
	length := 1.0
	for r, d := range s.step {
		if s.price[r] > 0 && s.price[r]+length*d < (1-priceKeep)*s.price[r] {
			length = -priceKeep * s.price[r] / d
		}
	}
	for range 12 {
		for r, d := range s.step {
			s.trial[r] = s.price[r] + length*d
		}
		if there := s.evaluate(s.trial, false); there <= here-1e-4*length*fall || fall < 1e-12*math.Abs(here) {
			s.price, s.trial = s.trial, s.price
			return true
		}
		length *= 0.4
	}
	return false
}

// evaluate is the smoothed dual at the prices, and, if asked, its slope and curvature.
func (s *smooth) evaluate(price []float64, derive bool) float64 {
	s.rents(price)
	sum := 0.0
	if derive {
		clear(s.curve)
		clear(s.mass)
	}
	for r, c := range s.p.Capacity {
		if c > 0 {
			sum += price[r]*c*s.size - s.mu*math.Log(price[r])
		}
	}
	for j := range len(s.first) - 1 {
		lo, hi := s.first[j], s.first[j+1]
		best := 0.0
		for i := lo; i < hi; i++ {
			e := s.value[i] - s.rent[s.cell[i]]
			s.earn[i-lo] = e
			best = max(best, e)
		}
		total := math.Exp(-best / s.mu)
		s.hit = s.hit[:0]
		for i := lo; i < hi; i++ {
			e := s.earn[i-lo] - best
			if e < -smoothFar*s.mu {
				continue
			}
			w := math.Exp(e / s.mu)
			total += w
			if derive {
				s.earn[len(s.hit)] = w // earlier entries are not needed again
				s.hit = append(s.hit, i)
			}
		}
		sum += best + s.mu*math.Log(total)
		if derive {
			s.bend(total)
		}
	}
	if derive {
		s.finish(price)
	}
	return sum
}

// bend adds what the present job, of the weights in earn, takes from the curvature.
func (s *smooth) bend(total float64) {
	k := len(s.price)
	s.moved = s.moved[:0]
	for n, i := range s.hit {
		c := s.cell[i]
		share := s.earn[n] / total
		s.mass[c] += share
		r := s.row[c]
		if s.flow[r] == 0 {
			s.moved = append(s.moved, r)
		}
		s.flow[r] += share * s.units[c]
	}
	for _, a := range s.moved {
		for _, b := range s.moved {
			s.curve[int(a)*k+int(b)] -= s.flow[a] * s.flow[b] / s.mu
		}
	}
	for _, a := range s.moved {
		s.flow[a] = 0
	}
}

// finish adds the barrier and what all jobs in a cell take.
func (s *smooth) finish(price []float64) {
	k := len(s.price)
	for r, c := range s.p.Capacity {
		s.slope[r] = 0
		if c > 0 {
			s.slope[r] = c*s.size - s.mu/price[r]
			s.curve[r*k+r] += s.mu / (price[r] * price[r])
		}
	}
	for c, mass := range s.mass {
		r, u := int(s.row[c]), s.units[c]
		s.slope[r] -= mass * u
		s.curve[r*k+r] += mass * u * u / s.mu
	}
}

// shares reads the primal point that belongs to the prices.
func (s *smooth) shares(x [][]float64) {
	mu := max(s.mu, math.SmallestNonzeroFloat64)
	for j := range x {
		x[j] = make([]float64, len(s.p.Options[j]))
		lo, hi := s.first[j], s.first[j+1]
		best := 0.0
		for i := lo; i < hi; i++ {
			best = max(best, s.value[i]-s.rent[s.cell[i]])
		}
		total := math.Exp(-best / mu)
		for i := lo; i < hi; i++ {
			total += math.Exp((s.value[i] - s.rent[s.cell[i]] - best) / mu)
		}
		for i := lo; i < hi; i++ {
			x[j][s.option[i]] = math.Exp((s.value[i]-s.rent[s.cell[i]]-best)/mu) / total
		}
	}
}

// earnings computes the bound that the prices prove, and what each job earns at them.
func (s *smooth) earnings() (bound float64, worth []float64) {
	worth = make([]float64, len(s.p.Options))
	for r, c := range s.p.Capacity {
		bound += s.price[r] * c
	}
	for j := range worth {
		for i := s.first[j]; i < s.first[j+1]; i++ {
			worth[j] = max(worth[j], s.value[i]-s.rent[s.cell[i]])
		}
		bound += worth[j]
	}
	return bound, worth
}
