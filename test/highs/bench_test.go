package highs

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/goodfleet/goodfleet/planner/block"
	"github.com/goodfleet/goodfleet/planner/share"
	"github.com/goodfleet/goodfleet/planner/whole"
)

// cpu is the CPU time of the process so far: what a loaded machine does not stretch much.
func cpu() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// median runs work several times and returns the median of its CPU seconds.
func median(times int, work func()) float64 {
	var list []float64
	for range times {
		t := cpu()
		work()
		list = append(list, (cpu() - t).Seconds())
	}
	slices.Sort(list)
	return list[len(list)/2]
}

// fleet draws throughput = base × h^(speed of the type) × lognormal(0.25), h log-uniform
// in 1 to 20; 1, 2, 4 or 8 workers at 70, 10, 10, 10 %; capacity 60 % of demand, unevenly
// split. At a level the program is max-min fairness; else least spend with floors of 0.3
// to 0.95 of the equal share.
func fleet(jobs, types int, seed uint64, level bool) *block.Program {
	r := rand.New(rand.NewPCG(seed, 5))
	type job struct {
		a           []float64
		scale, need float64
	}
	generation, weight, capacity := make([]float64, types), make([]float64, types), make([]float64, types)
	split := 0.0
	for k := range types {
		generation[k], weight[k] = r.Float64(), 0.4+1.2*r.Float64()
		split += weight[k]
	}
	list, demand := make([]job, jobs), 0.0
	for j := range list {
		h, base := math.Pow(20, r.Float64()), math.Exp(r.NormFloat64())
		list[j] = job{a: make([]float64, types), scale: []float64{1, 1, 1, 1, 1, 1, 1, 2, 4, 8}[r.IntN(10)], need: 0.3 + 0.65*r.Float64()}
		for k := range types {
			list[j].a[k] = base * math.Pow(h, generation[k]) * math.Exp(0.25*r.NormFloat64())
		}
		demand += list[j].scale
	}
	total := 0.0
	for k := range types {
		capacity[k] = math.Ceil(0.6 * demand * weight[k] / split)
		total += capacity[k]
	}
	p := block.New(capacity)
	p.Level = level
	for _, q := range list {
		equal := 0.0
		for k := range types {
			equal += q.a[k] * capacity[k] / total
		}
		for k := range types {
			gain := q.a[k] / equal
			if !level {
				gain = -q.scale * math.Pow(10, generation[k])
			}
			p.Column(gain, q.a[k], []int32{int32(k)}, []float64{q.scale})
		}
		if level {
			p.Job(0, equal/q.scale)
		} else {
			p.Job(q.need*equal*0.6, 0)
		}
	}
	return p
}

// general writes a block program for HiGHS.
func general(p *block.Program) *Program {
	g := &Program{Sense: -1}
	var time, speed, capacity []int32
	for j := range p.Jobs() {
		time = append(time, g.Row(-inf, 1))
		speed = append(speed, g.Row(p.Floor[j], inf))
	}
	for _, c := range p.Capacity {
		capacity = append(capacity, g.Row(-inf, c))
	}
	for j := range p.Jobs() {
		for i := p.First[j]; i < p.First[j+1]; i++ {
			gain := p.Gain[i]
			if p.Level {
				gain = 0
			}
			k := p.Entry[i]
			g.Column(gain, []int32{time[j], speed[j], capacity[p.Row[k]]}, []float64{1, p.Speed[i], p.Use[k]})
		}
	}
	if p.Level {
		values := make([]float64, p.Jobs())
		for j := range values {
			values[j] = -p.Follow[j]
		}
		g.Column(1, speed, values)
	}
	return g
}

// BenchmarkShares prints CPU seconds of ours at two gaps and of HiGHS at its better
// method, and how many times faster ours is at 1e-6.
func BenchmarkShares(b *testing.B) {
	for _, c := range []struct {
		jobs, types int
		peer        bool // HiGHS in WebAssembly needs minutes at the largest size
	}{{512, 3, true}, {2048, 3, true}, {2048, 30, true}, {10000, 30, false}} {
		for _, level := range []bool{true, false} {
			name := "min-cost"
			if level {
				name = "max-min"
			}
			b.Run(fmt.Sprintf("%s/%dx%d", name, c.jobs, c.types), func(b *testing.B) {
				p := fleet(c.jobs, c.types, 1, level)
				for range b.N {
					var s block.Solution
					coarse := median(3, func() { s = block.Solve(p, block.Options{Gap: 1e-4}) })
					b.ReportMetric(s.Gap, "gap@1e-4")
					fine := median(3, func() { s = block.Solve(p, block.Options{Gap: 1e-6}) })
					b.ReportMetric(s.Gap, "gap@1e-6")
					b.ReportMetric(coarse, "cpu-s@1e-4")
					b.ReportMetric(fine, "cpu-s@1e-6")
					if !c.peer {
						continue
					}
					best := math.Inf(1)
					for _, method := range []string{"simplex", "ipm"} {
						g := general(p)
						g.Method = method
						var r Result
						best = min(best, median(1, func() { r = solver.Solve(g) }))
						if r.Status == Optimal && math.Abs(r.Objective-s.Objective) > 1e-5*math.Abs(r.Objective) {
							b.Errorf("HiGHS %s finds %g, ours %g", method, r.Objective, s.Objective)
						}
					}
					b.ReportMetric(best, "highs-cpu-s")
					b.ReportMetric(best/fine, "times-faster")
				}
			})
		}
	}
}

// BenchmarkAssign prints CPU seconds and gap of whole configs, and HiGHS's where it
// ends in reasonable time.
func BenchmarkAssign(b *testing.B) {
	for _, jobs := range []int{50, 200, 1000, 5000} {
		for _, types := range []int{3, 8, 20} {
			b.Run(fmt.Sprintf("%dx%d", jobs, types), func(b *testing.B) {
				a := drawRound(jobs, types, 1)
				for range b.N {
					var s share.Assigned
					gap := 1e-4
					if jobs <= 50 {
						gap = 1e-9
					}
					seconds := median(3, func() { s = a.Solve(whole.Limits{Gap: gap}) })
					b.ReportMetric(seconds, "cpu-s")
					b.ReportMetric(s.Gap, "gap")
					b.ReportMetric(float64(s.Nodes), "nodes")
					if jobs > 200 {
						continue
					}
					var want answer
					peer := median(1, func() { want = assignment(a, gap) })
					if math.Abs(want.value-s.Objective) > 2*gap*math.Abs(want.value)+1e-6 {
						b.Errorf("HiGHS finds %g, ours %g", want.value, s.Objective)
					}
					b.ReportMetric(peer, "highs-cpu-s")
					b.ReportMetric(peer/seconds, "times-faster")
				}
			})
		}
	}
}

// drawRound makes a round of Sia: 4 accelerators a job, goodput ∝ speed × size^a, a in
// 0.35 to 0.95, half of the jobs running.
func drawRound(jobs, types int, seed uint64) *share.Assignment {
	r := rand.New(rand.NewPCG(seed, 6))
	a := &share.Assignment{Power: -0.5, Lambda: 1.1}
	speed := make([]float64, types)
	for k := range types {
		speed[k] = math.Exp(0.7 * r.NormFloat64())
		a.Types = append(a.Types, share.Type{Name: fmt.Sprint(k), Workers: int(4 * float64(jobs) / float64(types) * (0.6 + 0.8*r.Float64()))})
	}
	sizes := []int{1, 2, 4, 8, 16, 32}
	if types > 8 {
		sizes = []int{1, 4, 16}
	}
	for j := range jobs {
		q := share.Request{ID: fmt.Sprint(j), MinGPUs: 1, Current: -1}
		bend := 0.35 + 0.6*r.Float64()
		for k := range types {
			own := speed[k] * math.Exp(0.25*r.NormFloat64())
			for _, g := range sizes {
				q.Options = append(q.Options, share.Config{Type: k, GPUs: g, Goodput: own * math.Pow(float64(g), bend)})
			}
		}
		if r.IntN(2) == 0 {
			q.Current = r.IntN(len(q.Options))
			q.Restart = share.Restart{AgeSec: 20000 * r.Float64(), Count: float64(r.IntN(6)), CostSec: 25 + 225*r.Float64()}
		}
		a.Requests = append(a.Requests, q)
	}
	return a
}
