package share

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// rational is a linear program in exact fractions: maximise c·x, A x ≤ b, x ≥ 0, as a dense
// tableau of columns x and slacks, each row's right-hand side last.
type rational struct {
	rows  [][]*big.Rat
	cost  []*big.Rat
	basic []int
}

func newRational(a [][]*big.Rat, b, c []*big.Rat) *rational {
	n, m := len(c), len(b)
	l := &rational{cost: make([]*big.Rat, n+m+1)}
	for j := range l.cost {
		l.cost[j] = new(big.Rat)
		if j < n {
			l.cost[j].Set(c[j])
		}
	}
	for i := range b {
		row := make([]*big.Rat, n+m+1)
		for j := range row {
			row[j] = new(big.Rat)
			if j < n && a[i][j] != nil {
				row[j].Set(a[i][j])
			}
		}
		row[n+i].SetInt64(1)
		row[n+m].Set(b[i])
		l.rows, l.basic = append(l.rows, row), append(l.basic, n+i)
	}
	return l
}

// dual makes the right-hand sides ≥ 0, at costs ≤ 0, by the dual method; primal then makes the
// costs ≤ 0. Both take the first by number (Bland).
func (l *rational) dual() bool {
	last := len(l.cost) - 1
	for {
		row := -1
		for i := range l.rows {
			if l.rows[i][last].Sign() < 0 && (row < 0 || l.basic[i] < l.basic[row]) {
				row = i
			}
		}
		if row < 0 {
			return true
		}
		enter, least := -1, new(big.Rat)
		for j := range last {
			if l.rows[row][j].Sign() < 0 {
				if q := new(big.Rat).Quo(l.cost[j], l.rows[row][j]); enter < 0 || q.Cmp(least) < 0 {
					enter, least = j, q
				}
			}
		}
		if enter < 0 {
			return false
		}
		l.pivot(row, enter)
	}
}

func (l *rational) primal() {
	last := len(l.cost) - 1
	for {
		enter := -1
		for j := range last {
			if enter < 0 && l.cost[j].Sign() > 0 {
				enter = j
			}
		}
		if enter < 0 {
			return
		}
		row, least := -1, new(big.Rat)
		for i := range l.rows {
			if l.rows[i][enter].Sign() > 0 {
				q := new(big.Rat).Quo(l.rows[i][last], l.rows[i][enter])
				if c := q.Cmp(least); row < 0 || c < 0 || c == 0 && l.basic[i] < l.basic[row] {
					row, least = i, q
				}
			}
		}
		l.pivot(row, enter)
	}
}

func (l *rational) pivot(row, enter int) {
	by := new(big.Rat).Inv(l.rows[row][enter])
	for _, v := range l.rows[row] {
		v.Mul(v, by)
	}
	for i, other := range append(l.rows, l.cost) {
		if i == row || other[enter].Sign() == 0 {
			continue
		}
		factor := new(big.Rat).Set(other[enter])
		for j, v := range l.rows[row] {
			if v.Sign() != 0 {
				other[j].Sub(other[j], new(big.Rat).Mul(factor, v))
			}
		}
	}
	l.basic[row] = enter
}

// most is the largest t at which every job has base + rate·t of its E, in exact fractions; −1: not
// even their bases. base of the jobs at rate 0 holds as it is.
func (p *Problem) rationalMost(equal, base, rate []*big.Rat) *big.Rat {
	m, n := len(p.Jobs), len(p.Types)
	level := (m + len(p.Pairs)) * n // its column, after those of jobs and pairs
	var a [][]*big.Rat
	var b []*big.Rat
	for j, job := range p.Jobs { // time, and base·E + rate·E·t ≤ Σ throughput·x
		time, need := make([]*big.Rat, level+1), make([]*big.Rat, level+1)
		for w := range n {
			time[j*n+w] = big.NewRat(1, 1)
			need[j*n+w] = new(big.Rat).SetFloat64(-job.Throughput[w])
		}
		for k, q := range p.Pairs {
			for w, v := range q.Throughput {
				if c := (m+k)*n + w; q.A == j || q.B == j {
					time[c], need[c] = big.NewRat(1, 1), new(big.Rat).SetFloat64(-v[0])
					if q.B == j {
						need[c].SetFloat64(-v[1])
					}
				}
			}
		}
		need[level] = new(big.Rat).Mul(rate[j], equal[j])
		a, b = append(a, time, need), append(b, big.NewRat(1, 1), new(big.Rat).Neg(new(big.Rat).Mul(base[j], equal[j])))
	}
	for w, t := range p.Types {
		row := make([]*big.Rat, level+1)
		for j, job := range p.Jobs {
			row[j*n+w] = big.NewRat(int64(job.Scale), 1)
		}
		for k, q := range p.Pairs {
			row[(m+k)*n+w] = big.NewRat(int64(p.Jobs[q.A].Scale), 1)
		}
		a, b = append(a, row), append(b, big.NewRat(int64(t.Workers), 1))
	}
	c := make([]*big.Rat, level+1)
	for j := range c {
		c[j] = new(big.Rat)
	}
	l := newRational(a, b, c)
	if !l.dual() {
		return big.NewRat(-1, 1)
	}
	// The objective t, in terms of what is loose.
	last := len(l.cost) - 1
	l.cost[level].SetInt64(1)
	for i, v := range l.basic {
		if v == level {
			for j, e := range l.rows[i] {
				l.cost[j].Sub(l.cost[j], e)
			}
		}
	}
	l.primal()
	return new(big.Rat).Neg(l.cost[last])
}

// rationalFilling is water filling by its definition, in exact fractions: raise all that are lifted as far
// as can be, then find those of them that could not rise alone.
func (p *Problem) rationalFilling() []float64 {
	m := len(p.Jobs)
	equal, base, frozen := make([]*big.Rat, m), make([]*big.Rat, m), make([]bool, m)
	all := new(big.Rat)
	for _, t := range p.Types {
		all.Add(all, big.NewRat(int64(t.Workers), 1))
	}
	for j, job := range p.Jobs {
		equal[j], base[j] = new(big.Rat), new(big.Rat)
		for w, t := range p.Types {
			v := new(big.Rat).SetFloat64(job.Throughput[w])
			equal[j].Add(equal[j], v.Mul(v, new(big.Rat).Quo(big.NewRat(int64(t.Workers), 1), all)))
		}
		frozen[j] = equal[j].Sign() == 0
	}
	for {
		rate, live := p.rationalRates(frozen), false
		for _, v := range rate {
			live = live || v.Sign() > 0
		}
		if !live {
			u := make([]float64, m)
			for j := range u {
				u[j], _ = base[j].Float64()
			}
			return u
		}
		t := p.rationalMost(equal, base, rate)
		for j := range base {
			base[j].Add(base[j], new(big.Rat).Mul(rate[j], t))
		}
		for j, v := range rate {
			if v.Sign() == 0 {
				continue
			}
			alone := make([]*big.Rat, m)
			for i := range alone {
				alone[i] = new(big.Rat)
			}
			alone[j].SetInt64(1)
			frozen[j] = p.rationalMost(equal, base, alone).Sign() == 0
		}
	}
}

// rationalRates are weight/scale, or the entity's weight split over its jobs.
func (p *Problem) rationalRates(frozen []bool) []*big.Rat {
	rate := make([]*big.Rat, len(p.Jobs))
	entities := p.Entities
	for j := range rate {
		rate[j] = new(big.Rat)
		if len(p.Entities) == 0 {
			entities = append(entities, Entity{Weight: p.Jobs[j].Weight, Jobs: []int{j}})
		}
	}
	for _, e := range entities {
		var live []int
		total := new(big.Rat)
		for _, j := range e.Jobs {
			if !frozen[j] && (len(live) == 0 || !e.FIFO) {
				live = append(live, j)
				total.Add(total, new(big.Rat).SetFloat64(p.Jobs[j].Weight))
			}
		}
		for _, j := range live {
			v := new(big.Rat).SetFloat64(e.Weight)
			v.Mul(v, new(big.Rat).SetFloat64(p.Jobs[j].Weight))
			rate[j].Quo(v, total)
			rate[j].Quo(rate[j], big.NewRat(int64(p.Jobs[j].Scale), 1))
		}
	}
	return rate
}

// TestIllScaledFillingsAreThoseOfExactFractions fills few jobs of throughputs from 1e-6 to 1e9 on 1
// to a million workers, of weights over six orders, alone and in teams; every other draw has
// throughputs of 1e-6, 1 and 1e9 only, and few workers.
func TestIllScaledFillingsAreThoseOfExactFractions(t *testing.T) {
	const draws = 400
	for i := range uint64(draws) {
		r := rand.New(rand.NewPCG(i, 71))
		p := drawIll(i, int(i/4)%farKinds)
		p = firstJobs(p, 2+r.IntN(5))
		p.Types = p.Types[:min(len(p.Types), 1+r.IntN(3))]
		for j := range p.Jobs {
			job := &p.Jobs[j]
			job.Throughput = job.Throughput[:len(p.Types)]
			if i%4 < 2 {
				job.Throughput, job.Scale, job.Weight = nil, 1<<r.IntN(4), 1
			}
			for w := range p.Types {
				if i%4 < 2 {
					job.Throughput = append(job.Throughput, []float64{1e-6, 1, 1e9}[r.IntN(3)])
					p.Types[w].Workers = 1 + r.IntN(9)
				}
			}
		}
		names := []string{"water_filling_sum", "water_filling_packed"}
		if i%2 == 1 {
			names = []string{"hierarchical", "hierarchical_packed"}
			for e := range 2 {
				p.Entities = append(p.Entities, Entity{Name: string(rune('a' + e)), Weight: math.Pow(10, 6*r.Float64()-3), FIFO: r.IntN(2) == 0})
			}
			for j := range p.Jobs {
				e := &p.Entities[r.IntN(2)]
				e.Jobs = append(e.Jobs, j)
			}
		}
		pairs := p.Pairs
		p.Pairs = nil
		checkFilling(t, i, p, names[0])
		if p = firstJobs(p, 4); r.IntN(3) == 0 {
			p.pairUp(pairs, r)
			checkFilling(t, i, p, names[1])
		}
	}
}

// TestAnyIllScaledFillingsAreThoseOfExactFractions draws as other tests of such problems do.
func TestAnyIllScaledFillingsAreThoseOfExactFractions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.Uint64().Draw(t, "seed")
		p := firstJobs(drawIll(seed, rapid.IntRange(0, farKinds-1).Draw(t, "kind")), 6)
		name := rapid.SampledFrom([]string{"water_filling_sum", "water_filling_packed"}).Draw(t, "policy")
		if name == "water_filling_sum" {
			p.Pairs = nil
		} else {
			p = firstJobs(p, 4)
		}
		checkFilling(t, seed, p, name)
	})
}

// pairUp adds the pairs whose jobs are there, at parts of the jobs' throughputs.
func (p *Problem) pairUp(pairs []Pair, r *rand.Rand) {
	for e := range p.Entities {
		p.Entities[e].Jobs = slices.DeleteFunc(p.Entities[e].Jobs, func(j int) bool { return j >= len(p.Jobs) })
	}
	for _, q := range pairs {
		if q.B >= len(p.Jobs) || p.Jobs[q.A].Scale != p.Jobs[q.B].Scale {
			continue
		}
		q.Throughput = nil
		for w := range p.Types {
			q.Throughput = append(q.Throughput, [2]float64{p.Jobs[q.A].Throughput[w] * (0.3 + 0.7*r.Float64()), p.Jobs[q.B].Throughput[w] * (0.3 + 0.7*r.Float64())})
		}
		p.Pairs = append(p.Pairs, q)
	}
}

func checkFilling(t failer, i uint64, p *Problem, name string) {
	t.Helper()
	y, _ := Find(name)
	a, err := y.Share(p, Options{})
	if err != nil || a.Status != "optimal" || a.Gap > 1e-9 {
		t.Fatalf("draw %d: %s, gap %g, %v", i, a.Status, a.Gap, err)
	}
	for j, want := range p.rationalFilling() {
		if math.Abs(a.Vector[j]-want) > 1e-9*want {
			t.Fatalf("draw %d, %s, job %d: u = %.12g, want %.12g", i, name, j, a.Vector[j], want)
		}
		if v := a.Theta[j] / p.equal(j); math.Abs(v-want) > 1e-9*want {
			t.Fatalf("draw %d, %s, job %d: its throughput is %.12g of E, want %.12g", i, name, j, v, want)
		}
	}
	checkShares(t, p, &a)
}
