package block

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// Kinds of draws for fillings.
const (
	plainFilling = iota
	weightedFilling
	sparseFilling
	roundFilling // throughputs of few values: many columns tie
	alikeFilling // few kinds of jobs
	teamFilling  // teams that share among their jobs
	queueFilling // teams that serve one job after the other
	fillingKinds
)

// filling is a program to be filled, and the rates at which its jobs are lifted.
type filling struct {
	p    *Program
	next func(frozen []bool) []float64
}

// drawFilling draws jobs on types that have share as many workers as the jobs ask for.
func drawFilling(seed uint64, kind, jobs, types int, share float64) filling {
	r := rand.New(rand.NewPCG(seed, 77))
	speeds, scale, weight := make([][]float64, jobs), make([]float64, jobs), make([]float64, jobs)
	demand := 0.0
	for j := range speeds {
		if kind == alikeFilling && j >= 6 {
			n := r.IntN(6)
			speeds[j], scale[j], weight[j] = speeds[n], scale[n], 1
			demand += scale[j]
			continue
		}
		gain, base := math.Pow(10, 1.3*r.Float64()), math.Pow(10, 3*r.Float64()-1)
		scale[j], weight[j] = float64(int(1)<<max(0, r.IntN(7)-3)), 1
		if kind == weightedFilling {
			weight[j] = math.Pow(10, 6*r.Float64()-3)
		}
		demand += scale[j]
		for w := range types {
			v := base * math.Pow(gain, 0.1+0.9*float64(w)/float64(max(1, types-1))) * math.Exp(0.25*r.NormFloat64())
			switch {
			case kind == sparseFilling && r.Float64() < 0.5:
				v = 0
			case kind == roundFilling:
				v = float64(1 + r.IntN(3))
			}
			speeds[j] = append(speeds[j], v)
		}
	}
	capacity, total := make([]float64, types), 0.0
	for w := range capacity {
		capacity[w] = r.ExpFloat64() + 0.1
		total += capacity[w]
	}
	all := 0.0
	for w := range capacity {
		capacity[w] = math.Round(capacity[w] / total * demand * share)
		all += capacity[w]
	}
	p := New(capacity)
	p.Level = true
	rate := make([]float64, jobs)
	for j, list := range speeds {
		equal := 0.0
		for w, v := range list {
			equal += v * capacity[w] / max(all, 1)
		}
		rate[j] = weight[j] * equal / scale[j]
		for w, v := range list {
			if v > 0 {
				p.Column(v/max(equal, 1e-9), v, []int32{int32(w)}, []float64{scale[j]})
			}
		}
		p.Job(0, 0)
	}
	return filling{p, func(frozen []bool) []float64 {
		rates := make([]float64, jobs)
		for team := range 3 {
			many := 0.0
			for j := team; j < jobs; j += 3 {
				if frozen[j] {
					continue
				}
				if kind == queueFilling {
					rates[j] = rate[j]
					break
				}
				many++
			}
			for j := team; j < jobs && kind != queueFilling; j += 3 {
				if rates[j] = rate[j]; kind == teamFilling {
					rates[j] *= float64(1+team) / many
				}
				if frozen[j] {
					rates[j] = 0
				}
			}
		}
		return rates
	}}
}

// TestRisingEndsWherePivotsEnd fills programs level by level, and by the simplex method from one
// job that stops to the next.
func TestRisingEndsWherePivotsEnd(t *testing.T) {
	levels, many := 0, 0
	for seed := range uint64(10) {
		for kind := range fillingKinds {
			for _, share := range []float64{0.1, 0.6, 1, 1.6} {
				f := drawFilling(seed, kind, 60, 3+int(seed%4), share)
				a := Fill(f.p, f.next)
				b := f.p.fillRising(f.next)
				if a.Status != Optimal {
					t.Fatalf("seed %d, kind %d, share %g: the pivots end %v", seed, kind, share, a.Status)
				}
				many++
				if b.Status != Optimal {
					t.Logf("seed %d, kind %d, share %g: %v", seed, kind, share, b.Status)
					continue
				}
				levels++
				_, _, miss := f.p.weigh(b.X)
				worst := 0.0
				for j, v := range a.Reach {
					worst = max(worst, math.Abs(v-b.Reach[j])/max(v, b.Reach[j], 1e-6*f.p.fastest(j)))
				}
				if worst > 1e-6 || miss > feasibleTol || lack(f.p, &b) > 1e-6 {
					t.Errorf("seed %d, kind %d, share %g: jobs differ by %.2g, rows are missed by %.2g; gap %.2g", seed, kind, share, worst, miss, lack(f.p, &b))
				}
			}
		}
	}
	t.Logf("%d of %d fillings end", levels, many)
	if levels < many*98/100 {
		t.Errorf("%d of %d fillings end", levels, many)
	}
}

// BenchmarkFill prints CPU seconds of fillings.
func BenchmarkFill(b *testing.B) {
	for _, size := range [][2]int{{2048, 3}, {2048, 8}, {10000, 3}, {10000, 8}} {
		for _, share := range []float64{0.1, 0.6, 1, 1.6} {
			b.Run(fmt.Sprintf("%dx%d/share=%g", size[0], size[1], share), func(b *testing.B) {
				f := drawFilling(1, plainFilling, size[0], size[1], share)
				var list []float64
				var r Filled
				for range b.N {
					t := cpu()
					r = Fill(f.p, f.next)
					list = append(list, (cpu() - t).Seconds())
				}
				slices.Sort(list)
				b.ReportMetric(list[len(list)/2], "cpu-s")
				b.ReportMetric(float64(r.Rounds), "levels")
				b.ReportMetric(lack(f.p, &r), "gap")
			})
		}
	}
}
