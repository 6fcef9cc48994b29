package highs

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/goodfleet/goodfleet/planner/share"
)

// TestPowerMeanAgreesWithCuttingPlanes solves Pollux's mean by linear programs with
// tangents: one more for each job where the last program's point is, until it is met.
func TestPowerMeanAgreesWithCuttingPlanes(t *testing.T) {
	y, _ := share.Find("power_mean")
	r := rand.New(rand.NewPCG(*seed, 14))
	powers := []float64{-2, -1, -0.5, 0, 0.5, 1}
	for i := range *instances {
		p := draw(r, 10, false)
		power := powers[r.IntN(len(powers))]
		got, err := y.Share(p, share.Options{Power: &power})
		if err != nil || got.Gap > 1e-5 {
			t.Fatalf("instance %d: %v, gap %g", i, err, got.Gap)
		}
		checkRows(t, i, p, &got)
		if want := cutMean(p, power); math.Abs(got.Objective-want) > 2e-5*want || got.Bound < want*(1-1e-5) {
			t.Errorf("instance %d, %d jobs, p = %g: %.9g (bound %.9g), cutting planes %.9g", i, len(p.Jobs), power, got.Objective, got.Bound, want)
		}
	}
}

// cutMean is the best power mean of theta/iso + 0.001, from below: that of the best of
// the programs' points.
func cutMean(p *share.Problem, power float64) float64 {
	h := func(u float64) float64 {
		if power == 0 {
			return math.Log(u)
		}
		return math.Pow(u, power) / power
	}
	var jobs []int
	for j := range p.Jobs {
		if isolatedRate(p, j) > 0 {
			jobs = append(jobs, j)
		}
	}
	if len(jobs) == 0 {
		return 0
	}
	cuts := make([][]float64, len(jobs)) // points where a job has a tangent
	for i := range cuts {
		for u := 1e-2; u < 1e4; u *= 5 {
			cuts[i] = append(cuts[i], u)
		}
	}
	best := math.Inf(-1)
	for range 40 {
		m := newModel(p, false, false, nothing, free)
		for j := range p.Jobs {
			m.lp.RowLower[m.theta[j]] = -inf
		}
		// Column −v_j of each tangent h(c) + h'(c)(u − c) ≥ v_j, u = theta/iso + 0.001; as
		// v has any sign it is two columns.
		with := m.withTangents(jobs, cuts, power, h)
		s := solver.Solve(with)
		if s.Status != Optimal {
			break
		}
		sum := 0.0
		for i, j := range jobs {
			u := 1e-3
			c := 0
			for k, job := range p.Jobs {
				for w := range p.Types {
					if job.Throughput[w] > 0 {
						if k == j {
							u += job.Throughput[w] * s.X[c] / isolatedRate(p, j)
						}
						c++
					}
				}
			}
			cuts[i] = append(cuts[i], u)
			sum += h(u)
		}
		best = max(best, sum)
		if s.Objective-best <= 3e-6*max(1, math.Abs(best)) {
			break
		}
	}
	n := float64(len(jobs))
	if power == 0 {
		return math.Exp(best / n)
	}
	return math.Pow(power*best/n, 1/power)
}

// withTangents is the model with the values of jobs under their tangents.
func (m *model) withTangents(jobs []int, cuts [][]float64, power float64, h func(float64) float64) *Program {
	g := &Program{Sense: -1, RowLower: append([]float64(nil), m.lp.RowLower...), RowUpper: append([]float64(nil), m.lp.RowUpper...)}
	rows, values := make(map[int][]int32), make(map[int][]float64)
	var own [][]int32
	for i, j := range jobs {
		iso := isolatedRate(m.p, j)
		var mine []int32
		for _, c := range cuts[i] {
			// v − h'·theta/iso ≤ h(c) + h'·(0.001 − c), scaled by the slope
			slope := math.Pow(c, power-1)
			scale := 1 / max(1, slope)
			row := g.Row(-inf, scale*(h(c)+slope*(1e-3-c)))
			mine = append(mine, row)
			rows[j], values[j] = append(rows[j], row), append(values[j], -scale*slope/iso)
		}
		own = append(own, mine)
	}
	for j, job := range m.p.Jobs {
		for w := range m.p.Types {
			v := job.Throughput[w]
			if v <= 0 {
				continue
			}
			r, x := []int32{m.time[j], m.capacity[w]}, []float64{1, float64(job.Scale)}
			for k := range rows[j] {
				r, x = append(r, rows[j][k]), append(x, values[j][k]*v)
			}
			g.Column(0, r, x)
		}
	}
	for i := range jobs {
		for _, sign := range []float64{1, -1} {
			var x []float64
			for _, c := range cuts[i] {
				x = append(x, sign/max(1, math.Pow(c, power-1)))
			}
			g.Column(sign, own[i], x)
		}
	}
	return g
}

// TestMaxMinTakesTheMostThroughputAmongItsOptima fixes the level and asks for the rest. Loosened
// floors would not do: with weights over six orders a part of 1e-9 may be worth 1e-5 of the sum.
// They are what the answer's shares reach, and so possible, in units of themselves.
func TestMaxMinTakesTheMostThroughputAmongItsOptima(t *testing.T) {
	y, _ := share.Find("max_min_fairness")
	r := rand.New(rand.NewPCG(*seed, 15))
	for i := range *instances {
		p := draw(r, 30, false)
		got, err := y.Share(p, share.Options{})
		if err != nil || got.Status != "optimal" {
			t.Fatalf("instance %d: %v, status %s", i, err, got.Status)
		}
		m := newModel(p, false, false, normalized(p), free)
		for j, job := range p.Jobs {
			need := got.Objective * job.Weight * equalShare(p, j) / float64(job.Scale)
			if got.Theta[j] < need*(1-1e-9) {
				t.Errorf("instance %d: job %d has %.12g of the %.12g steps/s of its level", i, j, got.Theta[j], need)
			}
			m.floor(j, min(need, got.Theta[j]))
		}
		m.even()
		want := m.solve()
		if want.Status != Optimal {
			t.Fatalf("instance %d: HiGHS %d with the floors that the answer keeps", i, want.Status)
		}
		if have := overEqual(p, got.Share); have < want.Objective*(1-near) {
			t.Errorf("instance %d, %d jobs: Σ theta/E is %.10g, could be %.10g", i, len(p.Jobs), have, want.Objective)
		}
	}
}
