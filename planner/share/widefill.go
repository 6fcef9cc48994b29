package share

import (
	"math/big"

	"github.com/goodfleet/goodfleet/planner/block"
	"github.com/goodfleet/goodfleet/planner/linear"
)

// wideFilling fills in wide numbers from first to last. What a level leaves of a type is often the
// difference of numbers that double precision cannot tell apart, and may be all that a job
// of other magnitudes needs: nothing is rounded before the end.
type wideFilling struct {
	p      *Problem
	d      *demand
	single [][]int // job × type → column, -1
	pair   []int   // pair × type → column, -1
	equal  []*big.Float
	frozen []bool
	u      []*big.Float // reached
}

// wideBits is the precision of numbers here and in package linear.
const wideBits = 512

func wideOf(v float64) *big.Float { return new(big.Float).SetPrec(wideBits).SetFloat64(v) }

// fillWide fills in wide numbers, each level proved by its prices. ok is false if that did not
// come to its end.
func (p *Problem) fillWide(d *demand) (a Answer, ok bool) {
	f := &wideFilling{p: p, d: d, equal: make([]*big.Float, len(p.Jobs)), frozen: make([]bool, len(p.Jobs)), u: make([]*big.Float, len(p.Jobs))}
	for j := range p.Jobs {
		f.equal[j], f.u[j] = p.wideEqual(j), wideOf(0)
		f.frozen[j] = f.equal[j].Sign() == 0
	}
	raising := linear.NewRaising(f.program(), finerPivots)
	m, rounds := len(p.Jobs), 0
	for {
		rates, rows, live := f.rates(), make([]*big.Float, 2*m+len(p.Types)), false
		for j, v := range rates {
			if v != nil {
				rows[m+j], live = wideOf(0).Mul(v, f.equal[j]), true
			}
		}
		if !live {
			break
		}
		rounds++
		level, held, status := raising.Level(rows)
		if status != linear.Optimal {
			return a, false
		}
		stopped := false
		for j, v := range rates {
			if v != nil {
				f.u[j].Add(f.u[j], wideOf(0).Mul(v, level))
				f.frozen[j] = held[m+j]
				stopped = stopped || held[m+j]
			}
		}
		if !stopped {
			return a, false
		}
	}
	return f.answer(raising.Point(), rounds), true
}

// answer rounds what was reached.
func (f *wideFilling) answer(x []float64, rounds int) Answer {
	p := f.p
	r := plan{status: block.Optimal, x: p.nothing(), theta: make([]float64, len(p.Jobs))}
	if f.d.packed {
		r.pairs = make([]float64, len(f.pair))
	}
	for i, c := range f.pair {
		if c >= 0 {
			r.pairs[i] = x[c]
		}
	}
	vector := make([]float64, len(p.Jobs))
	for j := range p.Jobs {
		for w, c := range f.single[j] {
			if c >= 0 {
				r.x[j][w] = x[c]
			}
		}
		vector[j], _ = f.u[j].Float64()
		r.theta[j], _ = f.u[j].Mul(f.u[j], f.equal[j]).Float64()
	}
	a := answerOf(r, sum(vector), sum(vector))
	a.Vector, a.Rounds = vector, rounds
	return a
}

// program has a row for each job's time, for each job's throughput, from which levels take, and
// for each type's workers.
func (f *wideFilling) program() *linear.Program {
	m := len(f.p.Jobs)
	bound := make([]float64, 2*m+len(f.p.Types))
	for j := range m {
		bound[j] = 1
	}
	for w, t := range f.p.Types {
		bound[2*m+w] = float64(t.Workers)
	}
	lp := linear.NewProgram(bound)
	f.single = make([][]int, m)
	for j, job := range f.p.Jobs {
		for w, v := range job.Throughput {
			c := -1
			if v > 0 && f.p.Types[w].Workers > 0 {
				c = lp.Add(0, []int32{int32(j), int32(m + j), int32(2*m + w)}, []float64{1, -v, float64(job.Scale)})
			}
			f.single[j] = append(f.single[j], c)
		}
	}
	for _, q := range f.p.pairsOf(f.d) {
		for w, v := range q.Throughput {
			c := -1
			if (v[0] > 0 || v[1] > 0) && f.p.Types[w].Workers > 0 {
				c = lp.Add(0, []int32{int32(q.A), int32(q.B), int32(m + q.A), int32(m + q.B), int32(2*m + w)},
					[]float64{1, 1, -v[0], -v[1], float64(f.p.Jobs[q.A].Scale)})
			}
			f.pair = append(f.pair, c)
		}
	}
	return lp
}

// wideEqual is E_j.
func (p *Problem) wideEqual(j int) *big.Float {
	sum, all := wideOf(0), wideOf(0)
	for w, t := range p.Types {
		n := wideOf(float64(t.Workers))
		sum.Add(sum, wideOf(0).Mul(n, wideOf(p.Jobs[j].Throughput[w])))
		all.Add(all, n)
	}
	if all.Sign() == 0 {
		return all
	}
	return sum.Quo(sum, all)
}

// rates are those of Problem.rates; nil: not lifted.
func (f *wideFilling) rates() []*big.Float {
	p := f.p
	list := make([]*big.Float, len(p.Jobs))
	rate := func(j int, weight float64) {
		list[j] = wideOf(weight)
		list[j].Quo(list[j], wideOf(float64(p.Jobs[j].Scale)))
	}
	if len(p.Entities) == 0 {
		for j, job := range p.Jobs {
			if !f.frozen[j] {
				rate(j, job.Weight)
			}
		}
		return list
	}
	for _, e := range p.Entities {
		total := wideOf(0)
		for _, j := range e.Jobs {
			if f.frozen[j] {
				continue
			}
			rate(j, e.Weight)
			if e.FIFO {
				total = nil
				break
			}
			total.Add(total, wideOf(p.Jobs[j].Weight))
		}
		for _, j := range e.Jobs {
			if list[j] != nil && total != nil {
				list[j].Mul(list[j], wideOf(p.Jobs[j].Weight)).Quo(list[j], total)
			}
		}
	}
	return list
}
