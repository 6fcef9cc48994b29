package whole

import (
	"math"
	"slices"
)

// relaxation is what the linear program says.
type relaxation struct {
	bound  float64
	prices []float64
	worth  []float64   // per job, the most it earns after rent, at least 0
	x      [][]float64 // share of each option
	losses [][]float64 // of each option, where more rows than those of capacity count; nil: none do
}

// Settings of the search for prices.
const (
	smoothStart    = 0.1  // first smoothing, of the largest value
	smoothEnd      = 3e-9 // last smoothing, of the largest value
	smoothFall     = 0.2  // from one smoothing to the next
	smoothSteps    = 12   // Newton steps at one smoothing
	smoothNear     = 0.3  // squared Newton decrement, in smoothings, that is near enough
	smoothFar      = 40   // smoothings below a job's best at which an option's share is nothing
	smoothReach    = 2000 // smoothings below a job's best from which an option is left out of one
	smoothStraight = 1e-3 // smoothing, of the largest value, from which the path is nearly straight
	priceKeep      = 0.95 // share of the way to a price of zero that a step may go
)

// relax solves the linear relaxation over the options kept, in its dual: the prices
// that minimise rent and what the jobs earn beyond it. Each job's most is smoothed to
// μ·log(1 + Σ exp(earn/μ)), prices above zero carry −μ·log, and Newton's method follows
// μ to zero; it has one unknown a row, and the exponentials are the shares. Any prices
// give a bound, so that it matters little how near to the end rounding lets it come.
func (p *Problem) relax(keep [][]bool) relaxation {
	s := newSmooth(p, keep)
	s.descend()
	r := relaxation{prices: s.price, x: make([][]float64, len(p.Options))}
	s.shares(r.x)
	r.reprice(p, keep)
	return r
}

// entries are the options of all jobs in a row.
type entries struct {
	first  []int32 // job → its first entry
	row    []int32
	units  []float64
	value  []float64
	option []int32
}

// near lists the entries that earn at most reach less than their job's best.
func (e *entries) near(price []float64, reach float64) entries {
	n := entries{first: make([]int32, 1, len(e.first))}
	for j := range len(e.first) - 1 {
		best := 0.0
		for i := e.first[j]; i < e.first[j+1]; i++ {
			best = max(best, e.value[i]-price[e.row[i]]*e.units[i])
		}
		for i := e.first[j]; i < e.first[j+1]; i++ {
			if e.value[i]-price[e.row[i]]*e.units[i] >= best-reach {
				n.row, n.units, n.value, n.option = append(n.row, e.row[i]), append(n.units, e.units[i]), append(n.value, e.value[i]), append(n.option, e.option[i])
			}
		}
		n.first = append(n.first, int32(len(n.row)))
	}
	return n
}

// smooth is the dual at one smoothing.
type smooth struct {
	p *Problem
	entries
	earn     []float64 // of the present job's entries
	capacity []float64
	mu       float64
	most     float64 // largest value

	price, step, trial []float64
	slope, curve       []float64
	flow               []float64 // of one job, by row
	hit                []int32
}

func newSmooth(p *Problem, keep [][]bool) *smooth {
	k := len(p.Capacity)
	s := &smooth{p: p, capacity: p.Capacity}
	s.first = make([]int32, 1, len(p.Options)+1)
	for _, f := range []*[]float64{&s.price, &s.step, &s.trial, &s.slope, &s.flow} {
		*f = make([]float64, k)
	}
	s.curve = make([]float64, k*k)
	total, longest := 0.0, 0
	for j, list := range p.Options {
		best := 0.0
		for i, o := range list {
			if keep[j][i] {
				s.row, s.units, s.value, s.option = append(s.row, int32(o.Row)), append(s.units, o.Units), append(s.value, o.Value), append(s.option, int32(i))
				best = max(best, o.Value)
			}
		}
		longest = max(longest, len(s.row)-int(s.first[j]))
		s.first = append(s.first, int32(len(s.row)))
		s.most = max(s.most, best)
		total += best
	}
	s.earn = make([]float64, longest)
	for r, c := range p.Capacity {
		if c > 0 {
			s.price[r] = max(0.5*total/(float64(k)*c), 1e-12*s.most)
		}
	}
	return s
}

// descend follows the smoothing down. The path of prices is nearly straight at its
// end, so that each smoothing begins where the last two point.
func (s *smooth) descend() {
	if s.most == 0 {
		clear(s.price)
		return
	}
	all := s.entries
	last := slices.Clone(s.price)
	for s.mu = smoothStart * s.most; ; s.mu *= smoothFall {
		s.entries = all.near(s.price, smoothReach*s.mu)
		if s.mu < smoothStart*s.most {
			s.extrapolate(last)
		}
		good := false
		for range smoothSteps {
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
		if !good || s.mu*smoothFall < smoothEnd*s.most {
			break
		}
	}
	s.entries = all
	for r, c := range s.capacity { // prices that only the barrier keeps above zero
		if s.price[r]*c < 10*s.mu {
			s.price[r] = 0
		}
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
	k := len(price)
	sum := 0.0
	if derive {
		clear(s.curve)
	}
	for r, c := range s.capacity {
		if c <= 0 {
			continue
		}
		sum += price[r]*c - s.mu*math.Log(price[r])
		if derive {
			s.slope[r] = c - s.mu/price[r]
			s.curve[r*k+r] = s.mu / (price[r] * price[r])
		}
	}
	for j := range len(s.first) - 1 {
		lo, hi := s.first[j], s.first[j+1]
		best := 0.0
		for i := lo; i < hi; i++ {
			e := s.value[i] - price[s.row[i]]*s.units[i]
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
			s.derive(total)
		}
	}
	return sum
}

// derive adds what the present job, of the weights in earn, adds to slope and curvature.
func (s *smooth) derive(total float64) {
	k := len(s.price)
	rows := 0
	for n, i := range s.hit {
		r, u := s.row[i], s.units[i]
		share := s.earn[n] / total * u
		s.slope[r] -= share
		s.curve[int(r)*k+int(r)] += share * u / s.mu
		if s.flow[r] == 0 {
			s.hit[rows] = r // rows are no more than the entries already read
			rows++
		}
		s.flow[r] += share
	}
	for _, a := range s.hit[:rows] {
		for _, b := range s.hit[:rows] {
			s.curve[int(a)*k+int(b)] -= s.flow[a] * s.flow[b] / s.mu
		}
	}
	for _, a := range s.hit[:rows] {
		s.flow[a] = 0
	}
}

// newton solves for the step by Cholesky's factors; false if rounding leaves none.
func (s *smooth) newton() bool {
	k := len(s.price)
	a := s.curve
	for i := range k {
		if s.capacity[i] <= 0 {
			a[i*k+i], s.slope[i] = 1, 0
		}
	}
	scale := make([]float64, k)
	for i := range k {
		scale[i] = 1 / math.Sqrt(a[i*k+i])
	}
	for i := range k {
		for j := 0; j <= i; j++ {
			sum := a[i*k+j] * scale[i] * scale[j]
			if i == j {
				sum += 1e-13 // rounding of the differences above
			}
			for l := range j {
				sum -= a[i*k+l] * a[j*k+l]
			}
			if i != j {
				a[i*k+j] = sum / a[j*k+j]
				continue
			}
			if !(sum > 1e-14) {
				sum = 1e-14
			}
			a[i*k+i] = math.Sqrt(sum)
		}
	}
	for i := range k {
		sum := -s.slope[i] * scale[i]
		for j := range i {
			sum -= a[i*k+j] * s.step[j]
		}
		s.step[i] = sum / a[i*k+i]
	}
	for i := k - 1; i >= 0; i-- {
		for j := i + 1; j < k; j++ {
			s.step[i] -= a[j*k+i] * s.step[j]
		}
		s.step[i] /= a[i*k+i]
	}
	for i := range k {
		s.step[i] *= scale[i]
	}
	return !slices.ContainsFunc(s.step, func(d float64) bool { return math.IsNaN(d) || math.IsInf(d, 0) })
}

// shares reads the primal point that belongs to the prices.
func (s *smooth) shares(x [][]float64) {
	mu := max(s.mu, math.SmallestNonzeroFloat64)
	for j := range x {
		x[j] = make([]float64, len(s.p.Options[j]))
		lo, hi := s.first[j], s.first[j+1]
		best := 0.0
		for i := lo; i < hi; i++ {
			best = max(best, s.value[i]-s.price[s.row[i]]*s.units[i])
		}
		total := math.Exp(-best / mu)
		for i := lo; i < hi; i++ {
			total += math.Exp((s.value[i] - s.price[s.row[i]]*s.units[i] - best) / mu)
		}
		for i := lo; i < hi; i++ {
			x[j][s.option[i]] = math.Exp((s.value[i]-s.price[s.row[i]]*s.units[i]-best)/mu) / total
		}
	}
}

// reprice computes bound and worths from the prices.
func (r *relaxation) reprice(p *Problem, keep [][]bool) {
	r.worth = make([]float64, len(p.Options))
	r.bound = 0
	for row, price := range r.prices {
		r.bound += price * p.Capacity[row]
	}
	for j, list := range p.Options {
		for i, o := range list {
			if keep[j][i] {
				r.worth[j] = max(r.worth[j], o.Value-r.prices[o.Row]*o.Units)
			}
		}
		r.bound += r.worth[j]
	}
}

// loss is by how much the bound falls if job j takes option i (-1: none).
func (r *relaxation) loss(p *Problem, j, i int) float64 {
	if i < 0 {
		return r.worth[j]
	}
	if r.losses != nil {
		return r.losses[j][i]
	}
	o := p.Options[j][i]
	return r.worth[j] - o.Value + r.prices[o.Row]*o.Units
}

// strike drops the options whose loss leaves less than the best value known, and
// counts what is left.
func (r *relaxation) strike(p *Problem, keep [][]bool, best float64) int {
	left := 0
	for j, list := range p.Options {
		for i := range list {
			if keep[j][i] {
				if r.bound-r.loss(p, j, i) < best-math.Abs(best)*1e-12 {
					keep[j][i] = false
				} else {
					left++
				}
			}
		}
	}
	return left
}
