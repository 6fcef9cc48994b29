package whole

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"syscall"
	"testing"
	"time"
)

// cpu is the CPU time of the process so far, which a loaded machine stretches little.
func cpu() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// configs draws jobs that run at sizes of 1 to 32 (over 8 rows: 1, 4, 16) with goodput
// ∝ speed × size^a, a in 0.35 to 0.95, on about 4 units of capacity a job. An option is
// worth 1.1 less the root of the goodput's inverse, relative to the job's least; half
// of the jobs run already and lose a part of the worth by any change.
func configs(jobs, rows int, seed uint64) *Problem {
	r := rand.New(rand.NewPCG(seed, 6))
	p := &Problem{}
	speed := make([]float64, rows)
	for k := range speed {
		speed[k] = math.Exp(0.7 * r.NormFloat64())
		p.Capacity = append(p.Capacity, math.Floor(4*float64(jobs)/float64(rows)*(0.6+0.8*r.Float64())))
	}
	sizes := []float64{1, 2, 4, 8, 16, 32}
	if rows > 8 {
		sizes = []float64{1, 4, 16}
	}
	for range jobs {
		bend, least := 0.35+0.6*r.Float64(), math.Inf(1)
		var list []Option
		for k := range rows {
			own := speed[k] * math.Exp(0.25*r.NormFloat64())
			for _, g := range sizes {
				list = append(list, Option{Row: k, Units: g, Value: own * math.Pow(g, bend)})
				least = min(least, list[len(list)-1].Value)
			}
		}
		p.Options = append(p.Options, worths(r, list, least, -0.5))
	}
	return p
}

// BenchmarkSolve prints CPU seconds and gaps of ten draws, medians and the worst. Gaps are
// relative to what the jobs lack of 1.1 each, as policies count it.
func BenchmarkSolve(b *testing.B) {
	for _, jobs := range []int{50, 200, 1000, 5000} {
		for _, rows := range []int{3, 8, 20} {
			b.Run(fmt.Sprintf("%dx%d", jobs, rows), func(b *testing.B) {
				for range b.N {
					var seconds, gaps []float64
					nodes := 0
					for seed := range uint64(10) {
						p := configs(jobs, rows, seed+1)
						gap := 1e-4
						if jobs <= 50 {
							gap = 1e-9
						}
						p.Offset = -1.1 * float64(jobs)
						t := cpu()
						s := Solve(p, Limits{Gap: gap})
						seconds = append(seconds, (cpu() - t).Seconds())
						gaps = append(gaps, s.Gap)
						nodes += s.Nodes
					}
					slices.Sort(seconds)
					slices.Sort(gaps)
					b.ReportMetric(seconds[4], "cpu-s")
					b.ReportMetric(seconds[9], "most-cpu-s")
					b.ReportMetric(gaps[4], "gap")
					b.ReportMetric(gaps[9], "worst-gap")
					b.ReportMetric(float64(nodes)/10, "nodes")
				}
			})
		}
	}
}

// BenchmarkAnySizes prints CPU seconds of 50 jobs with up to 60 options, over 72 draws:
// 3, 8 and 20 rows, whosesoever sizes, powers of either sign, seldom room for all.
func BenchmarkAnySizes(b *testing.B) {
	for _, rows := range []int{3, 8, 20} {
		b.Run(fmt.Sprintf("50x%d", rows), func(b *testing.B) {
			for range b.N {
				var seconds []float64
				nodes, unproved := 0, 0
				for seed := range uint64(24) {
					perJob := []float64{0.8, 1.5, 2.5, 4, 8}[seed%5]
					power := []float64{-0.5, -1, 0.5, 1, -0.5, 0.25}[seed%6]
					p := anySizes(50, rows, perJob, power, sizing(seed%4), seed)
					t := cpu()
					s := Solve(p, Limits{})
					seconds = append(seconds, (cpu() - t).Seconds())
					nodes = max(nodes, s.Nodes)
					if !s.Proved {
						unproved++
					}
				}
				slices.Sort(seconds)
				b.ReportMetric(seconds[len(seconds)/2], "cpu-s")
				b.ReportMetric(seconds[len(seconds)-1], "most-cpu-s")
				b.ReportMetric(float64(nodes), "most-nodes")
				b.ReportMetric(float64(unproved), "unproved")
			}
		})
	}
}
