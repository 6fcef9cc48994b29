package share

import (
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/goodfleet/goodfleet/planner/linear"
)

// fillingPolicies are those of water filling with pairs.
var fillingPolicies = []string{"water_filling_packed", "hierarchical_packed"}

// drawPairs makes a problem with pairs: jobs that are equal, that run nowhere, or only with others,
// pairs that lose nothing, that gain, or that one of the two stops in, and, if wanted, teams.
func drawPairs(t *rapid.T, most int, teams bool) *Problem {
	p := &Problem{}
	for w := range rapid.IntRange(1, 3).Draw(t, "types") {
		p.Types = append(p.Types, Type{Name: fmt.Sprint(w), Workers: rapid.IntRange(0, 4).Draw(t, "workers"), Price: 1})
	}
	for j := range rapid.IntRange(0, most).Draw(t, "jobs") {
		if j > 0 && rapid.IntRange(0, 3).Draw(t, "twin") == 0 {
			twin := p.Jobs[j-1]
			twin.ID = fmt.Sprint(j)
			p.Jobs = append(p.Jobs, twin)
			continue
		}
		job := Job{ID: fmt.Sprint(j), Scale: 1 << rapid.IntRange(0, 1).Draw(t, "scale"), Weight: math.Pow(10, rapid.Float64Range(-1, 1).Draw(t, "weight")), Steps: 1, Deadline: math.NaN()}
		base := math.Pow(10, rapid.Float64Range(-2, 2).Draw(t, "speed"))
		for range p.Types {
			job.Throughput = append(job.Throughput, base*rapid.SampledFrom([]float64{0, 1, 1, 2, 3.5, 8}).Draw(t, "throughput"))
		}
		p.Jobs = append(p.Jobs, job)
	}
	for a := range p.Jobs {
		for b := a + 1; b < len(p.Jobs); b++ {
			if p.Jobs[a].Scale != p.Jobs[b].Scale || rapid.IntRange(0, 3).Draw(t, "apart") == 0 {
				continue
			}
			q := Pair{A: a, B: b}
			for w := range p.Types {
				part := func() float64 { return rapid.SampledFrom([]float64{0, 0.4, 0.6, 0.8, 1, 1.2}).Draw(t, "part") }
				q.Throughput = append(q.Throughput, [2]float64{p.Jobs[a].Throughput[w] * part(), p.Jobs[b].Throughput[w] * part()})
			}
			p.Pairs = append(p.Pairs, q)
		}
	}
	for e := range rapid.IntRange(1, 3).Draw(t, "teams") {
		if teams {
			p.Entities = append(p.Entities, Entity{Name: fmt.Sprint(e), Weight: rapid.Float64Range(0.5, 3).Draw(t, "team's weight"), FIFO: rapid.Bool().Draw(t, "fifo")})
		}
	}
	for j := range p.Jobs {
		if teams {
			e := rapid.IntRange(0, len(p.Entities)-1).Draw(t, "team")
			p.Entities[e].Jobs = append(p.Entities[e].Jobs, j)
		}
	}
	return p
}

// most is the largest t such that each job has floor + rate·t, by a program of all columns; ok is
// false if not even the floors can be had.
func (p *Problem) most(floor, rate []float64) (t float64, ok bool) {
	m := len(p.Jobs)
	bound := make([]float64, 2*m+len(p.Types))
	for j := range m {
		bound[j], bound[m+j] = 1, -floor[j]
	}
	for w, y := range p.Types {
		bound[2*m+w] = float64(y.Workers)
	}
	lp := linear.NewProgram(bound)
	for w, y := range p.Types {
		if y.Workers == 0 {
			continue
		}
		for j, job := range p.Jobs {
			lp.Add(0, []int32{int32(j), int32(m + j), int32(2*m + w)}, []float64{1, -job.Throughput[w], float64(job.Scale)})
		}
		for _, q := range p.Pairs {
			lp.Add(0, []int32{int32(q.A), int32(q.B), int32(m + q.A), int32(m + q.B), int32(2*m + w)},
				[]float64{1, 1, -q.Throughput[w][0], -q.Throughput[w][1], float64(p.Jobs[q.A].Scale)})
		}
	}
	var rows []int32
	for j := range m {
		rows = append(rows, int32(m+j))
	}
	level := lp.Add(1, rows, rate)
	got := linear.Wide(lp, nil, 100_000)
	return got.X[level], got.Status == linear.Optimal
}

// fillByTrying is water filling without prices: who stops at a level is found by lifting each job
// alone while all others keep theirs.
func fillByTrying(t *rapid.T, p *Problem) []float64 {
	const give, grown = 1e-12, 1e-7
	m := len(p.Jobs)
	theta, frozen := make([]float64, m), make([]bool, m)
	for j := range m {
		frozen[j] = p.equal(j) == 0
	}
	lift := func(rate []float64) float64 {
		for give := give; give < 1e-7; give *= 100 { // what was given before is more than there is
			floor := make([]float64, m)
			for j := range floor {
				floor[j] = theta[j] * (1 - give)
			}
			if level, ok := p.most(floor, rate); ok {
				return level
			}
		}
		t.Fatalf("%g cannot be had together", theta)
		return 0
	}
	for range m + 1 {
		rate, live := p.rates(frozen), false
		for j := range rate {
			if frozen[j] {
				rate[j] = 0
			}
			rate[j] *= p.equal(j)
			live = live || rate[j] > 0
		}
		if !live {
			return theta
		}
		level := lift(rate)
		for j := range theta {
			theta[j] += level * rate[j]
		}
		stopped := false
		for j, v := range rate {
			if v > 0 {
				one := make([]float64, m)
				one[j] = v
				if lift(one)*v <= grown*theta[j] {
					frozen[j], stopped = true, true
				}
			}
		}
		if !stopped {
			t.Fatalf("nobody stops at %g", theta)
		}
	}
	t.Fatalf("more levels than jobs")
	return nil
}

func TestFillingWithPairsIsThatByTryingEachJob(t *testing.T) {
	for _, name := range fillingPolicies {
		t.Run(name, func(t *testing.T) {
			y, _ := Find(name)
			rapid.Check(t, func(t *rapid.T) {
				p := drawPairs(t, 6, name == "hierarchical_packed")
				a, err := y.Share(p, Options{})
				if err != nil || a.Status != "optimal" {
					t.Fatalf("%v, %s with a gap of %g", err, a.Status, a.Gap)
				}
				checkShares(t, p, &a)
				want := fillByTrying(t, p)
				for j, v := range want {
					if e := p.equal(j); e > 0 && math.Abs(a.Vector[j]*e-v) > 1e-6*v+1e-9*p.fastest(j) {
						t.Fatalf("job %d has %.9g, and by trying %.9g", j, a.Vector[j]*e, v)
					}
				}
			})
		})
	}
}

// TestNoJobGrowsInAnyPairUnlessALowerOneShrinks lifts each job alone while all others keep what they
// have, but what is above its level: no sharing gives it more.
func TestNoJobGrowsInAnyPairUnlessALowerOneShrinks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawPairs(t, 9, false)
		y, _ := Find("water_filling_packed")
		a, err := y.Share(p, Options{})
		if err != nil || a.Status != "optimal" {
			t.Fatalf("%v, %s with a gap of %g", err, a.Status, a.Gap)
		}
		level := func(j int) float64 { return a.Vector[j] * float64(p.Jobs[j].Scale) / p.Jobs[j].Weight }
		// most is what job j could have if all others gave a part.
		most := func(j int, give float64) float64 {
			floor, rate := make([]float64, len(p.Jobs)), make([]float64, len(p.Jobs))
			for i := range p.Jobs {
				if i != j && p.equal(i) > 0 {
					floor[i] = a.Theta[i] * min(1, level(j)/level(i)) * (1 - give)
				}
			}
			rate[j] = p.equal(j)
			u, ok := p.most(floor, rate)
			if !ok {
				t.Fatalf("job %d: what the others have cannot be had together", j)
			}
			return u
		}
		const give = 1e-8
		for j, u := range a.Vector {
			if p.equal(j) == 0 {
				continue
			}
			// What grows with what the others give is that, of jobs that are fast where they are slow.
			more := most(j, give) - u
			if more > 1e-4*u && most(j, 100*give)-u < 10*more {
				t.Fatalf("job %d has u = %.9g and could have %.9g", j, u, u+more)
			}
		}
	})
}

// TestFillingWithoutUsefulPairsIsThatOfSingleJobs: pairs that are not there, or in which nobody runs
// as well as alone on half of the time, change nothing.
func TestFillingWithoutUsefulPairsIsThatOfSingleJobs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawPairs(t, 8, rapid.Bool().Draw(t, "in teams"))
		if rapid.Bool().Draw(t, "none") {
			p.Pairs = nil
		}
		for k, q := range p.Pairs {
			for w := range q.Throughput {
				p.Pairs[k].Throughput[w] = [2]float64{0.4 * p.Jobs[q.A].Throughput[w], 0.5 * p.Jobs[q.B].Throughput[w]}
			}
		}
		alone, _ := Find("water_filling_sum")
		y, _ := Find("water_filling_packed")
		a, errA := alone.Share(p, Options{})
		b, errB := y.Share(p, Options{})
		if errA != nil || errB != nil || a.Status != b.Status {
			t.Fatal(errA, errB, a.Status, b.Status)
		}
		for j, u := range a.Vector {
			if math.Abs(b.Vector[j]-u) > 1e-6*u+1e-12 { // a u of 0 may be rounding
				t.Fatalf("job %d has u = %.9g, without pairs %.9g", j, b.Vector[j], u)
			}
		}
		if len(p.Pairs) == 0 && b.PairShare != nil {
			t.Fatalf("pairs that are not there have %g", b.PairShare)
		}
	})
}
