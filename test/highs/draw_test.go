package highs

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/goodfleet/goodfleet/planner/share"
)

// draw makes a problem with what is unpleasant about real ones in some of them: types
// without workers or that a job cannot use, equal jobs, weights over six orders of
// magnitude, deadlines that cannot be met, jobs that fit nothing, one job, no job.
func draw(r *rand.Rand, most int, pairs bool) *share.Problem {
	p := &share.Problem{}
	for w := range 1 + r.IntN(4) {
		workers := 1 + r.IntN(9)
		if r.IntN(12) == 0 {
			workers = 0
		}
		p.Types = append(p.Types, share.Type{Name: fmt.Sprintf("t%d", w), Workers: workers, Price: math.Exp(r.NormFloat64())})
	}
	wild, tight := r.IntN(4) == 0, r.IntN(3) == 0
	n := r.IntN(most + 1)
	if r.IntN(3) > 0 {
		n = 1 + r.IntN(min(most, 12))
	}
	if r.IntN(10) == 0 {
		n = r.IntN(2)
	}
	for j := range n {
		if j > 0 && r.IntN(4) == 0 {
			twin := p.Jobs[r.IntN(j)]
			twin.ID = fmt.Sprint(j)
			p.Jobs = append(p.Jobs, twin)
			continue
		}
		job := share.Job{ID: fmt.Sprint(j), Scale: 1 << r.IntN(4), Weight: 1, Deadline: math.NaN()}
		if r.IntN(2) == 0 || pairs {
			job.Scale = 1 << r.IntN(2)
		}
		if wild {
			job.Weight = math.Pow(10, 6*r.Float64()-3)
			if j < 2 { // the whole range
				job.Weight = []float64{1e-3, 1e3}[j]
			}
		} else if r.IntN(3) == 0 {
			job.Weight = float64(1 + r.IntN(5))
		}
		base := math.Exp(2 * r.NormFloat64())
		job.Throughput = make([]float64, len(p.Types))
		for w := range job.Throughput {
			if r.IntN(8) > 0 {
				job.Throughput[w] = base * math.Exp(0.8*r.NormFloat64())
			}
		}
		if r.IntN(40) == 0 {
			clear(job.Throughput)
		}
		job.Steps = math.Ceil(base * 1000 * math.Exp(r.NormFloat64()))
		if r.IntN(3) > 0 {
			job.Elapsed = 2000 * r.Float64()
			job.Isolated = job.Elapsed * r.Float64()
		}
		if r.IntN(2) == 0 {
			slack := 40.0
			if tight {
				slack = 4
			}
			job.Deadline = slack * job.Steps / base * math.Exp(0.7*r.NormFloat64())
		}
		p.Jobs = append(p.Jobs, job)
	}
	if pairs {
		drawPairs(r, p)
	}
	return p
}

func drawPairs(r *rand.Rand, p *share.Problem) {
	for a := range p.Jobs {
		for b := a + 1; b < len(p.Jobs); b++ {
			if p.Jobs[a].Scale != p.Jobs[b].Scale || r.IntN(4) == 0 {
				continue
			}
			q := share.Pair{A: a, B: b, Throughput: make([][2]float64, len(p.Types))}
			for w := range q.Throughput {
				x, y := p.Jobs[a].Throughput[w], p.Jobs[b].Throughput[w]
				if x > 0 && y > 0 && r.IntN(5) > 0 {
					q.Throughput[w] = [2]float64{x * (0.3 + 0.7*r.Float64()), y * (0.3 + 0.7*r.Float64())}
				}
			}
			p.Pairs = append(p.Pairs, q)
		}
	}
}

// drawEntities puts every job into one of up to three teams.
func drawEntities(r *rand.Rand, p *share.Problem) {
	n := 1 + r.IntN(3)
	for e := range n {
		p.Entities = append(p.Entities, share.Entity{Name: fmt.Sprint(e), Weight: float64(1 + r.IntN(3)), FIFO: r.IntN(2) == 0})
	}
	for j := range p.Jobs {
		e := r.IntN(n)
		p.Entities[e].Jobs = append(p.Entities[e].Jobs, j)
	}
}

func equalShare(p *share.Problem, j int) float64 {
	all, sum := 0.0, 0.0
	for w, t := range p.Types {
		all += float64(t.Workers)
		sum += p.Jobs[j].Throughput[w] * float64(t.Workers)
	}
	if all == 0 {
		return 0
	}
	return sum / all
}

func isolatedRate(p *share.Problem, j int) float64 {
	total, sum := 0.0, 0.0
	for w, t := range p.Types {
		x := float64(t.Workers) / float64(len(p.Jobs)*p.Jobs[j].Scale)
		total += x
		sum += x * p.Jobs[j].Throughput[w]
	}
	return sum / max(1, total)
}
