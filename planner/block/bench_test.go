package block

import (
	"fmt"
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

// BenchmarkSolve prints CPU seconds, the median of three runs, and by how many shares the
// point exceeds a vertex of the jobs alone.
func BenchmarkSolve(b *testing.B) {
	for _, size := range [][2]int{{512, 3}, {2048, 30}, {10000, 30}} {
		for _, level := range []bool{true, false} {
			p := fleet(size[0], size[1], 1, level, 0)
			if level {
				p = scarce(size[0], size[1], 1, 0)
			}
			for _, vertex := range []bool{false, true} {
				if vertex && size[0] < vertexJobs { // pivots: what small programs cost is known from tests
					continue
				}
				b.Run(fmt.Sprintf("%dx%d/level=%v/vertex=%v", size[0], size[1], level, vertex), func(b *testing.B) {
					for range b.N {
						for _, gap := range []float64{1e-4, 1e-6} {
							var s Solution
							var list []float64
							for range 3 {
								t := cpu()
								s = Solve(p, Options{Gap: gap, Vertex: vertex, Second: vertex})
								list = append(list, (cpu() - t).Seconds())
							}
							slices.Sort(list)
							b.ReportMetric(list[1], fmt.Sprintf("cpu-s@%.0e", gap))
							b.ReportMetric(s.Gap, fmt.Sprintf("gap@%.0e", gap))
							b.ReportMetric(float64(excess(p, s.X, s.Level)), fmt.Sprintf("excess@%.0e", gap))
						}
					}
				})
			}
		}
	}
}

// BenchmarkNextRound changes 2 % of the jobs and solves again from the last round: CPU seconds,
// the medians of nine runs each.
func BenchmarkNextRound(b *testing.B) {
	for _, kind := range []string{"level", "scarce", "gain"} {
		for _, gap := range []float64{1e-4, 1e-6} {
			b.Run(fmt.Sprintf("%s/gap=%.0e", kind, gap), func(b *testing.B) {
				var p *Program
				if kind == "scarce" {
					p = scarce(10000, 30, 1, 0)
				} else {
					p = fleet(10000, 30, 1, kind == "level", 0)
				}
				first := Solve(p, Options{Gap: gap / 10})
				q, fresh := change(p, 50, 1)
				for range b.N {
					var cold, warm []float64
					var s Solution
					for range 9 {
						t := cpu()
						s = Solve(q, Options{Gap: gap})
						u := cpu()
						s = Solve(q, Options{Gap: gap, Prices: first.Prices, Level: first.Level, Point: first.X, Fresh: fresh})
						cold, warm = append(cold, (u-t).Seconds()), append(warm, (cpu()-u).Seconds())
						if !s.Warm {
							b.Fatal("the last round did not help")
						}
					}
					slices.Sort(cold)
					slices.Sort(warm)
					b.ReportMetric(s.Gap, "gap")
					b.ReportMetric(1e3*cold[4], "cold-cpu-ms")
					b.ReportMetric(1e3*warm[4], "warm-cpu-ms")
					b.ReportMetric(100*warm[4]/cold[4], "%-of-cold")
				}
			})
		}
	}
}

// BenchmarkRounds goes on from round to round: another 2 % of the jobs change in each of twelve,
// and each begins with what the one before it ended with, the first with a cold solution of the
// same gap. CPU seconds in all, of the rounds and of the same programs cold.
func BenchmarkRounds(b *testing.B) {
	for _, kind := range []string{"level", "scarce", "gain"} {
		for _, gap := range []float64{1e-4, 1e-6} {
			b.Run(fmt.Sprintf("%s/gap=%.0e", kind, gap), func(b *testing.B) {
				p := fleet(10000, 30, 1, kind == "level", 0)
				if kind == "scarce" {
					p = scarce(10000, 30, 1, 0)
				}
				for range b.N {
					q, last := p, Solve(p, Options{Gap: gap})
					var cold, warm []float64
					helped := 0
					for round := range uint64(12) {
						var fresh []bool
						q, fresh = changeFrom(q, int(round), 50, round)
						t := cpu()
						Solve(q, Options{Gap: gap})
						u := cpu()
						last = Solve(q, Options{Gap: gap, Prices: last.Prices, Level: last.Level, Point: last.X, Fresh: fresh})
						cold, warm = append(cold, (u-t).Seconds()), append(warm, (cpu()-u).Seconds())
						if last.Warm {
							helped++
						}
						b.Log(round, last.Warm, last.Gap, warm[round]/cold[round])
					}
					slices.Sort(cold)
					slices.Sort(warm)
					sumCold, sumWarm := 0.0, 0.0
					for n := range cold {
						sumCold, sumWarm = sumCold+cold[n], sumWarm+warm[n]
					}
					b.ReportMetric(float64(helped), "warm-of-12")
					b.ReportMetric(100*warm[6]/cold[6], "%-of-cold")
					b.ReportMetric(100*sumWarm/sumCold, "%-in-all")
				}
			})
		}
	}
}
