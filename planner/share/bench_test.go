package share

import (
	"fmt"
	"math"
	"math/rand/v2"
	"syscall"
	"testing"

	"github.com/goodfleet/goodfleet/planner/whole"
)

// cpuSec is the CPU time of the process so far, which a loaded machine stretches little.
func cpuSec() float64 {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

// gavelFleet is a problem of the size that Gavel's run times are published for: jobs of
// one worker, a quarter as many workers of each of three types, every fifth job of
// weight 5, three teams; with pairs all weights are 1, and any two jobs slow each other
// by up to a half.
func gavelFleet(jobs int, pairs bool) *Problem {
	r := rand.New(rand.NewPCG(uint64(jobs), 21))
	p := &Problem{}
	for _, name := range []string{"k80", "p100", "v100"} {
		p.Types = append(p.Types, Type{Name: name, Workers: jobs / 4, Price: 1})
	}
	for e := range 3 {
		p.Entities = append(p.Entities, Entity{Name: fmt.Sprint(e), Weight: float64(1 + e)})
	}
	for j := range jobs {
		job := Job{ID: fmt.Sprint(j), Scale: 1, Weight: 1, Steps: 1e5, Deadline: math.NaN()}
		if j%5 == 0 && !pairs { // a heavy job that runs alone would make pairs needless
			job.Weight = 5
		}
		base, gain := math.Exp(r.NormFloat64()), 1+4*r.Float64()
		if pairs {
			gain = 4 + r.Float64() // nor is any held by its own speed
		}
		job.Throughput = []float64{base, base * math.Sqrt(gain), base * gain}
		p.Jobs = append(p.Jobs, job)
		p.Entities[j%3].Jobs = append(p.Entities[j%3].Jobs, j)
	}
	for a := 0; pairs && a < jobs; a++ {
		for b := a + 1; b < jobs; b++ {
			q := Pair{A: a, B: b}
			for w := range p.Types {
				q.Throughput = append(q.Throughput, [2]float64{p.Jobs[a].Throughput[w] * (0.5 + 0.5*r.Float64()), p.Jobs[b].Throughput[w] * (0.5 + 0.5*r.Float64())})
			}
			p.Pairs = append(p.Pairs, q)
		}
	}
	return p
}

// BenchmarkGavel prints CPU seconds and gap of policies at the sizes of Gavel's figures.
func BenchmarkGavel(b *testing.B) {
	for _, c := range []struct {
		policy string
		jobs   int
		gap    float64
	}{
		{"max_min_fairness", 256, 0}, {"max_min_fairness", 1024, 0}, {"max_min_fairness", 2048, 0},
		{"hierarchical", 256, 0}, {"hierarchical", 2048, 0},
		{"max_min_fairness_packed", 256, 1e-4}, {"max_min_fairness_packed", 512, 1e-4}, {"max_min_fairness_packed", 1024, 1e-4},
		{"hierarchical_packed", 128, 0}, {"hierarchical_packed", 512, 0},
		{"power_mean", 2048, 1e-6},
	} {
		y, _ := Find(c.policy)
		b.Run(fmt.Sprintf("%s/%dx3", c.policy, c.jobs), func(b *testing.B) {
			p := gavelFleet(c.jobs, len(c.policy) > 7 && c.policy[len(c.policy)-6:] == "packed")
			start := cpuSec()
			var a Answer
			for range b.N {
				a, _ = y.Share(p, Options{Gap: c.gap})
			}
			b.ReportMetric((cpuSec()-start)/float64(b.N), "cpu-s")
			b.ReportMetric(a.Gap, "gap")
		})
	}
}

// BenchmarkPackedFilling fills fleets that give levels from one to hundreds: workers of three types
// for a tenth of what the jobs could use to more than all, weights alike or lognormal, in teams or
// not. It prints the CPU seconds, the worst gap and the most levels.
func BenchmarkPackedFilling(b *testing.B) {
	y, _ := Find("hierarchical_packed")
	for _, jobs := range []int{128, 512} {
		for _, workers := range []float64{0.1, 0.3, 0.75, 1.2} {
			b.Run(fmt.Sprintf("%dx3/workers=%g", jobs, workers), func(b *testing.B) {
				gap, levels, most := 0.0, 0, 0.0
				for range b.N {
					for kind := range 4 {
						start := cpuSec()
						a, _ := y.Share(unevenFleet(jobs, workers, kind%2 > 0, kind/2 > 0), Options{})
						most, gap, levels = max(most, cpuSec()-start), max(gap, a.Gap), max(levels, a.Rounds)
					}
				}
				b.ReportMetric(most, "most-cpu-s")
				b.ReportMetric(gap, "gap")
				b.ReportMetric(float64(levels), "levels")
			})
		}
	}
}

// unevenFleet is gavelFleet with speeds and slowdowns of any size.
func unevenFleet(jobs int, workers float64, weights, teams bool) *Problem {
	r := rand.New(rand.NewPCG(uint64(jobs), 24))
	p := gavelFleet(jobs, true)
	for w := range p.Types {
		p.Types[w].Workers = int(float64(jobs) * workers / 3)
	}
	if !teams {
		p.Entities = nil
	}
	for e := range p.Entities {
		p.Entities[e].FIFO = e == 1
	}
	for j := range p.Jobs {
		job := &p.Jobs[j]
		if weights {
			job.Weight = math.Exp(1.5 * r.NormFloat64())
		}
		for w := range job.Throughput {
			job.Throughput[w] = math.Exp(r.NormFloat64())
		}
	}
	for _, q := range p.Pairs {
		for w := range q.Throughput {
			q.Throughput[w] = [2]float64{p.Jobs[q.A].Throughput[w] * (0.4 + 0.6*r.Float64()), p.Jobs[q.B].Throughput[w] * (0.4 + 0.6*r.Float64())}
		}
	}
	return p
}

// BenchmarkSia solves rounds of the size of Sia's largest figure: 2048 accelerators of
// three types, 24:24:16, each job with 21 configs, half of the jobs running.
func BenchmarkSia(b *testing.B) {
	for _, rule := range []Rule{Sia, Pollux} {
		for _, jobs := range []int{300, 1000} {
			b.Run(fmt.Sprintf("rule=%d/2048-accelerators/%d-jobs", rule, jobs), func(b *testing.B) {
				r := rand.New(rand.NewPCG(uint64(jobs), 22))
				a := &Assignment{Rule: rule, Power: -0.5, Lambda: 1.1, Types: []Type{{Name: "a100", Workers: 512}, {Name: "rtx", Workers: 768}, {Name: "t4", Workers: 768}}}
				for j := range jobs {
					q := Request{ID: fmt.Sprint(j), MinGPUs: 1, Current: -1}
					bend := 0.35 + 0.6*r.Float64()
					for k, speed := range []float64{4, 2, 1} {
						own := speed * math.Exp(0.25*r.NormFloat64())
						for g := 1; g <= 64; g *= 2 {
							q.Options = append(q.Options, Config{Type: k, GPUs: g, Goodput: own * math.Pow(float64(g), bend)})
						}
					}
					if j%2 == 0 {
						q.Current = r.IntN(len(q.Options))
						q.Restart = Restart{AgeSec: 20_000 * r.Float64(), Count: float64(r.IntN(6)), CostSec: 25 + 225*r.Float64()}
					}
					a.Requests = append(a.Requests, q)
				}
				start := cpuSec()
				var s Assigned
				for range b.N {
					s = a.Solve(whole.Limits{Gap: 1e-4})
				}
				b.ReportMetric((cpuSec()-start)/float64(b.N), "cpu-s")
				b.ReportMetric(s.Gap, "gap")
			})
		}
	}
}

// BenchmarkParse reads 10,000 jobs × 30 types.
func BenchmarkParse(b *testing.B) {
	var text []byte
	text = append(text, `{"cluster":{`...)
	for w := range 30 {
		text = fmt.Appendf(text, `%s"t%02d":%d`, []string{"", ","}[min(w, 1)], w, 100+w)
	}
	text = append(text, `},"jobs":[`...)
	r := rand.New(rand.NewPCG(1, 23))
	for j := range 10_000 {
		text = fmt.Appendf(text, `%s{"id":%d,"steps_left":1000,"throughput":{`, []string{"", ","}[min(j, 1)], j)
		for w := range 30 {
			text = fmt.Appendf(text, `%s"t%02d":%g`, []string{"", ","}[min(w, 1)], w, r.ExpFloat64())
		}
		text = append(text, "}}"...)
	}
	text = append(text, "]}"...)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Parse(text); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkAlloX prints CPU seconds for queues that are long and short.
func BenchmarkAlloX(b *testing.B) {
	y, _ := Find("allox")
	for _, jobs := range []int{1000, 2000, 4000} {
		for _, workers := range []int{1, 20, 200} {
			b.Run(fmt.Sprintf("%dx3/workers=%d", jobs, workers), func(b *testing.B) {
				p := gavelFleet(jobs, false)
				for w := range p.Types {
					p.Types[w].Workers = workers
				}
				start, gap := cpuSec(), 0.0
				for range b.N {
					a, _ := y.Share(p, Options{})
					gap = max(gap, a.Gap)
				}
				b.ReportMetric((cpuSec()-start)/float64(b.N), "cpu-s")
				b.ReportMetric(gap, "gap")
			})
		}
	}
}
