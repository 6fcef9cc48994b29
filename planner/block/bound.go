package block

import "math"

// Certificate is what given capacity prices prove.
type Certificate struct {
	Bound    float64 // no point does better; -Inf: no point exists
	Conflict []int   // jobs whose floors cannot all be met, if Bound is -Inf
}

// levelSteps limits Newton's method on the level, which is finite and usually takes five.
const levelSteps = 60

// Certify computes a bound from capacity prices ≥ 0 and nothing else: each job
// takes the best point of its own over the upper hull of its columns.
func (p *Program) Certify(prices []float64) Certificate {
	c, _ := p.certify(prices, 0)
	return c
}

// worth is what capacity prices make of each job: a unit of its speed is worth nu,
// of its time mu, and of capacity scale × price, all in units of the objective.
type worth struct {
	nu, mu []float64
	scale  float64
	prices []float64
}

// certify begins its search for the level at guess, if it is positive.
func (p *Program) certify(prices []float64, guess float64) (c Certificate, w worth) {
	nu, mu := make([]float64, p.Jobs()), make([]float64, p.Jobs())
	w = worth{nu, mu, 1, prices}
	rent := 0.0
	for r, price := range prices {
		rent += price * p.Capacity[r]
	}
	hulls := p.hulls(prices)
	if !p.levels() {
		c.Bound = rent
		for j := range p.Jobs() {
			h := hulls.to(j, p.floor(j)).corner(p.floor(j))
			nu[j], mu[j] = h.slope, h.mu
			c.Bound += h.value
			if h.short {
				c.Conflict = append(c.Conflict, j)
			}
		}
		if len(c.Conflict) > 0 {
			c.Bound = math.Inf(-1)
		}
		return c, w
	}
	// The largest t at which the jobs' least rents fit the rent of all capacity. The
	// sum of values falls ever faster in t: Newton's tangents lie above it, so that
	// each of their roots is a bound already.
	first, list := hulls.all()
	most := math.Inf(1) // what each job could reach alone
	for j := range p.Jobs() {
		n, fastest := p.follow(j), list.speed[first[j+1]-1]
		if n > 0 {
			most = min(most, (fastest-p.floor(j))/n)
		}
		if n > 0 && fastest < p.floor(j) {
			c.Conflict = append(c.Conflict, j)
		}
	}
	if most < 0 {
		c.Bound = math.Inf(-1)
		return c, w
	}
	if math.IsInf(most, 1) {
		c.Bound = most
		return c, w
	}
	t := most
	if guess > 0 && guess < most {
		t = guess
	}
	for range levelSteps {
		total, slope := rent, 0.0
		for j := range p.Jobs() {
			n := p.follow(j)
			h := chain{list.speed[first[j]:first[j+1]], list.earn[first[j]:first[j+1]]}.corner(p.floor(j) + n*t)
			nu[j], mu[j] = h.slope, h.mu
			total += h.value
			slope += n * h.slope
		}
		if slope <= 0 { // at this t nobody's need costs anything
			if total < 0 { // floors alone cost more than all capacity
				t = math.Inf(-1)
				break
			}
			if t >= most {
				break
			}
			t = most
			continue
		}
		// The sum lies under its tangent: the tangent's root is a bound from any t.
		next := min(most, t+total/slope)
		done := math.Abs(next-t) <= 1e-14*math.Abs(t)
		t = next
		if t < 0 {
			t = math.Inf(-1)
		}
		if done || t < 0 {
			break
		}
	}
	c.Bound = t
	if math.IsInf(t, -1) {
		for j := range p.Jobs() {
			if p.floor(j) > 0 && nu[j] > 0 {
				c.Conflict = append(c.Conflict, j)
			}
		}
		return c, w
	}
	// Prices are worth t only up to scale: one unit of t costs Σ follow·nu.
	flow := 0.0
	for j := range p.Jobs() {
		flow += p.follow(j) * nu[j]
	}
	if flow > 0 {
		for j := range nu {
			nu[j] /= flow
			mu[j] /= flow
		}
		w.scale = 1 / flow
	}
	return c, w
}

// alone is the level that some job cannot exceed even alone, +Inf if none follows it.
func (p *Program) alone() float64 {
	most := math.Inf(1)
	for j := range p.Jobs() {
		if n := p.follow(j); n > 0 {
			most = min(most, (p.fastest(j)-p.floor(j))/n)
		}
	}
	return most
}

func (p *Program) fastest(j int) float64 {
	most := 0.0
	for i := p.First[j]; i < p.First[j+1]; i++ {
		if p.usable(i) {
			most = max(most, p.Speed[i])
		}
	}
	return most
}

func (p *Program) speed(i int32) float64 {
	if p.Speed == nil {
		return 0
	}
	return p.Speed[i]
}

// reduced is what column i of job j would add per unit at the prices, beyond what
// the job's own time and speed are worth; positive: the column is missing.
func (p *Program) reduced(i int32, j int, w *worth) float64 {
	sum := p.speed(i)*w.nu[j] - w.mu[j]
	if !p.Level {
		sum += p.Gain[i]
	}
	for k := p.Entry[i]; k < p.Entry[i+1]; k++ {
		sum -= w.scale * w.prices[p.Row[k]] * p.Use[k]
	}
	return sum
}

// Support is the most that Σ worth·speed can be, over all points, by the prices: for
// any point Σ_j worth_j·Σ speed·x ≤ Support.
func (p *Program) Support(prices, worth []float64) float64 {
	sum := 0.0
	for r, price := range prices {
		sum += price * p.Capacity[r]
	}
	for j := range p.Jobs() {
		best := 0.0
		for i := p.First[j]; i < p.First[j+1]; i++ {
			if !p.usable(i) {
				continue
			}
			d := p.speed(i) * worth[j]
			for k := p.Entry[i]; k < p.Entry[i+1]; k++ {
				d -= prices[p.Row[k]] * p.Use[k]
			}
			best = max(best, d)
		}
		sum += best
	}
	return sum
}
